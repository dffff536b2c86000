//! The region allocator of the design `accelerators`: a program is hypervisor, device manager and two VMs.
//!
//! The four ways to a region, each from the request's store to the answer in the hart's cache, with no command of the
//! device manager: configured, direct, preempted, and preempted and configured. What is computed is right all the same.

use crate::BOTH;
use crate::accelerators::{
    BITSTREAM_ROOM, BITSTREAMS, COMPATIBILITY, Driver, MCYCLE, OTHER_VM, START, VM, bitstream,
    compute_both, device,
};
use crate::assembler::{S0, S1, T0, T1, T2};
use crate::support::GP;
use tactus_abi::bitstream::REGION_BYTES;

/// The hypervisor's page, and the device manager's.
const REQUEST: u32 = 0x5004;
const ANSWERS: u32 = 0x5008;
const STATE: u32 = 0x5010;
const IRQ_PENDING: u32 = 0x5018;
const CONTROL: u32 = 0x6004;
const LIMIT: u32 = 0x6008;
const TABLE_BITSTREAMS: u32 = 0x600c;
const ENTRIES: u32 = 0x6100;
const ASKED: u32 = 1 << 7;
/// Outcomes.
const CONNECTED: u32 = 1;
const PREPARING: u32 = 2;
/// The line of the answers.
const LINE: u32 = 0x8010_3000;
const THIRD_VM: u32 = 0x8038_0000;

/// Cycles of the hart from the request to its first answer and to the last, at the fast pace and at the timed one:
/// configured; direct; preempted; preempted and configured.
const ALLOCATED: [[[u64; 2]; 4]; 2] = [
    [[218, 54246], [149, 161], [125, 1129], [145, 55253]],
    [[321, 54457], [343, 449], [330, 1282], [266, 54948]],
];
/// The bound on the first answer, in cycles of the hart: what the hypervisor polls for.
const FIRST_MAX: u64 = 600;

impl Driver {
    /// What the hypervisor and the device manager set once: tasks 2 and 3 fit into region 0 alone.
    fn set_table(&mut self) {
        self.write(ANSWERS, LINE | 1);
        self.write(ANSWERS + 4, 0);
        self.write(COMPATIBILITY, 1 << 8 | 1 << 12);
        for (slot, task) in [2, 3].into_iter().enumerate() {
            let source = BITSTREAMS + slot as u32 * BITSTREAM_ROOM;
            self.write(ENTRIES + 32 * task, source);
            self.write(ENTRIES + 32 * task + 4, (REGION_BYTES[0] as u32) << 8);
        }
        for interface in 0..8 {
            self.write(ENTRIES + 4 * interface, 0);
        }
        self.write(TABLE_BITSTREAMS, 1 << 8 | 1 << 12);
        self.write(LIMIT, 2000);
        self.write(CONTROL, 1);
    }

    /// Waits for an answer of that outcome.
    fn until_answer(&mut self, interface: u32, tag: u32, outcome: u32) {
        self.p.li(S0, LINE + 8 * interface);
        self.p.li(T1, outcome << 8 | tag);
        let again = self.p.here();
        self.p.lw(T0, 0, S0);
        self.p.slli(T0, T0, 64 - 18);
        self.p.srli(T0, T0, 64 - 10);
        self.p.bne(T0, T1, again);
    }

    /// Requests a region, and stores the cycles before it, at the first answer and at the last one in the results; and
    /// the last answer.
    fn allocate(
        &mut self,
        Request {
            interface,
            task,
            priority,
            tag,
            waits,
            ..
        }: Request,
    ) {
        self.p.li(S0, GP + REQUEST);
        self.p.li(
            T0,
            priority << 24 | tag << 16 | task << 8 | ASKED | interface,
        );
        self.p.csrr(T2, MCYCLE);
        self.p.sw(T0, 0, S0);
        self.p.sd(T2, 0, S1);
        self.p.addi(S1, S1, 8);
        self.until_answer(interface, tag, if waits { PREPARING } else { CONNECTED });
        self.note_cycle();
        self.until_answer(interface, tag, CONNECTED);
        self.note_cycle();
        self.note_at(LINE + 8 * interface);
        self.note_at(LINE + 8 * interface + 4);
    }
}

