//! A vCPU's registers while it does not run.

use super::csr::{self, clear, read, set, swap, write};

/// `scause` codes (privileged specification, table "Hypervisor-level cause codes").
pub mod cause {
    /// Of an interrupt: supervisor timer.
    pub const TIMER: u64 = 5;
    /// Instruction access fault.
    pub const FETCH_ACCESS: u64 = 1;
    /// Illegal instruction.
    pub const ILLEGAL_INSTRUCTION: u64 = 2;
    /// Load access fault.
    pub const LOAD_ACCESS: u64 = 5;
    /// Store or AMO access fault.
    pub const STORE_ACCESS: u64 = 7;
    /// Environment call from VS-mode.
    pub const ECALL_VS: u64 = 10;
    /// Instruction guest-page fault.
    pub const FETCH_GUEST_PAGE: u64 = 20;
    /// Load guest-page fault.
    pub const LOAD_GUEST_PAGE: u64 = 21;
    /// Virtual instruction.
    pub const VIRTUAL_INSTRUCTION: u64 = 22;
    /// Store or AMO guest-page fault.
    pub const STORE_GUEST_PAGE: u64 = 23;
}

/// Exceptions that a guest handles itself: all that it would take on a machine of its own.
const DELEGATED_EXCEPTIONS: u64 = 0xb1ff;
/// Without the floating-point unit, "illegal instruction" comes to the hypervisor first.
const DELEGATED_WITHOUT_FPU: u64 = DELEGATED_EXCEPTIONS & !(1 << cause::ILLEGAL_INSTRUCTION);

/// Interrupts that a guest takes itself.
const GUEST_INTERRUPTS: u64 = csr::VSSI | csr::VSTI | csr::VSEI;

/// `vsstatus.UXL` = 64 bits.
const UXL_64: u64 = 2 << 32;

/// Floating-point registers.
#[derive(Debug)]
#[repr(C)]
pub struct Fpu {
    registers: [u64; 32],
    fcsr: u64,
}

/// Registers of a vCPU. Those of the running one are partly in the hart.
#[derive(Debug)]
#[repr(C)]
pub struct Context {
    /// `x0` (unused) to `x31`.
    pub registers: [u64; 32],
    /// Top of the stack the hypervisor uses when this guest traps.
    pub(super) host_stack: u64,
    pub(super) pc: u64,
    /// `FS` is Dirty: the hart that the vCPU ran on last holds newer floating-point registers than its [`Fpu`].
    pub(super) sstatus: u64,
    vsstatus: u64,
    vsie: u64,
    vstvec: u64,
    vsscratch: u64,
    vsepc: u64,
    vscause: u64,
    vstval: u64,
    vsatp: u64,
    vstimecmp: u64,
    hvip: u64,
    scounteren: u64,
    senvcfg: u64,
    pub(super) hgatp: u64,
    /// Which counters the guest may read; fixed.
    pub(super) hcounteren: u64,
}

impl Context {
    /// A context that is never entered; see [`Context::reset`]. `counters`: besides `time`, the guest may read `cycle`
    /// and `instret`.
    pub const fn new(hgatp: u64, counters: bool) -> Self {
        Self {
            registers: [0; 32],
            host_stack: 0,
            pc: 0,
            sstatus: 0,
            vsstatus: 0,
            vsie: 0,
            vstvec: 0,
            vsscratch: 0,
            vsepc: 0,
            vscause: 0,
            vstval: 0,
            vsatp: 0,
            vstimecmp: u64::MAX,
            hvip: 0,
            scounteren: 0,
            senvcfg: 0,
            hgatp,
            hcounteren: if counters {
                csr::COUNTEREN_ALL
            } else {
                csr::COUNTEREN_TM
            },
        }
    }

