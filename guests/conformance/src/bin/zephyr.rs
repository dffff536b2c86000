//! Uses the machine as Zephyr does on its board `qemu_riscv64/qemu_virt_riscv64/opensbi`: supervisor mode below an SBI.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};

use tactus_guest::{abi::map::UART_SOURCE, csr, devicetree, start, time};
use tactus_guest_conformance::trap::{self, Trap, idle, lock, unlock};
use tactus_guest_conformance::{
    Check, ecall, expect, expect_at_least, plic, read32, run, uart, uart_read, uart_write, write32,
};

tactus_guest::entry!(main);

/// SBI extensions (specification 2.0).
const TIME: usize = 0x5449_4d45;
const IPI: usize = 0x73_5049;
const HSM: usize = 0x48_534d;
const SRST: usize = 0x5352_5354;

const INTERRUPT: usize = 1 << 63;
/// A tick of Zephyr's clock, in ticks of `time`: 10 kHz.
const TICK: u64 = 1000;
/// PLIC sources in the board's devicetree, more than in any VM.
const NDEV: u32 = 1024;

static TICKS: AtomicU64 = AtomicU64::new(0);
static TICKS_WANTED: AtomicU64 = AtomicU64::new(0);
static DEADLINE: AtomicU64 = AtomicU64::new(0);
static EARLY: AtomicU64 = AtomicU64::new(0);
static STIP_STAYS: AtomicU64 = AtomicU64::new(0);
static CLAIMS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
static SPURIOUS: AtomicU64 = AtomicU64::new(0);
static IPIS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
static BREAKS: AtomicU64 = AtomicU64::new(0);
static FPU_TRAPS: AtomicU64 = AtomicU64::new(0);

fn main() {
    trap::install(start::hart(), isr);
    run(&[
        ("reset_state", reset_state),
        ("timer_ticks", timer_ticks),
        ("timer_in_the_past", timer_in_the_past),
        ("irq_lock", irq_lock),
        ("exceptions", exceptions),
        ("fpu_on_demand", fpu_on_demand),
        ("plic_init", plic_init),
        ("uart_configure", uart_configure),
        ("uart_poll_out", uart_poll_out),
        ("uart_transmits_by_interrupts", uart_transmits_by_interrupts),
        ("uart_receives_by_interrupts", uart_receives_by_interrupts),
        ("plic_threshold", plic_threshold),
        ("smp_start", smp_start),
        ("smp_ipi", smp_ipi),
        ("smp_affinity", smp_affinity),
    ]);
    // lib/os/poweroff.c: by the SBI.
    ecall(SRST, 0, [0, 0, 0]);
}

fn set_timer(deadline: u64) {
    ecall(TIME, 0, [deadline as usize, 0, 0]);
}

/// arch/riscv/core/isr.S, and the handlers that it calls.
fn isr(trap: &mut Trap) {
    match trap.cause {
        cause if cause == INTERRUPT | 5 => timer_isr(),
        cause if cause == INTERRUPT | 1 => {
            // SAFETY: it clears the interrupt that has just been taken.
            unsafe { csr::clear::<{ csr::SIP }>(csr::INTERRUPT_SOFTWARE) };
            IPIS[start::hart()].fetch_add(1, Relaxed);
        }
        cause if cause == INTERRUPT | 9 => plic_isr(),
        // arch/riscv/core/fpu.c: the first use of the unit traps.
        2 if trap.status & csr::SSTATUS_FS == 0 => {
            trap.status |= 1 << 13;
            FPU_TRAPS.fetch_add(1, Relaxed);
        }
        3 => {
            BREAKS.fetch_add(1, Relaxed);
            trap.pc += 4;
        }
        cause => panic!(
            "cause {cause:#x} at {:#x}, value {:#x}",
            trap.pc, trap.value
        ),
    }
}

/// drivers/timer/riscv_supervisor_timer.c: disarms, then announces.
fn timer_isr() {
    set_timer(u64::MAX);
    if csr::read::<{ csr::SIP }>() & csr::INTERRUPT_TIMER != 0 {
        STIP_STAYS.fetch_add(1, Relaxed);
    }
    let deadline = DEADLINE.load(Relaxed);
    if time::now() < deadline {
        EARLY.fetch_add(1, Relaxed);
    }
    let ticks = TICKS.fetch_add(1, Relaxed) + 1;
    if ticks < TICKS_WANTED.load(Relaxed) {
        DEADLINE.store(deadline + TICK, Relaxed);
        set_timer(deadline + TICK);
    }
}

