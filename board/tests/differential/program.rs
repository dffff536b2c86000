//! Random instructions: the code of a segment.
//!
//! Every segment ends. Branches and jumps go forward within it; an indirect jump goes to [`layout::LANDING`] or faults.
//!
//! A segment has no instructions whose results may differ on two correct machines: time, counters, an `sc` after other
//! accesses, fields that hold only supported values. It also has none that could take the machine from the harness:
//! `mtvec`, locked PMP entries, vectors in data, delegation of exceptions that lead to a handler.
//!
//! Known differences of QEMU 10.0 from the specification (the list is in `isa.rs`) are avoided as well: supervisor CSRs
//! in VU-mode, misaligned atomics, odd addresses in `xepc`.
//!
//! Registers hold these values until an instruction has written them. x2, x8 and x9 point into scratch memory, x2 and
//! x9 to aligned double words; x10 to places that likely fault; x11 to a target of jumps. x12 is an address within the
//! segment for `mret` and `sret`, x13 a value for `satp` and the like, x14 one for `mstatus` and the like, x15 one for
//! `hstatus`.

use tactus_board::decode::{Instruction, Operation, decode, length};

use super::random::Random;

/// The privilege modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Machine.
    Machine,
    /// Supervisor, or supervisor extended for the hypervisor.
    Supervisor,
    /// User.
    User,
    /// Virtual supervisor.
    VirtualSupervisor,
    /// Virtual user.
    VirtualUser,
}

/// Whether it is an instruction on a cache block, which the harts under test do not have. The directed tests of
/// `isa/cache_blocks.S` have them.
fn is_of_blocks(operation: Operation) -> bool {
    let name = operation.mnemonic();
    name.starts_with("cbo.") || name.starts_with("prefetch.")
}

/// The operations that both machines have.
fn operations() -> Vec<Operation> {
    let mut all = Operation::ALL.to_vec();
    all.retain(|operation| !is_of_blocks(*operation));
    all
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 5] = [
        Self::Machine,
        Self::Supervisor,
        Self::User,
        Self::VirtualSupervisor,
        Self::VirtualUser,
    ];

    /// The `MPP` and `MPV` with which `mret` enters the mode (Volume II, section 8.6.4, table 8.8).
    pub const fn status(self) -> u64 {
        match self {
            Self::Machine => 3 << 11,
            Self::Supervisor => 1 << 11,
            Self::User => 0,
            Self::VirtualSupervisor => 1 << 39 | 1 << 11,
            Self::VirtualUser => 1 << 39,
        }
    }
}

/// A test's restrictions where QEMU 10.0 differs from the specification.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// TSR may be set. VS-mode then executes no `sret`, because QEMU would trap it (see `isa.rs`).
    pub tsr: bool,
    /// STCE is set and the comparison registers are used, but not VSTIP of `hvip`, which QEMU then does not take.
    ///
    /// Otherwise only VSTIP is used, because QEMU compares with `vstimecmp` whatever STCE is.
    pub timer: bool,
    /// ADUE is set in both registers, because QEMU uses `menvcfg` alone where HLV and HSV translate.
    pub marks: bool,
    /// The only interrupt that can be pending, as a bit of `mip`: of several, QEMU takes the one with the lowest
    /// number.
    pub interrupt: u64,
}

impl Allowed {
    /// The bits of `mstatus` that may be set.
    pub const fn status(self) -> u64 {
        if self.tsr { u64::MAX } else { !(1 << 22) }
    }
}

/// An instruction of a segment, before its address is known.
enum Item {
    /// The instruction's bits.
    Bits(u32),
    /// The bits of an instruction that is executed only after the item before it.
    Bound(u32),
    /// A branch or jump to the item that is this many items further; the distance is filled in later.
    To(u32, usize),
}

