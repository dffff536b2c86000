//! Addrmap: Timed I/O

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod cancel;
pub mod id;
pub mod now;
pub mod period;
pub mod program;
pub mod report;
pub mod report_time;
pub mod run;
pub mod runs;
pub mod sample;
pub mod start;
pub mod status;

/// Timed I/O
///
/// The page of one VM: its engine, its schedule, its samples and reports. All of it is this VM's alone.
#[derive(Eq, PartialEq)]
pub struct TimedIo<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for TimedIo<'_, IO> {}
unsafe impl<IO: Sync> Sync for TimedIo<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for TimedIo<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for TimedIo<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl TimedIo<'static> {
    /// # Safety
    ///
    /// The caller must guarantee that the provided address points to a
    /// hardware register block implementing this interface.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_ptr(ptr: *mut ()) -> Self {
        Self {
            ptr: ptr.cast::<u8>(),
            io: &peakrdl_rust::io::PtrIO,
        }
    }
}

impl<'io, IO> TimedIo<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x500;

    /// # Safety
    ///
    /// The caller must guarantee that the provided address points to a
    /// hardware register block implementing this interface.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_ptr_with(ptr: *mut (), io: &'io IO) -> Self {
        Self {
            ptr: ptr.cast::<u8>(),
            io,
        }
    }

    #[inline(always)]
    #[must_use]
    pub const fn as_ptr(&self) -> *mut () {
        self.ptr.cast::<()>()
    }
}

impl<'io, IO: peakrdl_rust::io::RegisterIO> TimedIo<'io, IO> {
    /// Identification
    ///
    /// Says that this page is here, and which version of its registers.
    #[inline(always)]
    #[must_use]
    pub const fn id(&self) -> peakrdl_rust::reg::Reg<'io, id::Id, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x0).cast(), self.io)
        }
    }

    /// Status
    ///
    /// How the engine is.
    #[inline(always)]
    #[must_use]
    pub const fn status(&self) -> peakrdl_rust::reg::Reg<'io, status::Status, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Now
    ///
    /// Cycles of the fabric's clock since reset, the same for all VMs. The upper word is read as it was when
    /// the lower was.
    #[inline(always)]
    #[must_use]
    pub const fn now(&self) -> peakrdl_rust::reg::Reg<'io, now::Now, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Start
    ///
    /// The cycle at which the first run's first command takes effect. A write while a schedule is there is an
    /// error.
    #[inline(always)]
    #[must_use]
    pub const fn start(&self) -> peakrdl_rust::reg::Reg<'io, start::Start, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }

    /// Period
    ///
    /// Cycles from one run's start to the next one's. A write while a schedule is there is an error.
    #[inline(always)]
    #[must_use]
    pub const fn period(&self) -> peakrdl_rust::reg::Reg<'io, period::Period, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x18).cast(), self.io)
        }
    }

    /// Runs
    ///
    /// How many runs; 0: without end. A write while a schedule is there is an error.
    #[inline(always)]
    #[must_use]
    pub const fn runs(&self) -> peakrdl_rust::reg::Reg<'io, runs::Runs, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x1C).cast(), self.io)
        }
    }

    /// Run
    ///
    /// Writing it makes a schedule of START, PERIOD and RUNS; STATUS has the answer.
    #[inline(always)]
    #[must_use]
    pub const fn run(&self) -> peakrdl_rust::reg::Reg<'io, run::Run, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x20).cast(), self.io)
        }
    }

    /// Cancel
    ///
    /// Writing it ends the schedule: no run begins any more that has not begun.
    #[inline(always)]
    #[must_use]
    pub const fn cancel(&self) -> peakrdl_rust::reg::Reg<'io, cancel::Cancel, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x24).cast(), self.io)
        }
    }

    /// Sample
    ///
    /// The oldest sample, which a read takes away.
    #[inline(always)]
    #[must_use]
    pub const fn sample(&self) -> peakrdl_rust::reg::Reg<'io, sample::Sample, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x28).cast(), self.io)
        }
    }

    /// Report
    ///
    /// The oldest report. Writing a one to `valid` takes it away.
    #[inline(always)]
    #[must_use]
    pub const fn report(&self) -> peakrdl_rust::reg::Reg<'io, report::Report, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x2C).cast(), self.io)
        }
    }

    /// Report's time
    ///
    /// Of the oldest report: the cycle at which what did not happen would have taken effect.
    #[inline(always)]
    #[must_use]
    pub const fn report_time(&self) -> peakrdl_rust::reg::Reg<'io, report_time::ReportTime, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x30).cast(), self.io)
        }
    }

    /// Program
    ///
    /// 64 words, written alone. A word that is no command is refused with an error.
    #[inline(always)]
    #[must_use]
    pub const fn program(&self) -> program::Program<'io, IO> {
        unsafe {
            program::Program::from_ptr_with(self.ptr.wrapping_byte_add(0x400).cast(), self.io)
        }
    }
}
