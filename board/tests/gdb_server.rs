//! gdb's remote protocol against a board, by a minimal client, and by gdb itself where it is installed.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use tactus_board::board::{Board, Outcome, Pace, Watch};
use tactus_board::bus::Stop;
use tactus_board::gdb::{self, End, Guest, Options, Server};
use tactus_board::privileged::{Mode, Privilege};
use tactus_board::profile::Profile;
use tactus_board::setup;
use tactus_board::time::Femtoseconds;

use crate::gdb_harness;

const BASE: u64 = 0x8000_0000;
/// The address of the loop's first instruction.
const LOOP: u64 = BASE + 8;

/// Every hart counts in a0 to 5000, and in memory; hart 0 then powers the board off, the others wait.
fn program() -> Vec<u8> {
    let words: [u32; 14] = [
        0x0000_0513,               //        li    a0, 0
        0x0000_12b7,               //        lui   t0, 1           (4096)
        0x0015_0513,               // loop:  addi  a0, a0, 1
        0x8000_0337,               //        lui   t1, 0x80000     (sign-extended; see below)
        0x0203_1313,               //        slli  t1, t1, 32
        0x0203_5313,               //        srli  t1, t1, 32
        0x00a3_3823 | 0x7e00_0000, // sd a0, 0x7f0(t1)
        0xfe55_46e3,               //        blt   a0, t0, loop
        0xf140_2373,               //        csrr  t1, mhartid
        0x0003_1a63,               //        bnez  t1, wait
        0x0010_03b7,               //        lui   t2, 0x100       (the finisher)
        0x0000_5e37,               //        lui   t3, 5
        0x555e_0e13,               //        addi  t3, t3, 0x555
        0x01c3_a023,               //        sw    t3, 0(t2)
    ];
    let wait = [
        0x1050_0073_u32, // wait: wfi
        0xffdf_f06f,     //       j   wait
    ];
    words
        .iter()
        .chain(&wait)
        .flat_map(|word| word.to_le_bytes())
        .collect()
}

fn board(harts: usize) -> Board {
    board_in_turns(harts, 100)
}

fn board_in_turns(harts: usize, quantum: u64) -> Board {
    let profile = Profile::named("soc").expect("a profile");
    let options = setup::Options {
        harts: Some(harts),
        memory: Some(1 << 20),
        quantum: Some(quantum),
        ..Default::default()
    };
    let (mut board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
    board.write(BASE, &program()).expect("memory");
    (0..harts).for_each(|hart| board.set_pc(hart, BASE));
    board
}

fn board_at(harts: usize, pace: Pace) -> Board {
    let mut board = board(harts);
    board.set_pace(pace);
    board
}

/// The runs that are compared with and without a debugger.
const RUNS: [(usize, Pace); 4] = [
    (1, Pace::Fast),
    (3, Pace::Fast),
    (1, Pace::Timed),
    (3, Pace::Timed),
];

/// The hash and end of a run without a debugger.
fn plain(harts: usize) -> (u64, u64) {
    plain_at(harts, Pace::Fast)
}

fn plain_at(harts: usize, pace: Pace) -> (u64, u64) {
    let mut board = board_at(harts, pace);
    assert_eq!(
        board.run(Femtoseconds::SECOND),
        Outcome::Stop(Stop::PowerOff)
    );
    (board.trace_hash(), board.cycle(0))
}

/// The other end of the wire.
struct Client(TcpStream);

impl Client {
    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.0.read_exact(&mut byte).expect("an answer");
        byte[0]
    }

    fn send(&mut self, packet: &str) {
        let sum = packet
            .bytes()
            .fold(0_u8, |sum, byte| sum.wrapping_add(byte));
        self.0
            .write_all(format!("${packet}#{sum:02x}").as_bytes())
            .expect("a connection");
    }

    /// The next packet, with runs of equal characters expanded.
    fn receive(&mut self) -> String {
        while self.byte() != b'$' {}
        self.receive_body()
    }

    /// The same behind its `$`.
    fn receive_body(&mut self) -> String {
        let mut text = String::new();
        loop {
            match self.byte() {
                b'#' => break,
                b'*' => {
                    let count = self.byte() - 29;
                    let last = text.chars().last().expect("a character to repeat");
                    text.extend(std::iter::repeat_n(last, count.into()));
                }
                byte => text.push(byte.into()),
            }
        }
        // The checksum is right: the connection is sound.
        let _ = [self.byte(), self.byte()];
        self.0.write_all(b"+").expect("a connection");
        text
    }

    fn ask(&mut self, packet: &str) -> String {
        self.send(packet);
        self.receive()
    }

    /// The answer to bytes as they are: a packet, or `-`.
    fn ask_raw(&mut self, bytes: &[u8]) -> String {
        self.0.write_all(bytes).expect("a connection");
        match self.byte() {
            b'-' => "-".to_owned(),
            b'$' => self.receive_body(),
            _ => self.receive(),
        }
    }

    /// A doubleword register of the current thread.
    fn register(&mut self, number: usize) -> u64 {
        let text = self.ask(&format!("p{number:x}"));
        text.parse::<Hex>().expect("a register").0
    }
}

/// Little-endian bytes in hexadecimal.
struct Hex(u64);

impl std::str::FromStr for Hex {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(|value| Self(value.swap_bytes() >> (64 - 4 * text.len())))
    }
}

/// Runs a board under the client's debugging.
fn session<T: Send>(board: &mut Board, client: impl FnOnce(Client) -> T + Send) -> (End, T) {
    let listener = gdb::listen(0).expect("a port");
    let port = listener.local_addr().expect("a port").port();
    std::thread::scope(|scope| {
        let client = scope.spawn(move || {
            let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
            stream.set_nodelay(true).expect("an option");
            client(Client(stream))
        });
        let end = gdb::serve(
            board,
            listener,
            &Options {
                wait: true,
                limit: Femtoseconds::SECOND,
            },
        )
        .expect("a session");
        (end, client.join().expect("a client"))
    })
}

const POWER_OFF: End = End::Run(Outcome::Stop(Stop::PowerOff));

