//! The clients of Linux's programs, in C and in Python: before a service, and before a VM that says anything.
#![cfg(target_os = "linux")]

mod machine;

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use machine::{Machine, Mode, SERVICE, reply};
use proptest::prelude::*;
use tactus_call_window::{IDENTITY_VALUE, SLOT_WORDS, SLOTS_WORDS};

/// `struct tactus_client`.
#[repr(C)]
struct Client {
    data: *mut u64,
    data_size: usize,
    service: u64,
    life: u64,
    number: c_uint,
    window: *const u64,
    slot: *mut u64,
    mapped: *mut c_void,
    mapped_size: usize,
    file: c_int,
}

unsafe extern "C" {
    fn test_open(client: *mut Client, channel: c_uint) -> c_int;
    fn test_call(client: *mut Client, message: *const u64, reply: *mut u64) -> c_int;
    fn test_close(client: *mut Client);
    fn test_text(error: c_int) -> *const c_char;
}

/// `enum tactus_client_error`.
const OK: c_int = 0;
const CLOSED: c_int = 1;
const FAILED: c_int = 2;
const REFUSED: c_int = 3;
const NO_CHANNEL: c_int = 4;
const NO_MEMORY: c_int = 5;
const NO_SERVICE: c_int = 6;
const ALL_IN_USE: c_int = 7;
const ERRORS: c_int = 8;

thread_local! {
    static MACHINE: RefCell<Option<Machine>> = const { RefCell::new(None) };
    static SOC: RefCell<CString> = RefCell::default();
    static MEMORY: RefCell<CString> = RefCell::default();
}

