//! From instructions to ops: making the block that begins at an address.

use super::{Handler, Pace, atomic, float, integer, jump, memory, system};
use crate::code::{BLOCK_OPS, Block, Draft, Op, PAGE};
use crate::decode::{Instruction, Operation, decode, length};
use crate::hart::{Hart, SINK};
use crate::machine::Machine;

/// Makes the block that begins at `physical` and keeps it. Memory has to be there, and the first instruction may
/// not reach into the next page.
pub(super) fn block<P: Pace>(
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
        let ends = push::<P>(&mut draft, bits, at);
        at += u64::from(length(bits as u16));
        if ends {
            break true;
        }
    };
    draft.halfwords = ((at - physical) / 2) as u16;
    complete::<P>(machine, &mut draft, ended);
    if machine.code.is_full() {
        machine.code.clear();
        machine.probes.forget_places();
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
pub(super) fn single<P: Pace>(machine: &mut Machine, bits: u32, physical: u64) -> *const Block {
    let mut draft = std::mem::take(&mut machine.draft);
    draft.clear();
    draft.physical = physical;
    let ends = push::<P>(&mut draft, bits, physical);
    draft.halfwords = u16::from(length(bits as u16)) / 2;
    draft.bits = bits;
    complete::<P>(machine, &mut draft, ends);
    let block = machine.once.fill(&draft);
    machine.draft = draft;
    place_probes(machine, block);
    block
}

/// Adds the end to a draft whose last instruction does not end it, and what its instructions take.
fn complete<P: Pace>(machine: &Machine, draft: &mut Draft, ended: bool) {
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
    machine.settle_cycles::<P>(draft);
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
                machine.probes.place(op, (*op).handler);
                (*op).handler = system::probe;
            }
        }
    }
}

