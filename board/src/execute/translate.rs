//! From instructions to ops: making the block that begins at an address.

use super::{atomic, cache_blocks, float, integer, jump, memory, system};
use crate::code::{BLOCK_OPS, Block, Draft, PAGE};
use crate::decode::{Instruction, Operation, decode, length};
use crate::hart::{Hart, SINK};
use crate::machine::Machine;
use crate::op::{Handler, Op};
use crate::pace::Variant;

/// Makes the block that begins at `physical` and keeps it. Memory has to be there, and the first instruction may
/// not reach into the next page.
pub(super) fn block<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    physical: u64,
) -> *const Block {
    let mut draft = std::mem::take(&mut machine.draft);
    draft.clear();
    draft.physical = physical;
    let mut at = physical;
    let ended = loop {
        if draft.instructions.len() == BLOCK_OPS || at / PAGE != physical / PAGE {
            break false;
        }
        if machine.straddles(at) {
            break false;
        }
        let bits = machine.instruction(at);
        let ends = push::<V>(&mut draft, bits, at);
        at += u64::from(length(bits as u16));
        if ends {
            break true;
        }
    };
    draft.halfwords = ((at - physical) / 2) as u16;
    complete::<V>(machine, &mut draft, ended);
    if machine.code.is_full() {
        machine.code.clear();
        // The block that the link is one of is gone.
        hart.link = std::ptr::null();
        hart.drop_jumps();
        hart.epoch = machine.code.epoch();
    }
    let new = !machine.code.in_page(physical);
    let block = machine.code.enter(&draft);
    machine.draft = draft;
    place_probes(machine, block);
    if new {
        // Stores to the page have to be seen from now on.
        if let Some(host) = machine.memory.host(physical) {
            hart.stores.drop_host_page(host);
        }
        hart.pages_epoch = machine.code.pages_epoch();
    }
    block
}

/// Makes the block of the one instruction of these bits, to run once. Its first half is at `physical`.
pub(super) fn single<V: Variant>(machine: &mut Machine, bits: u32, physical: u64) -> *const Block {
    let mut draft = std::mem::take(&mut machine.draft);
    draft.clear();
    draft.physical = physical;
    let ends = push::<V>(&mut draft, bits, physical);
    draft.halfwords = u16::from(length(bits as u16)) / 2;
    draft.bits = bits;
    complete::<V>(machine, &mut draft, ends);
    let block = machine.once.fill(&draft);
    machine.draft = draft;
    place_probes(machine, block);
    block
}

/// Adds the end to a draft whose last instruction does not end it, and what its instructions take.
fn complete<V: Variant>(machine: &Machine, draft: &mut Draft, ended: bool) {
    if !ended {
        draft.ops.push(Op {
            handler: jump::end,
            immediate: 0,
            rd: 0,
            rs1: 0,
            rs2: 0,
            at: draft.halfwords as u8,
        });
    }
    machine.settle_cycles::<V>(draft);
}

/// Lets the instructions at which a probe may be look at the probes first.
fn place_probes(machine: &mut Machine, block: *const Block) {
    // Safety: made just now, and not running.
    unsafe {
        for index in 0..usize::from((*block).count) {
            let op = (*block).ops().add(index).cast_mut();
            if machine
                .probes
                .may_be_at((*block).physical + 2 * u64::from((*op).at))
            {
                machine.code.displace(op, system::probe);
            }
        }
    }
}

/// Adds the instruction of these bits, which is at `at`. Says whether the block ends with it.
fn push<V: Variant>(draft: &mut Draft, bits: u32, at: u64) -> bool {
    let place = ((at - draft.physical) / 2) as u8;
    let instruction = decode(bits);
    draft.instructions.push(instruction);
    let Some(instruction) = instruction else {
        draft.ops.push(Op {
            handler: system::illegal,
            immediate: 0,
            rd: SINK,
            rs1: 0,
            rs2: 0,
            at: place,
        });
        return true;
    };
    let (handler, ends) = choose::<V>(&instruction);
    let integer = !writes_float(instruction.operation);
    let rd = if integer && instruction.rd == 0 {
        SINK
    } else {
        instruction.rd
    };
    draft.ops.push(Op {
        handler,
        immediate: float::pack(&instruction).unwrap_or(instruction.immediate),
        rd,
        rs1: instruction.rs1,
        rs2: instruction.rs2,
        at: place,
    });
    ends
}

/// Whether `rd` is a floating-point register.
fn writes_float(operation: Operation) -> bool {
    matches!(operation, Operation::Flw | Operation::Fld) || float::writes_float(operation)
}

