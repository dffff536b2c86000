//! The decoder against GNU binutils, as an independent reader of the same specification.
//!
//! Every 16-bit encoding, and 32-bit words of all kinds, must decode to the same text or be refused by both.
//!
//! Needs `riscv64-unknown-elf-as` and `riscv64-unknown-elf-objdump`, which `make setup` installs; the tests fail
//! without them, or with versions that do not know the H, Zb* and Zicbo* extensions. Where binutils (2.40) differs from
//! the specification, [`Exception`] says how and why.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tactus_board::decode::{Operation, decode, length};

/// The hart's extensions for objdump, which then knows no other instructions.
const ARCHITECTURE: &str = "rv64gch_zba_zbb_zbs_zicbom_zicbop_zicboz";

/// Runs a program of binutils and returns its output.
fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| {
            panic!("{program}: {error}; `make setup` installs it (binutils-riscv64-unknown-elf)")
        });
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("objdump writes ASCII")
}

/// objdump's output for `code`, at address 0.
fn disassemble(name: &str, code: &[u8]) -> String {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&directory).expect("the build directory is writable");
    let path = |file: &str| {
        directory
            .join(file)
            .to_str()
            .expect("the build directory's name is UTF-8")
            .to_owned()
    };
    let (binary, source, object) = (path("code.bin"), path("code.s"), path("code.o"));
    fs::write(&binary, code).expect("the build directory is writable");
    fs::write(&source, format!(".incbin \"{binary}\"\n")).expect("the build directory is writable");
    // An object file carries its architecture; a raw binary does not.
    run(
        "riscv64-unknown-elf-as",
        &[&format!("-march={ARCHITECTURE}"), &source, "-o", &object],
    );
    run(
        "riscv64-unknown-elf-objdump",
        &[
            "-D",
            "-z",
            "-j",
            ".text",
            "-M",
            "no-aliases,numeric",
            &object,
        ],
    )
}

/// Offset, mnemonic and operands of a line of objdump's output. `None`: the line has no instruction.
fn columns(line: &str) -> Option<(u64, &str, &str)> {
    // "      10:\t08c5d073          \tcsrrwi\tx0,0x8c,11 # comment"
    let mut columns = line.split('\t');
    let offset = u64::from_str_radix(columns.next()?.trim().strip_suffix(':')?, 16).ok()?;
    let (_, mnemonic) = (columns.next()?, columns.next()?);
    // Spaces separate comments and the symbols of targets.
    let operands = columns.next().unwrap_or("").split(' ').next().unwrap_or("");
    Some((offset, mnemonic, operands))
}

/// objdump's text of each instruction of `code`, by its offset. `None`: objdump knows no such instruction.
fn objdump(name: &str, code: &[u8]) -> HashMap<u64, Option<String>> {
    disassemble(name, code)
        .lines()
        .filter_map(columns)
        .map(|(offset, mnemonic, operands)| {
            // Data, or objdump's name for all zero bits, which are illegal by section 1.5.
            let illegal = mnemonic.starts_with('.') || mnemonic == "c.unimp";
            (offset, (!illegal).then(|| spell(mnemonic, operands)))
        })
        .collect()
}

