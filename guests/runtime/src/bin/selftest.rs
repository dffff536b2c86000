//! The runtime proves itself, natively and in a VM: `tactus/tests/guests.rs` runs it in both.
#![no_std]
#![no_main]

use core::arch::{asm, naked_asm};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tactus_guest::{
    abi::{hypercall, map},
    csr, devicetree, hypervisor, interrupts, print, println, record,
    sbi::{self, Error, HartMask},
    start, stopwatch, time, trap,
    uart::{self, Uart},
};

tactus_guest::entry!(main);

fn main() {
    for (name, test) in [
        ("devicetree", devicetree_is_read as fn()),
        ("console", long_lines_are_whole),
        ("registers", interrupts_keep_registers),
        ("exception", exceptions_resume),
        ("csr", missing_csrs_are_found_missing),
        ("ipi", own_ipi_arrives),
        ("uart", uart_interrupts),
        ("stopwatch", sleep_ends_in_time),
        ("harts", other_harts_start),
        ("hypervisor", calls_answer),
        ("page", interrupts_come_by_a_page),
    ] {
        println!("{name}");
        test();
        record::pass(name);
    }
    record::pass(start::program());
}

fn devicetree_is_read() {
    assert!(devicetree::memory_size().is_some_and(|size| size >= 4 << 20));
    assert_eq!(time::hz(), time::VIRT_HZ);
    assert!(devicetree::harts() > start::hart());
    assert_eq!(devicetree::argument("none_such"), None);
    assert!(start::boot_ticks() > 0 && start::boot_ticks() < time::now());
}

fn long_lines_are_whole() {
    // Longer than the console's pieces; the test that runs this counts them.
    record::samples("countdown", "console", "count", (0..500).rev());
    print!("{:1000}\n", "");
    // Over the end of a page, behind which another one may be elsewhere in the machine's memory.
    #[repr(align(4096))]
    struct TwoPages([u8; 8192]);
    static PAGES: TwoPages = TwoPages([b'.'; 8192]);
    let mut dots = &PAGES.0[4096 - 11..][..21];
    // Where there is no debug console, that is told.
    while let Ok(written) = sbi::console_write(dots)
        && written > 0
    {
        dots = &dots[written..];
    }
    println!();
}

static TICKS: AtomicU64 = AtomicU64::new(0);

/// Long enough for a dozen interrupts, which do their best to spoil the registers.
fn interrupts_keep_registers() {
    trap::on_timer(|| {
        let n = TICKS.fetch_add(1, Ordering::Relaxed) + 1;
        let spoilt = core::hint::black_box(n as f64) / 3.0 + 1.0;
        assert!(spoilt > 1.0);
        // SAFETY: handlers may use the caller-saved registers, floating-point ones included.
        unsafe {
            asm!(
                ".option push", ".option arch, +d",
                "fmv.d.x ft0, {0}", "fmv.d.x fa0, {0}", "fmv.d.x ft11, {0}", "fmv.d.x fa7, {0}",
                ".option pop",
                in(reg) n,
                out("ft0") _, out("fa0") _, out("ft11") _, out("fa7") _,
                out("t0") _, out("t1") _, out("t6") _, out("a0") _, out("a7") _,
            );
        }
        time::set_deadline(time::now() + 100);
    });
    time::set_deadline(0);
    trap::enable_interrupts();
    let first_bad = registers_after(&TICKS, 12);
    trap::disable_interrupts();
    time::set_deadline(time::NEVER);
    assert_eq!(
        first_bad, 0,
        "number of the register that changed, plus 100 for floating point"
    );
}

