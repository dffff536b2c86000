//! The machine side: start, harts, counters, the 16550 and the finisher of QEMU's `virt` machine.

use core::arch::{asm, global_asm};
use core::fmt::{self, Write};
use core::panic::PanicInfo;
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tactus_board_mix::{Mix, PARTS, Wrong};

/// Harts that there are stacks for; `__stack_count` in mix.x.
const HARTS_MAX: usize = 4;
/// The 16550: its data register and its line status register (PC16550D data sheet, section 8).
const UART_DATA: *mut u8 = 0x1000_0000 as *mut u8;
const UART_LINE_STATUS: *mut u8 = 0x1000_0005 as *mut u8;
/// Line status: the data register can take a byte.
const UART_READY: u8 = 1 << 5;
/// The finisher and its values: the machine ends as passed, or as failed with code 1.
const FINISHER: *mut u32 = 0x0010_0000 as *mut u32;
const PASSED: u32 = 0x5555;
const FAILED: u32 = 1 << 16 | 0x3333;

/// Seed of every hart's data: all do the same work.
const SEED: u32 = 2026;

/// Parameters that the caller patches into the file: two little-endian 64-bit numbers.
#[repr(C)]
#[derive(Debug)]
pub struct Parameters {
    /// Rounds of the mix.
    rounds: u64,
    /// Harts that do them, 1 to [`HARTS_MAX`].
    harts: u64,
}

#[unsafe(export_name = "board_mix_parameters")]
#[unsafe(link_section = ".data.parameters")]
static PARAMETERS: Parameters = Parameters {
    rounds: 2600,
    harts: 1,
};

/// What a hart found.
struct Findings {
    checksum: AtomicU32,
    instructions: AtomicU64,
    parts: [AtomicU64; PARTS.len()],
}

static FINDINGS: [Findings; HARTS_MAX] = [const {
    Findings {
        checksum: AtomicU32::new(0),
        instructions: AtomicU64::new(0),
        parts: [const { AtomicU64::new(0) }; PARTS.len()],
    }
}; HARTS_MAX];

/// Harts that are done.
static DONE: AtomicU64 = AtomicU64::new(0);

global_asm!(
    ".section .text.start, \"ax\"",
    ".global _start",
    "_start:",
    "csrw mie, zero",
    "la t0, {trap}",
    "csrw mtvec, t0",
    "csrr a0, mhartid",
    "li t0, {harts_max}",
    "bgeu a0, t0, 1f",
    "la sp, __stacks_start",
    "addi t0, a0, 1",
    "slli t0, t0, 16", // STACK_SIZE
    "add sp, sp, t0",
    "call {hart}",
    "1: wfi",
    "j 1b",
    ".balign 4",
    trap = sym trap,
    hart = sym hart,
    harts_max = const HARTS_MAX,
);

/// A hart's whole life; it returns to wait for ever.
extern "C" fn hart(number: usize) {
    // SAFETY: an initialized static. Volatile, because the value is not the one that the compiler has seen.
    let Parameters { rounds, harts } = unsafe { ptr::read_volatile(&raw const PARAMETERS) };
    if harts > HARTS_MAX as u64 || number as u64 >= harts {
        return;
    }
    if let Err(wrong) = work(number, rounds) {
        fail(format_args!(
            "{}_in_round_{}_of_hart_{number}",
            wrong.part, wrong.round
        ));
    }
    // Release and acquire: the last hart sees the results of the others.
    if DONE.fetch_add(1, Ordering::AcqRel) + 1 == harts {
        report(harts as usize);
    }
}

/// Does the rounds and leaves the figures in [`FINDINGS`].
fn work(number: usize, rounds: u64) -> Result<(), Wrong> {
    let mut mix = Mix::new(SEED);
    let mut parts = [0; PARTS.len()];
    let begin = instructions();
    let mut mark = begin;
    for _ in 0..rounds {
        mix.round(|part| {
            let now = instructions();
            parts[part] += now - mark;
            mark = now;
        })?;
    }
    let end = instructions();
    let found = &FINDINGS[number];
    found.checksum.store(mix.checksum(), Ordering::Relaxed);
    found.instructions.store(end - begin, Ordering::Relaxed);
    for (to, from) in found.parts.iter().zip(parts) {
        to.store(from, Ordering::Relaxed);
    }
    Ok(())
}

/// Prints the results of the harts, and ends the machine.
fn report(harts: usize) -> ! {
    let found = &FINDINGS[..harts];
    let checksum = found[0].checksum.load(Ordering::Relaxed);
    let mut total = 0;
    for (number, found) in found.iter().enumerate() {
        if found.checksum.load(Ordering::Relaxed) != checksum {
            fail(format_args!("hart_{number}_has_another_checksum"));
        }
        total += found.instructions.load(Ordering::Relaxed);
    }
    metric(format_args!("mix_checksum"), checksum.into(), "count");
    metric(format_args!("mix_instructions"), total, "instructions");
    for (part, instructions) in PARTS.iter().zip(&found[0].parts) {
        let instructions = instructions.load(Ordering::Relaxed);
        metric(
            format_args!("mix_{part}_instructions"),
            instructions,
            "instructions",
        );
    }
    let _ = writeln!(Uart, "@tactus pass name=mix");
    finish(PASSED)
}

fn metric(name: fmt::Arguments<'_>, value: u64, unit: &str) {
    // Writing to the UART cannot fail.
    let _ = writeln!(Uart, "@tactus metric name={name} value={value} unit={unit}");
}

fn fail(reason: fmt::Arguments<'_>) -> ! {
    let _ = writeln!(Uart, "@tactus fail name=mix reason={reason}");
    finish(FAILED)
}

/// Ends the machine.
fn finish(how: u32) -> ! {
    // SAFETY: the finisher's register; no other code uses the device.
    unsafe { FINISHER.write_volatile(how) };
    loop {
        // SAFETY: waits for an interrupt, of which none is enabled; touches nothing.
        unsafe { asm!("wfi", options(nomem, nostack)) };
    }
}

/// Instructions that this hart has retired.
fn instructions() -> u64 {
    let count;
    // SAFETY: reads a counter. Not `nomem`: work must not be moved across it.
    unsafe { asm!("csrr {}, minstret", out(reg) count, options(nostack)) };
    count
}

/// Any trap: nothing here should cause one.
extern "C" fn trap() -> ! {
    let (cause, pc): (u64, u64);
    // SAFETY: reads two registers of this hart.
    unsafe {
        asm!("csrr {}, mcause", "csrr {}, mepc", out(reg) cause, out(reg) pc, options(nomem, nostack));
    }
    fail(format_args!("trap_{cause:#x}_at_{pc:#x}"))
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let line = info.location().map_or(0, |location| location.line());
    fail(format_args!("panic_in_line_{line}"))
}

/// The serial line. Harts that fail at the same time may mix their lines; the machine has failed then anyhow.
struct Uart;

impl Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            // SAFETY: registers of the 16550, which nothing else drives.
            unsafe {
                while UART_LINE_STATUS.read_volatile() & UART_READY == 0 {}
                UART_DATA.write_volatile(byte);
            }
        }
        Ok(())
    }
}
