//! The control flow of a function: pieces of code that run from an entry to the next control transfer, as the board's
//! blocks do, each with what it takes.
//!
//! A piece begins wherever control may come from another one; pieces may overlap. A piece that holds a cut, where a
//! stretch ends and the next one begins, is split there.

use std::collections::{BTreeMap, BTreeSet};

use tactus_board::decode::{Instruction, Operation};
use tactus_board::timing::Schedule;

use super::program::Program;
use super::{Costs, End, Start};

/// Bytes of a page: no piece goes on behind its end.
const PAGE: u64 = 4096;
/// Instructions of a piece, at most: those of a board's block.
const PIECE_MAX: usize = 64;
/// Lines that translating an address for `hlv` may read: three levels of the guest's table, each, as the address
/// itself, by three of the second stage's. One more is for the second TLB.
const WALK_LINES: u64 = 3 * 4 + 3 + 1;
/// Lines of code that are counted once, though `fence.i` drops them between two pieces that lie in them: one for the
/// function that it is in, and one for each that waits for it to return.
const FENCE_LINES: u64 = 16;
/// Bytes of a look: a read of a control and status register, with which the board's blocks end.
const LOOK_BYTES: u64 = 4;
const RA: u8 = 1;
const SP: u8 = 2;
const T0: u8 = 5;

/// A piece of code.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its first address.
    pub begin: u64,
    /// Cycles in which it issues, with the control transfer at its end predicted wrongly.
    pub run: u64,
    /// Lines of data that it may touch, and the lines of translations.
    pub data: u64,
    /// First and last line of the code that it is in.
    pub lines: (u64, u64),
    /// Functions that it calls at its end: one of them.
    pub calls: Vec<u64>,
    /// What it does behind that.
    pub then: Then,
    /// Pieces that follow, by their places.
    pub next: Vec<usize>,
}

/// The end of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Another piece follows, if any does: none follows one that never ends.
    Goes,
    /// The function returns.
    Returns,
    /// The stretch ends, and the next one begins there, if there is a piece.
    Cut(End, Start),
}

/// A function.
#[derive(Debug, Default)]
pub struct Function {
    /// The first is the entry.
    pub pieces: Vec<Piece>,
    /// Bytes of stack that it takes.
    pub frame: u64,
}

/// What is known of the program beside itself.
pub struct Given<'a> {
    /// Where the hypervisor looks.
    pub looks: &'a BTreeSet<u64>,
    /// Whether the function at an address is walked: what calls another one is no way.
    pub is_walked: &'a dyn Fn(u64) -> bool,
    /// Functions that never return, as those that report that the hypervisor is at its end.
    pub is_dead: &'a dyn Fn(&str) -> bool,
    /// Labels of assembly, whose `sp` is no stack.
    pub assembly: &'a dyn Fn(u64) -> bool,
}

impl Function {
    /// The function that begins at an address.
    pub fn of(program: &Program, entry: u64, given: &Given<'_>, costs: &Costs) -> Self {
        let mut places = BTreeMap::new();
        let mut function = Self::default();
        places.insert(entry, 0);
        let mut starts = vec![entry];
        let mut targets: Vec<Vec<u64>> = Vec::new();
        let mut frames = BTreeMap::new();
        let mut index = 0;
        while index < starts.len() {
            let mut walked = if starts[index] & 1 == 0 {
                Walked::of(program, entry, starts[index], given, costs)
            } else {
                Walked::look(starts[index] & !1, costs)
            };
            frames.extend(&walked.frames);
            if !matches!(walked.piece.then, Then::Cut(..)) {
                // Code that comes to a look ends the stretch there: a piece of its own, at an address that no other
                // has.
                for target in walked
                    .next
                    .iter_mut()
                    .filter(|target| given.looks.contains(target))
                {
                    *target |= 1;
                }
            }
            for target in &walked.next {
                if !places.contains_key(target) {
                    places.insert(*target, starts.len());
                    starts.push(*target);
                }
            }
            targets.push(walked.next.clone());
            function.pieces.push(walked.piece);
            index += 1;
        }
        function.frame = frames.values().sum();
        for (piece, targets) in function.pieces.iter_mut().zip(&targets) {
            piece.next = targets.iter().map(|target| places[target]).collect();
        }
        function
    }
}

/// A piece, and where control goes from it.
struct Walked {
    piece: Piece,
    next: Vec<u64>,
    frames: BTreeMap<u64, u64>,
}

impl Walked {
    /// A look, where it is come to: its instruction is fetched, and no part of the stretch.
    fn look(at: u64, costs: &Costs) -> Self {
        Self {
            piece: Piece {
                begin: at,
                run: 0,
                data: 0,
                lines: (
                    at / costs.line_bytes,
                    (at + LOOK_BYTES - 1) / costs.line_bytes,
                ),
                calls: Vec::new(),
                then: Then::Cut(End::Look, Start::Look),
                next: Vec::new(),
            },
            next: vec![at],
            frames: BTreeMap::new(),
        }
    }

