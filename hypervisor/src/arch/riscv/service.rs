//! A VM's service runs on a hart that is another vCPU's.

use super::context::{Context, cause};
use super::csr::{self, write};
use core::arch::{asm, global_asm};
use core::mem::offset_of;

global_asm!(
    ".option push",
    ".option norelax",
    ".option arch, +h",
    // Saves (sd) or loads (ld) all registers of the context in sp but for sp.
    ".macro all op",
    "    .irp n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
    "    \\op     x\\n, \\n*8(sp)",
    "    .endr",
    ".endm",
    // Saves (sd) or loads (ld) on the stack what a function keeps, and the guest's gp and tp.
    ".macro kept op",
    "    \\op     ra, 0*8(sp)",
    "    \\op     gp, 1*8(sp)",
    "    \\op     tp, 2*8(sp)",
    "    \\op     s0, 3*8(sp)",
    "    \\op     s1, 4*8(sp)",
    "    \\op     s2, 5*8(sp)",
    "    \\op     s3, 6*8(sp)",
    "    \\op     s4, 7*8(sp)",
    "    \\op     s5, 8*8(sp)",
    "    \\op     s6, 9*8(sp)",
    "    \\op     s7, 10*8(sp)",
    "    \\op     s8, 11*8(sp)",
    "    \\op     s9, 12*8(sp)",
    "    \\op     s10, 13*8(sp)",
    "    \\op     s11, 14*8(sp)",
    ".endm",
    // u64 run_service(context): enters the guest of the context until it traps; gives `scause`.
    ".section .text.service, \"ax\"",
    ".balign 32",
    "run_service:",
    "    addi    sp, sp, -18*8",
    "    kept    sd",
    "    csrrw   t0, sscratch, a0",
    "    la      t1, 1f",
    "    csrrw   t1, stvec, t1",
    "    sd      t0, 15*8(sp)",
    "    sd      t1, 16*8(sp)",
    "    sd      sp, {host_stack}(a0)",
    "    mv      sp, a0",
    "    all     ld",
    "    ld      sp, 2*8(sp)",
    "    sret",
    ".balign 4",
    "1:  csrrw   sp, sscratch, sp",
    "    all     sd",
    "    csrr    t0, sscratch",
    "    sd      t0, 2*8(sp)",
    "    ld      sp, {host_stack}(sp)",
    "    ld      t0, 15*8(sp)",
    "    ld      t1, 16*8(sp)",
    "    csrw    sscratch, t0",
    "    csrw    stvec, t1",
    "    kept    ld",
    "    addi    sp, sp, 18*8",
    "    csrr    a0, scause",
    "    ret",
    ".purgem  all",
    ".purgem  kept",
    ".option pop",
    host_stack = const offset_of!(Context, host_stack),
);

impl Context {
    /// It is of the VM of another one from now on, and in the state in which a hart starts.
    pub fn share_vm_of(&mut self, other: &Self) {
        self.reset(0, 0, 0);
        self.hgatp = other.hgatp;
        self.hcounteren = other.hcounteren;
    }

    /// A call of the VM begins there, at supervisor level.
    #[inline(always)]
    pub const fn begin_call(&mut self, entry: u64, stack: u64, (gp, tp): (u64, u64)) {
        self.pc = entry;
        self.sstatus = csr::SSTATUS_SPP;
        self.registers[2] = stack;
        self.registers[3] = gp;
        self.registers[4] = tp;
    }
}

unsafe extern "C" {
    #[link_name = "run_service"]
    safe fn run_until_trap(context: &mut Context) -> u64;
}

/// What a service has trapped for.
pub enum Trap {
    /// A call; the program counter is behind it.
    Call,
    /// The time is over.
    Time,
    /// Something that a service may not do: `scause`.
    Fault(u64),
}

/// Enters the guest of a context that has been exchanged for the one in the hart, until it traps or `end` (ticks) has
/// come. Meanwhile the hart takes no other interrupt, and its timer is set to that.
pub fn run(context: &mut Context, end: u64) -> Trap {
    write!(csr::STIMECMP, end);
    write!(csr::SIE, csr::STI);
    let cause = run_until_trap(context);
    write!(csr::SIE, csr::SSI | csr::STI | csr::SEI);
    match cause {
        cause::ECALL_VS => {
            super::context::skip_instruction(4);
            Trap::Call
        }
        // The only interrupt.
        cause if cause >> 63 != 0 => Trap::Time,
        cause => Trap::Fault(cause),
    }
}

/// The guest's `gp` and `tp`, which the hypervisor does not use.
pub fn guest_pointers() -> (u64, u64) {
    let (gp, tp);
    // Safety: reads two registers.
    unsafe {
        asm!("mv {0}, gp", "mv {1}, tp", out(reg) gp, out(reg) tp, options(nomem, nostack, preserves_flags));
    }
    (gp, tp)
}
