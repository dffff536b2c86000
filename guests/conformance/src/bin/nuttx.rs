//! Uses the machine as NuttX does in its configuration `rv-virt:knsh64`: a kernel at supervisor level under Sv39, user
//! programs below it.
#![no_std]
#![no_main]

use core::arch::{asm, global_asm};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};

use tactus_guest::{
    abi::map::{RAM_BASE, RAW_IMAGE_BASE, UART_SOURCE},
    csr, devicetree, start, time,
};
use tactus_guest_conformance::trap::{self, Trap, lock, unlock};
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
/// NuttX's tick, in ticks of `time`: 10 ms in its default configuration, 0.1 ms here.
const TICK: u64 = 1000;
/// Sources whose priorities NuttX sets.
const SOURCES: u32 = 52;

static TIMER: AtomicU64 = AtomicU64::new(0);
static BY_CSR: AtomicBool = AtomicBool::new(false);
static SPURIOUS: AtomicU64 = AtomicU64::new(0);
static CLAIMS: AtomicU64 = AtomicU64::new(0);
static IPIS: AtomicU64 = AtomicU64::new(0);
static SYSCALLS: AtomicU64 = AtomicU64::new(0);
static LAST_SYSCALL: AtomicU64 = AtomicU64::new(0);
static TIMER_IN_USER: AtomicU64 = AtomicU64::new(0);

/// The expected exception, as `scause` plus one; 0: none is expected.
static EXPECTED: AtomicUsize = AtomicUsize::new(0);
/// The address at which to continue after it.
static RESUME: AtomicUsize = AtomicUsize::new(0);
/// Its `stval`.
static FAULT_AT: AtomicUsize = AtomicUsize::new(0);

fn main() {
    trap::install(start::hart(), dispatch);
    run(&[
        ("start_state", start_state),
        ("timer_by_sbi", timer_by_sbi),
        ("timer_by_stimecmp", timer_by_stimecmp),
        ("irq_initialize", irq_initialize),
        ("uart_setup", uart_setup),
        ("uart_transmits", uart_transmits),
        ("uart_receives", uart_receives),
        ("mmu_enable", mmu_enable),
        ("kernel_text_is_read_only", kernel_text_is_read_only),
        ("kernel_keeps_off_user_pages", kernel_keeps_off_user_pages),
        ("user_calls_kernel", user_calls_kernel),
        ("user_is_interrupted", user_is_interrupted),
        ("user_keeps_off_kernel", user_keeps_off_kernel),
        ("unmapped_page_faults", unmapped_page_faults),
        ("boot_secondary", boot_secondary),
        ("send_ipi", send_ipi),
    ]);
    // arch/risc-v/src/common/supervisor/riscv_sbi.c: shutdown.
    ecall(SRST, 0, [0, 0, 0]);
}

/// arch/risc-v/src/qemu-rv/qemu_rv_irq_dispatch.c.
fn dispatch(trap: &mut Trap) {
    match trap.cause {
        cause if cause == INTERRUPT | 5 => timer_interrupt(trap),
        cause if cause == INTERRUPT | 1 => {
            // SAFETY: it clears the interrupt that has just been taken.
            unsafe { csr::clear::<{ csr::SIP }>(csr::INTERRUPT_SOFTWARE) };
            IPIS.fetch_add(1, Relaxed);
        }
        cause if cause == INTERRUPT | 9 => {
            let claim = plic::claim(start_hart());
            // One claim per interrupt; 0 is ignored.
            let source = read32(claim);
            match source {
                0 => {
                    SPURIOUS.fetch_add(1, Relaxed);
                }
                UART_SOURCE => uart_interrupt(),
                _ => {}
            }
            if source != 0 {
                CLAIMS.fetch_add(1, Relaxed);
                write32(claim, source);
            }
        }
        8 => system_call(trap),
        cause if EXPECTED.load(Relaxed) == cause + 1 => {
            EXPECTED.store(0, Relaxed);
            FAULT_AT.store(trap.value, Relaxed);
            trap.pc = RESUME.load(Relaxed);
            // Execution continues in the kernel after a fault at any level.
            trap.status |= csr::SSTATUS_SPP;
        }
        cause => panic!(
            "cause {cause:#x} at {:#x}, value {:#x}",
            trap.pc, trap.value
        ),
    }
}

