//! Finds guests that fault inside their own trap handler and so trap to themselves for ever.
//!
//! Such a guest never leaves its own privilege level: it is preempted like any other, but nothing would
//! ever report it. So at the end of each time slice its last exception is looked at. If it is the very
//! one of the slice before, the next slice is *watched*: exceptions are delivered by the hypervisor,
//! which sees whether the guest, exception after exception, changes anything at all.

/// Slices in a row that must end with the same last exception before a slice is watched.
const SUSPECT_SLICES: u8 = 2;
/// Exceptions in a row, equal in every register, that make a livelock.
const SAME_EXCEPTIONS: u16 = 256;

/// A guest's last exception: `vsepc`, `vscause`, `vstval`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exception {
    /// Address of the instruction.
    pub pc: u64,
    /// `scause` code; interrupts have the top bit set.
    pub cause: u64,
    /// `stval`.
    pub value: u64,
}

/// What is known of one vCPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Livelock {
    last: Exception,
    slices: u8,
    watched: bool,
    digest: u64,
    same: u16,
}

impl Livelock {
    /// Nothing known.
    pub const fn new() -> Self {
        Self {
            last: Exception {
                pc: 0,
                cause: 0,
                value: 0,
            },
            slices: 0,
            watched: false,
            digest: 0,
            same: 0,
        }
    }

    /// A whole slice has been used, and `last` is the exception that the guest took last. Returns
    /// whether its next slice is to be watched.
    pub fn slice_ended(&mut self, last: Exception) -> bool {
        let is_interrupt = last.cause >> 63 != 0;
        if is_interrupt || last != self.last {
            self.last = last;
            self.slices = 0;
        } else {
            self.slices = self.slices.saturating_add(1);
        }
        self.watched = self.slices >= SUSPECT_SLICES;
        self.same = 0;
        self.watched
    }

    /// In a watched slice, the guest takes an exception at its supervisor level with all its registers,
    /// program counter and cause summed up in `digest`. Returns whether it is in a livelock.
    pub fn exception(&mut self, digest: u64) -> bool {
        if digest == self.digest {
            self.same += 1;
        } else {
            self.digest = digest;
            self.same = 0;
        }
        self.same >= SAME_EXCEPTIONS
    }

    /// Whether the present slice is watched.
    pub const fn watched(&self) -> bool {
        self.watched
    }
}