/// The code of a segment.
pub struct Code {
    /// Instructions, little endian.
    pub bytes: Vec<u8>,
    /// The offsets of instructions that may be jumped to from elsewhere, in bytes.
    ///
    /// The only one among the first [`TARGET_ITEM`] is that of the last but one, the call that ends the segment.
    pub targets: Vec<u64>,
}

/// Registers that point to scratch memory.
const POINTERS: [u32; 3] = [2, 8, 9];
const BAD_POINTER: u32 = 10;
const JUMP: u32 = 11;
const TARGET: u8 = 12;
const TRANSLATION: u8 = 13;
const STATUS: u8 = 14;
const HYPERVISOR_STATUS: u8 = 15;

/// CSRs that take any value: the specification defines what unsupported values read as.
const FREE: &[u16] = &[
    0x001, 0x002, 0x003, // fflags, frm, fcsr
    0x104, 0x144, 0x106, 0x10a, 0x140, 0x143,
    0x14d, // s: ie ip counteren envcfg scratch tval timecmp
    0x240, 0x243, 0x24d, // vs: scratch tval timecmp
    0x604, 0x644, 0x645, 0x605, 0x606, 0x607, // h: ie ip vip delta counteren geie
    0x303, 0x304, 0x306, 0x343, 0x34a, 0x34b, // m: ideleg ie counteren tval inst tval2
];
/// CSRs that are only read, or written without effect.
const READ: &[u16] = &[
    0x204, 0x244, 0x3b0, 0x3b1, 0x3b2, 0x3b3, 0x603, 0x643, 0x60a, 0x141, 0x241, 0x341, 0x105,
    0x142, 0x205, 0x242, 0x302, 0x602, 0x342, 0x301, 0x3a0, 0x3a2, 0xe12, 0xf14, 0xf15, 0x30a,
    0x320, 0x3b8,
];
/// CSRs whose accessibility alone is compared: identity, time, counters, and `htinst`, which QEMU 10.0 makes read-only.
const HIDDEN: &[u16] = &[
    0xf11, 0xf12, 0xf13, 0xc00, 0xc01, 0xc02, 0xb00, 0xb02, 0xc05, 0x64a,
];
/// `vsstatus` and `mstatus` are not read, because QEMU 10.0 shows other values of GVA and SD there (see `isa.rs`).
/// `vsstatus` is written only with immediates: QEMU 10.0 keeps all bits that are written to it and copies them to
/// `mstatus`.
const STATUS_KIN: &[u16] = &[0x300, 0x100];
const VSSTATUS: u16 = 0x200;
const MIP: u16 = 0x344;
const SATP_KIN: &[u16] = &[0x180, 0x280, 0x680];

/// Whether a random number may select this CSR: the lists above do not have it, and it has no time and no state of the
/// harness.
fn is_open(csr: u16) -> bool {
    let lists = [FREE, READ, HIDDEN, STATUS_KIN, SATP_KIN];
    let special = matches!(csr,
        VSSTATUS | MIP | 0x600 | 0x305 | 0x340 // hstatus, mtvec, mscratch
        | 0x310..=0x33f // counters' events and inhibition
        | 0x3a0..=0x3ef // PMP
        | 0x747 | 0x757 // mseccfg
        | 0x7a0..=0x7bf // debugging
        | 0xb00..=0xb1f | 0xc00..=0xc1f);
    !special && !lists.iter().any(|list| list.contains(&csr))
}

/// Writes the code of one segment for `mode`, about `count` instructions long.
///
/// With `odd_root`, x13 has a mode that `satp` does not support.
pub fn code(
    random: &mut Random,
    mode: Mode,
    count: usize,
    odd_root: bool,
    allowed: Allowed,
) -> Code {
    let mut writer = Writer {
        random,
        mode,
        items: Vec::new(),
        written: 0,
        odd_root,
        allowed,
        left: false,
    };
    while writer.items.len() < count {
        writer.some();
    }
    // An environment call and, in case that it returns here, an instruction that is always illegal.
    writer.items.push(Item::Bits(0x0000_0073));
    writer.items.push(Item::Bits(0));
    place(&writer.items)
}

