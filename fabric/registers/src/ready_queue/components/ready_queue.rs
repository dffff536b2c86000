//! Addrmap: Ready queue

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod access;
pub mod answer;
pub mod commands;
pub mod control;
pub mod count;
pub mod depth;
pub mod id;
pub mod next;
pub mod peek_highest;
pub mod priority;
pub mod refusal;
pub mod remove;
pub mod status;
pub mod take_highest;

/// Ready queue
///
/// The page by which software reaches the ready queue: commands, which are an access each, and registers.
/// A handle that is read has its priority with it and `valid` set; where there is none, 0 is read.
#[derive(Eq, PartialEq)]
pub struct ReadyQueue<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for ReadyQueue<'_, IO> {}
unsafe impl<IO: Sync> Sync for ReadyQueue<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for ReadyQueue<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for ReadyQueue<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl ReadyQueue<'static> {
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

impl<'io, IO> ReadyQueue<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x834;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> ReadyQueue<'io, IO> {
    /// Take the highest
    ///
    /// Reading takes the first of the highest priority that waits.
    #[inline(always)]
    #[must_use]
    pub const fn take_highest(&self) -> peakrdl_rust::reg::Reg<'io, take_highest::TakeHighest, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x800).cast(), self.io)
        }
    }

    /// Look at the highest
    ///
    /// Reading gives the first of the highest priority that waits, and leaves it.
    #[inline(always)]
    #[must_use]
    pub const fn peek_highest(&self) -> peakrdl_rust::reg::Reg<'io, peek_highest::PeekHighest, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x804).cast(), self.io)
        }
    }

    /// Remove
    ///
    /// Writing removes a handle wherever it is. It has to be written as a whole, or nothing happens and the
    /// write is an error.
    #[inline(always)]
    #[must_use]
    pub const fn remove(&self) -> peakrdl_rust::reg::Reg<'io, remove::Remove, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x808).cast(), self.io)
        }
    }

    /// Next
    ///
    /// Reading gives who comes behind the handle that was looked at last, by PEEK_HIGHEST, a priority's
    /// second word, or NEXT itself; also across priorities. Before anything was looked at: the handle 0.
    #[inline(always)]
    #[must_use]
    pub const fn next(&self) -> peakrdl_rust::reg::Reg<'io, next::Next, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x80C).cast(), self.io)
        }
    }

    /// Identification
    ///
    /// Says that this block is here, and which version of its registers.
    #[inline(always)]
    #[must_use]
    pub const fn id(&self) -> peakrdl_rust::reg::Reg<'io, id::Id, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x810).cast(), self.io)
        }
    }

    /// Depth
    ///
    /// How many handles there are: 0 to one less.
    #[inline(always)]
    #[must_use]
    pub const fn depth(&self) -> peakrdl_rust::reg::Reg<'io, depth::Depth, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x814).cast(), self.io)
        }
    }

    /// Status
    ///
    /// How things are now.
    #[inline(always)]
    #[must_use]
    pub const fn status(&self) -> peakrdl_rust::reg::Reg<'io, status::Status, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x818).cast(), self.io)
        }
    }

    /// Control
    ///
    /// What is done when it is written.
    #[inline(always)]
    #[must_use]
    pub const fn control(&self) -> peakrdl_rust::reg::Reg<'io, control::Control, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x81C).cast(), self.io)
        }
    }

    /// Access
    ///
    /// Where the doubleword in memory is, and what is done with it. Each write of the lowest byte begins
    /// again, also after an error. Written while a read or write of memory is under way, it counts from when that is over.
    #[inline(always)]
    #[must_use]
    pub const fn access(&self) -> peakrdl_rust::reg::Reg<'io, access::Access, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x820).cast(), self.io)
        }
    }

    /// Count
    ///
    /// How many handles are in the queue.
    #[inline(always)]
    #[must_use]
    pub const fn count(&self) -> peakrdl_rust::reg::Reg<'io, count::Count, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x824).cast(), self.io)
        }
    }

    /// Commands
    ///
    /// How many commands were answered since reset, done or refused, by page or from memory; modulo 2^32.
    #[inline(always)]
    #[must_use]
    pub const fn commands(&self) -> peakrdl_rust::reg::Reg<'io, commands::Commands, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x828).cast(), self.io)
        }
    }

    /// Answer
    ///
    /// The answer to the last command, by page or from memory, as memory gets it; before the first, `empty`.
    #[inline(always)]
    #[must_use]
    pub const fn answer(&self) -> peakrdl_rust::reg::Reg<'io, answer::Answer, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x82C).cast(), self.io)
        }
    }

    /// Refusal
    ///
    /// The first write to the page that was refused since this was last forgotten. A write is posted, so that
    /// no hart waits for its answer. Without `valid` the rest means nothing.
    #[inline(always)]
    #[must_use]
    pub const fn refusal(&self) -> peakrdl_rust::reg::Reg<'io, refusal::Refusal, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x830).cast(), self.io)
        }
    }

    /// Commands for a priority
    ///
    /// Two words for each priority, those of priority `p` at `8 * p`. The first: writing inserts the handle in
    /// bits 15 to 0 behind the others of the priority, reading takes its first. The second: writing inserts
    /// before the others, reading looks at the first and leaves it. A handle has to be written as a whole,
    /// or nothing happens and the write is an error.
    #[inline(always)]
    #[must_use]
    pub const fn priority(&self) -> priority::Priority<'io, IO> {
        unsafe {
            priority::Priority::from_ptr_with(self.ptr.wrapping_byte_add(0x0).cast(), self.io)
        }
    }
}