/// User programs may change `tp`, so the kernel uses the words behind `sscratch`; here only the boot hart runs
/// the kernel.
fn start_hart() -> usize {
    BOOT_HART.load(Relaxed)
}

static BOOT_HART: AtomicUsize = AtomicUsize::new(0);

/// arch/risc-v/src/common/riscv_mtimer.c, `riscv_mtimer_set_mtimecmp`: by the SBI, or with Sstc by `stimecmp`.
fn set_mtimecmp(deadline: u64) {
    if BY_CSR.load(Relaxed) {
        time::set_deadline(deadline);
    } else {
        ecall(TIME, 0, [deadline as usize, 0, 0]);
    }
}

fn timer_interrupt(trap: &Trap) {
    set_mtimecmp(u64::MAX);
    TIMER.fetch_add(1, Relaxed);
    if trap.status & csr::SSTATUS_SPP == 0 {
        TIMER_IN_USER.fetch_add(1, Relaxed);
        USER_STACK.set(FLAG, 1);
    }
}

/// Takes interrupts until a condition holds, at most for a second.
fn wait_until(condition: impl Fn() -> bool) {
    let end = time::now() + time::hz();
    while !condition() && time::now() < end {
        unlock(csr::SSTATUS_SIE);
        lock();
    }
}

/// arch/risc-v/src/qemu-rv/qemu_rv_head.S: `sie` and `sip` are cleared, whatever their values.
fn start_state() -> Check {
    BOOT_HART.store(start::hart(), Relaxed);
    // SAFETY: disabling interrupts is always sound.
    unsafe {
        csr::write::<{ csr::SIE }>(0);
        csr::write::<{ csr::SIP }>(0);
    }
    expect("sie", csr::read::<{ csr::SIE }>() as u64, 0)?;
    expect("satp", csr::read::<{ csr::SATP }>() as u64, 0)?;
    expect("devicetree", u64::from(devicetree::get().is_some()), 1)
}

fn timer() -> Check {
    const ROUNDS: u64 = 20;
    lock();
    // SAFETY: `dispatch` handles the timer's interrupt.
    unsafe { csr::set::<{ csr::SIE }>(csr::INTERRUPT_TIMER) };
    for _ in 0..ROUNDS {
        let before = TIMER.load(Relaxed);
        let deadline = time::now() + TICK;
        set_mtimecmp(deadline);
        // arch/risc-v/src/common/riscv_idle.c: `wfi` with interrupts on.
        while TIMER.load(Relaxed) == before {
            trap::idle();
            lock();
        }
        expect_at_least("the clock", time::now(), deadline)?;
        expect("interrupts", TIMER.load(Relaxed) - before, 1)?;
        let pending = csr::read::<{ csr::SIP }>() & csr::INTERRUPT_TIMER;
        expect("STIP", pending as u64, 0)?;
    }
    Ok(())
}

/// arch/risc-v/src/common/riscv_mtimer.c without Sstc.
fn timer_by_sbi() -> Check {
    BY_CSR.store(false, Relaxed);
    timer()
}

/// The same with Sstc.
fn timer_by_stimecmp() -> Check {
    BY_CSR.store(true, Relaxed);
    timer()
}