    /// The state in which a guest's hart starts (SBI specification, HSM extension, "Hart start"):
    /// supervisor level, no translation, interrupts off, `a0` and `a1` given, all else zero.
    pub fn reset(&mut self, pc: u64, a0: u64, a1: u64) {
        // In place: a new one would be made on the stack and copied.
        self.registers = [0; 32];
        self.vsie = 0;
        self.vstvec = 0;
        self.vsscratch = 0;
        self.vsepc = 0;
        self.vscause = 0;
        self.vstval = 0;
        self.vsatp = 0;
        self.vstimecmp = u64::MAX;
        self.hvip = 0;
        self.senvcfg = 0;
        self.pc = pc;
        self.registers[10] = a0;
        self.registers[11] = a1;
        self.sstatus = csr::SSTATUS_SPP;
        self.vsstatus = UXL_64;
        // Linux leaves user programs the counters it finds enabled, and its vDSO needs `time`.
        self.scounteren = csr::COUNTEREN_ALL;
    }

    /// Takes over what is in the hart, after the vCPU has run. Floating-point registers stay there:
    /// [`Context::fpu_is_dirty`].
    #[inline(never)]
    pub fn save(&mut self) {
        self.pc = read!(csr::SEPC);
        self.sstatus = read!(csr::SSTATUS);
        self.vsstatus = read!(csr::VSSTATUS);
        self.vsie = read!(csr::VSIE);
        self.vstvec = read!(csr::VSTVEC);
        self.vsscratch = read!(csr::VSSCRATCH);
        self.vsepc = read!(csr::VSEPC);
        self.vscause = read!(csr::VSCAUSE);
        self.vstval = read!(csr::VSTVAL);
        self.vsatp = read!(csr::VSATP);
        self.vstimecmp = read!(csr::VSTIMECMP);
        self.hvip = read!(csr::HVIP);
        self.scounteren = read!(csr::SCOUNTEREN);
        self.senvcfg = read!(csr::SENVCFG);
    }

    /// Takes over what is in the hart, as [`Context::save`], and puts another vCPU in its place, each register in one
    /// step. `host_stack`: top of the hart's stack; `fpu_ready`: the hart's floating-point registers hold that vCPU's;
    /// `external`: its external interrupt is pending.
    #[inline]
    pub fn exchange(&mut self, to: &mut Self, host_stack: u64, fpu_ready: bool, external: bool) {
        to.host_stack = host_stack;
        // In groups, so that no load and no register is waited for.
        let (pc, sstatus, vsstatus, vsie) = (to.pc, to.sstatus, to.vsstatus, to.vsie);
        self.pc = swap!(csr::SEPC, pc);
        self.sstatus = swap!(csr::SSTATUS, with_fpu(sstatus, fpu_ready));
        self.vsstatus = swap!(csr::VSSTATUS, vsstatus);
        self.vsie = swap!(csr::VSIE, vsie);
        let (vstvec, vsscratch, vsepc, vscause) = (to.vstvec, to.vsscratch, to.vsepc, to.vscause);
        self.vstvec = swap!(csr::VSTVEC, vstvec);
        self.vsscratch = swap!(csr::VSSCRATCH, vsscratch);
        self.vsepc = swap!(csr::VSEPC, vsepc);
        self.vscause = swap!(csr::VSCAUSE, vscause);
        let (vstval, vsatp, hgatp, vstimecmp) = (to.vstval, to.vsatp, to.hgatp, to.vstimecmp);
        self.vstval = swap!(csr::VSTVAL, vstval);
        // Never the one VM's tables with the other's translation below.
        self.vsatp = swap!(csr::VSATP, 0);
        write!(csr::HGATP, hgatp);
        write!(csr::VSATP, vsatp);
        self.vstimecmp = swap!(csr::VSTIMECMP, vstimecmp);
        let (hvip, scounteren, senvcfg) = (to.hvip, to.scounteren, to.senvcfg);
        let external = u64::from(external) * csr::VSEI;
        self.hvip = swap!(csr::HVIP, hvip & !csr::VSEI | external);
        self.scounteren = swap!(csr::SCOUNTEREN, scounteren);
        self.senvcfg = swap!(csr::SENVCFG, senvcfg);
        write!(csr::HCOUNTEREN, to.hcounteren);
        delegate(fpu_ready);
    }

    /// Whether the hart that the vCPU ran on last holds newer floating-point registers than its [`Fpu`]: see
    /// [`Context::save_fpu`].
    pub const fn fpu_is_dirty(&self) -> bool {
        self.sstatus & csr::SSTATUS_FS == csr::SSTATUS_FS
    }

