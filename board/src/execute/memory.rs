//! Loads and stores, of integer and floating-point registers, and the hypervisor's on behalf of its guest.
//!
//! What a host pointer is known for is done right here; all else goes through [`Machine::load`] and
//! [`Machine::store`]: walks, devices, misaligned accesses, pages with code.

use super::{charge, next, raise, stop_behind};
use crate::code::Block;
use crate::hart::{FloatState, Hart};
use crate::machine::Machine;
use crate::op::Op;
use crate::pace::Variant;

/// The address of a load's or store's operand.
#[inline(always)]
unsafe fn address(hart: &Hart, op: *const Op) -> u64 {
    // Safety: the caller's.
    unsafe { hart.get((*op).rs1).wrapping_add((*op).immediate as u64) }
}

/// Handlers of loads into integer registers.
macro_rules! loads {
    ($($name:ident $slow:ident $type:ty;)+) => { $(
        pub(super) unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's; the pointer is to memory that the access may read.
            unsafe {
                let address = address(hart, op);
                let Some(host) = hart.loads.find(address, size_of::<$type>() as u64, hart.load_tag) else {
                    return $slow::<V>(hart, machine, op);
                };
                if V::WEAK {
                    hart.accesses::<V>((*op).rs1, 0);
                    let value = machine.load_weakly(hart, machine.physical(host), size_of::<$type>() as u8);
                    hart.set((*op).rd, value as $type as u64);
                    hart.depends_on::<V>((*op).rd, hart.dependencies.access);
                } else {
                    hart.set((*op).rd, host.cast::<$type>().read() as u64);
                }
                if V::TIMED && !machine.is_free(hart, host, false) {
                    return charge(hart, machine, op, host, false);
                }
                next(hart, machine, op)
            }
        }

        #[cold]
        unsafe fn $slow<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's.
            unsafe {
                hart.accesses::<V>((*op).rs1, 0);
                match machine.load::<V>(hart, op, address(hart, op), size_of::<$type>() as u8) {
                    Ok(value) => hart.set((*op).rd, value as $type as u64),
                    Err(trap) => return raise(hart, machine, op, trap),
                }
                hart.depends_on::<V>((*op).rd, hart.dependencies.access);
                if hart.attention { stop_behind(hart, op) } else { next(hart, machine, op) }
            }
        }
    )+ };
}

loads! {
    lb lb_slow i8;
    lh lh_slow i16;
    lw lw_slow i32;
    ld ld_slow u64;
    lbu lbu_slow u8;
    lhu lhu_slow u16;
    lwu lwu_slow u32;
}

/// Handlers of stores of integer registers.
macro_rules! stores {
    ($($name:ident $slow:ident $type:ty;)+) => { $(
        pub(super) unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's; the pointer is to memory that the access may write.
            unsafe {
                let address = address(hart, op);
                let Some(host) = hart.stores.find(address, size_of::<$type>() as u64, hart.tag_of_stores::<V>()) else {
                    return $slow::<V>(hart, machine, op);
                };
                let value = hart.get((*op).rs2) as $type;
                if V::WEAK {
                    hart.accesses::<V>((*op).rs1, (*op).rs2);
                    let physical = machine.physical(host);
                    machine.store_weakly(hart, physical, value.into(), size_of::<$type>() as u8);
                } else {
                    host.cast::<$type>().write(value);
                }
                if V::WEAK && hart.attention {
                    if V::TIMED {
                        machine.charge_data(hart, op, host, true);
                    }
                    return stop_behind(hart, op);
                }
                if V::TIMED && !machine.is_free(hart, host, true) {
                    return charge(hart, machine, op, host, true);
                }
                next(hart, machine, op)
            }
        }

        #[cold]
        unsafe fn $slow<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's.
            unsafe {
                let value = u64::from(hart.get((*op).rs2) as $type);
                hart.accesses::<V>((*op).rs1, (*op).rs2);
                match machine.store::<V>(hart, op, address(hart, op), size_of::<$type>() as u8, value) {
                    Ok(()) if hart.attention => stop_behind(hart, op),
                    Ok(()) => next(hart, machine, op),
                    Err(trap) => raise(hart, machine, op, trap),
                }
            }
        }
    )+ };
}