/// Fills the registers, waits until the count is reached, and says which has another value then; 0 for none.
#[unsafe(naked)]
extern "C" fn registers_after(count: &AtomicU64, target: u64) -> usize {
    naked_asm!(
        r"
        .option push
        .option arch, +d
        addi    sp, sp, -208
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
        sd      s\n, 8 * \n(sp)
        fsd     fs\n, 96 + 8 * \n(sp)
        .endr
        sd      ra, 192(sp)

        # Each register but x0, sp, gp, tp and those in use (a0, a1, t0): its number.
        .irp    n, 1, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        li      x\n, \n
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        li      t0, 100 + \n
        fmv.d.x f\n, t0
        .endr
    1:  ld      t0, 0(a0)
        bltu    t0, a1, 1b

        .irp    n, 1, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        li      a0, \n
        bne     x\n, a0, 2f
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        li      a0, 100 + \n
        fmv.x.d t0, f\n
        bne     t0, a0, 2f
        .endr
        li      a0, 0
    2:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
        ld      s\n, 8 * \n(sp)
        fld     fs\n, 96 + 8 * \n(sp)
        .endr
        ld      ra, 192(sp)
        addi    sp, sp, 208
        ret
        .option pop
        "
    )
}

static CAUSE: AtomicU64 = AtomicU64::new(0);

fn exceptions_resume() {
    trap::on_exception(|frame| {
        CAUSE.store(frame.cause as u64, Ordering::Relaxed);
        frame.pc += 4;
    });
    // SAFETY: a write to a read-only CSR, which the handler skips.
    unsafe { asm!(".4byte 0xc0001073", options(nostack)) };
    assert_eq!(CAUSE.load(Ordering::Relaxed), 2);
}

fn missing_csrs_are_found_missing() {
    assert!(trap::try_read::<{ csr::TIME }>().is_some());
    // `mstatus` is none of a supervisor's.
    assert_eq!(trap::try_read::<0x300>(), None);
    assert!(time::cycles_available());
}

static IPIS: AtomicU64 = AtomicU64::new(0);

fn own_ipi_arrives() {
    trap::on_software(|| {
        IPIS.fetch_add(1, Ordering::Relaxed);
    });
    trap::enable_interrupts();
    for round in 1..=10 {
        assert_eq!(sbi::send_ipi(HartMask::one(start::hart())), Ok(()));
        wait_for(|| IPIS.load(Ordering::Relaxed) == round, "IPI");
    }
    trap::disable_interrupts();
}

static SOURCE: AtomicU32 = AtomicU32::new(0);

/// The transmitter is empty, which is an interrupt once it is asked for.
fn uart_interrupts() {
    trap::on_external(|source| {
        Uart::CONSOLE.enable_interrupts(0);
        SOURCE.store(source, Ordering::Relaxed);
    });
    interrupts::enable(map::UART_SOURCE, 1);
    trap::enable_interrupts();
    for _ in 0..10 {
        SOURCE.store(0, Ordering::Relaxed);
        Uart::CONSOLE.enable_interrupts(uart::IER_TRANSMITTER_EMPTY);
        wait_for(
            || SOURCE.load(Ordering::Relaxed) == map::UART_SOURCE,
            "UART interrupt",
        );
    }
    trap::disable_interrupts();
    interrupts::disable(map::UART_SOURCE);
}

fn sleep_ends_in_time() {
    for ticks in [0, 1, 10, 100, 1000, 10_000] {
        let deadline = time::now() + ticks;
        let wakeup = stopwatch::wait_until(deadline);
        assert!(wakeup.is_timer());
        let late = time::now() - deadline;
        // A thousandth of a second: nothing but a scheduler's mistake takes that long.
        assert!(late < time::hz() / 1000, "{late} ticks late");
    }
}

static HARTS: AtomicU64 = AtomicU64::new(0);

