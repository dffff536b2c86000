//! Addrmap: VGA controller

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod colours;
pub mod id;
pub mod pixel;
pub mod row;

/// VGA controller
///
/// Draws into the frame buffer of a display of 320 x 240 pixels, with 3 bits of red, 3 of green and 2 of blue each.
#[derive(Eq, PartialEq)]
pub struct VgaController<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for VgaController<'_, IO> {}
unsafe impl<IO: Sync> Sync for VgaController<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for VgaController<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for VgaController<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl VgaController<'static> {
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

impl<'io, IO> VgaController<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0xC00;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> VgaController<'io, IO> {
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

    /// Pixel
    ///
    /// Writing it draws a pixel. One outside of the display is none.
    #[inline(always)]
    #[must_use]
    pub const fn pixel(&self) -> peakrdl_rust::reg::Reg<'io, pixel::Pixel, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Row
    ///
    /// Where the pixels of COLOURS begin, which go to the right.
    #[inline(always)]
    #[must_use]
    pub const fn row(&self) -> peakrdl_rust::reg::Reg<'io, row::Row, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x7FC).cast(), self.io)
        }
    }

    /// Colours
    ///
    /// Whichever of them is written, its four bytes are the next four pixels of the row, the lowest first.
    #[inline(always)]
    #[must_use]
    pub const fn colours(&self) -> colours::Colours<'io, IO> {
        unsafe {
            colours::Colours::from_ptr_with(self.ptr.wrapping_byte_add(0x800).cast(), self.io)
        }
    }
}
