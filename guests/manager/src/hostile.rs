//! A manager that has turned hostile: it makes all calls of management with any arguments, as often as it can.
//!
//! Boot argument `calls=N` (200000).
#![no_std]
#![no_main]

use tactus_guest::abi::hypercall::{EXTENSION, VM_RESTART, VM_STATUS};
use tactus_guest::abi::management::{VM_CONSOLE, VM_COUNTERS, VM_START, VM_STOP};
use tactus_guest::abi::map::RAM_BASE;
use tactus_guest::sbi::call_raw;
use tactus_guest::{devicetree, println, record, time};

tactus_guest::entry!(main);

/// Calls without a pause.
const BURST: u64 = 2000;
/// Bytes of memory that calls may write to.
const SIZE: usize = 8192;
/// What of this VM's memory is not its own to have written.
const OWN: core::ops::Range<u64> = RAM_BASE..RAM_BASE + (4 << 20);

static mut BUFFER: [u8; SIZE] = [0; SIZE];

/// A generator of numbers (xorshift*, Vigna 2016).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn one_of<const N: usize>(&mut self, values: [u64; N]) -> u64 {
        values[self.next() as usize % N]
    }

    /// An address: mostly one that some call takes.
    fn address(&mut self) -> u64 {
        let buffer = (&raw const BUFFER).expose_provenance() as u64;
        let offset = self.next() % SIZE as u64;
        let any = self.next();
        self.one_of([
            buffer + offset,
            buffer + offset / 8 * 8,
            RAM_BASE + offset,
            OWN.end - offset,
            0x1000_0000 + offset,
            u64::MAX - offset,
            any,
        ])
    }
}

fn main() {
    let calls = devicetree::number("calls", 200_000);
    let mut random = Random(0x1234_5678);
    let (mut done, mut refused) = (0u64, 0u64);
    for call in 0..calls {
        // What has begun comes to its end now and then: the VM runs, or is held.
        if call % BURST == 0 {
            time::busy_wait(time::hz() / 200);
        }
        let function = random.one_of([
            VM_STATUS as u64,
            VM_RESTART as u64,
            VM_STOP as u64,
            VM_STOP as u64 + 1,
            VM_STOP as u64 + 2,
            VM_START as u64,
            VM_COUNTERS as u64,
            VM_CONSOLE as u64,
            VM_CONSOLE as u64 + 1,
        ]) as usize;
        let any = random.next();
        let vm = random.one_of([0, 1, 1, 1, 2, 3, any % 40, any, u64::MAX]);
        let [a1, a2] = [random.address(), random.address()];
        let length = random.one_of([0, 1, 8, 511, 4096, 8192, any, u64::MAX]);
        let mut arguments = [vm, a1, a2, length, any, any].map(|value| value as usize);
        let to = match function {
            VM_COUNTERS => Some(1),
            VM_CONSOLE => Some(2),
            _ => None,
        };
        if let Some(to) = to {
            arguments[to] = a1 as usize;
            arguments[to + 1] = length as usize;
            let buffer = (&raw const BUFFER).expose_provenance();
            let is_own = OWN.contains(&a1) || OWN.contains(&a1.wrapping_add(SIZE as u64));
            if is_own && !(buffer..buffer + SIZE - 512).contains(&arguments[to]) {
                continue;
            }
        }
        // SAFETY: what a call writes to this VM's memory goes to the buffer, which nothing else uses.
        let answer = unsafe { call_raw(EXTENSION, function, arguments) };
        match answer.error {
            0 => done += 1,
            _ => refused += 1,
        }
    }
    println!("{done} calls have done something, {refused} were refused");
    if done > 0 && refused > 0 {
        record::pass("hostile_manager");
    }
}