/// Assigns an address to every item and a distance to every branch.
fn place(items: &[Item]) -> Code {
    let mut offsets = Vec::new();
    let mut end = 0;
    for item in items {
        offsets.push(end);
        let (Item::Bits(bits) | Item::Bound(bits) | Item::To(bits, _)) = item;
        end += u64::from(length(*bits as u16));
    }
    let mut bytes = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let bits = match *item {
            Item::Bits(bits) | Item::Bound(bits) => bits,
            Item::To(bits, further) => {
                let mut target = (index + further).min(items.len() - 2);
                while matches!(items[target], Item::Bound(_)) {
                    target += 1;
                }
                aim(bits, (offsets[target] - offsets[index]) as u32)
            }
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..length(bits as u16).into()]);
    }
    let may_be_target = |index: usize| {
        (index >= TARGET_ITEM || index == items.len() - 2)
            && !matches!(items[index], Item::Bound(_))
    };
    let targets = (0..items.len() - 1)
        .filter(|&index| may_be_target(index))
        .map(|index| offsets[index])
        .collect();
    Code { bytes, targets }
}

/// Puts a positive distance below 256 into a branch or jump.
fn aim(bits: u32, distance: u32) -> u32 {
    let bit = |from: u32, to: u32| (distance >> from & 1) << to;
    if bits & 3 != 3 {
        // c.j, or c.beqz and c.bnez (Volume I, section 16.4).
        return if bits >> 13 == 5 {
            bits & 0xe003
                | bit(1, 3)
                | bit(2, 4)
                | bit(3, 5)
                | bit(4, 11)
                | bit(5, 2)
                | bit(6, 7)
                | bit(7, 6)
        } else {
            bits & 0xe383
                | bit(1, 3)
                | bit(2, 4)
                | bit(3, 10)
                | bit(4, 11)
                | bit(5, 2)
                | bit(6, 5)
                | bit(7, 6)
        };
    }
    match bits & 0x7f {
        0x6f => bits & 0xfff | distance << 20,
        _ => bits & 0x01ff_f07f | (distance & 0x1e) << 7 | (distance >> 5) << 25,
    }
}

struct Writer<'a> {
    random: &'a mut Random,
    mode: Mode,
    items: Vec<Item>,
    /// The registers that have been written.
    written: u32,
    /// Whether x13 has a reserved mode, whose effect on `hgatp` is undefined.
    odd_root: bool,
    allowed: Allowed,
    /// Whether the segment may have left its first mode.
    left: bool,
}