/// arch/risc-v/src/qemu-rv/qemu_rv_irq.c, `up_irqinitialize` and `up_enable_irq`.
fn irq_initialize() -> Check {
    let hart = start::hart();
    write32(plic::enables(hart, 0), 0);
    write32(plic::enables(hart, 1), 0);
    for source in 1..=SOURCES {
        write32(plic::priority(source), 1);
    }
    write32(plic::threshold(hart), 0);
    let enables = plic::enables(hart, UART_SOURCE / 32);
    write32(enables, read32(enables) | 1 << (UART_SOURCE % 32));
    // SAFETY: `dispatch` handles each interrupt.
    unsafe { csr::set::<{ csr::SIE }>(csr::INTERRUPT_EXTERNAL | csr::INTERRUPT_SOFTWARE) };
    expect(
        "enables",
        read32(plic::enables(hart, 0)).into(),
        1 << UART_SOURCE,
    )?;
    for source in 1..=SOURCES {
        expect("a priority", read32(plic::priority(source)).into(), 1)?;
    }
    expect("threshold", read32(plic::threshold(hart)).into(), 0)
}

/// drivers/serial/uart_16550.c, `u16550_setup`.
fn uart_setup() -> Check {
    uart_write(
        uart::IIR_FCR,
        uart::FCR_CLEAR_RECEIVER | uart::FCR_CLEAR_TRANSMITTER,
    );
    uart_write(uart::IIR_FCR, uart::FCR_ENABLE | uart::FCR_TRIGGER_8);
    let interrupts = uart_read(uart::IER);
    uart_write(uart::LCR, uart::LCR_8N1 | uart::LCR_DIVISOR);
    uart_write(uart::IER, 0);
    uart_write(uart::DATA, 2);
    uart_write(uart::LCR, uart::LCR_8N1);
    uart_write(uart::IIR_FCR, uart::FCR_ENABLE | uart::FCR_TRIGGER_8);
    expect("IER", uart_read(uart::IER).into(), interrupts.into())?;
    expect("LCR", uart_read(uart::LCR).into(), uart::LCR_8N1.into())?;
    // `u16550_attach`: OUT2 lets interrupts through on PCs.
    uart_write(uart::MCR, uart_read(uart::MCR) | uart::MCR_OUT2);
    expect(
        "OUT2",
        (uart_read(uart::MCR) & uart::MCR_OUT2).into(),
        uart::MCR_OUT2.into(),
    )
}

const TEXT: &[u8] = b"NuttX's console, by interrupts\n";
static SENT: AtomicUsize = AtomicUsize::new(0);
static RECEIVED: [AtomicU8; 16] = [const { AtomicU8::new(0) }; 16];
static RECEIVED_COUNT: AtomicUsize = AtomicUsize::new(0);

/// `u16550_interrupt`: reads the cause until there is none, at most 256 times.
fn uart_interrupt() {
    for _ in 0..256 {
        let identification = uart_read(uart::IIR_FCR);
        match identification & uart::IIR_ID {
            _ if identification & uart::IIR_NONE != 0 => return,
            uart::IIR_RECEIVED | uart::IIR_TIMEOUT => receive(),
            uart::IIR_TRANSMITTER_EMPTY => transmit(),
            // Line and modem status: reading clears them.
            0x06 => {
                let _ = uart_read(uart::LSR);
            }
            _ => {
                let _ = uart_read(uart::MSR);
            }
        }
    }
}

/// `uart_recvchars`.
fn receive() {
    while uart_read(uart::LSR) & uart::LSR_RECEIVED != 0 {
        let byte = uart_read(uart::DATA);
        let index = RECEIVED_COUNT.fetch_add(1, Relaxed);
        if let Some(slot) = RECEIVED.get(index) {
            slot.store(byte, Relaxed);
        }
    }
}

/// `uart_xmitchars`: as long as the transmitter takes bytes; after the last, `u16550_txint` disables its interrupt.
fn transmit() {
    let mut sent = SENT.load(Relaxed);
    while sent < TEXT.len() && uart_read(uart::LSR) & uart::LSR_TRANSMITTER_EMPTY != 0 {
        uart_write(uart::DATA, TEXT[sent]);
        sent += 1;
    }
    SENT.store(sent, Relaxed);
    if sent == TEXT.len() {
        uart_write(
            uart::IER,
            uart_read(uart::IER) & !uart::IER_TRANSMITTER_EMPTY,
        );
    }
}

