//! Addrmap: Mesh's counters

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod flits;
pub mod id;
pub mod lost;

/// Mesh's counters
///
/// What has gone over the mesh. The page of the software that measures.
#[derive(Eq, PartialEq)]
pub struct MeshCounters<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for MeshCounters<'_, IO> {}
unsafe impl<IO: Sync> Sync for MeshCounters<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for MeshCounters<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for MeshCounters<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl MeshCounters<'static> {
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

impl<'io, IO> MeshCounters<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x14;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> MeshCounters<'io, IO> {
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

    /// Flits
    ///
    /// How many have come out of the mesh at places since reset. Reading the lower word keeps the upper one of the same
    /// cycle for the next read.
    #[inline(always)]
    #[must_use]
    pub const fn flits(&self) -> peakrdl_rust::reg::Reg<'io, flits::Flits, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Lost
    ///
    /// How many packets of registers have found no room at their places since reset; it stays at its largest value.
    #[inline(always)]
    #[must_use]
    pub const fn lost(&self) -> peakrdl_rust::reg::Reg<'io, lost::Lost, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }
}
