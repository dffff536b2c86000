//! What is wrong with a system, in the form people read: the thing, the place, the reason, the cure.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, Severity, SourceCode};

use crate::config::{Source, Span};

/// Whom a kind of problem concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The system works, though perhaps not as meant.
    Warning,
    /// The description is wrong, or does not suit the platform: such a system is not built.
    Error,
    /// Nothing is known to be wrong with the system, but something needed to judge it is missing.
    Environment,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $weight:ident;)*) => {
        /// The kinds of problems; each is described in the reference of `system.toml`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name that is printed and looked up in the reference.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Whom it concerns.
            pub const fn weight(self) -> Weight {
                match self { $(Self::$variant => Weight::$weight,)* }
            }
        }
    };
}

codes! {
    /// The file is not TOML.
    Syntax = "toml-syntax", Error;
    /// A key that means nothing where it stands.
    UnknownKey = "unknown-key", Error;
    /// A key that must be there is not.
    MissingKey = "missing-key", Error;
    /// A value of another type or form than its key wants.
    WrongValue = "wrong-value", Error;
    /// A value beyond what its key allows.
    OutOfRange = "out-of-range", Error;
    /// A name that cannot be one.
    BadName = "bad-name", Error;
    /// Two things of one kind have the same name.
    DuplicateName = "duplicate-name", Error;
    /// A VM is named that does not exist.
    UnknownVm = "unknown-vm", Error;
    /// A VM is referred to by itself where another is meant.
    SelfReference = "self-reference", Error;
    /// No profile of that name.
    UnknownPlatform = "unknown-platform", Error;
    /// No design of that name for the fabric.
    UnknownDesign = "unknown-design", Error;
    /// A design for a platform without a fabric.
    NoFabric = "no-fabric", Error;
    /// A ready queue in hardware without the hardware.
    NoReadyQueue = "no-ready-queue", Error;
    /// The hypervisor in on-chip memory of a platform without any.
    NoOnchipMemory = "no-onchip-memory", Error;
    /// What is to be in on-chip memory does not fit there.
    OnchipTooSmall = "onchip-too-small", Error;
    /// A part of a VM's memory in on-chip memory that it cannot have.
    BadOnchipMemory = "bad-onchip-memory", Error;
    /// Accelerators without a design that has them, or without the table that says who manages them.
    NoAccelerators = "no-accelerators", Error;
    /// A hardware task that the design does not have.
    UnknownTask = "unknown-task", Error;
    /// An accelerator that a real-time vCPU may have too late.
    LateAccelerator = "late-accelerator", Error;
    /// I/O ports or timed I/O without a design that has them, or without the table that says who gives them.
    NoIo = "no-io", Error;
    /// What is behind the I/O hypervisor, given twice.
    IoTwice = "io-twice", Error;
    /// A tile that two VMs have.
    TileTwice = "tile-twice", Error;
    /// A boot image is wanted of a system that has none.
    NoBootImage = "no-boot-image", Error;
    /// More of something than the hypervisor takes.
    TooMany = "too-many", Error;
    /// A hart that the system does not have.
    NoSuchHart = "no-such-hart", Error;
    /// A vCPU whose harts do not suit its class.
    VcpuHarts = "vcpu-harts", Error;
    /// A VM or vCPU that could never run.
    NeverRuns = "never-runs", Error;
    /// Times of a vCPU that do not suit each other, its class or the platform.
    BadReservation = "bad-reservation", Error;
    /// A vCPU that cannot get its hart ahead of its deadlines.
    BadDispatch = "bad-dispatch", Error;
    /// A hart with vCPUs that go by priority and others that go by deadlines.
    MixedPolicies = "mixed-policies", Error;
    /// Shares of the system that come to more than there is, or to less than is given.
    OverShare = "over-share", Error;
    /// A hart of which real-time vCPUs would take more than there is for them.
    OverSubscribed = "over-subscribed", Error;
    /// A real-time vCPU that may have its budget too late.
    MissesDeadline = "misses-deadline", Error;
    /// Best-effort vCPUs that a hart may keep waiting for longer than the description allows.
    LateBestEffort = "late-best-effort", Error;
    /// Times of a task that do not suit each other, or a vCPU that guarantees it no time.
    BadTask = "bad-task", Error;
    /// A task of a VM that may be done too late.
    LateTask = "late-task", Error;
    /// A chain with a step that is not known, does not follow the one before it, or has no bound.
    BadChain = "bad-chain", Error;
    /// A chain that may end too late.
    LateChain = "late-chain", Error;
    /// Reservations without the separation that bounds how late they are.
    NoSeparation = "no-separation", Error;
    /// A real-time vCPU without a budget above others on its hart.
    MayStarve = "may-starve", Warning;
    /// A reservation below a real-time vCPU that has none.
    NoBound = "no-bound", Warning;
    /// Real-time vCPUs that may be made, but have no time left.
    NoShare = "no-share", Warning;
    /// Two real-time vCPUs of one priority on one hart.
    SharedPriority = "shared-priority", Warning;
    /// A hart without work.
    IdleHart = "idle-hart", Warning;
    /// Harts for user level only without vCPUs that migrate.
    UserOnly = "user-only", Error;
    /// Migration that never happens, or serves no vCPU.
    NoMigration = "no-migration", Warning;
    /// A file that is named but cannot be read.
    MissingFile = "missing-file", Error;
    /// A guest image that no VM could run.
    BadImage = "bad-image", Error;
    /// A guest image, initrd or devicetree that does not fit the VM's memory.
    ImageFit = "image-fit", Error;
    /// An address that is no multiple of what it must be one of.
    Unaligned = "unaligned", Error;
    /// Memory outside what the platform has.
    OutsideMemory = "outside-memory", Error;
    /// Physical memory given twice.
    MemoryOverlap = "memory-overlap", Error;
    /// Colours for a platform without a cache that colours divide.
    NoCache = "no-cache", Error;
    /// Colours of the cache that a VM cannot have.
    BadColours = "bad-colours", Error;
    /// Memory that fits nowhere.
    NoRoom = "no-room", Error;
    /// Addresses at which the platform has no device.
    NoSuchDevice = "no-such-device", Error;
    /// A device that the hypervisor or the firmware keeps.
    KeptDevice = "kept-device", Error;
    /// A device that could reach all memory.
    BusMaster = "bus-master", Error;
    /// A PCI function that nothing isolates.
    NoPci = "no-pci", Error;
    /// The hypervisor that the rest needs forwards no accesses.
    NoForwarding = "no-forwarding", Error;
    /// A VM that manages others, which the hypervisor that the system needs for something else does not let it.
    NoManagement = "no-management", Error;
    /// A PCI function that the machine does not have, or has several of.
    NoFunction = "no-function", Error;
    /// A device's page given twice.
    DeviceTwice = "device-twice", Error;
    /// Guest-physical addresses used twice in a VM.
    GuestOverlap = "guest-overlap", Error;
    /// An interrupt source that cannot be passed through with this device.
    BadInterrupt = "bad-interrupt", Error;
    /// An interrupt source given twice.
    InterruptTwice = "interrupt-twice", Error;
    /// Calls within calls, too many in a row.
    CallDepth = "call-depth", Error;
    /// A VM that serves calls and has an accelerator.
    ServedAccelerator = "served-accelerator", Error;
    /// Channels larger than the addresses kept for them.
    ChannelSpace = "channel-space", Error;
    /// A list of warm lines that the vCPU cannot have.
    BadWarmLines = "bad-warm-lines", Error;
    /// A list of warm lines of another image, or of another board.
    StaleWarmLines = "stale-warm-lines", Warning;
    /// A list of warm lines of a vCPU that has its hart at its deadlines, when nothing is prefetched.
    UnusedWarmLines = "unused-warm-lines", Warning;
    /// `system.toml` itself cannot be read.
    Unreadable = "unreadable", Environment;
    /// An artifact of this project that is not there and cannot be made.
    NoArtifact = "no-artifact", Environment;
    /// The hypervisor's own file is not what the tool expects.
    BadHypervisor = "bad-hypervisor", Environment;
}

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub struct Problem {
    code: Code,
    message: String,
    help: String,
    source: Option<Source>,
    labels: Vec<(Span, String)>,
}