/// `u16550_txint`: enables the interrupt, and sends the first bytes itself.
fn uart_transmits() -> Check {
    lock();
    SENT.store(0, Relaxed);
    uart_write(
        uart::IER,
        uart_read(uart::IER) | uart::IER_TRANSMITTER_EMPTY,
    );
    transmit();
    wait_until(|| SENT.load(Relaxed) == TEXT.len());
    expect("bytes sent", SENT.load(Relaxed) as u64, TEXT.len() as u64)?;
    expect("IER", uart_read(uart::IER).into(), 0)
}

/// `u16550_rxint`; the UART's own loop-back is the line.
fn uart_receives() -> Check {
    const SENT: &[u8] = b"nsh>";
    let claims = CLAIMS.load(Relaxed);
    uart_write(uart::MCR, uart_read(uart::MCR) | uart::MCR_LOOP);
    uart_write(uart::IER, uart::IER_RECEIVED | 0x04);
    for byte in SENT {
        uart_write(uart::DATA, *byte);
        wait_until(|| uart_read(uart::LSR) & uart::LSR_TRANSMITTER_EMPTY != 0);
    }
    wait_until(|| RECEIVED_COUNT.load(Relaxed) == SENT.len());
    uart_write(uart::IER, 0);
    uart_write(uart::MCR, uart_read(uart::MCR) & !uart::MCR_LOOP);
    expect(
        "bytes received",
        RECEIVED_COUNT.load(Relaxed) as u64,
        SENT.len() as u64,
    )?;
    for (slot, byte) in RECEIVED.iter().zip(SENT) {
        expect("a byte", slot.load(Relaxed).into(), (*byte).into())?;
    }
    expect_at_least("interrupts", CLAIMS.load(Relaxed) - claims, 1)
}

/// Bits of a page-table entry (privileged specification, "Sv39").
const V: u64 = 1 << 0;
const R: u64 = 1 << 1;
const W: u64 = 1 << 2;
const X: u64 = 1 << 3;
const U: u64 = 1 << 4;
const G: u64 = 1 << 5;
const A: u64 = 1 << 6;
const D: u64 = 1 << 7;
/// `sstatus.SUM`: the kernel may access user pages.
const SUM: usize = 1 << 18;

/// A page: of a page table, of the user's program, or of its data.
#[repr(C, align(4096))]
struct Page(UnsafeCell<[u64; 512]>);

// SAFETY: only one hart uses them, by volatile accesses and by its page-table walker.
unsafe impl Sync for Page {}

impl Page {
    const fn new() -> Self {
        Self(UnsafeCell::new([0; 512]))
    }

    fn address(&self) -> u64 {
        self.0.get() as u64
    }

    fn set(&self, index: usize, word: u64) {
        // SAFETY: `index` is below 512 in each call, and no reference to the words exists.
        unsafe {
            self.0
                .get()
                .cast::<u64>()
                .add(index % 512)
                .write_volatile(word)
        };
    }

    /// A table's entry that points to this page.
    fn entry(&self, bits: u64) -> u64 {
        (self.address() >> 12) << 10 | bits | V
    }
}

/// Three levels of the kernel's tables, and two more of the user's address space.
static L1: Page = Page::new();
static L2: Page = Page::new();
static L3: Page = Page::new();
static USER_L2: Page = Page::new();
static USER_L3: Page = Page::new();
static USER_TEXT: Page = Page::new();
static USER_STACK: Page = Page::new();
static READ_ONLY: Page = Page::new();

/// Address of a user program, CONFIG_ARCH_TEXT_VBASE.
const USER_BASE: u64 = 0xc000_0000;
const USER_STACK_TOP: u64 = USER_BASE + 0x2000;