stores! {
    sb sb_slow u8;
    sh sh_slow u16;
    sw sw_slow u32;
    sd sd_slow u64;
}

/// Boxes a single in a NaN (I 12.2).
const BOX: u64 = 0xffff_ffff_0000_0000;

/// Raises the exception of a floating-point instruction while those are off, or notes that a register changes.
/// Null when all is well.
#[inline(always)]
unsafe fn float_load<V: Variant, const SIZE: u8>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe {
        if hart.float == FloatState::Off {
            return raise_illegal(hart, machine, op);
        }
        let address = address(hart, op);
        hart.accesses::<V>((*op).rs1, 0);
        let value = match hart.loads.find(address, u64::from(SIZE), hart.load_tag) {
            Some(host) => {
                let value = if V::WEAK {
                    machine.load_weakly(hart, machine.physical(host), SIZE)
                } else if SIZE == 4 {
                    u64::from(host.cast::<u32>().read())
                } else {
                    host.cast::<u64>().read()
                };
                if V::TIMED && machine.charge_data(hart, op, host, false) {
                    hart.attention = true;
                }
                value
            }
            None => match machine.load::<V>(hart, op, address, SIZE) {
                Ok(value) => value,
                Err(trap) => return raise(hart, machine, op, trap),
            },
        };
        if V::WEAK {
            hart.dependencies.float = hart.dependencies.float.max(hart.dependencies.access);
        }
        hart.dirty_float();
        hart.f[(*op).rd as usize % 32] = if SIZE == 4 { value | BOX } else { value };
        if hart.attention {
            stop_behind(hart, op)
        } else {
            next(hart, machine, op)
        }
    }
}

pub(super) unsafe fn flw<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe { float_load::<V, 4>(hart, machine, op) }
}

pub(super) unsafe fn fld<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe { float_load::<V, 8>(hart, machine, op) }
}

#[inline(always)]
unsafe fn float_store<V: Variant, const SIZE: u8>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe {
        if hart.float == FloatState::Off {
            return raise_illegal(hart, machine, op);
        }
        let address = address(hart, op);
        let value = hart.f[(*op).rs2 as usize % 32];
        if V::WEAK {
            hart.accesses::<V>((*op).rs1, 0);
            hart.dependencies.access = hart.dependencies.access.max(hart.dependencies.float);
        }
        match hart
            .stores
            .find(address, u64::from(SIZE), hart.tag_of_stores::<V>())
        {
            Some(host) => {
                if V::WEAK {
                    machine.store_weakly(hart, machine.physical(host), value, SIZE);
                } else if SIZE == 4 {
                    host.cast::<u32>().write(value as u32);
                } else {
                    host.cast::<u64>().write(value);
                }
                if V::TIMED && machine.charge_data(hart, op, host, true) {
                    hart.attention = true;
                }
            }
            None => {
                let value = if SIZE == 4 {
                    u64::from(value as u32)
                } else {
                    value
                };
                if let Err(trap) = machine.store::<V>(hart, op, address, SIZE, value) {
                    return raise(hart, machine, op, trap);
                }
            }
        }
        if hart.attention {
            stop_behind(hart, op)
        } else {
            next(hart, machine, op)
        }
    }
}

pub(super) unsafe fn fsw<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe { float_store::<V, 4>(hart, machine, op) }
}

pub(super) unsafe fn fsd<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe { float_store::<V, 8>(hart, machine, op) }
}

/// Raises an illegal-instruction exception at `op`.
#[cold]
pub(super) fn raise_illegal(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
    let trap = machine.illegal(hart, op);
    raise(hart, machine, op, trap)
}