/// A request, and what is expected of it.
#[derive(Clone, Copy)]
struct Request {
    interface: u32,
    task: u32,
    priority: u32,
    tag: u32,
    /// It is answered twice.
    waits: bool,
    /// The interface that loses its region.
    displaced: Option<u32>,
}

/// A request of QAM-16 at the lowest priority.
const fn request(interface: u32, tag: u32, waits: bool, displaced: Option<u32>) -> Request {
    Request {
        interface,
        task: 2,
        priority: 1,
        tag,
        waits,
        displaced,
    }
}

#[test]
fn regions_are_allocated_without_the_device_manager() {
    let mut driver = Driver::new();
    driver.set_table();
    // QAM-16 at interfaces 1 and 2, and QAM-64 at 3.
    for (interface, task, vm) in [(1, 0, VM), (2, 0, THIRD_VM), (3, 1, OTHER_VM)] {
        driver.prepare(interface, task, vm);
    }
    let requests = [
        request(1, 10, true, None),
        request(2, 11, false, Some(1)),
        Request {
            priority: 5,
            ..request(1, 12, true, Some(2))
        },
        // The victim resumes where it was stopped, when the region is free.
        request(2, 13, false, Some(1)),
        Request {
            task: 3,
            priority: 9,
            ..request(3, 14, true, Some(2))
        },
        request(2, 15, true, Some(3)),
    ];
    let [configured, direct, preempted, resumed, both, last] = requests;
    // A VM starts before a region is requested: its store has trapped.
    driver.write(device(1) + START, 1);
    driver.allocate(configured);
    driver.end(1);
    driver.allocate(direct);
    driver.write(device(2) + START, 1);
    driver.pause(200);
    driver.allocate(preempted);
    driver.write(device(1) + START, 1);
    driver.end(1);
    driver.allocate(resumed);
    driver.pause(100);
    driver.write(device(3) + START, 1);
    driver.allocate(both);
    driver.end(3);
    driver.allocate(last);
    driver.end(2);
    driver.note(STATE);
    driver.note(IRQ_PENDING);
    let program = driver.program();
    let bitstreams = [bitstream(2, 0), bitstream(3, 0)];
    let frames = [(0, VM), (0, THIRD_VM), (1, OTHER_VM)];
    for (pace, allocated) in BOTH.into_iter().zip(ALLOCATED) {
        let (found, _) = compute_both(&program, pace, &frames, &bitstreams, 44);
        let mut found = found.into_iter();
        let mut next = || found.next().expect("a result");
        let mut times = Vec::new();
        for (number, asked) in requests.into_iter().enumerate() {
            let [begin, first, end] = [next(), next(), next()];
            times.push([first - begin, end - begin]);
            assert!(first - begin <= FIRST_MAX, "{pace:?}: {number}");
            let displaced = asked
                .displaced
                .map_or(0_u32, |interface| 1 << 28 | interface << 24);
            let answer = 1 << 29 | displaced | CONNECTED << 16 | asked.tag << 8;
            assert_eq!(next(), u64::from(answer), "{pace:?}: {number}");
            assert_eq!(
                next() & 0xff,
                0,
                "{pace:?}: {number}, no reason and no error"
            );
            if [0, 2, 4, 5].contains(&number) {
                // Without an error, and without a fault.
                assert_eq!(next(), 0, "{pace:?}: {number}");
                next();
                assert_eq!(next(), 0, "{pace:?}: {number}");
            }
        }
        let ways = [times[0], times[1], times[2], times[4]];
        assert_eq!(ways, allocated, "{pace:?}");
        assert_eq!([next(), next()], [0, 3], "all is answered, by both events");
    }
}