/// drivers/interrupt_controller/intc_plic.c, `plic_irq_handler`: one claim per interrupt. With one CPU, a claim of 0 is
/// fatal.
fn plic_isr() {
    let hart = start::hart();
    let source = read32(plic::claim(hart));
    if source == 0 {
        SPURIOUS.fetch_add(1, Relaxed);
        return;
    }
    if source == UART_SOURCE {
        uart_isr();
    }
    CLAIMS[hart].fetch_add(1, Relaxed);
    write32(plic::claim(hart), source);
}

fn enable_interrupt(bit: usize) {
    // SAFETY: `isr` handles each interrupt.
    unsafe { csr::set::<{ csr::SIE }>(bit) };
}

/// arch/riscv/core/reset.S: the state in which an SBI enters.
fn reset_state() -> Check {
    expect("satp", csr::read::<{ csr::SATP }>() as u64, 0)?;
    let status = csr::read::<{ csr::SSTATUS }>();
    expect("sstatus.SIE", (status & csr::SSTATUS_SIE) as u64, 0)?;
    expect("devicetree", u64::from(devicetree::get().is_some()), 1)
}

/// drivers/timer/riscv_supervisor_timer.c: absolute deadlines by SBI TIME, each exactly once;
/// arch/riscv/core/cpu_idle.c between.
fn timer_ticks() -> Check {
    const WANTED: u64 = 50;
    lock();
    enable_interrupt(csr::INTERRUPT_TIMER);
    TICKS_WANTED.store(WANTED, Relaxed);
    let first = time::now() + TICK;
    DEADLINE.store(first, Relaxed);
    set_timer(first);
    while TICKS.load(Relaxed) < WANTED {
        idle();
        lock();
    }
    expect("ticks", TICKS.load(Relaxed), WANTED)?;
    expect("interrupts before their time", EARLY.load(Relaxed), 0)?;
    expect("STIP after disarming", STIP_STAYS.load(Relaxed), 0)?;
    let last = first + (WANTED - 1) * TICK;
    expect_at_least("the clock", time::now(), last)
}

/// The same driver: a deadline in the past interrupts at once.
fn timer_in_the_past() -> Check {
    let before = TICKS.load(Relaxed);
    TICKS_WANTED.store(0, Relaxed);
    DEADLINE.store(0, Relaxed);
    lock();
    set_timer(time::now().saturating_sub(TICK));
    idle();
    lock();
    expect("interrupts", TICKS.load(Relaxed) - before, 1)
}

/// include/zephyr/arch/riscv/arch.h: with interrupts locked, an interrupt stays pending; and it still ends `wfi`.
fn irq_lock() -> Check {
    let before = TICKS.load(Relaxed);
    let key = lock();
    expect("key of a nested lock", key as u64, 0)?;
    DEADLINE.store(0, Relaxed);
    set_timer(time::now() + TICK);
    // SAFETY: `wfi` changes no state.
    unsafe { asm!("wfi", options(nostack)) };
    time::busy_wait(2 * TICK);
    expect("interrupts while locked", TICKS.load(Relaxed) - before, 0)?;
    let pending = csr::read::<{ csr::SIP }>() & csr::INTERRUPT_TIMER;
    expect("STIP", pending as u64, csr::INTERRUPT_TIMER as u64)?;
    unlock(csr::SSTATUS_SIE);
    lock();
    expect("interrupts when unlocked", TICKS.load(Relaxed) - before, 1)
}

/// arch/riscv/core/isr.S: the guest's kernel handles an exception.
fn exceptions() -> Check {
    // SAFETY: `isr` resumes behind the instruction.
    unsafe { asm!(".option push", ".option norvc", "ebreak", ".option pop") };
    expect("breakpoints", BREAKS.load(Relaxed), 1)
}