/// arch/risc-v/src/qemu-rv/qemu_rv_mm_init.c, arch/risc-v/src/common/riscv_mmu.h: devices by one entry of a gigabyte,
/// the kernel by pages of 4 KiB, all of it global.
fn mmu_enable() -> Check {
    L1.set(0, V | R | W | G | A | D);
    L1.set((RAM_BASE >> 30) as usize, L2.entry(G));
    // The page pool, here all other memory, by pages of 2 MiB.
    for index in 0..512 {
        let page = RAM_BASE + (index << 21);
        L2.set(index as usize, (page >> 12) << 10 | V | R | W | G | A | D);
    }
    L2.set((RAW_IMAGE_BASE >> 21 & 511) as usize, L3.entry(G));
    for index in 0..512 {
        let page = RAW_IMAGE_BASE + 4096 * index;
        let bits = if page == READ_ONLY.address() {
            R | X
        } else {
            R | W | X
        };
        L3.set(index as usize, (page >> 12) << 10 | V | bits | G | A | D);
    }
    L1.set((USER_BASE >> 30) as usize, USER_L2.entry(0));
    USER_L2.set((USER_BASE >> 21 & 511) as usize, USER_L3.entry(0));
    USER_L3.set(0, USER_TEXT.entry(R | W | X | U | A | D));
    USER_L3.set(1, USER_STACK.entry(R | W | U | A | D));
    let satp = 8 << 60 | L1.address() >> 12;
    // SAFETY: everything that the program uses keeps its address: memory from the image on, and the devices.
    unsafe {
        asm!("sfence.vma", options(nostack));
        csr::write::<{ csr::SATP }>(satp as usize);
        asm!("sfence.vma", options(nostack));
    }
    expect("satp", csr::read::<{ csr::SATP }>() as u64, satp)?;
    // Interrupts still work.
    timer()?;
    uart_transmits()
}

/// Makes an access that must fault, and returns its address from `stval`.
fn fault(cause: usize, access: impl FnOnce()) -> Result<u64, usize> {
    EXPECTED.store(cause + 1, Relaxed);
    access();
    match EXPECTED.swap(0, Relaxed) {
        0 => Ok(FAULT_AT.load(Relaxed) as u64),
        _ => Err(cause),
    }
}

/// Loads a word; `dispatch` resumes behind the instruction if it faults.
fn load(address: u64) {
    // SAFETY: a load of any address either succeeds or traps to `dispatch`.
    unsafe {
        asm!(
            "lla {t}, 1f", "sd {t}, 0({resume})", "ld {t}, 0({a})", "1:",
            t = out(reg) _, resume = in(reg) RESUME.as_ptr(), a = in(reg) address,
        );
    }
}

/// Stores a word to an otherwise unused address; as [`load`].
fn store(address: u64) {
    // SAFETY: callers pass addresses in their own pages, which hold no data of the compiler's.
    unsafe {
        asm!(
            "lla {t}, 1f", "sd {t}, 0({resume})", "sd zero, 0({a})", "1:",
            t = out(reg) _, resume = in(reg) RESUME.as_ptr(), a = in(reg) address,
        );
    }
}

/// Checks an expected fault and its address.
fn expect_fault(what: &'static str, seen: Result<u64, usize>, address: u64) -> Check {
    expect(what, seen.unwrap_or(0), address)
}

const LOAD_PAGE_FAULT: usize = 13;
const STORE_PAGE_FAULT: usize = 15;

/// The kernel's text is mapped without W.
fn kernel_text_is_read_only() -> Check {
    let address = READ_ONLY.address() + 8;
    let seen = fault(STORE_PAGE_FAULT, || store(address));
    expect_fault("fault of a store", seen, address)?;
    EXPECTED.store(0, Relaxed);
    load(address);
    Ok(())
}

/// Without `sstatus.SUM` the kernel cannot access user pages.
fn kernel_keeps_off_user_pages() -> Check {
    let address = USER_BASE + 0x1000;
    let seen = fault(LOAD_PAGE_FAULT, || load(address));
    expect_fault("fault of a load without SUM", seen, address)?;
    // SAFETY: it permits accesses, which only `load` makes.
    unsafe { csr::set::<{ csr::SSTATUS }>(SUM) };
    load(address);
    // SAFETY: as above.
    unsafe { csr::clear::<{ csr::SSTATUS }>(SUM) };
    Ok(())
}

