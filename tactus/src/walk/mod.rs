//! How long a stretch of the hypervisor can be at most, computed from its program and the board's profile.
//!
//! A stretch begins with a trap, with the end of a wait or with a look, and ends with a look, a guest or a wait
//! ([`paths`](crate::run::board::paths)). Its longest way through the program is sought, with every line of the caches
//! from memory at the [greatest cost](tactus_board::timing::Worst) and every branch predicted wrongly:
//!
//! * [`program`] reads the program, [`flow`] divides functions into pieces between control transfers;
//! * [`longest`] finds the longest way through each function, callees before callers, and through loops as often as
//!   [`loops`] allows.
//!
//! The walk is of the hypervisor's hot code. The bounds are of stretches that stay within, on these terms: a line that
//! a stretch has touched stays in the cache until the stretch ends, loops keep to their stated counts, and the fabric's
//! own time comes on top. That each stretch of a run keeps to them is checked
//! ([`past_bound`](crate::run::board::paths::Stretches::past_bound)).

pub mod flow;
pub mod longest;
pub mod loops;
pub mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use tactus_board::timing::Worst;
use tactus_board::timing::parameters::{Parameters, Pipeline};

use flow::{Function, Given};
use longest::Lengths;
use program::Program;

/// How a stretch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// With a look.
    Look,
    /// In a guest.
    Guest,
    /// The hart waits.
    Idle,
}

/// How a stretch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Start {
    /// With a look.
    Look,
    /// With the end of a wait.
    Wake,
    /// With a trap that this handler takes.
    Trap(&'static str),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Look => "a look",
            Self::Guest => "a guest",
            Self::Idle => "a wait",
        })
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Look => f.write_str("a look"),
            Self::Wake => f.write_str("the end of a wait"),
            Self::Trap(handler) => write!(f, "a trap, handled by {handler}"),
        }
    }
}

/// The handlers of traps, which the way in from a guest calls.
pub const HANDLERS: [&str; 6] = [
    "tactus_call",
    "tactus_timer",
    "tactus_interrupt",
    "tactus_doorbell",
    "tactus_exception",
    "tactus_virtual_instruction",
];
/// The way in from a guest.
const ENTRY: &str = "guest_trap";

/// What instructions and lines cost.
#[derive(Clone, Debug)]
pub struct Costs {
    pipeline: Pipeline,
    worst: Worst,
    line_bytes: u64,
    /// What may be left of earlier instructions where a piece begins in their midst.
    carried: u64,
}

impl Costs {
    /// Those of a board of so many harts. `None`: it has no caches.
    pub fn of(parameters: &Parameters, harts: usize) -> Option<Self> {
        let pipeline = &parameters.pipeline;
        Some(Self {
            pipeline: pipeline.clone(),
            worst: Worst::of(parameters, harts)?,
            line_bytes: parameters.caches.as_ref()?.l1d.line,
            carried: pipeline.divide.max(pipeline.load).into(),
        })
    }
}

/// A bound, by what it is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// Cycles in which instructions issue, with wrongly predicted branches.
    pub run: u64,
    /// Lines of instructions.
    pub code: u64,
    /// Lines of data.
    pub data: u64,
    /// What is under way when it begins, and the trap.
    pub begin: u64,
    /// All of it, in cycles.
    pub cycles: u64,
}

/// All bounds of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Of each beginning and end that there is a way between.
    pub of: BTreeMap<(Start, End), Bound>,
    /// The code that was walked: first addresses, and those behind the last; in order. They are bounds of stretches
    /// that stay within.
    pub walked: Vec<(u64, u64)>,
}

impl Bounds {
    /// Those of a hypervisor's program, an ELF file that looks at these addresses.
    ///
    /// # Errors
    /// It has a jump to what is not known, a loop without a stated count, or calls itself; says where.
    pub fn of(bytes: &[u8], looks: &[u64], costs: &Costs, vcpus: u64) -> Result<Self, String> {
        let program = Program::read(bytes)?;
        let looks: BTreeSet<u64> = looks.iter().copied().collect();
        let entry = program
            .address(ENTRY)
            .ok_or("it has no way in from a guest")?;
        let ordered = program
            .address("__hot_start")
            .zip(program.address("__ordered_end"));
        let (start, end) = ordered.ok_or("it has no ordered section")?;
        let given = Given {
            is_walked: &|address| {
                (start..end).contains(&address) || loops::ALSO.contains(&program.place(address))
            },
            looks: &looks,
            is_dead: &loops::is_dead,
            assembly: &|address| program.function(address).is_none(),
        };
        let mut functions = BTreeMap::new();
        let mut wanted = vec![entry];
        while let Some(address) = wanted.pop() {
            if functions.contains_key(&address) {
                continue;
            }
            let function = Function::of(&program, address, &given, costs);
            wanted.extend(function.pieces.iter().flat_map(|piece| &piece.calls));
            functions.insert(address, function);
        }
        let mut bounds = BTreeMap::new();
        let mut lengths = Lengths::new(&program, &functions, costs, vcpus);
        for (handler, address) in HANDLERS
            .iter()
            .filter_map(|name| Some((*name, program.address(name)?)))
        {
            let others: BTreeSet<u64> = HANDLERS
                .iter()
                .filter_map(|name| program.address(name))
                // A store that rings no doorbell goes on to the handler of exceptions.
                .filter(|other| {
                    *other != address
                        && !(handler == "tactus_doorbell"
                            && Some(*other) == program.address("tactus_exception"))
                })
                .collect();
            for (end, bound) in lengths.from_entry(entry, &others)? {
                bounds.insert((Start::Trap(handler), end), bound);
            }
        }
        for (start, end, bound) in lengths.from_cuts(entry)? {
            bounds.insert((start, end), bound);
        }
        let also = loops::ALSO.iter().filter_map(|name| program.range(name));
        let mut walked: Vec<(u64, u64)> = also.chain([(start, end)]).collect();
        walked.sort_unstable();
        Ok(Self { of: bounds, walked })
    }
}