/// Spells an instruction of objdump as this decoder does.
///
/// Compressed ones are expanded by tables 16.5 to 16.7 of Volume I, 20191213, and targets get their 0x.
fn spell(mnemonic: &str, operands: &str) -> String {
    let (first, rest) = operands.split_once(',').unwrap_or((operands, ""));
    match mnemonic {
        "jal" | "beq" | "bne" | "blt" | "bge" | "bltu" | "bgeu" => {
            let (others, target) = operands.rsplit_once(',').expect("a jump has a target");
            format!("{mnemonic} {others},0x{target}")
        }
        "csrrw" | "csrrs" | "csrrc" | "csrrwi" | "csrrsi" | "csrrci" => {
            let (csr, source) = rest
                .split_once(',')
                .expect("CSR instructions have three operands");
            format!("{mnemonic} {first},{:#x},{source}", csr_numbers()[csr])
        }
        "cbo.inval" | "cbo.clean" | "cbo.flush" | "cbo.zero" => {
            format!("{mnemonic} {}", operands.trim_start_matches('0'))
        }
        "c.nop" => format!(
            "addi x0,x0,{}",
            if operands.is_empty() { "0" } else { operands }
        ),
        "c.addi4spn" => format!("addi {operands}"),
        "c.addi16sp" if operands == "x2,0" => format!("{mnemonic} {operands}"),
        "c.addi16sp" => format!("addi x2,{operands}"),
        "c.li" => format!("addi {first},x0,{rest}"),
        "c.lui" => format!("lui {operands}"),
        "c.mv" => format!("add {first},x0,{rest}"),
        "c.j" => format!("jal x0,0x{operands}"),
        "c.jr" => format!("jalr x0,0({operands})"),
        "c.jalr" => format!("jalr x1,0({operands})"),
        "c.beqz" => format!("beq {first},x0,0x{rest}"),
        "c.bnez" => format!("bne {first},x0,0x{rest}"),
        "c.ebreak" => "ebreak".to_owned(),
        "c.fldsp" | "c.lwsp" | "c.ldsp" | "c.fsdsp" | "c.swsp" | "c.sdsp" => {
            format!("{} {operands}", &mnemonic[2..mnemonic.len() - 2])
        }
        "c.fld" | "c.lw" | "c.ld" | "c.fsd" | "c.sw" | "c.sd" => {
            format!("{} {operands}", &mnemonic[2..])
        }
        _ => match mnemonic.strip_prefix("c.") {
            // The others have their first operand as destination and first source.
            Some(shift @ ("slli64" | "srli64" | "srai64")) => format!("{shift} {first},{first}"),
            Some(expanded) => format!("{expanded} {first},{operands}"),
            None if operands.is_empty() => mnemonic.to_owned(),
            None => format!("{mnemonic} {operands}"),
        },
    }
}

/// A difference of binutils from the specification, or of spelling. Sections are those of Volume I, 20191213.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Exception {
    /// objdump requires zero rd, rs1 and mode of `fence` (`fence.tso`: rd and rs1). Section 2.7: implementations ignore
    /// these fields, and treat reserved modes as 0.
    FenceFields,
    /// objdump requires all fields of `fence.i` to be zero. Chapter 3: implementations ignore them.
    FenceIFields,
    /// objdump accepts only the rounding mode 0 of `fcvt.d.s`, `fcvt.d.w` and `fcvt.d.wu`, which never round, and does
    /// not show it. Section 11.2: the field is to be treated as usual.
    ExactConversion,
    /// objdump shows the rounding modes 5 and 6 as "unknown". Section 11.2: they are reserved.
    ReservedRounding,
    /// objdump shows a fence's empty set as "unknown". Section 2.7 reserves none: it orders nothing (in the case of
    /// `pause` that is its purpose).
    EmptyFenceSet,
    /// objdump knows `uret`, `hret` and `sfence.vm` of earlier texts, which Volume II, 20211203, does not have. It also
    /// knows `dret` of the debug specification; the board has no debug mode.
    OtherPrivileged,
    /// objdump knows `c.addi16sp` of 0. Section 16.5: it is reserved.
    AddNothingToSp,
    /// objdump has names of its own, those of RV128, for `c.slli`, `c.srli` and `c.srai` by 0. Section 16.5: they are
    /// HINTs on RV64.
    ShiftByZero,
}

/// The word for objdump in place of `bits`, which by the specification means the same.
///
/// `suffix` is appended to objdump's answer.
struct Question {
    ask: u32,
    suffix: &'static str,
    exception: Option<Exception>,
}

