//! Operations on the whole hart: CSRs, traps and returns from them, waiting, fences, and the hypervisor's accesses on
//! behalf of its guest.

use std::ptr;

use super::{next, raise, stop_behind};
use crate::code::Block;
use crate::decode::Operation;
use crate::hart::Hart;
use crate::machine::Machine;
use crate::op::{Handler, Op};
use crate::pace::Variant;
use crate::privileged::{Access, Counters, CsrOperation, Effects, Fence, Mode, Privileged, Trap};

/// An encoding that is no instruction.
pub(super) unsafe fn illegal(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    let trap = machine.illegal(hart, op);
    raise(hart, machine, op, trap)
}

/// `ecall`.
pub(super) unsafe fn ecall(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
    let trap = hart.privileged.ecall();
    raise(hart, machine, op, trap)
}

/// `ebreak`.
pub(super) unsafe fn ebreak(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
    // Safety: the caller's.
    let trap = hart.privileged.ebreak(hart.pc_of(unsafe { &*op }));
    raise(hart, machine, op, trap)
}

/// The handler of a CSR instruction.
pub(super) fn csr<V: Variant>(operation: Operation) -> Handler {
    match operation {
        Operation::Csrrw => csrrw::<V>,
        Operation::Csrrs => csrrs::<V>,
        Operation::Csrrc => csrrc::<V>,
        Operation::Csrrwi => csrrwi::<V>,
        Operation::Csrrsi => csrrsi::<V>,
        _ => csrrci::<V>,
    }
}

/// Handlers of CSR instructions: how, and whether with an immediate.
macro_rules! csr_instructions {
    ($($name:ident $operation:ident $immediate:literal;)+) => { $(
        unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's.
            let field = unsafe { (*op).rs1 };
            let value = if $immediate { u64::from(field) } else { hart.get(field) };
            if V::WEAK {
                let source = if $immediate { 0 } else { field };
                // Safety: the caller's.
                machine.access_csr_weakly(hart, source, unsafe { (*op).rd });
            }
            // Setting or clearing nothing is no write, even of a register that may not be written (I 9.1).
            let write = (matches!(CsrOperation::$operation, CsrOperation::Write) || field != 0)
                .then_some((CsrOperation::$operation, value));
            access_csr(hart, machine, op, write)
        }
    )+ };
}

csr_instructions! {
    csrrw Write false;
    csrrs Set false;
    csrrc Clear false;
    csrrwi Write true;
    csrrsi Set true;
    csrrci Clear true;
}

fn access_csr(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
    write: Option<(CsrOperation, u64)>,
) -> *const Block {
    // Safety: the caller's op.
    let Op { immediate, rd, .. } = unsafe { *op };
    let number = immediate as u16;
    let wires = machine.wires[hart.index];
    let result = if Privileged::reads_counters(number) {
        let events = machine.events(hart);
        let counters = machine.counters(hart, &events);
        hart.privileged.csr(number, write, 0, &counters, wires)
    } else {
        hart.privileged
            .csr(number, write, 0, &Counters::ZERO, wires)
    };
    match result {
        Ok((old, effects)) => {
            hart.set(rd, old);
            if !effects.is_empty() {
                apply_effects(hart, machine, effects);
            }
            finish(hart)
        }
        Err(trap) => {
            let trap = Trap {
                value: machine.bits(hart, op).into(),
                ..trap
            };
            raise(hart, machine, op, trap)
        }
    }
}

/// Brings up to date what a change of CSRs touches.
fn apply_effects(hart: &mut Hart, machine: &mut Machine, effects: Effects) {
    if effects.contains(Effects::FLUSH) {
        hart.drop_all();
    } else if effects.intersects(Effects::TRANSLATION | Effects::FLOAT) {
        hart.refresh();
    }
    if effects.contains(Effects::TRANSLATION) {
        // The guest may be another one.
        machine.note_activity(hart);
    }
    if effects.intersects(Effects::INTERRUPTS | Effects::TIMER) {
        hart.attention = true;
    }
}

/// Continues behind the last op of a block.
fn finish(hart: &mut Hart) -> *const Block {
    hart.pc = hart
        .pc
        .wrapping_add(2 * u64::from(hart.running().halfwords));
    if hart.attention {
        ptr::null()
    } else {
        hart.jump(hart.pc)
    }
}

/// Returns from a trap to where that says.
fn return_to(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
    to: Result<u64, Trap>,
) -> *const Block {
    match to {
        Ok(pc) => {
            hart.pc = pc;
            hart.refresh();
            machine.note_activity(hart);
            // Interrupts may be taken again.
            hart.attention = true;
            ptr::null()
        }
        Err(trap) => raise(hart, machine, op, trap),
    }
}

/// `mret`.
pub(super) unsafe fn mret(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
    let to = hart.privileged.mret(machine.bits(hart, op));
    if hart.privileged.mode != Mode::MACHINE {
        machine.left_machine_mode();
    }
    return_to(hart, machine, op, to)
}

/// `sret`.
pub(super) unsafe fn sret(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
    let to = hart.privileged.sret(machine.bits(hart, op));
    return_to(hart, machine, op, to)
}

/// `wfi`.
pub(super) unsafe fn wfi(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
    match hart.privileged.check_wfi(machine.bits(hart, op)) {
        Ok(()) => {
            machine.drain_stores(hart);
            hart.waiting = true;
            hart.attention = true;
            machine.note_activity(hart);
            finish(hart)
        }
        Err(trap) => raise(hart, machine, op, trap),
    }
}