    /// Takes over the floating-point registers, which this hart holds for the vCPU, if they have
    /// changed since that was done last. Before another vCPU gets the unit, or another hart this vCPU.
    #[inline(never)]
    pub fn save_fpu(&mut self, fpu: &mut Fpu) {
        if self.fpu_is_dirty() {
            self.sstatus = self.sstatus & !csr::SSTATUS_FS | csr::SSTATUS_FS_CLEAN;
            // Off when another vCPU has the hart; otherwise this one may go on without being loaded again.
            let still_in = fpu_is_loaded();
            set!(csr::SSTATUS, csr::SSTATUS_FS);
            fpu.save();
            let kept = if still_in { csr::SSTATUS_FS_CLEAN } else { 0 };
            clear!(csr::SSTATUS, csr::SSTATUS_FS & !kept);
        }
    }

    /// When the vCPU, saved, wants to be woken by its timer: ticks, or `None`.
    pub fn timer_deadline(&self) -> Option<u64> {
        // vsie has the supervisor's bit positions.
        (self.vsie & csr::STI != 0 && self.vstimecmp != u64::MAX).then_some(self.vstimecmp)
    }

    /// Whether the vCPU, saved, is woken from `wfi` by the interrupts given besides those pending in it.
    pub fn wakes(&self, software: bool, external: bool) -> bool {
        let enabled = self.vsie << 1;
        let pending = self.hvip & csr::VSSI
            | if software { csr::VSSI } else { 0 }
            | if external { csr::VSEI } else { 0 };
        pending & enabled != 0
    }
}

/// Takes the hart's floating-point registers for another vCPU, which is given its own with [`Fpu::give`]. `from`: the
/// vCPU whose newer ones the hart holds, perhaps, which are saved.
#[inline(always)]
pub fn take_fpu(from: Option<(&mut Context, &mut Fpu)>) {
    set!(csr::SSTATUS, csr::SSTATUS_FS);
    if let Some((context, fpu)) = from
        && context.fpu_is_dirty()
    {
        context.sstatus = context.sstatus & !csr::SSTATUS_FS | csr::SSTATUS_FS_CLEAN;
        fpu.save();
    }
}

/// A saved `sstatus` for a hart whose floating-point registers are the vCPU's, or are not: `FS` is Clean at least, or
/// Off.
#[inline(always)]
const fn with_fpu(sstatus: u64, fpu_ready: bool) -> u64 {
    if fpu_ready {
        sstatus | csr::SSTATUS_FS_CLEAN
    } else {
        sstatus & !csr::SSTATUS_FS
    }
}

/// Makes the running guest's exceptions and its returns from traps come to the hypervisor, or no longer.
#[inline(never)]
pub fn watch(watched: bool) {
    if watched {
        write!(csr::HEDELEG, 0);
        set!(csr::HSTATUS, csr::HSTATUS_VTSR);
    } else {
        clear!(csr::HSTATUS, csr::HSTATUS_VTSR);
        delegate(fpu_is_loaded());
    }
}

/// Makes all that would take the running guest, loaded, from its user level to its kernel come to the hypervisor.
/// Undone before it is saved: `vsie` does not show then what is not delegated.
pub fn confine(confined: bool) {
    if confined {
        write!(csr::HEDELEG, 0);
        write!(csr::HIDELEG, 0);
    } else {
        write!(csr::HIDELEG, GUEST_INTERRUPTS);
    }
}

/// Makes the running guest's returns from traps come to the hypervisor, or no longer.
pub fn trap_returns(trapped: bool) {
    if trapped {
        set!(csr::HSTATUS, csr::HSTATUS_VTSR);
    } else {
        clear!(csr::HSTATUS, csr::HSTATUS_VTSR);
    }
}