fn question(bits: u32) -> Question {
    let instead = |ask, suffix, exception| Question {
        ask,
        suffix,
        exception: (ask != bits).then_some(exception),
    };
    let as_it_is = Question {
        ask: bits,
        suffix: "",
        exception: None,
    };
    match (bits & 0x707f, bits >> 20) {
        (0x000f, 0x833) => instead(0x8330_000f, "", Exception::FenceFields),
        (0x000f, _) => instead(bits & 0x0ff0_707f, "", Exception::FenceFields),
        (0x100f, _) => instead(0x0000_100f, "", Exception::FenceIFields),
        // funct7, rs2 and the opcode of fcvt.d.s, fcvt.d.w and fcvt.d.wu.
        _ if matches!(bits & 0xfff0_007f, 0x4200_0053 | 0xd200_0053 | 0xd210_0053) => {
            let suffix = [
                ",rne", ",rtz", ",rdn", ",rup", ",rmm", ",unknown", ",unknown", "",
            ];
            Question {
                ask: bits & !0x7000,
                suffix: suffix[bits as usize >> 12 & 7],
                exception: Some(Exception::ExactConversion),
            }
        }
        _ => as_it_is,
    }
}

/// The specification's answer where objdump's is `theirs`.
fn judge(theirs: Option<String>) -> (Option<String>, Option<Exception>) {
    let Some(text) = theirs else {
        return (None, None);
    };
    let (mnemonic, operands) = text.split_once(' ').unwrap_or((&text, ""));
    match mnemonic {
        "uret" | "hret" | "sfence.vm" | "dret" => (None, Some(Exception::OtherPrivileged)),
        "fence" if operands.contains("unknown") => (
            Some(text.replace("unknown", "0")),
            Some(Exception::EmptyFenceSet),
        ),
        "c.addi16sp" => (None, Some(Exception::AddNothingToSp)),
        "slli64" | "srli64" | "srai64" => (
            Some(format!("{} {operands},0x0", &mnemonic[..4])),
            Some(Exception::ShiftByZero),
        ),
        _ if operands.ends_with(",unknown") => (None, Some(Exception::ReservedRounding)),
        _ => (Some(text), None),
    }
}

/// Compares the decoder with objdump on a sequence of instructions. Returns the exceptions that occurred.
fn compare(name: &str, instructions: &[u32]) -> BTreeSet<Exception> {
    let mut code = Vec::new();
    let mut places = Vec::new();
    for &bits in instructions {
        let question = question(bits);
        places.push((code.len() as u64, bits, question.suffix, question.exception));
        code.extend_from_slice(&question.ask.to_le_bytes()[..length(bits as u16).into()]);
    }
    let theirs = objdump(name, &code);
    let mut exceptions = BTreeSet::new();
    // A few differences of each kind are enough.
    let mut differences: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (offset, bits, suffix, asked) in places {
        let theirs = theirs
            .get(&offset)
            .unwrap_or_else(|| panic!("objdump skipped {bits:#x} at {offset:#x}"));
        let (expected, judged) = judge(theirs.as_ref().map(|text| format!("{text}{suffix}")));
        exceptions.extend(asked);
        exceptions.extend(judged);
        let ours = decode(bits).map(|instruction| instruction.at(offset).to_string());
        if ours != expected {
            let name = |text: &Option<String>| {
                text.as_deref()
                    .unwrap_or("")
                    .split(' ')
                    .next()
                    .map(str::to_owned)
            };
            let text = format!(
                "{bits:#010x}: {ours:?}, but {expected:?} expected; objdump says {theirs:?}"
            );
            differences
                .entry((name(&ours), name(theirs)))
                .or_default()
                .push(text);
        }
    }
    let count: usize = differences.values().map(Vec::len).sum();
    let some: Vec<&str> = differences
        .values()
        .flat_map(|kind| kind.iter().take(3))
        .map(String::as_str)
        .collect();
    assert!(
        count == 0,
        "{count} of {} differ, such as\n{}",
        instructions.len(),
        some.join("\n")
    );
    exceptions
}

