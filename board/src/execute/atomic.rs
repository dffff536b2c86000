//! The A extension (I 8): load-reserved, store-conditional, and read-modify-write.
//!
//! A hart runs alone while it runs, so that each of these is atomic as it stands; `aq` and `rl` ask for more only where
//! memory is weakly ordered.
//! Addresses have to be aligned, as the extension without Zam has it.

use super::{next, raise, stop_behind};
use crate::code::Block;
use crate::hart::Hart;
use crate::machine::Machine;
use crate::op::Op;
use crate::pace::Variant;

/// A read-modify-write of a word or doubleword: what is stored, of what was there and the operand.
macro_rules! operations {
    ($($name:ident $type:ty: $signed:ty, |$old:ident, $operand:ident| $new:expr;)+) => { $(
        pub(super) unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's; the pointer is to memory that the access may read and write.
            unsafe {
                let address = hart.get((*op).rs1);
                let $operand = hart.get((*op).rs2) as $type;
                let host = match hart.stores.find(address, size_of::<$type>() as u64, hart.tag_of_stores::<V>()) {
                    Some(host) => host,
                    None => match machine.exclusive::<V>(hart, address, size_of::<$type>() as u8) {
                        Ok(host) => host,
                        Err(trap) => return raise(hart, machine, op, trap),
                    },
                };
                if V::WEAK {
                    machine.begin_atomic(hart, op, host, size_of::<$type>() as u8);
                }
                let host = host.cast::<$type>();
                let $old = host.read();
                host.write($new);
                hart.set((*op).rd, $old as $signed as u64);
                if V::WEAK {
                    machine.end_atomic(hart, op, host.cast(), size_of::<$type>() as u8, Some(u64::from($old)));
                }
                if V::TIMED && machine.charge_atomic(hart, op, host.cast(), true) {
                    hart.attention = true;
                }
                if hart.attention { stop_behind(hart, op) } else { next(hart, machine, op) }
            }
        }
    )+ };
}

operations! {
    amoswap_w u32: i32, |_old, operand| operand;
    amoadd_w u32: i32, |old, operand| old.wrapping_add(operand);
    amoxor_w u32: i32, |old, operand| old ^ operand;
    amoand_w u32: i32, |old, operand| old & operand;
    amoor_w u32: i32, |old, operand| old | operand;
    amomin_w u32: i32, |old, operand| (old as i32).min(operand as i32) as u32;
    amomax_w u32: i32, |old, operand| (old as i32).max(operand as i32) as u32;
    amominu_w u32: i32, |old, operand| old.min(operand);
    amomaxu_w u32: i32, |old, operand| old.max(operand);
    amoswap_d u64: u64, |_old, operand| operand;
    amoadd_d u64: u64, |old, operand| old.wrapping_add(operand);
    amoxor_d u64: u64, |old, operand| old ^ operand;
    amoand_d u64: u64, |old, operand| old & operand;
    amoor_d u64: u64, |old, operand| old | operand;
    amomin_d u64: u64, |old, operand| (old as i64).min(operand as i64) as u64;
    amomax_d u64: u64, |old, operand| (old as i64).max(operand as i64) as u64;
    amominu_d u64: u64, |old, operand| old.min(operand);
    amomaxu_d u64: u64, |old, operand| old.max(operand);
}

/// Load-reserved of a word or doubleword.
macro_rules! load_reserved {
    ($($name:ident $type:ty: $signed:ty;)+) => { $(
        pub(super) unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's; the pointer is to memory that the access may read.
            unsafe {
                let address = hart.get((*op).rs1);
                let host = match hart.loads.find(address, size_of::<$type>() as u64, hart.load_tag) {
                    Some(host) => host,
                    None => match machine.reservable::<V>(hart, address, size_of::<$type>() as u8) {
                        Ok(host) => host,
                        Err(trap) => return raise(hart, machine, op, trap),
                    },
                };
                if V::WEAK {
                    machine.begin_atomic(hart, op, host, size_of::<$type>() as u8);
                }
                let physical = machine.physical(host);
                machine.reserve(hart, op, physical);
                hart.set((*op).rd, host.cast::<$type>().read() as $signed as u64);
                if V::WEAK {
                    machine.end_atomic(hart, op, host, size_of::<$type>() as u8, None);
                }
                if V::TIMED && machine.charge_reserved(hart, op, host) {
                    hart.attention = true;
                }
                if hart.attention { stop_behind(hart, op) } else { next(hart, machine, op) }
            }
        }
    )+ };
}

load_reserved! {
    lr_w u32: i32;
    lr_d u64: u64;
}

/// Store-conditional of a word or doubleword.
macro_rules! store_conditional {
    ($($name:ident $type:ty;)+) => { $(
        pub(super) unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's; the pointer is to memory that the access may write.
            unsafe {
                let address = hart.get((*op).rs1);
                let size = size_of::<$type>() as u8;
                // Whether it may be written is checked also where nothing is written, as for any store.
                let host = match hart.stores.find(address, u64::from(size), hart.tag_of_stores::<V>()) {
                    Some(host) => host,
                    None => match machine.conditional::<V>(hart, address, size) {
                        Ok(host) => host,
                        Err(trap) => return raise(hart, machine, op, trap),
                    },
                };
                let physical = machine.physical(host);
                let success = machine.holds(hart, op, physical);
                machine.release(hart);
                if V::WEAK && success {
                    machine.begin_atomic(hart, op, host, size);
                }
                let old = u64::from(host.cast::<$type>().read());
                if success {
                    host.cast::<$type>().write(hart.get((*op).rs2) as $type);
                    machine.written(hart, physical, size);
                }
                hart.set((*op).rd, u64::from(!success));
                if V::WEAK {
                    hart.depends_on::<V>((*op).rd, 0);
                    if success {
                        machine.end_atomic(hart, op, host, size, Some(old));
                    }
                }
                if V::TIMED && machine.charge_atomic(hart, op, host, success) {
                    hart.attention = true;
                }
                if hart.attention { stop_behind(hart, op) } else { next(hart, machine, op) }
            }
        }
    )+ };
}

store_conditional! {
    sc_w u32;
    sc_d u64;
}