#[unsafe(no_mangle)]
extern "C" fn test_soc() -> *const c_char {
    SOC.with_borrow(|path| path.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn test_memory() -> *const c_char {
    MEMORY.with_borrow(|path| path.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn test_load(offset: u64) -> u64 {
    with(|machine| machine.load(offset))
}

/// From now on this thread's clients are on that machine.
fn boot(machine: Machine) {
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).expect("no zero in it");
    SOC.set(text(&machine.soc()));
    MEMORY.set(text(&machine.memory_path()));
    MACHINE.set(Some(machine));
}

fn with<R>(use_it: impl FnOnce(&mut Machine) -> R) -> R {
    MACHINE.with_borrow_mut(|machine| use_it(machine.as_mut().expect("it was booted")))
}

/// A client that was opened, or the error.
fn open(channel: u32) -> Result<Client, c_int> {
    let mut client = std::mem::MaybeUninit::uninit();
    // SAFETY: the function writes all of it, also where it fails.
    let (error, client) = unsafe {
        let error = test_open(client.as_mut_ptr(), channel);
        (error, client.assume_init())
    };
    match error {
        OK => Ok(client),
        error => {
            assert!(client.file == -1 && client.mapped.is_null() && client.window.is_null());
            Err(error)
        }
    }
}

impl Client {
    fn call(&mut self, message: [u64; 8]) -> Result<[u64; 8], c_int> {
        const BEFORE: [u64; 8] = [0x5555; 8];
        let mut reply = BEFORE;
        // SAFETY: the client is open or closed, and both arrays have eight words.
        match unsafe { test_call(self, message.as_ptr(), reply.as_mut_ptr()) } {
            OK => Ok(reply),
            error => {
                assert_eq!(reply, BEFORE, "a reply without a call");
                Err(error)
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: it is open, or closed already.
        unsafe { test_close(self) };
    }
}

const MESSAGE: [u64; 8] = [1, 2, 3, u64::MAX, 5, 6, 7, 8];

#[test]
fn calls_have_replies() {
    boot(Machine::new(3, 12 * 1024));
    let mut first = open(3).expect("it serves");
    let mut second = open(3).expect("it has four clients");
    assert_eq!((first.service, first.life), (SERVICE, 77));
    assert_eq!((first.number, second.number), (0, 1));
    assert_eq!((first.data_size, second.data_size), (2048, 2048));
    assert_eq!(first.call(MESSAGE), Ok(reply(MESSAGE)));
    assert_eq!(second.call([9; 8]), Ok(reply([9; 8])));
    // The service has counted in each client's data.
    assert_eq!(with(|machine| machine.words()[SLOTS_WORDS]), 1);
    // SAFETY: it is a client's, and has 256 words.
    assert_eq!(unsafe { second.data.read_volatile() }, 1);
    // One that restarts says so.
    with(|machine| machine.life = 78);
    assert_eq!(first.call(MESSAGE), Ok(reply(MESSAGE)));
    assert_eq!((first.life, second.life), (78, 77));
}

#[test]
fn each_error_has_a_reason() {
    boot(Machine::new(0, 4096));
    let mut client = open(0).expect("it serves");
    assert_eq!(client.data_size, 0);
    with(|machine| machine.mode = Mode::Down);
    assert_eq!(client.call(MESSAGE), Err(CLOSED));
    assert_eq!(open(0).err(), Some(CLOSED));
    with(|machine| machine.mode = Mode::Fails);
    assert_eq!(client.call(MESSAGE), Err(FAILED));
    with(|machine| machine.mode = Mode::Serves);
    assert_eq!(client.call(MESSAGE), Ok(reply(MESSAGE)));

    let others = [open(0), open(0), open(0)];
    assert!(others.iter().all(Result::is_ok));
    assert_eq!(open(0).err(), Some(ALL_IN_USE));
    drop(others);
    let mut second = open(0).expect("three are free");
    // It restarts with fewer clients.
    with(|machine| machine.clients = 1);
    assert_eq!(second.call(MESSAGE), Err(REFUSED));
    assert_eq!(open(0).err(), Some(ALL_IN_USE));
    drop(second);
    // SAFETY: it is open.
    unsafe { test_close(&raw mut client) };
    assert_eq!(client.call(MESSAGE), Err(CLOSED));
    assert!(open(0).is_ok());

    assert_eq!(open(1).err(), Some(NO_CHANNEL));
    with(|machine| machine.mode = Mode::Says(vec![0x7472_6976; 6]));
    assert_eq!(open(0).err(), Some(NO_SERVICE));
    MEMORY.set(c"/nowhere".into());
    assert_eq!(open(0).err(), Some(NO_MEMORY));
    let text = |error| {
        // SAFETY: it returns literals.
        unsafe { CStr::from_ptr(test_text(error)) }.to_str()
    };
    let mut texts: Vec<_> = (0..=ERRORS).map(text).collect();
    texts.dedup();
    assert_eq!(texts.len(), ERRORS as usize + 1);
}

/// What a service says of itself, in the order in which a client loads it, with one register that is wrong.
#[test]
fn a_client_checks_each_register() {
    boot(Machine::new(0, 8192));
    let right = [IDENTITY_VALUE, 5, 4 << 32 | 1, SERVICE, 1024, 5];
    let opened = |register: usize, value| {
        let mut words = right.to_vec();
        words[register] = value;
        with(|machine| machine.mode = Mode::Says(words));
        open(0).err()
    };
    assert_eq!(opened(0, right[0]), None);
    for (register, value, error) in [
        (0, 0, CLOSED),
        (0, IDENTITY_VALUE + 1, NO_SERVICE),
        (1, 0, CLOSED),
        (2, 0, NO_SERVICE),
        (2, 4 << 32 | 2, NO_SERVICE),
        (2, 1, NO_SERVICE),
        (4, 1032, NO_SERVICE),
        (4, 1088, NO_SERVICE),
        (4, 1 << 62, NO_SERVICE),
        // It has restarted meanwhile.
        (5, 6, CLOSED),
        (5, 0, CLOSED),
    ] {
        assert_eq!(
            opened(register, value),
            Some(error),
            "{register}: {value:#x}"
        );
    }
    // 32 clients have no more than 128 bytes here, and there are no more clients.
    for (clients, data, error) in [
        (32, 128, None),
        (32, 192, Some(NO_SERVICE)),
        (33, 64, Some(NO_SERVICE)),
    ] {
        let words = vec![IDENTITY_VALUE, 5, clients << 32 | 1, 0, data, 5];
        with(|machine| machine.mode = Mode::Says(words));
        assert_eq!(open(0).err(), error, "{clients} clients");
    }
}

/// A register's value, often one that a service could have.
fn said() -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => Just(IDENTITY_VALUE),
        2 => (0u64..40).prop_map(|clients| clients << 32 | 1),
        2 => (0u64..200).prop_map(|units| 64 * units),
        3 => 0u64..3,
        1 => any::<u64>(),
    ]
}

/// What a service could say when a client opens, with one word of it replaced.
fn nearly_right() -> impl Strategy<Value = Vec<u64>> {
    let right = (1u64..33, 0u64..130, 1u64..9).prop_map(|(clients, units, life)| {
        vec![
            IDENTITY_VALUE,
            life,
            clients << 32 | 1,
            SERVICE,
            64 * units,
            life,
        ]
    });
    (
        right,
        0usize..12,
        said(),
        proptest::collection::vec(said(), 0..4),
    )
        .prop_map(|(mut words, place, word, calls)| {
            if let Some(it) = words.get_mut(place) {
                *it = word;
            }
            words.extend(calls);
            words
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever the VM at the other end says and stores: a client is told an error or has a reply, uses no memory but
    /// the channel's, and writes its own slot alone.
    #[test]
    fn a_client_trusts_no_service(
        says in nearly_right(),
        stored in proptest::collection::vec((0usize..1024, any::<u64>()), 0..20),
    ) {
        boot(Machine::new(0, 8192));
        with(|machine| {
            machine.mode = Mode::Says(says);
            for (word, value) in stored {
                machine.set_word(word, value);
            }
        });
        match open(0) {
            Err(error) => prop_assert!([CLOSED, NO_SERVICE].contains(&error), "{error}"),
            Ok(mut client) => {
                let (from, to) = (client.mapped as usize, client.mapped as usize + 8192);
                let data = client.data as usize;
                prop_assert!(data >= from + 4096 && data + client.data_size <= to);
                prop_assert_eq!(client.slot as usize, from + 128 * client.number as usize);
                for _ in 0..4 {
                    let mut before = with(|machine| machine.words());
                    let result = client.call(MESSAGE);
                    prop_assert!(
                        matches!(result, Ok(_) | Err(CLOSED | FAILED | REFUSED)),
                        "{result:?}"
                    );
                    let mut after = with(|machine| machine.words());
                    let slot = client.number as usize * SLOT_WORDS;
                    before.drain(slot..slot + 9);
                    after.drain(slot..slot + 9);
                    prop_assert_eq!(before, after);
                }
            }
        }
    }

    /// Whatever is in the devicetree: there is no such channel, or it is one whose memory can be mapped.
    #[test]
    fn a_client_trusts_no_devicetree(
        node in prop_oneof![Just("device@2a000000"), Just("channel@30001000")],
        property in prop_oneof![
            Just("compatible"), Just("reg"), Just("tactus,channel"), Just("tactus,index")
        ],
        value in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..80),
            proptest::collection::vec(prop_oneof![Just(0u8), Just(0x10), Just(0xff)], 16),
        ],
    ) {
        let machine = Machine::new(0, 8192);
        machine.property(node, property, &value);
        boot(machine);
        let opened = open(0).map(drop);
        prop_assert!(
            matches!(opened, Ok(()) | Err(NO_CHANNEL | NO_MEMORY | NO_SERVICE)),
            "{opened:?}"
        );
    }
}

/// The module in Python is told by `tests/client.py` what to do, which asks here for what its loads get, and for the
/// machine to be changed.
#[test]
fn python_calls() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut machine = Machine::new(5, 12 * 1024);
    let mut python = Command::new(here.join("../../build/setup/python/bin/python3"))
        .arg(here.join("tests/client.py"))
        .args([machine.soc(), machine.memory_path()])
        .env("PYTHONPATH", here.join("../linux"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("make setup installs it");
    let mut input = python.stdin.take().expect("a pipe");
    let output = BufReader::new(python.stdout.take().expect("a pipe"));
    let mut last = String::new();
    for line in output.lines() {
        last = line.expect("text");
        let answer = match last.split_once(' ') {
            Some(("load", offset)) => {
                let offset = offset.parse().expect("a number");
                // A load of one byte.
                machine.load(offset) & 0xff
            }
            Some(("mode", mode)) => {
                machine.mode = match mode {
                    "serves" => Mode::Serves,
                    "down" => Mode::Down,
                    "fails" => Mode::Fails,
                    "hostile" => Mode::Says(vec![0x5a; 400]),
                    other => panic!("mode {other}"),
                };
                0
            }
            Some(("clients", number)) => {
                machine.clients = number.parse().expect("a number");
                0
            }
            Some(("life", number)) => {
                machine.life = number.parse().expect("a number");
                0
            }
            _ => continue,
        };
        writeln!(input, "{answer}").expect("it reads");
    }
    assert!(python.wait().expect("it ends").success());
    assert_eq!(last, "done");
    assert!(machine.calls >= 4);
}