/// The numbers of objdump's names of CSRs, from its texts of an instruction for each number.
fn csr_numbers() -> &'static HashMap<String, u64> {
    static NUMBERS: OnceLock<HashMap<String, u64>> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        let code: Vec<u8> = (0..4096_u32)
            .flat_map(|csr| (csr << 20 | 0x2073).to_le_bytes())
            .collect();
        let output = disassemble("csrs", &code);
        let mut numbers = HashMap::new();
        for (offset, mnemonic, operands) in output.lines().filter_map(columns) {
            let csr = operands
                .split(',')
                .nth(1)
                .expect("csrrs has three operands");
            assert_eq!(mnemonic, "csrrs", "at {offset:#x}");
            assert_eq!(
                numbers.insert(csr.to_owned(), offset / 4),
                None,
                "{csr} names two CSRs"
            );
        }
        assert_eq!(numbers.len(), 4096);
        numbers
    })
}

/// Asserts that exactly the listed exceptions occurred, so that the list has none that is unnecessary.
///
/// The list is that of binutils 2.40. With other versions, which may have fewer, this check is skipped.
fn assert_needed(met: &BTreeSet<Exception>, list: &[Exception]) {
    let version = run("riscv64-unknown-elf-objdump", &["--version"]);
    if version
        .lines()
        .next()
        .is_some_and(|line| line.contains(" 2.40"))
    {
        assert!(met.iter().eq(list), "met {met:?}, but listed {list:?}");
    }
}

/// splitmix64: the same words in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as u32
    }
}

/// Whether a word starts a 32-bit instruction. Longer ones would include the next word in objdump's view;
/// `properties.rs` states that they are illegal.
fn is_word(bits: u32) -> bool {
    bits & 3 == 3 && bits & 0b11111 != 0b11111
}

#[test]
fn every_16_bit_encoding() {
    let encodings: Vec<u32> = (0..=0xffff).filter(|bits| bits & 3 != 3).collect();
    assert_eq!(encodings.len(), 3 << 14);
    let exceptions = compare("compressed", &encodings);
    assert_eq!(
        exceptions,
        BTreeSet::from([Exception::AddNothingToSp, Exception::ShiftByZero])
    );
}

#[test]
fn random_words() {
    let mut random = Random(1);
    let words: Vec<u32> = std::iter::repeat_with(|| random.next() | 3)
        .filter(|&bits| is_word(bits))
        .take(200_000)
        .collect();
    compare("random", &words);
}

#[test]
fn every_operation_with_random_operands() {
    let mut random = Random(2);
    let words: Vec<u32> = Operation::ALL
        .into_iter()
        .flat_map(|operation| {
            let (mask, bits) = operation.encoding();
            std::iter::repeat_with(|| bits | random.next() & !mask)
                .take(300)
                .collect::<Vec<_>>()
        })
        .collect();
    compare("operands", &words);
}

/// Words one or two bits away from an operation's encoding, where reserved encodings border on legal ones.
#[test]
fn neighbours_of_every_operation() {
    let mut random = Random(3);
    let mut words = Vec::new();
    for operation in Operation::ALL {
        let (mask, bits) = operation.encoding();
        for first in 2..32 {
            for second in 2..32 {
                let word = (bits | random.next() & !mask) ^ (1 << first) ^ (1 << second);
                // Where both bits are the same, the flips cancel: one flip then.
                words.push(if first == second {
                    word ^ (1 << first)
                } else {
                    word
                });
            }
        }
    }
    words.retain(|&bits| is_word(bits));
    let exceptions = compare("neighbours", &words);
    // The exceptions for 32-bit words, each of which is necessary.
    assert_needed(
        &exceptions,
        &[
            Exception::FenceFields,
            Exception::FenceIFields,
            Exception::ExactConversion,
            Exception::ReservedRounding,
            Exception::EmptyFenceSet,
            Exception::OtherPrivileged,
        ],
    );
}
