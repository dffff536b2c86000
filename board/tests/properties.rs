//! Properties of every word of 32 bits.

use proptest::prelude::*;
use tactus_board::decode::{Instruction, Operation, decode, length};

/// Any word, and often one with the fixed bits of an operation.
fn words() -> impl Strategy<Value = u32> {
    let likely = (0..Operation::COUNT, any::<u32>()).prop_map(|(number, operands)| {
        let (mask, bits) = Operation::ALL[number].encoding();
        bits | operands & !mask
    });
    prop_oneof![any::<u32>(), likely]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn decoding_and_its_text_never_panic(bits in words(), address in any::<u64>()) {
        if let Some(instruction) = decode(bits) {
            let text = instruction.to_string();
            prop_assert!(text.starts_with(instruction.operation.mnemonic()));
            prop_assert!(instruction.at(address).to_string().starts_with(instruction.operation.mnemonic()));
        }
    }

    #[test]
    fn registers_and_lengths_are_in_range(bits in words()) {
        if let Some(instruction) = decode(bits) {
            let registers = [instruction.rd, instruction.rs1, instruction.rs2, instruction.rs3];
            prop_assert!(registers.iter().all(|&register| register < 32));
            prop_assert_eq!(instruction.length, length(bits as u16));
        }
    }

    #[test]
    fn the_upper_half_does_not_matter_to_a_compressed_instruction(bits in any::<u32>(), upper in any::<u16>()) {
        // One of the three quadrants.
        let bits = if bits & 3 == 3 { bits ^ 1 } else { bits };
        prop_assert_eq!(decode(bits), decode(bits & 0xffff | u32::from(upper) << 16));
    }

    #[test]
    fn a_word_has_the_fixed_bits_of_its_decoded_instruction(bits in words()) {
        let bits = bits | 3;
        if let Some(instruction) = decode(bits) {
            let (mask, fixed) = instruction.operation.encoding();
            prop_assert_eq!(bits & mask, fixed);
        }
    }

    /// Volume I, 20191213, section 1.5: bits 4:2 of 111 start instructions of 48 bits and more.
    #[test]
    fn longer_instructions_are_illegal(bits in any::<u32>()) {
        prop_assert_eq!(decode(bits | 0b11111), None);
    }
}

/// Each operation's number is its index in the list, which dispatch tables use.
#[test]
fn operations_are_numbered_in_order() {
    for (number, operation) in Operation::ALL.into_iter().enumerate() {
        assert_eq!(operation as usize, number);
    }
}

/// Every operation can be decoded, and its text begins with a mnemonic of its own.
#[test]
fn every_operation_decodes_from_its_own_encoding() {
    let mut mnemonics = std::collections::BTreeSet::new();
    for operation in Operation::ALL {
        let (mask, bits) = operation.encoding();
        // With all of its operands 0, `ori` is a prefetch.
        let free = if operation == Operation::Ori {
            !mask
        } else {
            0
        };
        assert_eq!(
            decode(bits | free).map(|instruction| instruction.operation),
            Some(operation)
        );
        assert!(
            mnemonics.insert(operation.mnemonic()),
            "{} twice",
            operation.mnemonic()
        );
    }
}

/// Volume I, 20191213, section 11.2: rounding modes 5 and 6 are reserved in each instruction with the field.
#[test]
fn reserved_rounding_modes_are_illegal() {
    let mut with_rounding = 0;
    for operation in Operation::ALL {
        let (mask, bits) = operation.encoding();
        let opcode = bits & 0x7f;
        // The arithmetic opcodes of F and D, where bits 14:12 are free: those instructions round.
        if mask & 0x7000 == 0 && matches!(opcode, 0x43 | 0x47 | 0x4b | 0x4f | 0x53) {
            with_rounding += 1;
            for mode in 0..8 {
                let decoded = decode(bits | mode << 12);
                assert_eq!(
                    decoded.is_none(),
                    mode == 5 || mode == 6,
                    "{} mode {mode}",
                    operation.mnemonic()
                );
            }
        }
    }
    // F: four fused, four of two operands, the root, eight conversions; D: the same and two more between F and D.
    assert_eq!(with_rounding, 17 + 19);
}