/// Carries out the `sret` of the guest's kernel that has trapped (privileged specification, "Trap-Return
/// Instructions").
pub fn return_from_trap() {
    let vsstatus = read!(csr::VSSTATUS);
    if vsstatus & csr::SSTATUS_SPP == 0 {
        clear!(csr::SSTATUS, csr::SSTATUS_SPP);
    }
    let enabled = if vsstatus & csr::SSTATUS_SPIE != 0 {
        csr::SSTATUS_SIE
    } else {
        0
    };
    let kept = vsstatus & !(csr::SSTATUS_SPP | csr::SSTATUS_SIE);
    write!(csr::VSSTATUS, kept | csr::SSTATUS_SPIE | enabled);
    write!(csr::SEPC, read!(csr::VSEPC));
}

/// Whether the guest in the hart goes on at its user level, and with no interrupt that takes it to its kernel at once.
pub fn at_user_level() -> bool {
    read!(csr::SSTATUS) & csr::SSTATUS_SPP == 0 && read!(csr::HIP) & read!(csr::HIE) == 0
}

/// Lets the guest handle its exceptions without the hypervisor.
fn delegate(fpu_ready: bool) {
    let exceptions = if fpu_ready {
        DELEGATED_EXCEPTIONS
    } else {
        DELEGATED_WITHOUT_FPU
    };
    write!(csr::HEDELEG, exceptions);
}

/// Whether the running vCPU has its floating-point registers in the hart.
pub fn fpu_is_loaded() -> bool {
    read!(csr::SSTATUS) & csr::SSTATUS_FS != 0
}

unsafe extern "C" {
    /// The way in ([`super::entry`]): the value of `stvec` while guests run.
    fn guest_trap();
}

/// Sets up a hart's hypervisor-level CSRs that never change. `shared`: another vCPU may want the hart while one
/// waits, so that `wfi` has to trap.
pub fn initialise_hart(shared: bool) {
    write!(csr::STVEC, guest_trap as *const () as u64);
    write!(csr::SATP, 0);
    write!(
        csr::HSTATUS,
        csr::HSTATUS_VSXL_64
            | csr::HSTATUS_SPV
            | csr::HSTATUS_SPVP
            | if shared { csr::HSTATUS_VTW } else { 0 }
    );
    write!(csr::HIDELEG, GUEST_INTERRUPTS);
    write!(csr::HENVCFG, csr::HENVCFG_STCE);
    write!(csr::HTIMEDELTA, 0);
    write!(csr::STIMECMP, u64::MAX);
    write!(csr::HGEIE, 0);
    write!(csr::HIE, 0);
    write!(csr::SIE, csr::SSI | csr::STI | csr::SEI);
    clear!(
        csr::SSTATUS,
        csr::SSTATUS_SIE | csr::SSTATUS_FS | csr::SSTATUS_VS
    );
}

/// Whether the hart implements Sstc for guests: `henvcfg.STCE` can be set.
pub fn has_guest_timer() -> bool {
    write!(csr::HENVCFG, csr::HENVCFG_STCE);
    read!(csr::HENVCFG) & csr::HENVCFG_STCE != 0
}

/// Address space id `vmid` and root table of a VM, as in `hgatp`.
pub fn hgatp(vmid: u64, root: u64) -> u64 {
    const MODE_SV39X4: u64 = 8 << 60;
    MODE_SV39X4 | vmid << 44 | root >> 12
}

/// Whether `hgatp` holds Sv39x4 and VMIDs up to `vmid`.
pub fn can_hold(vmid: u64) -> bool {
    let wanted = hgatp(vmid, 0);
    write!(csr::HGATP, wanted);
    swap!(csr::HGATP, 0) == wanted
}

/// Sets (or clears) the running guest's pending external interrupt.
pub fn set_external(high: bool) {
    if high {
        set!(csr::HVIP, csr::VSEI);
    } else {
        clear!(csr::HVIP, csr::VSEI);
    }
}

/// Sets the running guest's pending software interrupt.
pub fn raise_software() {
    set!(csr::HVIP, csr::VSSI);
}

/// Programs the running guest's timer (ticks).
pub fn set_guest_timer(deadline: u64) {
    write!(csr::VSTIMECMP, deadline);
}

