//! The pipeline: sequences with costs computed by hand, and each operation's registers against its text.

use tactus_board::decode::{Instruction, Operation, decode};
use tactus_board::profile::Profile;
use tactus_board::timing::Schedule;
use tactus_board::timing::parameters::Pipeline;

/// Latencies that all differ.
fn pipeline(issue: u32) -> Pipeline {
    let mut pipeline = Profile::named("mpsoc")
        .expect("it comes with the crate")
        .timing
        .pipeline;
    pipeline.issue = issue;
    pipeline.load = 3;
    pipeline.multiply = 4;
    pipeline.divide = 20;
    pipeline.divide_word = 12;
    pipeline.float_add = 5;
    pipeline.float_divide_double = 30;
    pipeline.csr = 6;
    pipeline
}

/// An operation with these registers.
fn make(operation: Operation, rd: u8, rs1: u8, rs2: u8) -> Instruction {
    let (mask, bits) = operation.encoding();
    let registers = u32::from(rd) << 7 | u32::from(rs1) << 15 | u32::from(rs2) << 20 | 6 << 27;
    let instruction = decode(bits | registers & !mask).expect("an encoding of it");
    assert_eq!(instruction.operation, operation);
    instruction
}

fn costs(pipeline: &Pipeline, block: &[(Operation, u8, u8, u8)]) -> Vec<u32> {
    let mut schedule = Schedule::new(pipeline);
    block
        .iter()
        .map(|&(operation, rd, rs1, rs2)| schedule.next(&make(operation, rd, rs1, rs2)))
        .collect()
}

use Operation::{Add, Beq, Csrrs, Div, Divw, FaddD, FdivD, FmulD, Ld, Mul, Sd};

#[test]
fn one_a_cycle() {
    let one = pipeline(1);
    assert_eq!(
        costs(&one, &[(Add, 1, 2, 3), (Add, 4, 5, 6), (Add, 7, 1, 4)]),
        [1, 1, 1]
    );
    // A load's result is available 3 cycles after its issue: 2 stalls at once, 1 with one operation between, 0 with
    // two.
    assert_eq!(costs(&one, &[(Ld, 1, 2, 0), (Add, 3, 1, 1)]), [1, 3]);
    assert_eq!(
        costs(&one, &[(Ld, 1, 2, 0), (Add, 4, 5, 5), (Add, 3, 1, 1)]),
        [1, 1, 2]
    );
    assert_eq!(
        costs(
            &one,
            &[
                (Ld, 1, 2, 0),
                (Add, 4, 5, 5),
                (Add, 4, 5, 5),
                (Add, 3, 1, 1)
            ]
        ),
        [1, 1, 1, 1]
    );
    // As the data of a store, and as the operand of a branch.
    assert_eq!(costs(&one, &[(Ld, 1, 2, 0), (Sd, 0, 4, 1)]), [1, 3]);
    assert_eq!(costs(&one, &[(Ld, 1, 2, 0), (Beq, 0, 1, 0)]), [1, 3]);
    // The multiplier is pipelined, the divider is not; other operations overtake a division.
    assert_eq!(
        costs(&one, &[(Mul, 1, 2, 3), (Mul, 4, 5, 6), (Add, 7, 4, 1)]),
        [1, 1, 4]
    );
    assert_eq!(
        costs(
            &one,
            &[
                (Div, 1, 2, 3),
                (Add, 4, 5, 6),
                (Divw, 7, 8, 9),
                (Add, 1, 7, 0)
            ]
        ),
        [1, 1, 19, 12]
    );
    assert_eq!(
        costs(&one, &[(Div, 1, 2, 3), (Mul, 4, 5, 6)]),
        [1, 20],
        "multiplier and divider are one unit"
    );
    // A result does not overtake an earlier one to the same register: that of the division is available in cycle 21.
    assert_eq!(costs(&one, &[(Div, 1, 2, 3), (Add, 1, 5, 6)]), [1, 20]);
    assert_eq!(
        costs(&one, &[(Ld, 0, 2, 0), (Add, 3, 0, 0)]),
        [1, 1],
        "no instruction waits for x0"
    );
}

#[test]
fn floating_point_has_registers_and_a_unit_of_its_own() {
    let one = pipeline(1);
    assert_eq!(
        costs(&one, &[(FaddD, 1, 2, 3), (Add, 4, 1, 1)]),
        [1, 1],
        "x1 is not f1"
    );
    assert_eq!(costs(&one, &[(FaddD, 1, 2, 3), (FaddD, 4, 1, 1)]), [1, 5]);
    assert_eq!(
        costs(
            &one,
            &[
                (FdivD, 1, 2, 3),
                (Add, 1, 2, 3),
                (Div, 4, 5, 6),
                (FmulD, 7, 8, 9)
            ]
        ),
        [1, 1, 1, 28]
    );
    assert_eq!(
        costs(&one, &[(Div, 4, 5, 6), (FdivD, 1, 2, 3), (FaddD, 4, 1, 1)]),
        [1, 1, 30]
    );
}