    fn of(program: &Program, entry: u64, begin: u64, given: &Given<'_>, costs: &Costs) -> Self {
        let mut schedule = Schedule::new(&costs.pipeline);
        let mut accesses = Accesses::new((given.assembly)(entry));
        let mut piece = Piece {
            begin,
            // What an earlier piece has begun, where a look splits one.
            run: if given.looks.contains(&begin) {
                costs.carried
            } else {
                0
            },
            data: 0,
            lines: (begin, begin),
            calls: Vec::new(),
            then: Then::Goes,
            next: Vec::new(),
        };
        let mut next = Vec::new();
        let mut at = begin;
        let mut before: Option<(u64, Instruction)> = None;
        let mut count = 0;
        // What is no instruction never runs: it is behind a call that does not return.
        while let Some(instruction) = program.instruction(at) {
            if at != begin && given.looks.contains(&at) {
                piece.then = Then::Cut(End::Look, Start::Look);
                // It is fetched with what is before it.
                piece.lines.1 = at + LOOK_BYTES - 1;
                next.push(at);
                break;
            }
            // The board runs an instruction that lies in two pages by itself.
            let straddles = at % PAGE == PAGE - 2 && instruction.length == 4;
            if straddles && at != begin {
                next.push(at);
                break;
            }
            count += 1;
            piece.run += u64::from(schedule.next(&instruction));
            accesses.take(at, &instruction);
            piece.lines.1 = at + u64::from(instruction.length) - 1;
            let behind = at + u64::from(instruction.length);
            let relative = at.wrapping_add_signed(instruction.immediate.into());
            use Operation as O;
            match instruction.operation {
                O::Beq | O::Bne | O::Blt | O::Bge | O::Bltu | O::Bgeu => {
                    piece.run += costs.worst.branch;
                    next.extend([relative, behind]);
                    break;
                }
                O::Jal => {
                    piece.run += costs.worst.jump;
                    let jump = Jump {
                        from: entry,
                        to: relative,
                        behind,
                        links: instruction.rd != 0,
                    };
                    jump.take(program, given, &mut piece, &mut next);
                    break;
                }
                O::Jalr => {
                    piece.run += costs.worst.branch;
                    let upper = before.filter(|(_, upper)| {
                        upper.operation == O::Auipc && upper.rd == instruction.rs1
                    });
                    if let Some((at, upper)) = upper {
                        let target = at
                            .wrapping_add_signed(upper.immediate.into())
                            .wrapping_add_signed(instruction.immediate.into());
                        let jump = Jump {
                            from: entry,
                            to: target,
                            behind,
                            links: instruction.rd != 0,
                        };
                        jump.take(program, given, &mut piece, &mut next);
                    } else if instruction.rd == 0 && matches!(instruction.rs1, RA | T0) {
                        piece.then = Then::Returns;
                    } else if instruction.rd == 0 {
                        // To a function whose address is passed: it is not walked.
                        let table = accesses.table(&instruction);
                        next = table.map(|begin| program.table(begin)).unwrap_or_default();
                    }
                    break;
                }
                O::Sret => {
                    piece.then = Then::Cut(End::Guest, Start::Look);
                    break;
                }
                O::Wfi => {
                    piece.then = Then::Cut(End::Idle, Start::Wake);
                    next.push(behind);
                    break;
                }
                // The firmware is not walked.
                O::Ecall | O::Ebreak | O::Mret => break,
                O::FenceI => {
                    piece.data += FENCE_LINES;
                    next.push(behind);
                    break;
                }
                O::Csrrw | O::Csrrs | O::Csrrc | O::Csrrwi | O::Csrrsi | O::Csrrci => {
                    next.push(behind);
                    break;
                }
                _ => {}
            }
            before = Some((at, instruction));
            at = behind;
            if count == PIECE_MAX || at / PAGE != begin / PAGE || straddles {
                next.push(at);
                break;
            }
        }
        let line = costs.line_bytes;
        piece.lines = (piece.lines.0 / line, piece.lines.1 / line);
        piece.data += accesses.lines(costs);
        let frames = accesses.frames;
        next.dedup();
        Self {
            piece,
            next,
            frames,
        }
    }
}

/// Whether a function is one that never returns, or calls one first of all.
fn never_returns(program: &Program, target: u64, given: &Given<'_>) -> bool {
    let mut at = target;
    for _ in 0..PIECE_MAX {
        if program.function(at).is_some_and(given.is_dead) {
            return true;
        }
        let Some(instruction) = program.instruction(at) else {
            return false;
        };
        at = match instruction.operation {
            Operation::Jal => at.wrapping_add_signed(instruction.immediate.into()),
            Operation::Addi | Operation::Auipc => at + u64::from(instruction.length),
            _ => return false,
        };
    }
    false
}

/// A direct jump or call.
struct Jump {
    /// The function that it is in.
    from: u64,
    to: u64,
    behind: u64,
    /// It is a call.
    links: bool,
}

