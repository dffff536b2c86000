//! An assembler that is just large enough for the examples: it needs no tools, and the examples can be read with
//! their programs in them.
#![allow(dead_code, reason = "no example uses all of it")]

/// Registers, by the names of the calling convention.
pub const ZERO: u32 = 0;
pub const T0: u32 = 5;
pub const T1: u32 = 6;
pub const T2: u32 = 7;
pub const S0: u32 = 8;
pub const S1: u32 = 9;
pub const A0: u32 = 10;
pub const A1: u32 = 11;
pub const A2: u32 = 12;
pub const A3: u32 = 13;
pub const A4: u32 = 14;
pub const S2: u32 = 18;
pub const S3: u32 = 19;
pub const S4: u32 = 20;

/// CSRs.
pub const MSTATUS: u32 = 0x300;
pub const MIE: u32 = 0x304;
pub const MTVEC: u32 = 0x305;
pub const MEPC: u32 = 0x341;
pub const PMPCFG0: u32 = 0x3a0;
pub const PMPADDR0: u32 = 0x3b0;

/// A program, from its first instruction on.
#[derive(Clone, Default)]
pub struct Program {
    words: Vec<u32>,
}

impl Program {
    pub fn new() -> Self {
        Self::default()
    }

    /// How many bytes there are so far: the place of the next instruction.
    pub fn here(&self) -> i32 {
        4 * self.words.len() as i32
    }

    /// Leaves room for one instruction, which is to be written when it is known where it leads. Gives its place.
    pub fn room(&mut self) -> i32 {
        self.words.push(0);
        self.here() - 4
    }

    /// Writes the instruction for which there is room at `place`.
    pub fn fill(&mut self, place: i32, write: impl FnOnce(&mut Self)) {
        let behind = self.words.split_off(place as usize / 4 + 1);
        self.words.pop();
        write(self);
        assert_eq!(self.here(), place + 4, "there is room for one instruction");
        self.words.extend(behind);
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }

    fn i(&mut self, opcode: u32, rd: u32, funct3: u32, rs1: u32, immediate: i32) {
        self.words
            .push((immediate as u32) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode);
    }

    fn s(&mut self, funct3: u32, rs2: u32, offset: i32, rs1: u32) {
        let (high, low) = ((offset as u32) >> 5 & 0x7f, offset as u32 & 0x1f);
        self.words
            .push(high << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | low << 7 | 0x23);
    }

    fn r(&mut self, funct7: u32, funct3: u32, rd: u32, rs1: u32, rs2: u32) {
        self.words
            .push(funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33);
    }

    fn b(&mut self, funct3: u32, rs1: u32, rs2: u32, target: i32) {
        let offset = (target - self.here()) as u32;
        let bits = (offset >> 12 & 1) << 31
            | (offset >> 5 & 0x3f) << 25
            | (offset >> 1 & 0xf) << 8
            | (offset >> 11 & 1) << 7;
        self.words
            .push(bits | rs2 << 20 | rs1 << 15 | funct3 << 12 | 0x63);
    }

    /// Any value below 2^32.
    pub fn li(&mut self, rd: u32, value: u32) {
        let low = (value << 20) as i32 >> 20;
        let high = value.wrapping_sub(low as u32);
        if high == 0 {
            return self.addi(rd, ZERO, low);
        }
        self.words.push(high & 0xffff_f000 | rd << 7 | 0x37);
        self.addi(rd, rd, low);
        if value >> 31 != 0 {
            // lui has filled the upper half with ones.
            self.slli(rd, rd, 32);
            self.srli(rd, rd, 32);
        }
    }

    pub fn addi(&mut self, rd: u32, rs1: u32, immediate: i32) {
        self.i(0x13, rd, 0, rs1, immediate);
    }

    pub fn slli(&mut self, rd: u32, rs1: u32, by: i32) {
        self.i(0x13, rd, 1, rs1, by);
    }

    pub fn srli(&mut self, rd: u32, rs1: u32, by: i32) {
        self.i(0x13, rd, 5, rs1, by);
    }

    pub fn add(&mut self, rd: u32, rs1: u32, rs2: u32) {
        self.r(0, 0, rd, rs1, rs2);
    }

    pub fn lw(&mut self, rd: u32, offset: i32, rs1: u32) {
        self.i(0x03, rd, 2, rs1, offset);
    }

    pub fn ld(&mut self, rd: u32, offset: i32, rs1: u32) {
        self.i(0x03, rd, 3, rs1, offset);
    }

    pub fn lhu(&mut self, rd: u32, offset: i32, rs1: u32) {
        self.i(0x03, rd, 5, rs1, offset);
    }

    pub fn sb(&mut self, rs2: u32, offset: i32, rs1: u32) {
        self.s(0, rs2, offset, rs1);
    }

    pub fn sh(&mut self, rs2: u32, offset: i32, rs1: u32) {
        self.s(1, rs2, offset, rs1);
    }

    pub fn sw(&mut self, rs2: u32, offset: i32, rs1: u32) {
        self.s(2, rs2, offset, rs1);
    }

    pub fn sd(&mut self, rs2: u32, offset: i32, rs1: u32) {
        self.s(3, rs2, offset, rs1);
    }

    /// Branches go to a place as [`here`](Self::here) counts them.
    pub fn beq(&mut self, rs1: u32, rs2: u32, target: i32) {
        self.b(0, rs1, rs2, target);
    }

    pub fn bne(&mut self, rs1: u32, rs2: u32, target: i32) {
        self.b(1, rs1, rs2, target);
    }

    pub fn bltu(&mut self, rs1: u32, rs2: u32, target: i32) {
        self.b(6, rs1, rs2, target);
    }

    pub fn j(&mut self, target: i32) {
        let offset = (target - self.here()) as u32;
        let bits = (offset >> 20 & 1) << 31
            | (offset >> 1 & 0x3ff) << 21
            | (offset >> 11 & 1) << 20
            | (offset >> 12 & 0xff) << 12;
        self.words.push(bits | 0x6f);
    }

    pub fn csrw(&mut self, number: u32, rs1: u32) {
        self.words.push(number << 20 | rs1 << 15 | 1 << 12 | 0x73);
    }

    pub fn csrr(&mut self, rd: u32, number: u32) {
        self.words.push(number << 20 | 2 << 12 | rd << 7 | 0x73);
    }

    /// Waits for all accesses before it: `fence`.
    pub fn fence(&mut self) {
        self.words.push(0x0ff0_000f);
    }

    /// Lets what was written to code be seen.
    pub fn fence_i(&mut self) {
        self.words.push(0x0000_100f);
    }

    pub fn ecall(&mut self) {
        self.words.push(0x73);
    }

    pub fn wfi(&mut self) {
        self.words.push(0x1050_0073);
    }

    pub fn mret(&mut self) {
        self.words.push(0x3020_0073);
    }
}