// The user's programs, copied into their page: each has its argument in a0, and receives the result of its call in
// a0.
global_asm!(
    r#"
    .section .rodata
    .balign 8
user_begin:
    # 0: calls the kernel 10 times, adding 1 to what it gets back; then call 1 with the sum.
    li      s0, 10
    li      a0, 100
1:  li      a7, 2
    sd      a0, -8(sp)
    ld      a0, -8(sp)
    ecall
    addi    a0, a0, 1
    addi    s0, s0, -1
    bnez    s0, 1b
    li      a7, 1
    ecall
    .balign 64
    # 64: spins until a flag on its stack page is set; then call 1.
    li      a0, 0
2:  addi    a0, a0, 1
    ld      t0, -16(sp)
    beqz    t0, 2b
    li      a7, 1
    ecall
    .balign 64
    # 128: loads from the kernel.
    ld      a0, 0(a0)
    li      a7, 1
    ecall
user_end:
    .text

    # run_user(pc, sp, a0): leaves for user level; the call 1, or an expected fault, comes back here.
    .globl nuttx_run_user
nuttx_run_user:
    addi    sp, sp, -128
    sd      ra, 0(sp)
    sd      s0, 8(sp)
    sd      s1, 16(sp)
    sd      s2, 24(sp)
    sd      s3, 32(sp)
    sd      s4, 40(sp)
    sd      s5, 48(sp)
    sd      s6, 56(sp)
    sd      s7, 64(sp)
    sd      s8, 72(sp)
    sd      s9, 80(sp)
    sd      s10, 88(sp)
    sd      s11, 96(sp)
    sd      tp, 104(sp)
    sd      gp, 112(sp)
    lla     t0, nuttx_kernel_sp
    sd      sp, 0(t0)
    csrw    sepc, a0
    li      t0, 0x100               # SPP: user
    csrc    sstatus, t0
    li      t0, 0x20                # SPIE: interrupts are on there
    csrs    sstatus, t0
    mv      sp, a1
    mv      a0, a2
    sret
    .globl nuttx_back
nuttx_back:
    lla     t0, nuttx_kernel_sp
    ld      sp, 0(t0)
    csrci   sstatus, 2
    ld      ra, 0(sp)
    ld      s0, 8(sp)
    ld      s1, 16(sp)
    ld      s2, 24(sp)
    ld      s3, 32(sp)
    ld      s4, 40(sp)
    ld      s5, 48(sp)
    ld      s6, 56(sp)
    ld      s7, 64(sp)
    ld      s8, 72(sp)
    ld      s9, 80(sp)
    ld      s10, 88(sp)
    ld      s11, 96(sp)
    ld      tp, 104(sp)
    ld      gp, 112(sp)
    addi    sp, sp, 128
    ret
    .bss
    .balign 8
nuttx_kernel_sp:
    .zero   8
    .text
    "#
);

unsafe extern "C" {
    fn nuttx_run_user(pc: u64, sp: u64, argument: u64);
    fn nuttx_back();
    static user_begin: u8;
    static user_end: u8;
}

/// Runs the user program at that offset until its last call of the kernel.
fn run_user(offset: u64, argument: u64) {
    let (from, end) = (&raw const user_begin, &raw const user_end);
    RESUME.store(nuttx_back as *const () as usize, Relaxed);
    // SAFETY: the program fits its page, which is otherwise unused; `dispatch` handles all its traps, and it returns
    // by `nuttx_back` with the kernel's registers.
    unsafe {
        let length = end.offset_from_unsigned(from);
        core::ptr::copy_nonoverlapping(from, USER_TEXT.0.get().cast::<u8>(), length);
        asm!("fence.i", options(nostack));
        nuttx_run_user(USER_BASE + offset, USER_STACK_TOP, argument);
    }
}

/// arch/risc-v/src/common/supervisor/riscv_perform_syscall.c: behind the `ecall`, with the result in `a0`.
fn system_call(trap: &mut Trap) {
    let (a0, a7) = (trap.registers[9], trap.registers[16]);
    trap.pc += 4;
    SYSCALLS.fetch_add(1, Relaxed);
    if a7 == 1 {
        LAST_SYSCALL.store(a0 as u64, Relaxed);
        trap.pc = nuttx_back as *const () as usize;
        trap.status |= csr::SSTATUS_SPP;
        trap.status &= !csr::SSTATUS_SPIE;
    }
}