/// Adds the instruction of these bits, which is at `at`. Says whether the block ends with it.
fn push<P: Pace>(draft: &mut Draft, bits: u32, at: u64) -> bool {
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
    let (handler, ends) = choose::<P>(&instruction);
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
fn choose<P: Pace>(instruction: &Instruction) -> (Handler, bool) {
    use Operation as O;
    let inside = |handler: Handler| (handler, false);
    let last = |handler: Handler| (handler, true);
    match instruction.operation {
        O::Lui => inside(integer::constant),
        O::Auipc => inside(integer::auipc),
        O::Addi if instruction.rd == 0 => inside(integer::nothing),
        O::Addi if instruction.rs1 == 0 => inside(integer::constant),
        O::Addi if instruction.immediate == 0 => inside(integer::copy),
        O::Addi => inside(integer::addi),
        O::Slti => inside(integer::slti),
        O::Sltiu => inside(integer::sltiu),
        O::Xori => inside(integer::xori),
        O::Ori => inside(integer::ori),
        O::Andi => inside(integer::andi),
        O::Slli => inside(integer::slli),
        O::Srli => inside(integer::srli),
        O::Srai => inside(integer::srai),
        O::Add => inside(integer::add),
        O::Sub => inside(integer::sub),
        O::Sll => inside(integer::sll),
        O::Slt => inside(integer::slt),
        O::Sltu => inside(integer::sltu),
        O::Xor => inside(integer::xor),
        O::Srl => inside(integer::srl),
        O::Sra => inside(integer::sra),
        O::Or => inside(integer::or),
        O::And => inside(integer::and),
        O::Addiw => inside(integer::addiw),
        O::Slliw => inside(integer::slliw),
        O::Srliw => inside(integer::srliw),
        O::Sraiw => inside(integer::sraiw),
        O::Addw => inside(integer::addw),
        O::Subw => inside(integer::subw),
        O::Sllw => inside(integer::sllw),
        O::Srlw => inside(integer::srlw),
        O::Sraw => inside(integer::sraw),

        O::Jal => last(jump::jal::<P>),
        O::Jalr => last(jump::jalr::<P>),
        O::Beq => last(jump::beq::<P>),
        O::Bne => last(jump::bne::<P>),
        O::Blt => last(jump::blt::<P>),
        O::Bge => last(jump::bge::<P>),
        O::Bltu => last(jump::bltu::<P>),
        O::Bgeu => last(jump::bgeu::<P>),

        O::Lb => inside(memory::lb::<P>),
        O::Lh => inside(memory::lh::<P>),
        O::Lw => inside(memory::lw::<P>),
        O::Ld => inside(memory::ld::<P>),
        O::Lbu => inside(memory::lbu::<P>),
        O::Lhu => inside(memory::lhu::<P>),
        O::Lwu => inside(memory::lwu::<P>),
        O::Sb => inside(memory::sb::<P>),
        O::Sh => inside(memory::sh::<P>),
        O::Sw => inside(memory::sw::<P>),
        O::Sd => inside(memory::sd::<P>),

        O::FenceTso | O::Fence => inside(system::fence::<P>),
        O::FenceI => last(system::fence_i::<P>),
        O::Ecall => last(system::ecall),
        O::Ebreak => last(system::ebreak),
        O::Csrrw | O::Csrrwi | O::Csrrs | O::Csrrsi | O::Csrrc | O::Csrrci => {
            last(system::csr(instruction.operation))
        }

        O::Mul => inside(integer::mul),
        O::Mulh => inside(integer::mulh),
        O::Mulhsu => inside(integer::mulhsu),
        O::Mulhu => inside(integer::mulhu),
        O::Div => inside(integer::div),
        O::Divu => inside(integer::divu),
        O::Rem => inside(integer::rem),
        O::Remu => inside(integer::remu),
        O::Mulw => inside(integer::mulw),
        O::Divw => inside(integer::divw),
        O::Divuw => inside(integer::divuw),
        O::Remw => inside(integer::remw),
        O::Remuw => inside(integer::remuw),

        O::LrW => inside(atomic::lr_w::<P>),
        O::LrD => inside(atomic::lr_d::<P>),
        O::ScW => inside(atomic::sc_w::<P>),
        O::ScD => inside(atomic::sc_d::<P>),
        O::AmoswapW => inside(atomic::amoswap_w::<P>),
        O::AmoaddW => inside(atomic::amoadd_w::<P>),
        O::AmoxorW => inside(atomic::amoxor_w::<P>),
        O::AmoandW => inside(atomic::amoand_w::<P>),
        O::AmoorW => inside(atomic::amoor_w::<P>),
        O::AmominW => inside(atomic::amomin_w::<P>),
        O::AmomaxW => inside(atomic::amomax_w::<P>),
        O::AmominuW => inside(atomic::amominu_w::<P>),
        O::AmomaxuW => inside(atomic::amomaxu_w::<P>),
        O::AmoswapD => inside(atomic::amoswap_d::<P>),
        O::AmoaddD => inside(atomic::amoadd_d::<P>),
        O::AmoxorD => inside(atomic::amoxor_d::<P>),
        O::AmoandD => inside(atomic::amoand_d::<P>),
        O::AmoorD => inside(atomic::amoor_d::<P>),
        O::AmominD => inside(atomic::amomin_d::<P>),
        O::AmomaxD => inside(atomic::amomax_d::<P>),
        O::AmominuD => inside(atomic::amominu_d::<P>),
        O::AmomaxuD => inside(atomic::amomaxu_d::<P>),

        O::Flw => inside(memory::flw::<P>),
        O::Fld => inside(memory::fld::<P>),
        O::Fsw => inside(memory::fsw::<P>),
        O::Fsd => inside(memory::fsd::<P>),

        O::AddUw => inside(integer::add_uw),
        O::Sh1add => inside(integer::sh1add),
        O::Sh2add => inside(integer::sh2add),
        O::Sh3add => inside(integer::sh3add),
        O::Sh1addUw => inside(integer::sh1add_uw),
        O::Sh2addUw => inside(integer::sh2add_uw),
        O::Sh3addUw => inside(integer::sh3add_uw),
        O::SlliUw => inside(integer::slli_uw),
        O::Andn => inside(integer::andn),
        O::Orn => inside(integer::orn),
        O::Xnor => inside(integer::xnor),
        O::Clz => inside(integer::clz),
        O::Clzw => inside(integer::clzw),
        O::Ctz => inside(integer::ctz),
        O::Ctzw => inside(integer::ctzw),
        O::Cpop => inside(integer::cpop),
        O::Cpopw => inside(integer::cpopw),
        O::SextB => inside(integer::sext_b),
        O::SextH => inside(integer::sext_h),
        O::ZextH => inside(integer::zext_h),
        O::Max => inside(integer::max),
        O::Maxu => inside(integer::maxu),
        O::Min => inside(integer::min),
        O::Minu => inside(integer::minu),
        O::Rol => inside(integer::rol),
        O::Rolw => inside(integer::rolw),
        O::Ror => inside(integer::ror),
        O::Rorw => inside(integer::rorw),
        O::Rori => inside(integer::rori),
        O::Roriw => inside(integer::roriw),
        O::OrcB => inside(integer::orc_b),
        O::Rev8 => inside(integer::rev8),
        O::Bclr => inside(integer::bclr),
        O::Bclri => inside(integer::bclri),
        O::Bext => inside(integer::bext),
        O::Bexti => inside(integer::bexti),
        O::Binv => inside(integer::binv),
        O::Binvi => inside(integer::binvi),
        O::Bset => inside(integer::bset),
        O::Bseti => inside(integer::bseti),

        O::Sret => last(system::sret),
        O::Mret => last(system::mret),
        O::Wfi => last(system::wfi),
        O::SfenceVma => last(system::sfence_vma),
        O::HfenceVvma => last(system::hfence_vvma),
        O::HfenceGvma => last(system::hfence_gvma),

        O::HlvB => inside(system::hlv_b::<P>),
        O::HlvBu => inside(system::hlv_bu::<P>),
        O::HlvH => inside(system::hlv_h::<P>),
        O::HlvHu => inside(system::hlv_hu::<P>),
        O::HlvxHu => inside(system::hlvx_hu::<P>),
        O::HlvW => inside(system::hlv_w::<P>),
        O::HlvWu => inside(system::hlv_wu::<P>),
        O::HlvxWu => inside(system::hlvx_wu::<P>),
        O::HlvD => inside(system::hlv_d::<P>),
        O::HsvB => inside(system::hsv_b::<P>),
        O::HsvH => inside(system::hsv_h::<P>),
        O::HsvW => inside(system::hsv_w::<P>),
        O::HsvD => inside(system::hsv_d::<P>),

        // What is left is floating-point computation.
        _ => inside(float::compute),
    }
}