/// arch/riscv/core/fpu.c: the unit is off until a thread uses it.
fn fpu_on_demand() -> Check {
    let result: u64;
    // SAFETY: the compiler keeps no values in the unit's registers here, and it is on again afterwards.
    unsafe {
        csr::clear::<{ csr::SSTATUS }>(csr::SSTATUS_FS);
        asm!(
            ".option push", ".option arch, +d",
            "fcvt.d.l ft0, {two}", "fadd.d ft0, ft0, ft0", "fcvt.l.d {result}, ft0",
            ".option pop",
            two = in(reg) 2, result = out(reg) result, out("ft0") _,
        );
    }
    expect("2 + 2", result, 4)?;
    expect("traps", FPU_TRAPS.load(Relaxed), 1)?;
    let state = csr::read::<{ csr::SSTATUS }>() & csr::SSTATUS_FS;
    expect("sstatus.FS", state as u64, csr::SSTATUS_FS as u64)
}

/// drivers/interrupt_controller/intc_plic.c, `plic_init`: no source enabled, threshold 0, all priorities 0; for as many
/// sources as the devicetree says, whether they exist or not.
fn plic_init() -> Check {
    let hart = start::hart();
    for index in 0..=NDEV / 32 {
        write32(plic::enables(hart, index), 0);
    }
    write32(plic::threshold(hart), 0);
    for source in 0..NDEV {
        write32(plic::priority(source), 0);
    }
    expect("threshold", read32(plic::threshold(hart)).into(), 0)?;
    expect("enables", read32(plic::enables(hart, 0)).into(), 0)?;
    expect("priority", read32(plic::priority(UART_SOURCE)).into(), 0)?;
    plic_enable(hart, UART_SOURCE, true);
    // `riscv_plic_set_priority`.
    write32(plic::priority(UART_SOURCE), 1);
    expect(
        "enables",
        read32(plic::enables(hart, 0)).into(),
        1 << UART_SOURCE,
    )?;
    expect("priority", read32(plic::priority(UART_SOURCE)).into(), 1)?;
    enable_interrupt(csr::INTERRUPT_EXTERNAL);
    unlock(csr::SSTATUS_SIE);
    lock();
    expect("interrupts of a silent device", SPURIOUS.load(Relaxed), 0)
}

/// `plic_irq_enable_set_state`: load, change a bit, store.
fn plic_enable(hart: usize, source: u32, enabled: bool) {
    let address = plic::enables(hart, source / 32);
    let word = read32(address);
    let bit = 1 << (source % 32);
    write32(address, if enabled { word | bit } else { word & !bit });
}

/// drivers/serial/uart_ns16550.c, `uart_ns16550_configure`.
fn uart_configure() -> Check {
    // `set_baud_rate`: 115,200 of 3,686,400 Hz.
    let line = uart_read(uart::LCR);
    uart_write(uart::LCR, uart::LCR_DIVISOR | line);
    uart_write(uart::DATA, 2);
    uart_write(uart::IER, 0);
    expect("low divisor byte", uart_read(uart::DATA).into(), 2)?;
    expect("high divisor byte", uart_read(uart::IER).into(), 0)?;
    uart_write(uart::LCR, line);
    uart_write(uart::LCR, uart::LCR_8N1);
    uart_write(uart::MCR, uart::MCR_OUT2 | uart::MCR_RTS | uart::MCR_DTR);
    uart_write(
        uart::IIR_FCR,
        uart::FCR_ENABLE
            | uart::FCR_TRIGGER_8
            | uart::FCR_CLEAR_RECEIVER
            | uart::FCR_CLEAR_TRANSMITTER,
    );
    // A working FIFO sets both bits; the driver then writes sixteen bytes at a time.
    let identification = uart_read(uart::IIR_FCR);
    expect(
        "IIR",
        identification.into(),
        (uart::IIR_FIFO | uart::IIR_NONE).into(),
    )?;
    // Clears the port.
    let _ = uart_read(uart::DATA);
    uart_write(uart::IER, 0);
    expect("LCR", uart_read(uart::LCR).into(), uart::LCR_8N1.into())
}

/// `uart_ns16550_poll_out`.
fn uart_poll_out() -> Check {
    for byte in b"Zephyr's console, polled\n" {
        while uart_read(uart::LSR) & uart::LSR_TRANSMITTER_EMPTY == 0 {}
        uart_write(uart::DATA, *byte);
    }
    Ok(())
}

const TEXT: &[u8] = b"Zephyr's console, by an interrupt for each FIFO\n";
static SENT: AtomicUsize = AtomicUsize::new(0);
static RECEIVED: [AtomicU8; 32] = [const { AtomicU8::new(0) }; 32];
static RECEIVED_COUNT: AtomicUsize = AtomicUsize::new(0);