#[test]
fn a_run_that_is_only_watched_is_the_same_run() {
    for (harts, pace) in RUNS {
        let mut board = board_at(harts, pace);
        let (end, ()) = session(&mut board, |mut client| {
            assert!(
                client
                    .ask("qSupported:swbreak+;hwbreak+")
                    .contains("hwbreak+")
            );
            assert_eq!(client.ask("qfThreadInfo").matches(',').count() + 1, harts);
            assert!(client.ask("g").len() == 33 * 16);
            assert_eq!(client.ask("m80000000,4"), "13050000");
            assert_eq!(client.ask("vCont;c"), "W00");
        });
        assert_eq!(end, POWER_OFF);
        assert_eq!(
            (board.trace_hash(), board.cycle(0)),
            plain_at(harts, pace),
            "{harts} {pace:?}"
        );
    }
}

#[test]
fn breakpoints_stop_where_they_stand_and_change_neither_memory_nor_the_run() {
    for (harts, pace) in RUNS {
        for kind in [0, 1] {
            let mut board = board_at(harts, pace);
            let (end, ()) = session(&mut board, |mut client| {
                assert_eq!(client.ask(&format!("Z{kind},{LOOP:x},4")), "OK");
                assert_eq!(client.ask("m80000008,4"), "13051500");
                let word = if kind == 0 { "swbreak" } else { "hwbreak" };
                let mut seen = vec![0; harts];
                for _ in 0..10 * harts {
                    let stop = client.ask("vCont;c");
                    assert!(stop.starts_with("T05") && stop.contains(word), "{stop}");
                    let thread = stop.split("thread:").nth(1).expect("a thread");
                    let hart: usize = thread
                        .split(';')
                        .next()
                        .and_then(|text| text.parse().ok())
                        .expect("a number");
                    assert_eq!(client.ask(&format!("Hg{hart}")), "OK");
                    assert_eq!(client.register(32), LOOP);
                    assert_eq!(client.register(10), seen[hart - 1]);
                    seen[hart - 1] += 1;
                }
                assert_eq!(client.ask(&format!("z{kind},{LOOP:x},4")), "OK");
                assert_eq!(client.ask("vCont;c"), "W00");
            });
            assert_eq!(end, POWER_OFF);
            assert_eq!(
                (board.trace_hash(), board.cycle(0)),
                plain_at(harts, pace),
                "{harts} {pace:?}"
            );
        }
    }
}

#[test]
fn a_breakpoint_stops_again_when_the_hart_was_stepped_past_it() {
    let mut board = board(1);
    session(&mut board, |mut client| {
        assert_eq!(client.ask(&format!("Z0,{LOOP:x},4")), "OK");
        assert!(client.ask("vCont;c").contains("swbreak"));
        // As gdb does it: remove the breakpoint, step, insert it again, continue.
        for turn in 1..5 {
            assert_eq!(client.ask(&format!("z0,{LOOP:x},4")), "OK");
            assert!(client.ask("vCont;s:1").starts_with("T05"));
            assert_eq!(client.ask(&format!("Z0,{LOOP:x},4")), "OK");
            assert!(client.ask("vCont;c").contains("swbreak"));
            assert_eq!(client.register(10), turn);
        }
        client.send("k");
    });
}

#[test]
fn watchpoints_stop_behind_the_access_and_do_not_change_the_run() {
    for (harts, pace) in RUNS {
        let mut board = board_at(harts, pace);
        let (end, ()) = session(&mut board, |mut client| {
            // Four bytes in the middle of the doubleword that is stored, and bytes elsewhere.
            assert_eq!(client.ask("Z2,800007f2,4"), "OK");
            assert_eq!(client.ask("Z2,800007f8,8"), "OK");
            assert_eq!(client.ask("Z3,800007f0,8"), "OK");
            for _ in 0..5 * harts {
                let stop = client.ask("vCont;c");
                assert!(
                    stop.contains("watch:800007f2;") && !stop.contains("rwatch"),
                    "{stop}"
                );
                let thread = stop
                    .split("thread:")
                    .nth(1)
                    .and_then(|rest| rest.split(';').next())
                    .expect("a thread");
                assert_eq!(client.ask(&format!("Hg{thread}")), "OK");
                assert_eq!(client.register(32), LOOP + 20);
                let value = client.ask("m800007f0,8").parse::<Hex>().expect("a value").0;
                assert_eq!(client.register(10), value);
            }
            assert_eq!(client.ask("z2,800007f2,4"), "OK");
            assert_eq!(client.ask("z2,800007f2,4"), "E16");
            assert_eq!(client.ask("vCont;c"), "W00");
        });
        assert_eq!(end, POWER_OFF);
        assert_eq!(
            (board.trace_hash(), board.cycle(0)),
            plain_at(harts, pace),
            "{harts} {pace:?}"
        );
    }
}

#[test]
fn loads_and_atomics_are_watched_too() {
    let mut board = board(1);
    // lui t1, 0x80000; slli t1, t1, 32; srli t1, t1, 32; lw a0, 0x100(t1); addi t1, t1, 0x100; amoadd.w a1, a0, (t1);
    // lr.w a2, (t1); sc.w a3, a0, (t1); j .
    let code: [u32; 9] = [
        0x8000_0337,
        0x0203_1313,
        0x0203_5313,
        0x1003_2503,
        0x1003_0313,
        0x00a3_25af,
        0x1003_262f,
        0x18a3_26af,
        0x6f,
    ];
    board
        .write(BASE, &code.map(u32::to_le_bytes).concat())
        .expect("memory");
    board.watch(BASE + 0x100, 4, Watch::Accesses);
    for (write, pc) in [(false, 16), (true, 24), (false, 28), (true, 32)] {
        let outcome = board.run(Femtoseconds::SECOND);
        assert_eq!(
            outcome,
            Outcome::Watchpoint {
                hart: 0,
                address: BASE + 0x100,
                write
            }
        );
        assert_eq!(board.pc(0), BASE + pc);
    }
    assert!(board.unwatch(BASE + 0x100, 4, Watch::Accesses));
    assert_eq!(board.run(board.clock().time_of(100)), Outcome::Limit);
}