/// arch/risc-v/src/common/riscv_syscall.S: the guest's kernel receives an `ecall` from user level.
fn user_calls_kernel() -> Check {
    let before = SYSCALLS.load(Relaxed);
    run_user(0, 0);
    expect("calls", SYSCALLS.load(Relaxed) - before, 11)?;
    expect("the last call's argument", LAST_SYSCALL.load(Relaxed), 110)
}

/// The timer interrupts a user program, which then continues: its loop ends when the interrupt's handler has
/// set a word on its stack.
fn user_is_interrupted() -> Check {
    USER_STACK.set(FLAG, 0);
    let before = TIMER_IN_USER.load(Relaxed);
    set_mtimecmp(time::now() + TICK);
    run_user(64, 0);
    expect("interrupts", TIMER_IN_USER.load(Relaxed) - before, 1)?;
    expect_at_least("rounds of the program", LAST_SYSCALL.load(Relaxed), 1)
}

/// The word of the user's stack page that ends its loop.
const FLAG: usize = 510;

/// Kernel pages do not have U.
fn user_keeps_off_kernel() -> Check {
    let address = READ_ONLY.address();
    EXPECTED.store(LOAD_PAGE_FAULT + 1, Relaxed);
    run_user(128, address);
    expect(
        "expected fault is outstanding",
        EXPECTED.swap(0, Relaxed) as u64,
        0,
    )?;
    expect(
        "address of the fault",
        FAULT_AT.load(Relaxed) as u64,
        address,
    )
}

/// arch/risc-v/src/common/riscv_addrenv.c: a page removed from the tables is inaccessible after `sfence.vma`.
fn unmapped_page_faults() -> Check {
    let address = READ_ONLY.address();
    let index = ((address - RAW_IMAGE_BASE) >> 12) as usize;
    L3.set(index, 0);
    // SAFETY: no reference to the page exists.
    unsafe { asm!("sfence.vma {}, zero", in(reg) address, options(nostack)) };
    let seen = fault(LOAD_PAGE_FAULT, || load(address));
    expect_fault("fault of a load", seen, address)
}

static UP: AtomicUsize = AtomicUsize::new(0);

/// The other hart, on which NuttX would enable the MMU and idle.
fn second() -> ! {
    lock();
    trap::install(start::hart(), dispatch);
    // SAFETY: `dispatch` handles the interrupt.
    unsafe { csr::write::<{ csr::SIE }>(csr::INTERRUPT_SOFTWARE) };
    UP.store(1, Relaxed);
    loop {
        trap::idle();
        lock();
    }
}

fn other() -> usize {
    usize::from(start::hart() == 0)
}

/// `riscv_sbi_boot_secondary`.
fn boot_secondary() -> Check {
    if devicetree::harts() < 2 {
        return Ok(());
    }
    expect(
        "error of hart_start",
        start::start_hart(other(), second).is_err().into(),
        0,
    )?;
    wait_until(|| UP.load(Relaxed) == 1);
    expect("second hart is up", UP.load(Relaxed) as u64, 1)?;
    let (error, state) = ecall(HSM, 2, [other(), 0, 0]);
    expect("error of hart_get_status", error as u64, 0)?;
    expect("state (started)", state as u64, 0)
}

/// `riscv_sbi_send_ipi`, by mask and base.
fn send_ipi() -> Check {
    if devicetree::harts() < 2 {
        return Ok(());
    }
    for round in 1..=20 {
        let (error, _) = ecall(IPI, 0, [1, other(), 0]);
        expect("error of send_ipi", error as u64, 0)?;
        wait_until(|| IPIS.load(Relaxed) >= round);
        expect("IPIs", IPIS.load(Relaxed), round)?;
    }
    Ok(())
}