/// Whether the running guest has an interrupt pending and enabled, so that `wfi` does not wait.
pub fn guest_interrupt_pending() -> bool {
    const VSIP: u16 = 0x244;
    read!(VSIP) & read!(csr::VSIE) != 0
}

/// What the trap's CSRs say of a guest's exception.
#[derive(Clone, Copy, Debug)]
pub struct Exception {
    /// `scause` code.
    pub cause: u64,
    /// Guest-virtual address of the instruction.
    pub pc: u64,
    /// `stval`.
    pub value: u64,
    /// `htval` with the low bits of `stval`: the guest-physical address of a guest-page fault.
    pub guest_address: u64,
    /// `htinst`.
    pub instruction: u64,
    /// It happened at the guest's supervisor level.
    pub supervisor: bool,
}

impl Exception {
    /// The exception to report of the guest in the hart, and why. A guest that has never set `stvec` ends with a fetch
    /// from address 0; the exception that took it there says more. An illegal instruction is reported with its bits.
    pub fn reported(&self, why: &'static str) -> (&'static str, Self) {
        let (pc, code, value) = guest_exception();
        let without_handler =
            self.cause == cause::FETCH_GUEST_PAGE && self.pc | read!(csr::VSTVEC) & !3 == 0;
        let is_first = code >> 63 == 0 && (pc, code) != (0, 0);
        let (why, mut reported) = if without_handler && is_first {
            let first = Self {
                cause: code,
                pc,
                value,
                guest_address: if code == cause::ILLEGAL_INSTRUCTION {
                    pc
                } else {
                    value
                },
                instruction: 0,
                supervisor: true,
            };
            ("no-trap-handler", first)
        } else {
            (why, *self)
        };
        if reported.cause == cause::ILLEGAL_INSTRUCTION {
            reported.instruction = reported.value;
        }
        (why, reported)
    }

    /// Reads the trap's CSRs.
    pub fn read(cause: u64) -> Self {
        let value = trap_value();
        Self {
            cause,
            pc: trap_pc(),
            value,
            guest_address: read!(csr::HTVAL) << 2 | value & 3,
            instruction: read!(csr::HTINST),
            supervisor: at_supervisor_level(),
        }
    }
}

/// `stval`: what the exception being served is about.
pub fn trap_value() -> u64 {
    read!(csr::STVAL)
}

/// Guest-virtual address of the instruction that trapped.
pub fn trap_pc() -> u64 {
    read!(csr::SEPC)
}

/// Whether the trap being served came from the guest's supervisor level.
pub fn at_supervisor_level() -> bool {
    read!(csr::SSTATUS) & csr::SSTATUS_SPP != 0
}

/// Guest-physical address and length in bytes of the instruction that trapped, if it stores a word and the hart tells
/// so.
pub fn stored_word() -> Option<(u64, u64)> {
    let instruction = read!(csr::HTINST);
    // Bit 1 is zero when the instruction was compressed.
    let length = 2 + (instruction & 2);
    ((instruction | 2) & 0x707f == 0x2023)
        .then(|| (read!(csr::HTVAL) << 2 | read!(csr::STVAL) & 3, length))
}

/// Moves the running guest past its trapped instruction of `length` bytes.
pub fn skip_instruction(length: u64) {
    write!(csr::SEPC, read!(csr::SEPC).wrapping_add(length));
}

/// Makes the running guest make the call that is being served again.
pub fn repeat_call() {
    write!(csr::SEPC, read!(csr::SEPC).wrapping_sub(4));
}

/// Whether the trap being served came from a guest, and not from the hypervisor itself.
pub fn trapped_from_guest() -> bool {
    read!(csr::HSTATUS) & csr::HSTATUS_SPV != 0
}

/// Keeps the interrupts of the guest whose registers are in the hart from ending a wait of the hypervisor's. Its
/// registers have to be loaded again afterwards.
pub fn mask_guest_interrupts() {
    write!(csr::VSIE, 0);
}

/// The guest's last exception as its own CSRs show it: `vsepc`, `vscause`, `vstval`.
pub fn guest_exception() -> (u64, u64, u64) {
    (read!(csr::VSEPC), read!(csr::VSCAUSE), read!(csr::VSTVAL))
}