impl Problem {
    /// A problem with what is wrong and what to do about it.
    pub fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: help.into(),
            source: None,
            labels: Vec::new(),
        }
    }

    /// Adds a place and what is to be seen there. The first place is the problem's own.
    #[must_use]
    pub fn at(mut self, source: &Source, span: &Span, label: impl Into<String>) -> Self {
        self.source = Some(source.clone());
        self.labels.push((span.clone(), label.into()));
        self
    }

    /// Its kind.
    pub const fn kind(&self) -> Code {
        self.code
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn cure(&self) -> &str {
        &self.help
    }

    /// All of it in a line: "VM `first`: ... (line 10); use 4 MiB or 6 MiB".
    pub fn in_a_line(&self) -> String {
        let line = self.place().map(|(_, line, _)| format!(" (line {line})"));
        let line = line.unwrap_or_default();
        format!("{}{line}; {}", self.message, self.help)
    }

    /// File, line and column of its place, the latter two counted from 1.
    pub fn place(&self) -> Option<(&str, usize, usize)> {
        let source = self.source.as_ref()?;
        let (span, _) = self.labels.first()?;
        let (line, column) = source.line_column(span.start);
        Some((source.name(), line, column))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn code(&self) -> Option<Box<dyn fmt::Display + '_>> {
        Some(Box::new(self.code.name()))
    }

    fn severity(&self) -> Option<Severity> {
        Some(match self.code.weight() {
            Weight::Warning => Severity::Warning,
            Weight::Error | Weight::Environment => Severity::Error,
        })
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        Some(Box::new(&self.help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|s| s as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.labels.is_empty() {
            return None;
        }
        Some(Box::new(self.labels.iter().map(|(span, label)| {
            LabeledSpan::at(span.clone(), label.clone())
        })))
    }
}

/// Everything that keeps a system from being built, as one error.
#[derive(Clone, Debug)]
pub struct Refusal {
    file: String,
    problems: Vec<Problem>,
}

impl Refusal {
    /// The refusal of the system in `file`; warnings among the problems are left out.
    pub fn new(file: impl Into<String>, mut problems: Vec<Problem>) -> Self {
        problems.retain(|p| p.kind().weight() != Weight::Warning);
        Self {
            file: file.into(),
            problems,
        }
    }

    /// The problems.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: not built, for {}",
            self.file,
            count(self.problems.len(), "reason")
        )
    }
}

impl std::error::Error for Refusal {}

impl Diagnostic for Refusal {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.problems.iter().map(|p| p as &dyn Diagnostic)))
    }
}

/// A number of things in words: "1 reason", "2 reasons".
pub fn count(number: usize, singular: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {singular}{plural}")
}

/// An error without the number that the system gives it.
pub(crate) fn io_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}