/// `fence.i`. Decoded code is dropped when it is written to, so there is nothing to do but to look again.
pub(super) unsafe fn fence_i<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    _: *const Op,
) -> *const Block {
    machine.drain_stores(hart);
    if V::TIMED {
        machine.charge_fence_i(hart);
    }
    finish(hart)
}

/// `fence` and `fence.tso`: orders weakly ordered memory, waits for the fabric's writes, and charges time.
pub(super) unsafe fn fence<V: Variant, const TSO: bool>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    if V::WEAK {
        machine.fence_weakly(hart, op, TSO);
    }
    let waits = machine.order_fabric(hart, op);
    if V::TIMED && machine.charge_fence(hart, op) || waits || V::WEAK && hart.attention {
        return stop_behind(hart, op);
    }
    // Safety: the caller's.
    unsafe { next(hart, machine, op) }
}

/// Looks at the probes before an instruction, and continues with it.
pub(super) unsafe fn probe(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
    if machine.probe(hart, op) {
        hart.pause_before(op);
        if machine.once.holds(hart.block) {
            // It is made again, another hart may need its place before.
            hart.forget_resume();
            hart.fetched = hart.pc;
        }
        hart.attention = true;
        return ptr::null();
    }
    // Safety: the caller's; the handler is the op's own.
    unsafe { machine.code.displaced(op)(hart, machine, op) }
}

/// A fence of translations: what it concerns, by its operands.
fn translation_fence(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
    fence: Fence,
) -> *const Block {
    if let Err(trap) = hart.privileged.check_sfence(fence, machine.bits(hart, op)) {
        return raise(hart, machine, op, trap);
    }
    machine.drain_stores(hart);
    // Safety: the caller's op.
    let rs1 = unsafe { (*op).rs1 };
    let v = hart.privileged.mode.v;
    let guests = v || fence != Fence::Supervisor;
    if fence != Fence::Guest && rs1 != 0 && !hart.in_superpages(hart.get(rs1)) {
        // One page, of whatever address space.
        let address = hart.get(rs1);
        hart.drop_page(address);
        machine.drop_translations(hart, guests, Some(address));
    } else {
        machine.drop_translations(hart, guests, None);
        match fence {
            Fence::Supervisor => hart.contexts.forget(|context| context.v == v),
            Fence::VirtualSupervisor | Fence::Guest => hart.contexts.forget(|context| context.v),
        }
        hart.refresh();
    }
    finish(hart)
}

/// `sfence.vma`.
pub(super) unsafe fn sfence_vma(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    translation_fence(hart, machine, op, Fence::Supervisor)
}

/// `hfence.vvma`.
pub(super) unsafe fn hfence_vvma(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    translation_fence(hart, machine, op, Fence::VirtualSupervisor)
}

/// `hfence.gvma`.
pub(super) unsafe fn hfence_gvma(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    translation_fence(hart, machine, op, Fence::Guest)
}

/// Handlers of the hypervisor's loads (II 8.3.1).
macro_rules! hypervisor_loads {
    ($($name:ident $type:ty, $access:ident;)+) => { $(
        pub(super) unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's.
            let (rd, rs1) = unsafe { ((*op).rd, (*op).rs1) };
            let context = match hart.privileged.check_hypervisor_access(machine.bits(hart, op)) {
                Ok(()) => hart.privileged.hypervisor_context(),
                Err(trap) => return raise(hart, machine, op, trap),
            };
            let (address, size) = (hart.get(rs1), size_of::<$type>() as u8);
            hart.accesses::<V>(rs1, 0);
            match machine.load_for_guest::<V>(hart, op, address, size, Access::$access, &context) {
                Ok(value) => hart.set(rd, value as $type as u64),
                Err(trap) => return raise(hart, machine, op, trap),
            }
            hart.depends_on::<V>(rd, hart.dependencies.access);
            if hart.attention {
                return stop_behind(hart, op);
            }
            // Safety: the caller's.
            unsafe { next(hart, machine, op) }
        }
    )+ };
}

hypervisor_loads! {
    hlv_b i8, Load;
    hlv_bu u8, Load;
    hlv_h i16, Load;
    hlv_hu u16, Load;
    hlvx_hu u16, LoadExecute;
    hlv_w i32, Load;
    hlv_wu u32, Load;
    hlvx_wu u32, LoadExecute;
    hlv_d u64, Load;
}

/// Handlers of the hypervisor's stores (II 8.3.1).
macro_rules! hypervisor_stores {
    ($($name:ident $type:ty;)+) => { $(
        pub(super) unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's.
            let (rs1, rs2) = unsafe { ((*op).rs1, (*op).rs2) };
            let context = match hart.privileged.check_hypervisor_access(machine.bits(hart, op)) {
                Ok(()) => hart.privileged.hypervisor_context(),
                Err(trap) => return raise(hart, machine, op, trap),
            };
            let (address, size) = (hart.get(rs1), size_of::<$type>() as u8);
            let value = u64::from(hart.get(rs2) as $type);
            hart.accesses::<V>(rs1, rs2);
            if let Err(trap) = machine.store_in::<V>(hart, op, address, size, value, &context, None) {
                return raise(hart, machine, op, trap);
            }
            if hart.attention {
                return stop_behind(hart, op);
            }
            // Safety: the caller's.
            unsafe { next(hart, machine, op) }
        }
    )+ };
}

hypervisor_stores! {
    hsv_b u8;
    hsv_h u16;
    hsv_w u32;
    hsv_d u64;
}