impl Jump {
    fn take(&self, program: &Program, given: &Given<'_>, piece: &mut Piece, next: &mut Vec<u64>) {
        if !(given.is_walked)(self.to) || never_returns(program, self.to, given) {
            return;
        }
        if self.links {
            piece.calls = vec![self.to];
            next.push(self.behind);
        } else if program.function(self.to).is_some() && self.to != self.from {
            piece.calls = vec![self.to];
            piece.then = Then::Returns;
        } else {
            next.push(self.to);
        }
    }
}

/// The accesses to data of a piece, by the register that they go by, and addresses that are made in it.
struct Accesses {
    assembly: bool,
    /// By register, a number for the value that it has.
    values: [u32; 32],
    last: u32,
    /// Value and offsets.
    by: BTreeMap<u32, Vec<i64>>,
    /// Registers that hold an address which the piece has made, or the content of a table there.
    made: [Option<u64>; 32],
    walks: u64,
    /// Bytes of stack that are taken, by the address of the instruction.
    frames: BTreeMap<u64, u64>,
}

impl Accesses {
    fn new(assembly: bool) -> Self {
        let mut values = [0; 32];
        for (register, value) in values.iter_mut().enumerate() {
            *value = register as u32;
        }
        Self {
            assembly,
            values,
            last: 32,
            by: BTreeMap::new(),
            made: [None; 32],
            walks: 0,
            frames: BTreeMap::new(),
        }
    }

    /// The table by which `jalr` jumps.
    fn table(&self, jump: &Instruction) -> Option<u64> {
        self.made[usize::from(jump.rs1)]
    }

    fn take(&mut self, at: u64, instruction: &Instruction) {
        use Operation as O;
        let (rd, rs1, rs2) = (
            usize::from(instruction.rd),
            usize::from(instruction.rs1),
            usize::from(instruction.rs2),
        );
        let offset = i64::from(instruction.immediate);
        let mut made = None;
        match instruction.operation {
            O::Lb | O::Lh | O::Lw | O::Ld | O::Lbu | O::Lhu | O::Lwu | O::Flw | O::Fld => {
                self.access(rs1, offset);
                // The content of a table: where it leads.
                made = self.made[rs1];
            }
            O::Sb | O::Sh | O::Sw | O::Sd | O::Fsw | O::Fsd => self.access(rs1, offset),
            O::HlvB
            | O::HlvBu
            | O::HlvH
            | O::HlvHu
            | O::HlvxHu
            | O::HlvW
            | O::HlvWu
            | O::HlvxWu
            | O::HlvD
            | O::HsvB
            | O::HsvH
            | O::HsvW
            | O::HsvD => {
                self.access(rs1, 0);
                self.walks += 1;
            }
            O::PrefetchI
            | O::PrefetchR
            | O::PrefetchW
            | O::CboInval
            | O::CboClean
            | O::CboFlush
            | O::CboZero => self.access(rs1, offset),
            _ if is_atomic(instruction.operation) => self.access(rs1, 0),
            O::Auipc => made = Some(at.wrapping_add_signed(offset)),
            O::Add | O::Sh3add | O::Sh2add | O::Sh1add => {
                made = self.made[rs1].or(self.made[rs2]);
            }
            O::Addi if instruction.rd == SP && instruction.rs1 == SP && offset < 0 => {
                if !self.assembly {
                    self.frames.insert(at, offset.unsigned_abs());
                }
                // Offsets of a stack are not counted; its value stays one.
                return;
            }
            O::Addi => made = self.made[rs1].map(|base| base.wrapping_add_signed(offset)),
            _ => {}
        }
        let writes = !matches!(
            instruction.operation,
            O::Sb | O::Sh | O::Sw | O::Sd | O::Fsw | O::Fsd | O::Flw | O::Fld
        );
        if writes && rd != 0 {
            self.last += 1;
            self.values[rd] = self.last;
            self.made[rd] = made;
        }
    }

    /// Notes an access, but for those to the stack, whose lines are counted as a whole.
    fn access(&mut self, register: usize, offset: i64) {
        if register == usize::from(SP) && !self.assembly {
            return;
        }
        let value = self.values[register];
        self.by.entry(value).or_default().push(offset);
    }

    /// The lines that they are in at most, whatever the registers hold.
    fn lines(&self, costs: &Costs) -> u64 {
        let all = self.by.values().map(|offsets| {
            let lines = lines_of(offsets, costs.line_bytes as i64);
            // They may be of a device, where each counts.
            let devices = (offsets.len() as u64 * costs.worst.device).div_ceil(costs.worst.line);
            lines.max(devices)
        });
        all.sum::<u64>() + self.walks * WALK_LINES
    }
}

/// Lines that accesses at these offsets lie in, at most, wherever their base is.
fn lines_of(offsets: &[i64], line: i64) -> u64 {
    (0..line)
        .map(|base| {
            let mut lines: Vec<i64> = offsets
                .iter()
                .map(|offset| (base + offset).div_euclid(line))
                .collect();
            lines.sort_unstable();
            lines.dedup();
            lines.len() as u64
        })
        .max()
        .unwrap_or_default()
}

fn is_atomic(operation: Operation) -> bool {
    let name = operation.mnemonic();
    name.starts_with("amo") || name.starts_with("lr.") || name.starts_with("sc.")
}