/// The handler of an instruction, and whether it ends its block.
fn choose<V: Variant>(instruction: &Instruction) -> (Handler, bool) {
    use Operation as O;
    let inside = |handler: Handler| (handler, false);
    let last = |handler: Handler| (handler, true);
    match instruction.operation {
        O::Lui => inside(integer::constant::<V>),
        O::Auipc => inside(integer::auipc::<V>),
        O::Addi if instruction.rd == 0 => inside(integer::nothing),
        O::Addi if instruction.rs1 == 0 => inside(integer::constant::<V>),
        O::Addi if instruction.immediate == 0 => inside(integer::copy::<V>),
        O::Addi => inside(integer::addi::<V>),
        O::Slti => inside(integer::slti::<V>),
        O::Sltiu => inside(integer::sltiu::<V>),
        O::Xori => inside(integer::xori::<V>),
        O::PrefetchI if V::TIMED => inside(cache_blocks::prefetch_i),
        O::PrefetchR if V::TIMED => inside(cache_blocks::prefetch_r),
        O::PrefetchW if V::TIMED => inside(cache_blocks::prefetch_w),
        O::PrefetchI | O::PrefetchR | O::PrefetchW => inside(integer::nothing),
        O::Ori => inside(integer::ori::<V>),
        O::Andi => inside(integer::andi::<V>),
        O::Slli => inside(integer::slli::<V>),
        O::Srli => inside(integer::srli::<V>),
        O::Srai => inside(integer::srai::<V>),
        O::Add => inside(integer::add::<V>),
        O::Sub => inside(integer::sub::<V>),
        O::Sll => inside(integer::sll::<V>),
        O::Slt => inside(integer::slt::<V>),
        O::Sltu => inside(integer::sltu::<V>),
        O::Xor => inside(integer::xor::<V>),
        O::Srl => inside(integer::srl::<V>),
        O::Sra => inside(integer::sra::<V>),
        O::Or => inside(integer::or::<V>),
        O::And => inside(integer::and::<V>),
        O::Addiw => inside(integer::addiw::<V>),
        O::Slliw => inside(integer::slliw::<V>),
        O::Srliw => inside(integer::srliw::<V>),
        O::Sraiw => inside(integer::sraiw::<V>),
        O::Addw => inside(integer::addw::<V>),
        O::Subw => inside(integer::subw::<V>),
        O::Sllw => inside(integer::sllw::<V>),
        O::Srlw => inside(integer::srlw::<V>),
        O::Sraw => inside(integer::sraw::<V>),

        O::Jal => last(jump::jal::<V>),
        O::Jalr => last(jump::jalr::<V>),
        O::Beq => last(jump::beq::<V>),
        O::Bne => last(jump::bne::<V>),
        O::Blt => last(jump::blt::<V>),
        O::Bge => last(jump::bge::<V>),
        O::Bltu => last(jump::bltu::<V>),
        O::Bgeu => last(jump::bgeu::<V>),

        O::Lb => inside(memory::lb::<V>),
        O::Lh => inside(memory::lh::<V>),
        O::Lw => inside(memory::lw::<V>),
        O::Ld => inside(memory::ld::<V>),
        O::Lbu => inside(memory::lbu::<V>),
        O::Lhu => inside(memory::lhu::<V>),
        O::Lwu => inside(memory::lwu::<V>),
        O::Sb => inside(memory::sb::<V>),
        O::Sh => inside(memory::sh::<V>),
        O::Sw => inside(memory::sw::<V>),
        O::Sd => inside(memory::sd::<V>),

        O::Fence => inside(system::fence::<V, false>),
        O::FenceTso => inside(system::fence::<V, true>),
        O::FenceI => last(system::fence_i::<V>),
        O::CboInval => inside(cache_blocks::cbo_inval::<V>),
        O::CboClean => inside(cache_blocks::cbo_clean::<V>),
        O::CboFlush => inside(cache_blocks::cbo_flush::<V>),
        O::CboZero => inside(cache_blocks::cbo_zero::<V>),
        O::Ecall => last(system::ecall),
        O::Ebreak => last(system::ebreak),
        O::Csrrw | O::Csrrwi | O::Csrrs | O::Csrrsi | O::Csrrc | O::Csrrci => {
            last(system::csr::<V>(instruction.operation))
        }

        O::Mul => inside(integer::mul::<V>),
        O::Mulh => inside(integer::mulh::<V>),
        O::Mulhsu => inside(integer::mulhsu::<V>),
        O::Mulhu => inside(integer::mulhu::<V>),
        O::Div => inside(integer::div::<V>),
        O::Divu => inside(integer::divu::<V>),
        O::Rem => inside(integer::rem::<V>),
        O::Remu => inside(integer::remu::<V>),
        O::Mulw => inside(integer::mulw::<V>),
        O::Divw => inside(integer::divw::<V>),
        O::Divuw => inside(integer::divuw::<V>),
        O::Remw => inside(integer::remw::<V>),
        O::Remuw => inside(integer::remuw::<V>),

        O::LrW => inside(atomic::lr_w::<V>),
        O::LrD => inside(atomic::lr_d::<V>),
        O::ScW => inside(atomic::sc_w::<V>),
        O::ScD => inside(atomic::sc_d::<V>),
        O::AmoswapW => inside(atomic::amoswap_w::<V>),
        O::AmoaddW => inside(atomic::amoadd_w::<V>),
        O::AmoxorW => inside(atomic::amoxor_w::<V>),
        O::AmoandW => inside(atomic::amoand_w::<V>),
        O::AmoorW => inside(atomic::amoor_w::<V>),
        O::AmominW => inside(atomic::amomin_w::<V>),
        O::AmomaxW => inside(atomic::amomax_w::<V>),
        O::AmominuW => inside(atomic::amominu_w::<V>),
        O::AmomaxuW => inside(atomic::amomaxu_w::<V>),
        O::AmoswapD => inside(atomic::amoswap_d::<V>),
        O::AmoaddD => inside(atomic::amoadd_d::<V>),
        O::AmoxorD => inside(atomic::amoxor_d::<V>),
        O::AmoandD => inside(atomic::amoand_d::<V>),
        O::AmoorD => inside(atomic::amoor_d::<V>),
        O::AmominD => inside(atomic::amomin_d::<V>),
        O::AmomaxD => inside(atomic::amomax_d::<V>),
        O::AmominuD => inside(atomic::amominu_d::<V>),
        O::AmomaxuD => inside(atomic::amomaxu_d::<V>),

        O::Flw => inside(memory::flw::<V>),
        O::Fld => inside(memory::fld::<V>),
        O::Fsw => inside(memory::fsw::<V>),
        O::Fsd => inside(memory::fsd::<V>),

        O::AddUw => inside(integer::add_uw::<V>),
        O::Sh1add => inside(integer::sh1add::<V>),
        O::Sh2add => inside(integer::sh2add::<V>),
        O::Sh3add => inside(integer::sh3add::<V>),
        O::Sh1addUw => inside(integer::sh1add_uw::<V>),
        O::Sh2addUw => inside(integer::sh2add_uw::<V>),
        O::Sh3addUw => inside(integer::sh3add_uw::<V>),
        O::SlliUw => inside(integer::slli_uw::<V>),
        O::Andn => inside(integer::andn::<V>),
        O::Orn => inside(integer::orn::<V>),
        O::Xnor => inside(integer::xnor::<V>),
        O::Clz => inside(integer::clz::<V>),
        O::Clzw => inside(integer::clzw::<V>),
        O::Ctz => inside(integer::ctz::<V>),
        O::Ctzw => inside(integer::ctzw::<V>),
        O::Cpop => inside(integer::cpop::<V>),
        O::Cpopw => inside(integer::cpopw::<V>),
        O::SextB => inside(integer::sext_b::<V>),
        O::SextH => inside(integer::sext_h::<V>),
        O::ZextH => inside(integer::zext_h::<V>),
        O::Max => inside(integer::max::<V>),
        O::Maxu => inside(integer::maxu::<V>),
        O::Min => inside(integer::min::<V>),
        O::Minu => inside(integer::minu::<V>),
        O::Rol => inside(integer::rol::<V>),
        O::Rolw => inside(integer::rolw::<V>),
        O::Ror => inside(integer::ror::<V>),
        O::Rorw => inside(integer::rorw::<V>),
        O::Rori => inside(integer::rori::<V>),
        O::Roriw => inside(integer::roriw::<V>),
        O::OrcB => inside(integer::orc_b::<V>),
        O::Rev8 => inside(integer::rev8::<V>),
        O::Bclr => inside(integer::bclr::<V>),
        O::Bclri => inside(integer::bclri::<V>),
        O::Bext => inside(integer::bext::<V>),
        O::Bexti => inside(integer::bexti::<V>),
        O::Binv => inside(integer::binv::<V>),
        O::Binvi => inside(integer::binvi::<V>),
        O::Bset => inside(integer::bset::<V>),
        O::Bseti => inside(integer::bseti::<V>),

        O::Sret => last(system::sret),
        O::Mret => last(system::mret),
        O::Wfi => last(system::wfi),
        O::SfenceVma => last(system::sfence_vma),
        O::HfenceVvma => last(system::hfence_vvma),
        O::HfenceGvma => last(system::hfence_gvma),

        O::HlvB => inside(system::hlv_b::<V>),
        O::HlvBu => inside(system::hlv_bu::<V>),
        O::HlvH => inside(system::hlv_h::<V>),
        O::HlvHu => inside(system::hlv_hu::<V>),
        O::HlvxHu => inside(system::hlvx_hu::<V>),
        O::HlvW => inside(system::hlv_w::<V>),
        O::HlvWu => inside(system::hlv_wu::<V>),
        O::HlvxWu => inside(system::hlvx_wu::<V>),
        O::HlvD => inside(system::hlv_d::<V>),
        O::HsvB => inside(system::hsv_b::<V>),
        O::HsvH => inside(system::hsv_h::<V>),
        O::HsvW => inside(system::hsv_w::<V>),
        O::HsvD => inside(system::hsv_d::<V>),

        // What is left is floating-point computation.
        _ => inside(float::compute::<V>),
    }
}