#[test]
fn a_step_is_one_instruction_and_others_stand_still_if_they_are_told_nothing() {
    let mut board = board(2);
    let (end, ()) = session(&mut board, |mut client| {
        for step in 1..=3 {
            assert!(client.ask("vCont;s:1").contains("thread:01;"));
            assert_eq!(client.register(32), BASE + 4 * step);
        }
        assert_eq!(client.ask("Hg2"), "OK");
        assert_eq!(client.register(32), BASE);
        // Now the others run as well, until the stepped hart is at its address.
        assert!(client.ask("vCont;s:1;c").contains("thread:01;"));
        assert_eq!(client.ask("Hg2"), "OK");
        assert!(client.register(32) > BASE);
        // A range is stepped through at once, including its loop.
        assert_eq!(client.ask("Hg1"), "OK");
        assert!(
            client
                .ask(&format!("vCont;r{LOOP:x},{:x}:1", LOOP + 24))
                .contains("thread:01;")
        );
        assert_eq!(
            (client.register(32), client.register(10)),
            (LOOP + 24, 4096)
        );
        client.send("k");
    });
    assert_eq!(end, End::Killed);
}

#[test]
fn registers_and_memory_are_written() {
    let mut board = board(2);
    session(&mut board, |mut client| {
        assert_eq!(client.ask("Hg2"), "OK");
        assert_eq!(client.ask("P5=efbeadde00000000"), "OK");
        assert_eq!(client.register(5), 0xdead_beef);
        // f3, with floating point on.
        assert_eq!(
            client.ask(&format!("P{:x}=0060000000000000", 65 + 0x300)),
            "OK"
        );
        assert_eq!(client.register(65 + 0x300) & 0x6000, 0x6000);
        assert_eq!(client.ask(&format!("P{:x}=000000000000f03f", 33 + 3)), "OK");
        assert_eq!(client.register(33 + 3), 1.0_f64.to_bits());
        // Privilege and virtualization.
        assert_eq!(client.ask(&format!("p{:x}", 4161)), "03");
        assert_eq!(client.ask(&format!("P{:x}=01", 4161)), "OK");
        assert_eq!(client.ask(&format!("P{:x}=01", 4162)), "OK");
        assert_eq!(client.ask(&format!("p{:x}", 4162)), "01");
        assert_eq!(client.ask(&format!("P{:x}=02", 4161)), "E16");
        // A read-only CSR, and one that does not exist.
        assert_eq!(
            client.ask(&format!("P{:x}=0000000000000000", 65 + 0xf14)),
            "E16"
        );
        assert_eq!(
            client.ask(&format!("p{:x}", 65 + 0x8ff)),
            "xxxxxxxxxxxxxxxx"
        );
        // Memory, and an address without memory.
        assert_eq!(client.ask("M80000100,4:01020304"), "OK");
        assert_eq!(client.ask("m80000100,4"), "01020304");
        assert_eq!(client.ask("m0,4"), "E0e");
        assert_eq!(client.ask("m800ffff8,10"), "0000000000000000");
        assert_eq!(client.ask("mfffffffffffffff8,10"), "E0e");
        assert_eq!(client.ask("Hg9"), "OK");
        assert_eq!(client.ask("g"), "E03");
        client.send("k");
    });
    assert_eq!(board.x(1, 5), 0xdead_beef);
}

#[test]
fn memory_is_the_harts_own_and_physical_on_demand() {
    let mut board = board(1);
    // Sv39, with all permitted by PMP: a gigapage maps 0x4000_0000 to memory; its A bit is clear, and S has no access.
    let root = BASE + 0x1_0000;
    board
        .write(root + 8, &(0x8000_0000_u64 >> 2 | 0b1_1001).to_le_bytes())
        .expect("memory");
    for (number, value) in [
        (0x3b0, u64::MAX),
        (0x3a0, 0x1f),
        (0x180, 8 << 60 | root >> 12),
    ] {
        board.set_csr(0, number, value).expect("a CSR");
    }
    session(&mut board, |mut client| {
        assert_eq!(client.ask("m80000008,4"), "13051500");
        assert_eq!(client.ask(&format!("P{:x}=01", 4161)), "OK");
        assert_eq!(client.ask("m80000008,4"), "E0e");
        assert_eq!(client.ask("m40000008,4"), "13051500");
        assert_eq!(client.ask("M40000100,2:abcd"), "OK");
        let monitor = |client: &mut Client, command: &str| {
            let hex: String = command.bytes().map(|byte| format!("{byte:02x}")).collect();
            client.send(&format!("qRcmd,{hex}"));
            let mut text = String::new();
            loop {
                let part = client.receive();
                let Some(part) = part.strip_prefix('O').filter(|part| *part != "K") else {
                    return text;
                };
                let bytes = (0..part.len() / 2)
                    .map(|at| u8::from_str_radix(&part[2 * at..][..2], 16).expect("hex"));
                text.push_str(&String::from_utf8(bytes.collect()).expect("text"));
            }
        };
        assert_eq!(monitor(&mut client, "translate 0x40000100"), "0x80000100\n");
        assert_eq!(
            monitor(&mut client, "translate 80000100"),
            "hart 0 has nothing at 0x80000100\n"
        );
        assert_eq!(monitor(&mut client, "physical on"), "");
        assert_eq!(client.ask("m80000100,2"), "abcd");
        assert_eq!(client.ask("m40000100,2"), "E0e");
        assert!(
            monitor(&mut client, "harts")
                .contains("HS-mode, pc 0x80000000, cycle 0, 0 instructions")
        );
        assert!(monitor(&mut client, "devices").contains("finisher"));
        assert!(monitor(&mut client, "time").starts_with("0.000000000000000 s, trace "));
        assert!(monitor(&mut client, "nonsense").starts_with("no such command"));
        client.send("k");
    });
    // Debugger accesses have not marked the entry.
    let mut entry = [0; 8];
    board.memory().read(root + 8, &mut entry).expect("memory");
    assert_eq!(entry[0], 0b1_1001);
}