/// Gives the running guest an exception at its present instruction, as hardware would (privileged
/// specification, "Supervisor Trap Handling").
#[inline(never)]
pub fn inject(cause: u64, value: u64) {
    write!(csr::VSEPC, read!(csr::SEPC));
    write!(csr::VSCAUSE, cause);
    write!(csr::VSTVAL, value);
    let mut vsstatus = read!(csr::VSSTATUS);
    vsstatus &= !(csr::SSTATUS_SPP | csr::SSTATUS_SPIE);
    vsstatus |= read!(csr::SSTATUS) & csr::SSTATUS_SPP;
    if vsstatus & csr::SSTATUS_SIE != 0 {
        vsstatus |= csr::SSTATUS_SPIE;
    }
    write!(csr::VSSTATUS, vsstatus & !csr::SSTATUS_SIE);
    write!(csr::SEPC, read!(csr::VSTVEC) & !3);
    set!(csr::SSTATUS, csr::SSTATUS_SPP);
}

macro_rules! each_fpu_register {
    ($instruction:literal, $address:expr) => {
        // Safety: the array has 32 doublewords, and sstatus.FS is not Off.
        unsafe {
            core::arch::asm!(
                concat!($instruction, " f0, 0*8({0})"),
                concat!($instruction, " f1, 1*8({0})"),
                concat!($instruction, " f2, 2*8({0})"),
                concat!($instruction, " f3, 3*8({0})"),
                concat!($instruction, " f4, 4*8({0})"),
                concat!($instruction, " f5, 5*8({0})"),
                concat!($instruction, " f6, 6*8({0})"),
                concat!($instruction, " f7, 7*8({0})"),
                concat!($instruction, " f8, 8*8({0})"),
                concat!($instruction, " f9, 9*8({0})"),
                concat!($instruction, " f10, 10*8({0})"),
                concat!($instruction, " f11, 11*8({0})"),
                concat!($instruction, " f12, 12*8({0})"),
                concat!($instruction, " f13, 13*8({0})"),
                concat!($instruction, " f14, 14*8({0})"),
                concat!($instruction, " f15, 15*8({0})"),
                concat!($instruction, " f16, 16*8({0})"),
                concat!($instruction, " f17, 17*8({0})"),
                concat!($instruction, " f18, 18*8({0})"),
                concat!($instruction, " f19, 19*8({0})"),
                concat!($instruction, " f20, 20*8({0})"),
                concat!($instruction, " f21, 21*8({0})"),
                concat!($instruction, " f22, 22*8({0})"),
                concat!($instruction, " f23, 23*8({0})"),
                concat!($instruction, " f24, 24*8({0})"),
                concat!($instruction, " f25, 25*8({0})"),
                concat!($instruction, " f26, 26*8({0})"),
                concat!($instruction, " f27, 27*8({0})"),
                concat!($instruction, " f28, 28*8({0})"),
                concat!($instruction, " f29, 29*8({0})"),
                concat!($instruction, " f30, 30*8({0})"),
                concat!($instruction, " f31, 31*8({0})"),
                in(reg) $address,
                options(nostack)
            );
        }
    };
}

impl Fpu {
    /// All zero.
    pub const fn new() -> Self {
        Self {
            registers: [0; 32],
            fcsr: 0,
        }
    }

    /// Makes them all zero, in place.
    pub fn reset(&mut self) {
        self.registers = [0; 32];
        self.fcsr = 0;
    }

    /// Gives the running vCPU its floating-point registers, which are these. After [`take_fpu`].
    #[inline(always)]
    pub fn give(&self) {
        self.load();
        clear!(csr::SSTATUS, csr::SSTATUS_FS & !csr::SSTATUS_FS_CLEAN);
        delegate(true);
    }

    fn save(&mut self) {
        each_fpu_register!("fsd", self.registers.as_mut_ptr());
        const FCSR: u16 = 0x003;
        self.fcsr = read!(FCSR);
    }

    fn load(&self) {
        each_fpu_register!("fld", self.registers.as_ptr());
        const FCSR: u16 = 0x003;
        write!(FCSR, self.fcsr);
    }
}