/// `uart_ns16550_isr` with a user's callback, as in the shell and the console: `irq_update`, then `irq_rx_ready` with
/// `fifo_read`, then `irq_tx_ready` with `fifo_fill`. It accepts an interrupt without a cause, as QEMU's PLIC raises
/// one after `irq_tx_disable`.
fn uart_isr() {
    let identification = uart_read(uart::IIR_FCR);
    if identification & uart::IIR_RECEIVED == uart::IIR_RECEIVED {
        while uart_read(uart::LSR) & uart::LSR_RECEIVED != 0 {
            let byte = uart_read(uart::DATA);
            let index = RECEIVED_COUNT.fetch_add(1, Relaxed);
            if let Some(slot) = RECEIVED.get(index) {
                slot.store(byte, Relaxed);
            }
        }
    }
    if identification & uart::IIR_ID == uart::IIR_TRANSMITTER_EMPTY {
        let mut sent = SENT.load(Relaxed);
        let end = TEXT.len().min(sent + uart::FIFO);
        while sent < end && uart_read(uart::LSR) & uart::LSR_TRANSMITTER_EMPTY != 0 {
            uart_write(uart::DATA, TEXT[sent]);
            sent += 1;
        }
        SENT.store(sent, Relaxed);
        if sent == TEXT.len() {
            // `irq_tx_disable`.
            uart_write(
                uart::IER,
                uart_read(uart::IER) & !uart::IER_TRANSMITTER_EMPTY,
            );
        }
    }
}

/// `irq_tx_enable` interrupts at once, as the transmitter is empty.
fn uart_transmits_by_interrupts() -> Check {
    let hart = start::hart();
    lock();
    uart_write(
        uart::IER,
        uart_read(uart::IER) | uart::IER_TRANSMITTER_EMPTY,
    );
    wait_until(|| SENT.load(Relaxed) == TEXT.len());
    expect("bytes sent", SENT.load(Relaxed) as u64, TEXT.len() as u64)?;
    expect_at_least("interrupts", CLAIMS[hart].load(Relaxed), 1)?;
    expect("claims of 0", SPURIOUS.load(Relaxed), 0)
}

/// Takes interrupts until a condition holds, at most for a second; without `wfi`, which the clock alone does not end.
fn wait_until(condition: impl Fn() -> bool) {
    let end = time::now() + time::hz();
    while !condition() && time::now() < end {
        unlock(csr::SSTATUS_SIE);
        lock();
    }
}

/// `irq_rx_enable`; the UART's own loop-back is the line.
fn uart_receives_by_interrupts() -> Check {
    const SENT: &[u8] = b"input";
    uart_write(uart::MCR, uart_read(uart::MCR) | uart::MCR_LOOP);
    uart_write(uart::IER, uart_read(uart::IER) | uart::IER_RECEIVED);
    for byte in SENT {
        uart_write(uart::DATA, *byte);
        wait_until(|| uart_read(uart::LSR) & uart::LSR_TRANSMITTER_EMPTY != 0);
    }
    wait_until(|| RECEIVED_COUNT.load(Relaxed) == SENT.len());
    uart_write(uart::IER, 0);
    uart_write(uart::MCR, uart_read(uart::MCR) & !uart::MCR_LOOP);
    let received = RECEIVED_COUNT.load(Relaxed);
    expect("bytes received", received as u64, SENT.len() as u64)?;
    for (slot, byte) in RECEIVED.iter().zip(SENT) {
        expect("a byte", slot.load(Relaxed).into(), (*byte).into())?;
    }
    expect("claims of 0", SPURIOUS.load(Relaxed), 0)
}

/// The threshold masks sources that are not above it; they interrupt when it is lowered.
fn plic_threshold() -> Check {
    let hart = start::hart();
    let before = CLAIMS[hart].load(Relaxed);
    write32(plic::threshold(hart), 1);
    SENT.store(0, Relaxed);
    uart_write(uart::IER, uart::IER_TRANSMITTER_EMPTY);
    unlock(csr::SSTATUS_SIE);
    time::busy_wait(TICK);
    lock();
    expect(
        "interrupts below the threshold",
        CLAIMS[hart].load(Relaxed) - before,
        0,
    )?;
    let pending = csr::read::<{ csr::SIP }>() & csr::INTERRUPT_EXTERNAL;
    expect("SEIP", pending as u64, 0)?;
    write32(plic::threshold(hart), 0);
    wait_until(|| SENT.load(Relaxed) == TEXT.len());
    uart_write(uart::IER, 0);
    expect_at_least("interrupts", CLAIMS[hart].load(Relaxed) - before, 1)
}

