//! What a trapped load or store wants, from the instruction's bits or the transformed
//! instruction in `htinst` (RISC-V privileged specification, "Transformed Instruction or Pseudoinstruction for mtinst
//! or htinst").

/// A load or store of an integer register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Store, or load.
    pub store: bool,
    /// Bytes: 1, 2, 4 or 8.
    pub size: u8,
    /// A load's value is sign extended.
    pub signed: bool,
    /// Register read by a store, written by a load: 0..32.
    pub register: u8,
    /// Bytes of the instruction: 2 or 4.
    pub length: u8,
}

impl Access {
    /// A loaded value as the register receives it.
    pub const fn extend(self, value: u64) -> u64 {
        let shift = 64 - 8 * self.size as u32;
        if self.signed {
            ((value << shift) as i64 >> shift) as u64
        } else {
            value << shift >> shift
        }
    }
}

/// Decodes an instruction, whose upper half does not matter where it is compressed. `None`: it is none of an integer
/// register's loads and stores. `length`: its bytes, 2 or 4; a transformed one has all 32 bits whatever its length.
pub const fn decode(bits: u32, length: u8) -> Option<Access> {
    let (rd, rs2) = (bits >> 7 & 31, bits >> 20 & 31);
    let funct3 = bits >> 12 & 7;
    let (store, doublings, register) = match bits & 0x7f {
        0x03 if funct3 != 7 => (false, funct3 & 3, rd),
        0x23 if funct3 < 4 => (true, funct3, rs2),
        opcode if opcode & 3 != 3 => return compressed(bits),
        _ => return None,
    };
    Some(Access {
        store,
        size: 1 << doublings,
        signed: !store & (funct3 < 4),
        register: register as u8,
        length,
    })
}

/// Bits and length, for [`decode`], of the instruction that `htinst` tells. Bit 1 is zero when the trapping one was
/// compressed. Of anything but a transformed instruction (bit 0 is zero: the fault lies in the guest's page-table walk)
/// [`decode`] makes nothing.
pub const fn transformed(htinst: u64) -> (u32, u8) {
    let bits = htinst as u32;
    let length = if bits & 2 == 0 { 2 } else { 4 };
    (if bits & 1 == 0 { 0 } else { bits | 2 }, length)
}

/// The same of an instruction that was fetched from the guest; `bits` holds a compressed one in its lower half.
pub const fn fetched(bits: u32) -> (u32, u8) {
    (bits, if bits & 3 == 3 { 4 } else { 2 })
}

/// RISC-V "C" extension, RV64C quadrants 0 and 2.
#[inline(never)]
const fn compressed(bits: u32) -> Option<Access> {
    let short = 8 + (bits >> 2 & 7);
    let (rd, rs2) = (bits >> 7 & 31, bits >> 2 & 31);
    let funct3 = bits >> 13 & 7;
    let store = funct3 & 4 != 0;
    let register = match (bits & 3, funct3 & 3) {
        (0, 2 | 3) => short,
        (2, 2 | 3) if store => rs2,
        (2, 2 | 3) => rd,
        _ => return None,
    };
    Some(Access {
        store,
        size: 1 << (funct3 & 3),
        signed: !store,
        register: register as u8,
        length: 2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(store: bool, size: u8, signed: bool, register: u8, length: u8) -> Option<Access> {
        Some(Access {
            store,
            size,
            signed,
            register,
            length,
        })
    }

    fn from_instruction(bits: u32) -> Option<Access> {
        let (bits, length) = fetched(bits);
        decode(bits, length)
    }

    fn from_htinst(htinst: u64) -> Option<Access> {
        let (bits, length) = transformed(htinst);
        decode(bits, length)
    }

    #[test]
    fn full_instructions() {
        // lw a0, 0(a1); lbu t0, 3(a1); ld a5, 8(a0); sb s1, 0(a0); sd t6, 16(a0)
        assert_eq!(from_instruction(0x0005_a503), access(false, 4, true, 10, 4));
        assert_eq!(from_instruction(0x0035_c283), access(false, 1, false, 5, 4));
        assert_eq!(from_instruction(0x0085_3783), access(false, 8, true, 15, 4));
        assert_eq!(from_instruction(0x0095_0023), access(true, 1, false, 9, 4));
        assert_eq!(from_instruction(0x01f5_3823), access(true, 8, false, 31, 4));
    }

    #[test]
    fn compressed_instructions() {
        // c.lw a2, 0(a0); c.sd a5, 8(a0); c.lwsp t6, 0(sp); c.sdsp s1, 0(sp)
        assert_eq!(from_instruction(0x4110), access(false, 4, true, 12, 2));
        assert_eq!(from_instruction(0xe51c), access(true, 8, false, 15, 2));
        assert_eq!(from_instruction(0x4f82), access(false, 4, true, 31, 2));
        assert_eq!(from_instruction(0xe026), access(true, 8, false, 9, 2));
    }

    #[test]
    fn what_is_not_an_integer_access_is_refused() {
        // amoadd.w, fld, fsd, add, c.fld, c.addi, reserved load width 7, zero
        for bits in [
            0x00b5_252f_u32,
            0x0005_3507,
            0x00a5_3027,
            0x00b5_0533,
            0x2108,
            0x0505,
            0x0005_7503,
            0,
        ] {
            assert_eq!(from_instruction(bits), None, "{bits:#x}");
        }
    }

    #[test]
    fn htinst_tells_the_length_and_hides_walks() {
        // Transformed: the rs1 field holds the address offset, bit 1 clear if compressed.
        assert_eq!(from_htinst(0x0000_2503), access(false, 4, true, 10, 4));
        assert_eq!(from_htinst(0x0000_2501), access(false, 4, true, 10, 2));
        // Pseudoinstructions of page-table walks, and "no information".
        for htinst in [0, 0x2000, 0x2020, 0x3000, 0x3020] {
            assert_eq!(from_htinst(htinst), None);
        }
    }

    #[test]
    fn values_are_extended() {
        let byte = access(false, 1, true, 1, 4).expect("built above");
        assert_eq!(byte.extend(0x1ff), u64::MAX);
        let word = access(false, 4, false, 1, 4).expect("built above");
        assert_eq!(word.extend(0xffff_ffff_8000_0000), 0x8000_0000);
    }
}
