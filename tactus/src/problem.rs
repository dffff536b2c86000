//! What is wrong with a system, in the form people read: the thing, the place, the reason, the cure.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, Severity, SourceCode};

use crate::config::{Source, Span};

/// Whom a kind of problem concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The system works, though perhaps not as meant.
    Warning,
    /// The description contradicts itself or the platform: such a system is not built.
    Contradiction,
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
    Syntax = "toml-syntax", Contradiction;
    /// A key that means nothing where it stands.
    UnknownKey = "unknown-key", Contradiction;
    /// A key that must be there is not.
    MissingKey = "missing-key", Contradiction;
    /// A value of another type or form than its key wants.
    WrongValue = "wrong-value", Contradiction;
    /// A value beyond what its key allows.
    OutOfRange = "out-of-range", Contradiction;
    /// A name that cannot be one.
    BadName = "bad-name", Contradiction;
    /// Two things of one kind have the same name.
    DuplicateName = "duplicate-name", Contradiction;
    /// A VM is named that does not exist.
    UnknownVm = "unknown-vm", Contradiction;
    /// A VM is referred to by itself where another is meant.
    SelfReference = "self-reference", Contradiction;
    /// No profile of that name.
    UnknownPlatform = "unknown-platform", Contradiction;
    /// No design of that name for the fabric.
    UnknownDesign = "unknown-design", Contradiction;
    /// A design for a platform without a fabric.
    NoFabric = "no-fabric", Contradiction;
    /// A ready queue in hardware without the hardware.
    NoReadyQueue = "no-ready-queue", Contradiction;
    /// Accelerators without a design that has them, or without the table that says who manages them.
    NoAccelerators = "no-accelerators", Contradiction;
    /// A hardware task that the design does not have.
    UnknownTask = "unknown-task", Contradiction;
    /// An accelerator that a real-time vCPU may have too late.
    LateAccelerator = "late-accelerator", Contradiction;
    /// I/O ports or timed I/O without a design that has them, or without the table that says who gives them.
    NoIo = "no-io", Contradiction;
    /// What is behind the I/O hypervisor, given twice.
    IoTwice = "io-twice", Contradiction;
    /// A tile that two VMs have.
    TileTwice = "tile-twice", Contradiction;
    /// A boot image is wanted of a system that has none.
    NoBootImage = "no-boot-image", Contradiction;
    /// More of something than the hypervisor takes.
    TooMany = "too-many", Contradiction;
    /// A hart that the system does not have.
    NoSuchHart = "no-such-hart", Contradiction;
    /// A vCPU whose harts do not suit its class.
    VcpuHarts = "vcpu-harts", Contradiction;
    /// A VM or vCPU that could never run.
    NeverRuns = "never-runs", Contradiction;
    /// Times of a vCPU that contradict each other, its class or the platform.
    BadReservation = "bad-reservation", Contradiction;
    /// A hart with vCPUs that go by priority and others that go by deadlines.
    MixedPolicies = "mixed-policies", Contradiction;
    /// Shares of the system that come to more than there is, or to less than is given.
    OverShare = "over-share", Contradiction;
    /// A hart of which real-time vCPUs would take more than there is for them.
    OverSubscribed = "over-subscribed", Contradiction;
    /// A real-time vCPU that may have its budget too late.
    MissesDeadline = "misses-deadline", Contradiction;
    /// Reservations without the separation that bounds how late they are.
    NoSeparation = "no-separation", Contradiction;
    /// A reservation below a real-time vCPU that has none.
    NoBound = "no-bound", Warning;
    /// Real-time vCPUs that may be made, but have no time left.
    NoShare = "no-share", Warning;
    /// Two real-time vCPUs of one priority on one hart.
    SharedPriority = "shared-priority", Warning;
    /// A hart without work.
    IdleHart = "idle-hart", Warning;
    /// Harts for user level only without vCPUs that migrate.
    UserOnly = "user-only", Contradiction;
    /// Migration that never happens, or serves nobody.
    NoMigration = "no-migration", Warning;
    /// A file that is named but cannot be read.
    MissingFile = "missing-file", Contradiction;
    /// A guest image that no VM could run.
    BadImage = "bad-image", Contradiction;
    /// A guest image, initrd or devicetree that does not fit the VM's memory.
    ImageFit = "image-fit", Contradiction;
    /// An address that is no multiple of what it must be one of.
    Unaligned = "unaligned", Contradiction;
    /// Memory outside what the platform has.
    OutsideMemory = "outside-memory", Contradiction;
    /// Physical memory given twice.
    MemoryOverlap = "memory-overlap", Contradiction;
    /// Memory that fits nowhere.
    NoRoom = "no-room", Contradiction;
    /// Addresses at which the platform has no device.
    NoSuchDevice = "no-such-device", Contradiction;
    /// A device that the hypervisor or the firmware keeps.
    KeptDevice = "kept-device", Contradiction;
    /// A device that could reach all memory.
    BusMaster = "bus-master", Contradiction;
    /// A device's page given twice.
    DeviceTwice = "device-twice", Contradiction;
    /// Guest-physical addresses used twice in a VM.
    GuestOverlap = "guest-overlap", Contradiction;
    /// An interrupt source that cannot be passed through with this device.
    BadInterrupt = "bad-interrupt", Contradiction;
    /// An interrupt source given twice.
    InterruptTwice = "interrupt-twice", Contradiction;
    /// Channels larger than the addresses kept for them.
    ChannelSpace = "channel-space", Contradiction;
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
            Weight::Contradiction | Weight::Environment => Severity::Error,
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