static UP: AtomicUsize = AtomicUsize::new(0);
static OTHER_TICKED: AtomicBool = AtomicBool::new(false);

fn other() -> usize {
    usize::from(start::hart() == 0)
}

/// The other hart: arch/riscv/core/smp.c, `arch_secondary_cpu_init`, `smp_timer_init`, then the idle thread.
fn second() -> ! {
    lock();
    trap::install(start::hart(), isr);
    enable_interrupt(csr::INTERRUPT_SOFTWARE | csr::INTERRUPT_TIMER | csr::INTERRUPT_EXTERNAL);
    let before = TICKS.load(Relaxed);
    set_timer(time::now() + TICK);
    UP.store(1, Relaxed);
    loop {
        idle();
        lock();
        if TICKS.load(Relaxed) > before {
            OTHER_TICKED.store(true, Relaxed);
        }
    }
}

/// arch/riscv/core/smp.c, `arch_cpu_start`: SBI HSM. The started hart has its own timer.
fn smp_start() -> Check {
    if devicetree::harts() < 2 {
        return Ok(());
    }
    TICKS_WANTED.store(0, Relaxed);
    DEADLINE.store(0, Relaxed);
    let (_, state) = ecall(HSM, 2, [other(), 0, 0]);
    expect("state before the start (stopped)", state as u64, 1)?;
    expect(
        "error of hart_start",
        start::start_hart(other(), second).is_err().into(),
        0,
    )?;
    wait_until(|| UP.load(Relaxed) == 1 && OTHER_TICKED.load(Relaxed));
    expect("second hart is up", UP.load(Relaxed) as u64, 1)?;
    expect(
        "it has had its timer interrupt",
        OTHER_TICKED.load(Relaxed).into(),
        1,
    )?;
    let (error, state) = ecall(HSM, 2, [other(), 0, 0]);
    expect("error of hart_get_status", error as u64, 0)?;
    expect("state (started)", state as u64, 0)
}

/// `arch_sched_broadcast_ipi` by SBI IPI, while the other hart idles; and an IPI to the own hart.
fn smp_ipi() -> Check {
    if devicetree::harts() < 2 {
        return Ok(());
    }
    const ROUNDS: u64 = 20;
    for round in 1..=ROUNDS {
        let (error, _) = ecall(IPI, 0, [1 << other(), 0, 0]);
        expect("error of send_ipi", error as u64, 0)?;
        wait_until(|| IPIS[other()].load(Relaxed) >= round);
        expect("IPIs", IPIS[other()].load(Relaxed), round)?;
    }
    enable_interrupt(csr::INTERRUPT_SOFTWARE);
    ecall(IPI, 0, [1 << start::hart(), 0, 0]);
    wait_until(|| IPIS[start::hart()].load(Relaxed) == 1);
    expect("IPIs to oneself", IPIS[start::hart()].load(Relaxed), 1)
}

/// drivers/interrupt_controller/intc_plic.c with affinity: the source is enabled only for the other hart.
fn smp_affinity() -> Check {
    if devicetree::harts() < 2 {
        return Ok(());
    }
    let (here, there) = (start::hart(), other());
    let before = [CLAIMS[here].load(Relaxed), CLAIMS[there].load(Relaxed)];
    write32(plic::threshold(there), 0);
    plic_enable(here, UART_SOURCE, false);
    plic_enable(there, UART_SOURCE, true);
    SENT.store(0, Relaxed);
    uart_write(uart::IER, uart::IER_TRANSMITTER_EMPTY);
    wait_until(|| SENT.load(Relaxed) == TEXT.len());
    uart_write(uart::IER, 0);
    expect("bytes sent", SENT.load(Relaxed) as u64, TEXT.len() as u64)?;
    expect("interrupts here", CLAIMS[here].load(Relaxed) - before[0], 0)?;
    expect_at_least(
        "interrupts there",
        CLAIMS[there].load(Relaxed) - before[1],
        1,
    )
}