#[test]
fn the_run_continues_after_interrupt_and_detach() {
    let mut board = board(1);
    // j . in place of the loop's beginning: the loop never ends.
    board.write(LOOP, &0x6f_u32.to_le_bytes()).expect("memory");
    let (end, ()) = session(&mut board, |mut client| {
        client.send("vCont;c");
        client.0.write_all(&[3]).expect("a connection");
        assert!(client.receive().starts_with("T02"));
        assert_eq!(client.register(32), LOOP);
        assert_eq!(client.ask("M80000008,4:13051500"), "OK");
        assert_eq!(client.ask(&format!("Z0,{LOOP:x},4")), "OK");
        assert_eq!(client.ask("D"), "OK");
    });
    assert_eq!(end, POWER_OFF);
    assert!(!board.stops_at(LOOP));
}

/// Malformed packets that end with their checksum, with the answer to each while the board is stopped.
const MALFORMED: [(&[u8], &str); 62] = [
    // Packets that are not known, the empty one among them.
    (b"", ""),
    (b"\xff\x80", ""),
    (b"qUnknown", ""),
    (b"qSupportedly", ""),
    (b"vMustReplyEmpty", ""),
    (b"zz", "E16"),
    // No hexadecimal number where one must be, or too long a one.
    (b"mzz,4", "E16"),
    (b"m80000000", "E16"),
    (b"m80000000,zz", "E16"),
    (b"m80000000,-4", "E16"),
    (b"m80000000,fffffffffffffffff", "E16"),
    (b"m8000\x030000,4", "E16"),
    (b"m,", "E16"),
    (b"M80000100", "E16"),
    (b"M80000100,4:0", "E16"),
    (b"M80000100,1:0102", "E16"),
    (b"M80000100,2:xyzw", "E16"),
    (b"M800ffffe,4:01020304", "E0e"),
    (b"Mfffffffffffffffffffff,1:01", "E16"),
    (b"pzz", "E16"),
    (b"P", "E16"),
    (b"P5", "E16"),
    (b"P5=", "E16"),
    (b"P5=ef", "E16"),
    (b"P5=zzzzzzzzzzzzzzzz", "E16"),
    (b"P5=00112233445566778899", "E16"),
    (b"G", "E16"),
    (b"G00", "E16"),
    (b"Gzz", "E16"),
    (b"Hgq", "E16"),
    (b"Hg", "E16"),
    (b"Hx1", "E16"),
    (b"T", "E16"),
    (b"Z0", "E16"),
    (b"Z0,zz,4", "E16"),
    (b"z1,80000008", "E16"),
    (b"qXfer:features:read:target.xml:0", "E16"),
    (b"qXfer:features:read:target.xml:zz,10", "E16"),
    (b"qRcmd,zz", "E16"),
    // Actions that are not known, or of threads that there are not.
    (b"vCont", "E16"),
    (b"vCont;", "E16"),
    (b"vCont;x", "E16"),
    (b"vCont;c;", "E16"),
    (b"vCont;t", "E16"),
    (b"vCont;r1:1", "E16"),
    (b"vCont;Szz:1", "E16"),
    (b"vContinue", "E16"),
    (b"vCont;s:zz", "E03"),
    (b"vCont;c:9", "E03"),
    (b"vCont;c:p9.1", "E03"),
    (b"czz", "E16"),
    // Binary data that are shorter or longer than they say, or end within an escape.
    (b"X80000100,4:ab", "E16"),
    (b"X80000100,1:ab", "E16"),
    (b"X80000100,1:}", "E16"),
    (b"X80000100:a", "E16"),
    (b"Xzz,1:\xff", "E16"),
    // Packets that would end the session, malformed.
    (b"kill", "E16"),
    (b"Dx", "E16"),
    (b"D;zz", "E16"),
    (b"D\xff", "E16"),
    (b"vKill", "E16"),
    (b"vKill;zz", "E16"),
];

/// Bytes that are no packet, or a damaged one, with the answer to each.
fn damaged() -> Vec<(Vec<u8>, &'static str)> {
    let long = [b"m", "0".repeat(4_100).as_bytes()].concat();
    let mut damaged: Vec<(Vec<u8>, _)> = [
        b"$g#00".as_slice(),
        b"$g#zz",
        b"$g#\xff\xff",
        b"$m80000000,4#\x03\x03",
        // An interrupt's byte in the middle, which the checksum does not count.
        b"$m8000\x030000,4#8d",
        b"$X80000100,1:}#00",
    ]
    .map(|bytes| (bytes.to_vec(), "-"))
    .into();
    damaged.push(([b"$", long.as_slice(), b"#00"].concat(), "-"));
    damaged.push((packet(&long), "E16"));
    damaged
}

/// Bytes that are not answered, and that the next good packet is read behind.
const UNANSWERED: [&[u8]; 8] = [
    b"noise between packets",
    b"++++\x00\xff\x80",
    b"#67#67",
    b"$",
    b"$m8000",
    b"$m80000000,4#",
    b"$m80000000,4#8",
    b"$X80000100,4:}",
];

#[test]
fn malformed_packets_are_answered_and_change_nothing() {
    for acknowledged in [true, false] {
        let mut board = board(2);
        let (end, ()) = session(&mut board, |mut client| {
            client.ask("qSupported:swbreak+;hwbreak+");
            if !acknowledged {
                assert_eq!(client.ask("QStartNoAckMode"), "OK");
            }
            assert_eq!(client.ask("Hg2"), "OK");
            let mut try_raw = |bytes: &[u8], expected: &str| {
                let shown = bytes[..bytes.len().min(40)].escape_ascii();
                assert_eq!(client.ask_raw(bytes), expected, "{shown}");
                // The thread that was chosen before is in effect.
                assert_eq!(client.register(65 + 0xf14), 1, "{shown}");
            };
            for (body, expected) in MALFORMED {
                try_raw(&packet(body), expected);
            }
            for (bytes, expected) in damaged() {
                // Without acknowledgements nothing is requested again.
                let refused = expected == "-" && !acknowledged;
                try_raw(&bytes, if refused { "E16" } else { expected });
            }
            for bytes in UNANSWERED {
                try_raw(&[bytes, &packet(b"m80000000,4")].concat(), "13050000");
            }
            assert_eq!(client.ask("vCont;c"), "W00");
        });
        assert_eq!(end, POWER_OFF);
        assert_eq!((board.trace_hash(), board.cycle(0)), plain(2));
    }
}