impl Writer<'_> {
    /// Appends one instruction, or a short sequence.
    fn some(&mut self) {
        match self.random.below(100) {
            0..12 => self.csr(),
            12..14 => self.go(),
            14..16 => self.reserve(),
            16 => self.reserved(),
            17..42 => self.compressed(),
            _ => self.operation(),
        }
    }

    fn push(&mut self, bits: u32) {
        if let Some(instruction) = decode(bits) {
            self.written |= 1 << instruction.rd;
        }
        self.items.push(Item::Bits(bits));
    }

    fn intact(&self, register: u8) -> bool {
        self.written >> register & 1 == 0
    }

    /// Appends any encoding of any operation, with restrictions that make it harmless.
    fn operation(&mut self) {
        loop {
            let operation = self.random.pick(&operations());
            let (mask, bits) = operation.encoding();
            let word = bits | self.random.word() as u32 & !mask;
            if self.try_push(word, operation) {
                return;
            }
        }
    }

    /// Appends any compressed instruction.
    fn compressed(&mut self) {
        loop {
            let bits = u32::from(self.random.word() as u16);
            if bits & 3 == 3 {
                continue;
            }
            match decode(bits) {
                Some(instruction) if self.harmless_compressed(bits, instruction) => return,
                None if self.random.once_in(60) => return self.items.push(Item::Bits(bits)),
                _ => {}
            }
        }
    }

    fn harmless_compressed(&mut self, bits: u32, instruction: Instruction) -> bool {
        use Operation as O;
        let Instruction { operation, rs1, .. } = instruction;
        match operation {
            O::Jal | O::Beq | O::Bne => {
                let further = 1 + self.random.below(5) as usize;
                self.items.push(Item::To(bits, further));
            }
            O::Jalr if u32::from(rs1) != JUMP => return false,
            O::Ebreak if self.quiet_break() || !self.random.once_in(4) => return false,
            _ if is_load(operation) || is_store(operation) => {
                let base = u32::from(rs1);
                let known =
                    POINTERS.contains(&base) || base == BAD_POINTER && self.random.once_in(4);
                if !known || is_load(operation) && self.is_kept(instruction) {
                    return false;
                }
                self.push(bits);
            }
            // c.addi16sp moves a pointer, but not far.
            O::Addi
                if instruction.rd == 2
                    && rs1 == 2
                    && instruction.immediate.abs() <= 512
                    && self.random.once_in(3) =>
            {
                self.items.push(Item::Bits(bits));
            }
            _ if self.is_kept(instruction) => return false,
            _ => self.push(bits),
        }
        true
    }

    /// Whether a breakpoint can occur in a virtual mode, where QEMU 10.0 does not set GVA.
    fn quiet_break(&self) -> bool {
        self.left || matches!(self.mode, Mode::VirtualSupervisor | Mode::VirtualUser)
    }

    /// Whether the instruction writes a register that has to keep its value.
    fn is_kept(&self, instruction: Instruction) -> bool {
        !writes_float(instruction.operation) && matches!(instruction.rd, 2 | 8..=11)
    }

    fn try_push(&mut self, word: u32, operation: Operation) -> bool {
        use Operation as O;
        let set_rs1 = |word: u32, register: u32| word & !(31 << 15) | register << 15;
        let word = match operation {
            // These have functions of their own, or are not used.
            O::Csrrw | O::Csrrs | O::Csrrc | O::Csrrwi | O::Csrrsi | O::Csrrci => return false,
            O::LrW | O::LrD | O::ScW | O::ScD => return false,
            O::Wfi if self.mode != Mode::User || self.left => return false,
            O::Sret | O::Mret => return false,
            // QEMU 10.0 reports the faults of a fetch.
            O::HlvxHu | O::HlvxWu
                if self.left
                    || !matches!(self.mode, Mode::VirtualSupervisor | Mode::VirtualUser) =>
            {
                return false;
            }
            O::Ebreak if self.quiet_break() => return false,
            O::Ecall | O::Ebreak | O::Wfi if !self.random.once_in(4) => return false,
            O::Jal | O::Beq | O::Bne | O::Blt | O::Bge | O::Bltu | O::Bgeu => {
                let Some(instruction) = decode(word) else {
                    return false;
                };
                if operation == O::Jal {
                    if self.is_kept(instruction) {
                        return false;
                    }
                    self.written |= 1 << instruction.rd;
                }
                let further = 1 + self.random.below(6) as usize;
                self.items.push(Item::To(word, further));
                return true;
            }
            O::Jalr => {
                if !self.random.once_in(3) {
                    return false;
                }
                set_rs1(word, JUMP) & 0x000f_ffff | (self.random.below(4) as u32) << 20
            }
            _ if is_load(operation) || is_store(operation) || is_indirect(operation) => {
                let base = if operation.mnemonic().starts_with("amo") {
                    self.random.pick(&[2, 9])
                } else if self.random.once_in(12) {
                    BAD_POINTER
                } else {
                    self.random.pick(&POINTERS)
                };
                let word = set_rs1(word, base);
                if is_indirect(operation) || self.random.once_in(3) {
                    word
                } else if is_load(operation) {
                    // Aligned, more often than by chance.
                    word & !(7 << 20)
                } else {
                    word & !(7 << 7)
                }
            }
            _ => word,
        };
        let Some(instruction) = decode(word) else {
            return false;
        };
        if instruction.operation != operation || self.is_kept(instruction) {
            return false;
        }
        self.push(word);
        true
    }

    /// Appends `lr` and `sc` with nothing between them.
    fn reserve(&mut self) {
        let (base, wide) = (self.random.pick(&[2, 9]), self.random.below(2) as u32);
        let order = self.random.below(4) as u32;
        let amo = |function: u32, rd: u32, rs2: u32| {
            function << 27
                | order << 25
                | rs2 << 20
                | base << 15
                | (2 + wide) << 12
                | rd << 7
                | 0x2f
        };
        let free = [0, 1, 5, 6, 7, 16, 17, 30, 31];
        let (first, second, value) = (
            self.random.pick(&free),
            self.random.pick(&free),
            self.random.below(32) as u32,
        );
        self.push(amo(2, first, 0));
        self.items.push(Item::Bound(amo(3, second, value)));
        self.written |= 1 << second;
    }

    /// Appends an encoding without an instruction.
    fn reserved(&mut self) {
        loop {
            let random = self.random.word() as u32;
            let word = if self.random.once_in(2) {
                random | 3
            } else {
                let (mask, bits) = self.random.pick(&operations()).encoding();
                (bits | random & !mask) ^ 1 << (2 + self.random.below(30))
            };
            if word & 3 == 3 && decode(word).is_none_or(|other| is_of_blocks(other.operation)) {
                return self.items.push(Item::Bits(word));
            }
        }
    }

    /// Appends a return from a trap to another place of this segment, in the mode that the CSRs select.
    fn go(&mut self) {
        let sret = match self.mode {
            Mode::Machine | Mode::Supervisor | Mode::User => true,
            Mode::VirtualSupervisor => !self.allowed.tsr,
            Mode::VirtualUser => false,
        };
        if !sret || self.left {
            return;
        }
        self.left = true;
        let (status, epc, back) = if self.mode == Mode::Machine && !self.random.once_in(4) {
            (0x300, 0x341, 0x3020_0073)
        } else {
            (0x100, 0x141, 0x1020_0073)
        };
        if self.intact(TARGET) && self.intact(STATUS) && self.items.len() < TARGET_ITEM - 4 {
            self.items.push(Item::Bits(write_csr(epc, TARGET)));
            self.items.push(Item::Bound(write_csr(status, STATUS)));
            if self.intact(HYPERVISOR_STATUS) && self.random.once_in(2) {
                self.items
                    .push(Item::Bound(write_csr(0x600, HYPERVISOR_STATUS)));
            }
            self.items.push(Item::Bound(back));
        }
    }

    fn csr(&mut self) {
        let rd = loop {
            let rd = self.random.below(32) as u32;
            if !matches!(rd, 2 | 8..=11) {
                break rd;
            }
        };
        let any = self.random.below(32) as u32;
        let function = self.random.pick(&[1, 2, 3, 5, 6, 7]);
        let (csr, function, rd, source) = match self.random.below(100) {
            0..50 => (self.random.pick(FREE), function, rd, any),
            50..62 => (self.random.pick(READ), 2, rd, 0),
            62..66 => (self.random.pick(HIDDEN), 2, 0, 0),
            68..78 if self.intact(STATUS) => {
                let function = if self.mode == Mode::Machine {
                    self.random.pick(&[1, 2])
                } else {
                    1
                };
                let csr = self.random.pick(STATUS_KIN);
                (
                    csr,
                    function,
                    if csr == 0x300 { 0 } else { rd },
                    STATUS.into(),
                )
            }
            // On QEMU 10.0 a write to mip changes VSTIP and VSEIP, which are out of an immediate's reach.
            66..68 => (MIP, self.random.pick(&[6, 7]), rd, any),
            // SIE and MIE.
            68..78 => {
                let csr = self.random.pick(&[0x300, 0x100, VSSTATUS]);
                (
                    csr,
                    self.random.pick(&[6, 7]),
                    if csr == 0x100 { rd } else { 0 },
                    any & if csr == VSSTATUS { 2 } else { 10 },
                )
            }
            78..83 if self.intact(HYPERVISOR_STATUS) => (0x600, 1, rd, HYPERVISOR_STATUS.into()),
            83..90 if self.intact(TRANSLATION) => {
                let csr = self.random.pick(SATP_KIN);
                if csr == 0x680 && self.odd_root
                    || csr == 0x180 && (self.left || self.mode == Mode::VirtualUser)
                {
                    return;
                }
                self.push(csr_instruction(csr, 1, rd, TRANSLATION.into()));
                // sfence.vma
                return self.items.push(Item::Bound(0x1200_0073));
            }
            83..90 => (self.random.pick(SATP_KIN), 2, rd, 0),
            _ => loop {
                let csr = self.random.below(0x1000) as u16;
                if is_open(csr) {
                    break (csr, function, rd, any);
                }
            },
        };
        // QEMU 10.0 shows bits of mip in hvip, and keeps unimplemented bits in these.
        let rd = if matches!(
            csr,
            0x645 | 0x303 | 0x304 | 0x604 | 0x104 | 0x10a | 0x144 | 0x344 | 0x644
        ) {
            0
        } else {
            rd
        };
        // The names of S-mode's registers select VS-mode's own registers there.
        let virtual_names = self.mode == Mode::VirtualSupervisor;
        let interrupt = |bit: u64| self.allowed.interrupt == bit;
        let timer = |bit: u64| self.allowed.timer && interrupt(bit);
        let forbidden = match csr {
            0x645 => !interrupt(4) || function < 4,
            0x644 => !interrupt(4),
            // QEMU takes bits of mie for bits of vsie, in addition to the right ones.
            0x104 => self.left || virtual_names,
            MIP => !interrupt(2) && !interrupt(4),
            0x144 => self.left || virtual_names || !interrupt(2),
            0x14d => self.left || !timer(if virtual_names { 0x40 } else { 0x20 }),
            0x24d => !timer(0x40),
            _ => false,
        };
        if forbidden {
            return;
        }
        let source = if csr == MIP {
            source & self.allowed.interrupt as u32
        } else {
            source
        };
        let user = self.left || self.mode == Mode::VirtualUser;
        if user && csr >> 8 & 3 == 1 {
            return;
        }
        self.push(csr_instruction(csr, function, rd, source));
    }
}