#[test]
fn instructions_that_issue_alone_serialize() {
    let one = pipeline(1);
    assert_eq!(costs(&one, &[(Csrrs, 1, 0, 0), (Add, 2, 3, 4)]), [6, 1]);
    assert_eq!(
        costs(&one, &[(Csrrs, 1, 0, 0), (Add, 2, 1, 4)]),
        [6, 1],
        "its result is there by then"
    );
    assert_eq!(costs(&one, &[(Add, 2, 3, 4), (Csrrs, 1, 0, 0)]), [1, 6]);
    // The multiplication issues in cycle 1 and is done in 5, where the CSR access begins: 4 cycles later, 6 long.
    assert_eq!(costs(&one, &[(Mul, 2, 3, 4), (Csrrs, 1, 0, 0)]), [1, 9]);
    let two = pipeline(2);
    assert_eq!(
        costs(
            &two,
            &[
                (Add, 2, 3, 4),
                (Csrrs, 1, 0, 0),
                (Add, 5, 6, 7),
                (Add, 8, 9, 10)
            ]
        ),
        [1, 6, 1, 0]
    );
}

#[test]
fn two_a_cycle() {
    let two = pipeline(2);
    let adds = [
        (Add, 1, 2, 3),
        (Add, 4, 5, 6),
        (Add, 7, 8, 9),
        (Add, 10, 11, 12),
        (Add, 13, 14, 15),
    ];
    assert_eq!(costs(&two, &adds), [1, 0, 1, 0, 1]);
    assert_eq!(
        costs(&two, &[(Add, 1, 2, 3), (Add, 4, 1, 1), (Add, 5, 6, 7)]),
        [1, 1, 0],
        "it needs the first"
    );
    assert_eq!(
        costs(&two, &[(Add, 1, 2, 3), (Add, 1, 4, 5)]),
        [1, 1],
        "both write x1"
    );
    assert_eq!(
        costs(&two, &[(Ld, 1, 2, 0), (Ld, 3, 4, 0), (Add, 5, 6, 7)]),
        [1, 1, 0],
        "one unit for memory"
    );
    assert_eq!(costs(&two, &[(Ld, 1, 2, 0), (Mul, 3, 4, 5)]), [1, 0]);
    assert_eq!(costs(&two, &[(Mul, 1, 2, 3), (Mul, 4, 5, 6)]), [1, 1]);
    assert_eq!(costs(&two, &[(Add, 1, 2, 3), (Beq, 0, 4, 5)]), [1, 0]);
    assert_eq!(costs(&two, &[(Add, 1, 2, 3), (Beq, 0, 1, 5)]), [1, 1]);
    // Loaded in cycle 1, used in 4; the third operation issues together with the one that waited.
    assert_eq!(
        costs(&two, &[(Ld, 1, 2, 0), (Add, 3, 1, 1), (Add, 4, 5, 6)]),
        [1, 3, 0]
    );
}

#[test]
fn one_instruction_a_cycle_is_what_mpsoc_says() {
    let profile = Profile::named("mpsoc").expect("it comes with the crate");
    let mut schedule = Schedule::new(&profile.timing.pipeline);
    for operation in Operation::ALL {
        assert_eq!(
            schedule.next(&make(operation, 3, 4, 5)),
            1,
            "{}",
            operation.mnemonic()
        );
    }
}

/// An operation waits for the registers that its text names, and for no others.
#[test]
fn every_operation_waits_for_its_sources() {
    let mut pipeline = pipeline(1);
    pipeline.load = 50;
    let mut checked = 0;
    for operation in Operation::ALL {
        let instruction = make(operation, 3, 4, 5);
        let text = instruction.to_string();
        let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        let alone = {
            // An operation that issues alone waits for everything, even for a load of an unrelated register.
            let mut schedule = Schedule::new(&pipeline);
            schedule.next(&make(Ld, 31, 2, 0));
            schedule.next(&instruction) >= 50
        };
        for register in [4, 5, 6] {
            for (load, letter) in [(Ld, 'x'), (Operation::Fld, 'f')] {
                let mut schedule = Schedule::new(&pipeline);
                schedule.next(&make(load, register, 2, 0));
                let waits = schedule.next(&instruction) >= 50;
                let named = words.contains(&format!("{letter}{register}").as_str());
                assert_eq!(waits, named || alone, "{text}: {letter}{register}");
                checked += 1;
            }
        }
        if alone {
            continue;
        }
        // A later operation waits for the result, if there is one.
        for (user, letter) in [(Add, 'x'), (FaddD, 'f')] {
            let mut slow = pipeline.clone();
            for latency in [
                &mut slow.alu,
                &mut slow.load,
                &mut slow.multiply,
                &mut slow.divide,
                &mut slow.divide_word,
                &mut slow.float_add,
                &mut slow.float_multiply,
                &mut slow.float_fused,
                &mut slow.float_move,
                &mut slow.float_divide_single,
                &mut slow.float_divide_double,
                &mut slow.float_root_single,
                &mut slow.float_root_double,
            ] {
                *latency = 40;
            }
            let mut schedule = Schedule::new(&slow);
            schedule.next(&instruction);
            let independent = {
                let mut schedule = schedule.clone();
                schedule.next(&make(user, 30, 29, 28))
            };
            let dependent = schedule.next(&make(user, 30, 3, 28));
            let named = words.get(operation.mnemonic().split('.').count())
                == Some(&format!("{letter}3").as_str());
            let link = matches!(operation, Operation::Jal | Operation::Jalr);
            assert_eq!(
                dependent > independent,
                named && !link && independent < 40,
                "{text}: {letter}3"
            );
        }
    }
    assert_eq!(checked, Operation::COUNT * 6);
}