#[test]
fn malformed_packets_to_a_running_board_are_answered_and_do_not_stop_it() {
    // Short turns: the board looks at the wire after a number of them.
    let mut board = board_in_turns(2, 1);
    // j . in place of the loop's beginning: the loop never ends.
    board.write(LOOP, &0x6f_u32.to_le_bytes()).expect("memory");
    let (end, ()) = session(&mut board, |mut client| {
        let interrupt = |client: &mut Client| {
            client.0.write_all(&[3]).expect("a connection");
            assert!(client.receive().starts_with("T02"));
            assert_eq!(client.register(32), LOOP);
        };
        client.send("vCont;c");
        assert_eq!(client.byte(), b'+');
        for (body, stopped) in MALFORMED {
            let ends = [b"k".as_slice(), b"D", b"vKill"]
                .iter()
                .any(|end| body.starts_with(end));
            let expected = if ends { stopped } else { "E10" };
            assert_eq!(
                client.ask_raw(&packet(body)),
                expected,
                "{}",
                body.escape_ascii()
            );
        }
        for (bytes, expected) in damaged() {
            assert_eq!(client.ask_raw(&bytes), expected);
        }
        for bytes in UNANSWERED {
            let answer = client.ask_raw(&[bytes, &packet(b"g")].concat());
            assert_eq!(answer, "E10", "{}", bytes.escape_ascii());
        }
        interrupt(&mut client);
        assert_eq!(client.ask("k;"), "E16");
        client.send("vCont;c");
        interrupt(&mut client);
        assert_eq!(client.ask("M80000008,4:13051500"), "OK");
        assert_eq!(client.ask("vCont;c"), "W00");
    });
    assert_eq!(end, POWER_OFF);
}

#[test]
fn a_refused_packet_takes_nothing_back_that_was_set() {
    let mut board = board(2);
    let (end, ()) = session(&mut board, |mut client| {
        for features in ["qSupported", "qSupported:", "qSupported:;;swbreak+;"] {
            assert!(client.ask(features).contains("PacketSize="), "{features}");
            assert_eq!(client.ask("mzz,4"), "E16", "{features}");
        }
        assert_eq!(client.ask(&format!("Z1,{:x},4", LOOP)), "OK");
        // The thread of `s`.
        assert_eq!(client.ask("Hc2"), "OK");
        assert_eq!(client.ask("mzz,4"), "E16");
        assert!(client.ask("s").contains("thread:02;"));
        // An interrupt of a stopped board, which takes effect at the next `vCont`.
        client.0.write_all(&[3]).expect("a connection");
        assert_eq!(client.ask("mzz,4"), "E16");
        assert_eq!(client.ask("vCont;x"), "E16");
        assert!(client.ask("vCont;c").starts_with("T02"));
        assert!(client.ask("vCont;c").contains("hwbreak"));
        assert_eq!(client.ask(&format!("z1,{:x},4", LOOP)), "OK");
        assert_eq!(client.ask("mzz,4"), "E16");
        // No more of a long read than an answer has room for.
        assert_eq!(client.ask("m80000000,100000").len(), 4092);
        assert_eq!(client.ask("vCont;c"), "W00");
    });
    assert_eq!(end, POWER_OFF);
}

/// The address of the guests' loop.
const GUEST_LOOP: u64 = BASE + 0x10;
/// The loop's `ecall`, which the jump back follows.
const GUEST_CALL: u64 = BASE + 0x18;