fn other_harts_start() {
    let harts = devicetree::harts();
    trap::enable_interrupts();
    let me = start::hart();
    record::metric("harts", harts, "count");
    let before = HARTS.load(Ordering::Relaxed);
    for (others, hart) in (before + 1..).zip((0..harts).filter(|&hart| hart != me)) {
        let before = IPIS.load(Ordering::Relaxed);
        assert_eq!(start::start_hart(hart, other), Ok(()));
        wait_for(|| HARTS.load(Ordering::Acquire) == others, "hart");
        wait_for(
            || IPIS.load(Ordering::Relaxed) > before,
            "IPI of another hart",
        );
    }
    trap::disable_interrupts();
    assert_eq!(start::start_hart(me, other), Err(Error::AlreadyAvailable));
    assert_eq!(start::start_hart(harts, other), Err(Error::InvalidParam));
    assert_eq!(sbi::hart_status(harts), Err(Error::InvalidParam));
}

/// What the other harts do: tell all, and stop.
fn other() -> ! {
    HARTS.fetch_add(1, Ordering::Release);
    assert_eq!(sbi::send_ipi(HartMask::ALL), Ok(()));
    panic!("a hart does not stop: {:?}", sbi::hart_stop());
}

fn calls_answer() {
    if hypervisor::is_present() {
        assert!(hypervisor::version().is_ok());
        assert!(hypervisor::cpu_time().is_ok_and(|ticks| ticks > 0));
        assert_eq!(hypervisor::channel_notify(1000), Err(Error::InvalidParam));
        assert_eq!(hypervisor::vm_status(1000), Err(Error::InvalidParam));
    } else {
        assert_eq!(hypervisor::version(), Err(Error::NotSupported));
    }
}

/// The controller's checks again, with a page; and what only a page has.
fn interrupts_come_by_a_page() {
    if !hypervisor::is_present() {
        assert_eq!(interrupts::use_page(), Err(Error::NotSupported));
        return;
    }
    let share = |address: u64| {
        let arguments = [address as usize, 0, 0, 0, 0, 0];
        // SAFETY: no address of those given is taken.
        unsafe { sbi::call_raw(hypercall::EXTENSION, hypercall::INTERRUPT_PAGE, arguments) }
            .result()
    };
    let end = map::RAM_BASE + devicetree::memory_size().expect("it has memory") as u64;
    for wrong in [
        1,
        64,
        map::RAM_BASE + 32,
        end - 32,
        end,
        map::CHANNEL_BASE,
        u64::MAX - 63,
    ] {
        assert_eq!(share(wrong), Err(Error::InvalidAddress), "{wrong:#x}");
    }
    for source in [0, 63, 64, usize::MAX] {
        let arguments = [source, 0, 0, 0, 0, 0];
        // SAFETY: the call touches no memory.
        let answer =
            unsafe { sbi::call_raw(hypercall::EXTENSION, hypercall::INTERRUPT_END, arguments) };
        assert_eq!(answer.result(), Err(Error::InvalidParam));
    }

    assert_eq!(interrupts::use_page(), Ok(()));
    let page = interrupts::page().expect("it is in use");
    IPIS.store(0, Ordering::Relaxed);
    own_ipi_arrives();
    uart_interrupts();
    other_harts_start();

    // What comes while its source is disabled waits for it.
    trap::enable_interrupts();
    SOURCE.store(0, Ordering::Relaxed);
    Uart::CONSOLE.enable_interrupts(uart::IER_TRANSMITTER_EMPTY);
    assert!(page.is_pending(map::UART_SOURCE));
    assert_eq!(SOURCE.load(Ordering::Relaxed), 0);
    interrupts::enable(map::UART_SOURCE, 1);
    assert_eq!(SOURCE.load(Ordering::Relaxed), map::UART_SOURCE);
    trap::disable_interrupts();

    assert_eq!(interrupts::use_controller(), Ok(()));
    uart_interrupts();
}

/// Sleeps until the condition holds, which some interrupt makes true, but not for more than a second.
fn wait_for(condition: impl Fn() -> bool, what: &str) {
    trap::on_timer(|| {});
    let end = time::now() + time::hz();
    while !condition() {
        assert!(time::now() < end, "no {what} came");
        time::set_deadline(time::now() + 1000);
        trap::wait_for_interrupt();
    }
    time::set_deadline(time::NEVER);
}