/// The first item to which [`TARGET`] can point.
pub const TARGET_ITEM: usize = 12;

fn csr_instruction(csr: u16, function: u32, rd: u32, source: u32) -> u32 {
    u32::from(csr) << 20 | source << 15 | function << 12 | rd << 7 | 0x73
}

fn write_csr(csr: u16, register: u8) -> u32 {
    csr_instruction(csr, 1, 0, register.into())
}

fn is_load(operation: Operation) -> bool {
    use Operation as O;
    matches!(
        operation,
        O::Lb | O::Lh | O::Lw | O::Ld | O::Lbu | O::Lhu | O::Lwu | O::Flw | O::Fld
    )
}

fn is_store(operation: Operation) -> bool {
    use Operation as O;
    matches!(operation, O::Sb | O::Sh | O::Sw | O::Sd | O::Fsw | O::Fsd)
}

/// Whether the operation accesses memory at exactly rs1.
fn is_indirect(operation: Operation) -> bool {
    let name = operation.mnemonic();
    ["amo", "hlv", "hsv"]
        .iter()
        .any(|start| name.starts_with(start))
}

fn writes_float(operation: Operation) -> bool {
    let name = operation.mnemonic();
    let to_integer = [
        "feq", "flt", "fle", "fclass", "fcvt.w", "fcvt.l", "fmv.x", "fence",
    ];
    name.starts_with('f') && !to_integer.iter().any(|start| name.starts_with(start))
}