/// A board with one hart and two guests with equal addresses, which call M-mode by turns for 1000 rounds of the loop.
///
/// Each call lets the other guest continue. The first has VMID 5, the second VMID 9.
fn two_guests() -> Board {
    let profile = Profile::named("soc").expect("a profile");
    let options = setup::Options {
        harts: Some(1),
        memory: Some(8 << 20),
        ..Default::default()
    };
    let (mut board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
    let guest: [u32; 8] = [
        0x0000_0513, //       li    a0, 0
        0x8000_0337, //       lui   t1, 0x80000
        0x0203_1313, //       slli  t1, t1, 32
        0x0203_5313, //       srli  t1, t1, 32
        0x0015_0513, // loop: addi  a0, a0, 1
        0x7ea3_3823, //       sd    a0, 0x7f0(t1)
        0x0000_0073, //       ecall
        0xff5f_f06f, //       j     loop
    ];
    let machine: [u32; 14] = [
        0x3e80_0293, //      li     t0, 1000
        0x0255_5263, //      bge    a0, t0, off
        0x6800_2f73, //      csrr   t5, hgatp
        0x340f_1f73, //      csrrw  t5, mscratch, t5
        0x680f_1073, //      csrw   hgatp, t5
        0x6200_0073, //      hfence.gvma
        0x3410_2f73, //      csrr   t5, mepc
        0x004f_0f13, //      addi   t5, t5, 4
        0x341f_1073, //      csrw   mepc, t5
        0x3020_0073, //      mret
        0x0010_03b7, // off: lui    t2, 0x100
        0x0000_5e37, //      lui    t3, 5
        0x555e_0e13, //      addi   t3, t3, 0x555
        0x01c3_a023, //      sw     t3, 0(t2)
    ];
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut write = |address: u64, bytes: Vec<u8>| board.write(address, &bytes).expect("memory");
    write(BASE + 0x1000, bytes(&machine));
    let mut roots = Vec::new();
    for (vmid, tables, memory) in [
        (5, BASE + 0x1_0000, BASE + 0x20_0000),
        (9, BASE + 0x1_8000, BASE + 0x40_0000),
    ] {
        let leaves = tables + 0x4000;
        write(tables + 16, (leaves >> 2 | 1).to_le_bytes().to_vec());
        write(leaves, (memory >> 2 | 0xdf).to_le_bytes().to_vec());
        write(memory, bytes(&guest));
        roots.push(8 << 60 | vmid << 44 | tables >> 12);
    }
    let registers = [
        (0x3b0, u64::MAX),
        (0x3a0, 0x1f),
        (0x305, BASE + 0x1000),
        (0x680, roots[0]),
        (0x340, roots[1]),
    ];
    for (number, value) in registers {
        board.set_csr(0, number, value).expect("a CSR");
    }
    board.set_pc(0, BASE + 4);
    let mode = Mode {
        privilege: Privilege::Supervisor,
        v: true,
    };
    board.set_mode(0, mode);
    board
}

/// A server that distinguishes the two guests.
fn server_of_two() -> (Server, u16) {
    let listener = gdb::listen(0).expect("a port");
    let port = listener.local_addr().expect("a port").port();
    let guest = |vmid, name: &str| Guest {
        vmid,
        name: name.to_owned(),
    };
    let server = Server::new(listener, true).expect("a server");
    (
        server.guests(vec![guest(5, "first"), guest(9, "second")]),
        port,
    )
}

fn session_of_two<T: Send>(client: impl FnOnce(Client) -> T + Send) -> (Board, End, T) {
    let mut board = two_guests();
    let (mut server, port) = server_of_two();
    std::thread::scope(|scope| {
        let client = scope.spawn(move || {
            let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
            let mut client_end = Client(stream);
            let supported = client_end.ask("qSupported:multiprocess+;swbreak+;hwbreak+");
            assert!(supported.contains("multiprocess+"));
            client(client_end)
        });
        let end = server.run(&mut board, Femtoseconds::SECOND).expect("a run");
        server.finish(&mut board, &end);
        (board, end, client.join().expect("a client"))
    })
}

#[test]
fn each_guest_is_a_process_with_breakpoints_and_memory_of_its_own() {
    let mut alone = two_guests();
    assert_eq!(
        alone.run(Femtoseconds::SECOND),
        Outcome::Stop(Stop::PowerOff)
    );
    let (board, end, ()) = session_of_two(|mut client| {
        assert_eq!(client.ask("qfThreadInfo"), "mp1.1,p2.1,p3.1");
        assert_eq!(client.ask("?"), "T05thread:p1.1;");
        // A breakpoint of the second guest alone, at an address where the first one has code, too.
        assert_eq!(client.ask("Hgp3.1"), "OK");
        assert_eq!(client.ask("m80000010,4"), "E0e", "it has not run yet");
        assert_eq!(client.ask(&format!("Z0,{GUEST_LOOP:x},4")), "OK");
        for turn in 0..3 {
            assert_eq!(client.ask("vCont;c"), "T05thread:p3.1;swbreak:;");
            // The first guest counts the odd numbers, and the second the even ones.
            assert_eq!(client.register(10), 1 + 2 * turn);
            assert_eq!(client.register(32), GUEST_LOOP);
        }
        assert_eq!(client.ask(&format!("z0,{GUEST_LOOP:x},4")), "OK");
        // The memory of each guest at the same address; the server remembers the first guest's page tables.
        let at = "m800007f0,8";
        assert_eq!(client.ask(at).parse::<Hex>().expect("memory").0, 4);
        assert_eq!(client.ask("Hgp2.1"), "OK");
        assert_eq!(client.ask(at).parse::<Hex>().expect("memory").0, 5);
        assert_eq!(client.register(10), 0, "it is not on the hart");
        assert_eq!(client.ask("Pa=0100000000000000"), "E03");
        // A watchpoint of the first guest, and a breakpoint of M-mode.
        assert_eq!(client.ask("Z2,800007f0,8"), "OK");
        assert_eq!(client.ask("Hgp1.1"), "OK");
        assert_eq!(client.ask(&format!("Z1,{:x},4", BASE + 0x1000)), "OK");
        assert_eq!(client.ask("vCont;c"), "T05thread:p1.1;hwbreak:;");
        assert_eq!(client.ask(&format!("z1,{:x},4", BASE + 0x1000)), "OK");
        assert!(
            client
                .ask("vCont;c")
                .starts_with("T05thread:p2.1;watch:800007f0;")
        );
        assert_eq!(client.ask("Hgp2.1"), "OK");
        assert_eq!(client.ask("z2,800007f0,8"), "OK");
        assert_eq!(
            client.ask("qThreadExtraInfo,p3.1"),
            text_hex("second, not on hart 0")
        );
        assert_eq!(
            client.ask("qThreadExtraInfo,p2.1"),
            text_hex("first, hart 0: VS-mode")
        );
        assert_eq!(client.ask("vCont;c"), "W00;process:2");
    });
    assert_eq!(end, POWER_OFF);
    // The debugger has not changed the run.
    assert_eq!(board.trace_hash(), alone.trace_hash());
}

fn text_hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_step_over_a_call_of_the_hypervisor_ends_in_the_same_guest() {
    session_of_two(|mut client| {
        assert_eq!(client.ask("Hgp2.1"), "OK");
        assert_eq!(client.ask(&format!("Z0,{GUEST_CALL:x},4")), "OK");
        assert!(client.ask("vCont;c").starts_with("T05thread:p2.1;swbreak"));
        assert_eq!(client.register(10), 1);
        assert_eq!(client.ask(&format!("z0,{GUEST_CALL:x},4")), "OK");
        assert_eq!(client.ask("vCont;s:p2.1;c"), "T05thread:p2.1;");
        // The second guest ran meanwhile.
        assert_eq!(
            (client.register(32), client.register(10)),
            (GUEST_CALL + 4, 2)
        );
        assert_eq!(client.ask("vCont;s:p2.1"), "T05thread:p2.1;");
        assert_eq!(client.register(32), GUEST_LOOP);
        // The second guest's thread steps as soon as that guest is on the hart.
        assert_eq!(client.ask("vCont;s:p3.1;c"), "T05thread:p3.1;");
        client.send("k");
    });
}

#[test]
fn gdb_detaches_from_one_guest_and_keeps_the_others() {
    let (_, end, ()) = session_of_two(|mut client| {
        assert_eq!(client.ask("D;3"), "OK");
        assert_eq!(client.ask("qfThreadInfo"), "mp1.1,p2.1");
        assert_eq!(client.ask("Hgp3.1"), "E03");
        assert_eq!(client.ask("D;1"), "OK");
        assert_eq!(client.ask("D;2"), "OK");
    });
    assert_eq!(end, POWER_OFF);
}

#[test]
fn a_run_in_pieces_returns_stops_of_the_caller() {
    let mut board = board(1);
    board.stop_at(LOOP + 4);
    let listener = gdb::listen(0).expect("a port");
    let port = listener.local_addr().expect("a port").port();
    let client = std::thread::spawn(move || {
        let mut client = Client(TcpStream::connect(("127.0.0.1", port)).expect("a connection"));
        assert_eq!(client.ask(&format!("Z0,{LOOP:x},4")), "OK");
        assert!(client.ask("vCont;c").contains("swbreak"));
        client.ask("vCont;c")
    });
    let mut server = Server::new(listener, true).expect("a server");
    let end = server.run(&mut board, Femtoseconds::SECOND).expect("a run");
    assert_eq!(
        end,
        End::Run(Outcome::Breakpoint {
            hart: 0,
            pc: LOOP + 4
        })
    );
    assert!(server.is_attached());
    // The stop is not gdb's; gdb gets the board's next state in the next round.
    let limit = board.clock().time_of(board.cycle(0) + 3);
    assert_eq!(
        server.run(&mut board, limit).expect("a run"),
        End::Run(Outcome::Limit)
    );
    server.finish(&mut board, &End::Run(Outcome::Limit));
    assert_eq!(client.join().expect("a client"), "X18");
    assert!(board.stops_at(LOOP + 4) && !board.stops_at(LOOP));
}

/// Runs a board with one guest, which has a process of its own, under a server that receives `bytes`.
fn take(bytes: impl IntoIterator<Item = u8>) -> Vec<u8> {
    gdb_harness::take(board(2), 1, bytes.into_iter().collect())
}

fn packet(body: &[u8]) -> Vec<u8> {
    gdb_harness::packet(body)
}

#[test]
fn the_saved_inputs_of_the_fuzzer_are_taken() {
    let corpus =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/gdb_packets");
    let mut count = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus") {
        gdb_harness::try_lines(&std::fs::read(entry.expect("an entry").path()).expect("a file"));
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn the_wire_in_memory_is_answered() {
    let answers = take(packet(b"m80000000,4"));
    assert!(
        String::from_utf8_lossy(&answers).contains("13050"),
        "{answers:?}"
    );
}

/// A thread's number may have leading zeros, and may be no thread's.
#[test]
fn any_number_of_a_thread_is_answered() {
    for body in [
        "Hc00",
        "Hg00",
        "Hc-1",
        "Hc0002",
        "Hg0002",
        "Hcff",
        "Hg-1",
        "Hcffffffffffffffffff",
    ] {
        take(packet(body.as_bytes()));
        take(
            [
                packet(body.as_bytes()),
                packet(b"vCont;x"),
                packet(b"m80000000,4"),
            ]
            .concat(),
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        take(bytes);
    }

    #[test]
    fn no_packet_makes_it_panic(bodies in prop::collection::vec(
        prop_oneof![
            "[gGmMpPXzZHTsckDvq?][0-9a-fA-F,:;=p-]{0,24}",
            "m[0-9a-f]{1,16},[0-9a-f]{1,16}",
            "m(f{12,16}|8[0-9a-f]{7})[0-9a-f]{0,1},[0-9a-f]{1,5}",
            "M[0-9a-f]{1,16},[0-9a-f]{1,3}:([0-9a-f]{2}){0,16}",
            "[zZ][0-5],[0-9a-f]{1,16},[0-9a-f]{1,4}",
            "p[0-9a-f]{1,5}",
            "P[0-9a-f]{1,4}=([0-9a-f]{2}){0,10}",
            "H[gc](-1|[0-9]{1,2}|p[0-9]\\.[0-9])",
            "vCont;[cCsSrt][0-9a-f,]{0,12}(:[0-9p.-]{1,5})?(;c)?",
            "vCont;s:[12];c",
            "vCont;c:[12]",
            "vCont;r8000000[0-9],800000[0-9]{2}:[12]",
            "qXfer:features:read:(target.xml|x)?:[0-9a-f]{1,6},[0-9a-f]{1,6}",
            "qRcmd,([0-9a-f]{2}){0,12}",
            "qRcmd,7472616e736c61746520([0-9a-f]{2}){0,12}",
            "q(Supported|fThreadInfo|sThreadInfo|Attached|ThreadExtraInfo,[0-9p.]{1,5}|C)(:multiprocess\\+)?",
            "qSupported:multiprocess\\+",
            "H[gc]p(-1|[0-3])\\.(-1|[0-3])",
            "vCont;[cs]:p[0-3]\\.(-1|[0-3]);c",
            "(D|vKill);[0-3]",
        ], 1..12)) {
        take(bodies.iter().flat_map(|body| packet(body.as_bytes())));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is sent, a session of good packets works behind it.
    #[test]
    fn a_good_session_works_behind_whatever_was_sent(pieces in prop::collection::vec(
        prop_oneof![
            // Bytes that are no packet; packets with a body of any bytes; packets with a checksum of any.
            prop::collection::vec(any::<u8>(), 0..40),
            prop::collection::vec(any::<u8>(), 0..40)
                .prop_filter("it ends the session", |body| !matches!(body[..], [b'k' | b'D', ..]))
                .prop_map(|body| packet(&body)),
            ("([a-jl-zA-CE-Z?!,:;=][a-zA-Z0-9,:;=]{0,20})?", any::<u8>())
                .prop_map(|(body, sum)| format!("${body}#{sum:02x}").into_bytes()),
            // Packets of which a part is wrong.
            prop_oneof![
                "[mpTXqvsczZ?][0-9a-fA-F,:;=p-]{0,24}",
                "M8000010[0-9a-z]?,[0-9a-z]{1,2}:([0-9a-z]{2}){0,8}",
                "X8000010[0-9]?,[0-9a-z]:[a-z}]{0,8}",
                "vCont;[cCsSrtx][0-9a-z,]{0,4}(:[0-9p.-]{1,5})?(;[cx])?",
                "H[gcx](-1|[0-9a-z]{1,2})",
                "(k|D|vKill)[;a-z][g-z]{1,4}",
                "q(Supported|Rcmd|XThreadInfo|fThreadInfo)[:,;0-9a-z+]{0,12}",
            ].prop_map(|body| packet(body.as_bytes())),
            // Packets that were cut off, interrupts, acknowledgements.
            "[$][mMXgGv][0-9a-f,;]{0,12}(#[0-9a-f]?)?".prop_map(String::into_bytes),
            Just(vec![3]),
            "[+-]{1,3}".prop_map(String::into_bytes),
        ],
        0..16,
    )) {
        // Short turns: the board looks at the wire after a number of them.
        let mut board = board_in_turns(2, 1);
        // j . in place of the loop's beginning: the loop never ends.
        board.write(LOOP, &0x6f_u32.to_le_bytes()).expect("memory");
        let mut sent = pieces.concat();
        // Closes a packet that was left open, and stops the board if it runs.
        sent.extend([packet(b""), vec![3]].concat());
        for body in ["Hg1", "qfThreadInfo", "vCont?", "k"] {
            sent.extend(packet(body.as_bytes()));
        }
        let limit = Femtoseconds(3_600 * Femtoseconds::SECOND.0);
        let answers = gdb_harness::take_until(board, 0, sent.into(), &[limit]);
        let answers: Vec<u8> = answers.into_iter().filter(|byte| *byte != b'+').collect();
        let expected: Vec<u8> = ["OK", "m01,02", "vCont;c;C;s;S;r"]
            .iter()
            .flat_map(|body| packet(body.as_bytes()))
            .collect();
        prop_assert!(
            answers.ends_with(&expected),
            "{}\n{}", pieces.concat().escape_ascii(), answers.escape_ascii()
        );
    }
}

/// gdb's output for the commands.
fn gdb_says(board: &mut Board, commands: &[&str]) -> Option<(End, String)> {
    let name = ["gdb-multiarch", "riscv64-unknown-elf-gdb"]
        .into_iter()
        .find(|name| {
            Command::new(name)
                .arg("--version")
                .stdout(Stdio::null())
                .status()
                .is_ok()
        })?;
    let listener = gdb::listen(0).expect("a port");
    let port = listener.local_addr().expect("a port").port();
    let mut command = Command::new(name);
    command.args([
        "-nx",
        "-batch",
        "-ex",
        "set architecture riscv:rv64",
        "-ex",
        "set confirm off",
    ]);
    command.args(["-ex", &format!("target remote 127.0.0.1:{port}")]);
    for text in commands {
        command.args(["-ex", text]);
    }
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("gdb");
    let end = gdb::serve(
        board,
        listener,
        &Options {
            wait: true,
            limit: Femtoseconds::SECOND,
        },
    )
    .expect("a session");
    let output = child.wait_with_output().expect("gdb");
    let text = [output.stdout, output.stderr].concat();
    Some((end, String::from_utf8_lossy(&text).into_owned()))
}

#[test]
fn gdb_itself_finds_its_way() {
    let mut board = board(2);
    let commands = [
        "info threads",
        "break *0x80000008",
        "continue",
        "continue",
        "p/x $pc",
        "p $a0",
        "p/x $misa",
        "p/x $mhartid",
        "p $priv",
        "p $virt",
        "p/x $hgatp",
        "p $ft0",
        "x/2i $pc",
        "stepi",
        "p/x $pc",
        "monitor harts",
        "delete",
        "set scheduler-locking on",
        "stepi",
        "set scheduler-locking off",
        "info registers all",
        "watch *(long *) 0x800007f0",
        "continue",
        "p *(long *) 0x800007f0",
        "delete",
        "continue",
    ];
    let Some((end, text)) = gdb_says(&mut board, &commands) else {
        eprintln!("no gdb for RISC-V here: not tried");
        return;
    };
    assert_eq!(end, POWER_OFF, "{text}");
    for expected in [
        "hart 1: M-mode",
        "Breakpoint 1, 0x0000000080000008",
        "= 0x80000008",
        "= 0x800000000014",
        "prv:3 [Machine]",
        "a0,a0,1",
        "= 0x8000000c",
        "hart 0: M-mode, pc 0x8000000c",
        "mhpmcounter31",
        "Hardware watchpoint 2",
        "New value = 2",
        "exited normally",
    ] {
        assert!(text.contains(expected), "no {expected:?} in:\n{text}");
    }
    for unexpected in ["Cannot access", "Remote failure", "Error"] {
        assert!(!text.contains(unexpected), "{unexpected:?} in:\n{text}");
    }
}

#[test]
fn gdb_continues_past_breakpoints_without_disturbing_the_run() {
    for harts in [1, 3] {
        let mut board = board(harts);
        let commands = [
            "break *0x80000008",
            "continue",
            "continue",
            "continue",
            "continue",
            "delete",
            "continue",
        ];
        let Some((end, text)) = gdb_says(&mut board, &commands) else {
            return;
        };
        assert_eq!(end, POWER_OFF, "{text}");
        assert_eq!(
            (board.trace_hash(), board.cycle(0)),
            plain(harts),
            "{harts} harts: {text}"
        );
    }
}

#[test]
fn gdb_detaches_and_kills() {
    let mut board = board(2);
    if let Some((end, text)) = gdb_says(&mut board, &["break *0x80000008", "continue", "detach"]) {
        assert_eq!(end, POWER_OFF, "{text}");
        assert_eq!((board.trace_hash(), board.cycle(0)), plain(2));
    }
    let mut board = self::board(2);
    if let Some((end, text)) = gdb_says(&mut board, &["break *0x80000008", "continue", "kill"]) {
        assert_eq!(end, End::Killed, "{text}");
    }
}