/// Volume I, 20191213, sections 16.3 to 16.5: a compressed instruction is a short form of a longer one.
#[test]
fn compressed_instructions_equal_their_expansion() {
    let pairs = [
        (0x0028, 0x0081_0513, "addi x10,x2,8"),
        (0x2508, 0x0085_3507, "fld x10,8(x10)"),
        (0xa508, 0x00a5_3427, "fsd f10,8(x10)"),
        (0xe508, 0x00a5_3423, "sd x10,8(x10)"),
        (0x557d, 0xfff0_0513, "addi x10,x0,-1"),
        (0x757d, 0xffff_f537, "lui x10,0xfffff"),
        (0x8d0d, 0x40b5_0533, "sub x10,x10,x11"),
        (0x9502, 0x0005_00e7, "jalr x1,0(x10)"),
        (0x852e, 0x00b0_0533, "add x10,x0,x11"),
        (0xbfe5, 0xff9f_f06f, "jal x0,.-8"),
        (0xdd65, 0xfe05_0ce3, "beq x10,x0,.-8"),
        (0x1502, 0x0205_1513, "slli x10,x10,0x20"),
        (0x9002, 0x0010_0073, "ebreak"),
    ];
    for (short, long, name) in pairs {
        let (short, long) = (decode(short).expect(name), decode(long).expect(name));
        assert_eq!((short.length, long.length), (2, 4), "{name}");
        assert_eq!(Instruction { length: 4, ..short }, long, "{name}");
    }
}

/// Volume I, 20191213, section 16.5 and tables 16.5 to 16.7: the reserved compressed encodings of RV64.
#[test]
fn reserved_compressed_encodings_are_illegal() {
    let reserved = [
        (0x0000, "all zero bits"),
        (0x0004, "c.addi4spn x9 of 0"),
        (0x8000, "quadrant 0, function 100"),
        (0x9ffc, "quadrant 0, function 100"),
        (0x2001, "c.addiw with rd = x0"),
        (0x207d, "c.addiw with rd = x0"),
        (0x6101, "c.addi16sp of 0"),
        (0x6081, "c.lui x1 of 0"),
        (0x6001, "c.lui x0 of 0"),
        (0x9c41, "quadrant 1, function 100, 1 11 10"),
        (0x9c61, "quadrant 1, function 100, 1 11 11"),
        (0x4002, "c.lwsp with rd = x0"),
        (0x6002, "c.ldsp with rd = x0"),
        (0x8002, "c.jr with rs1 = x0"),
    ];
    for (bits, name) in reserved {
        assert_eq!(decode(bits), None, "{name}, {bits:#06x}");
    }
}

/// HINTs are legal: Volume I, 20191213, sections 2.9, 5.4 and 16.7. Their texts show that they change nothing.
#[test]
fn hints_are_legal() {
    let hints = [
        (0x0000_1037, "lui x0,0x1"),
        (0x0020_6013, "ori x0,x0,2"),
        (0x0020_8033, "add x0,x1,x2"),
        (0x0100_000f, "fence w,0"),
        (0x0005, "addi x0,x0,1"),
        (0x0081, "addi x1,x1,0"),
        (0x4005, "addi x0,x0,1"),
        (0x6005, "lui x0,0x1"),
        (0x8006, "add x0,x0,x1"),
        (0x9006, "add x0,x0,x1"),
        (0x0006, "slli x0,x0,0x1"),
        (0x0082, "slli x1,x1,0x0"),
        (0x8001, "srli x8,x8,0x0"),
        (0x8401, "srai x8,x8,0x0"),
    ];
    for (bits, text) in hints {
        assert_eq!(
            decode(bits)
                .map(|instruction| instruction.to_string())
                .as_deref(),
            Some(text),
            "{bits:#x}"
        );
    }
}

/// Instructions of extensions that no board has are illegal.
#[test]
fn other_extensions_are_illegal() {
    let others = [
        (0x0a20_8533, "clmul, Zbc"),
        (0x1600_8073, "sinval.vma, Svinval"),
        (0x0400_8553, "fadd.h, Zfh"),
        (0x0600_8553, "fadd.q, Q"),
        (0x0000_0057, "vector arithmetic, V"),
        (0x0000_000b, "custom-0"),
        (0x0000_002b, "custom-1"),
        (0x0000_005b, "custom-2"),
        (0x0000_007b, "custom-3"),
        (0x7b20_0073, "dret, debug"),
        (0x00d0_0073, "wrs.nto, Zawrs"),
        (0x0e20_d533, "czero.eqz, Zicond"),
    ];
    for (bits, name) in others {
        assert_eq!(decode(bits), None, "{name}");
    }
}
