//! The network card, for the C side (`include/network_card.h`).

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use fdt::Fdt;
use tactus_guest_freertos::devicetree::Platform;
use tactus_network_card::{Card, FRAME_MAX, MEMORY, Mapped, SendError, Shared};

/// What a card's window is compatible with (virtio 1.2, section 4.2.1).
const COMPATIBLE: &str = "virtio,mmio";
/// Bytes of the channel's memory that are the device's.
const DEVICE_MEMORY: usize = 4096;
const BROKEN: c_int = -1;

struct Slot(UnsafeCell<Option<Card<Mapped>>>);

// SAFETY: the C side makes one call at a time, under lwIP's lock.
unsafe impl Sync for Slot {}

static CARD: Slot = Slot(UnsafeCell::new(None));
static DEVICETREE: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
/// The card's registers and memory, when they are known.
static PLACE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// The card. To be used by one call at a time.
fn card() -> &'static mut Option<Card<Mapped>> {
    // SAFETY: as `Slot`'s.
    unsafe { &mut *CARD.0.get() }
}

unsafe extern "C" {
    /// The package `freertos`'s own description of the machine (`--wrap` of the linker).
    #[link_name = "__real_platform_describe"]
    fn describe(devicetree: *const c_void, platform: *mut Platform) -> *const c_char;
}

/// Called in place of the description, once: the platform does not keep the devicetree, in which the card is.
///
/// # Safety
///
/// As of `platform_describe`.
#[unsafe(export_name = "__wrap_platform_describe")]
unsafe extern "C" fn keep_devicetree(
    devicetree: *const c_void,
    platform: *mut Platform,
) -> *const c_char {
    DEVICETREE.store(devicetree.cast_mut(), Ordering::Relaxed);
    // SAFETY: as this function's.
    unsafe { describe(devicetree, platform) }
}

/// Finds the VM's card; gives the number of its channel, or -1: there is none, or its channel is too small.
#[unsafe(no_mangle)]
extern "C" fn network_card_find() -> c_int {
    find().unwrap_or(BROKEN)
}

fn find() -> Option<c_int> {
    let address = DEVICETREE.load(Ordering::Relaxed);
    if address.is_null() {
        return None;
    }
    // SAFETY: the boot protocol's devicetree, which stays where it is; its magic is checked.
    let tree: Fdt<'static> = unsafe { Fdt::from_ptr(address.cast()) }.ok()?;
    let cell = |bytes: &[u8]| Some(u32::from_be_bytes(bytes.try_into().ok()?));
    let device = tree.find_compatible(&[COMPATIBLE])?;
    let number = cell(device.property("tactus,channel")?.value)?;
    let registers = device.reg()?.next()?.starting_address as usize;
    // At most as many steps as the tree has nodes.
    let channel = tree.all_nodes().find(|node| {
        let index = node.property("tactus,index");
        index.and_then(|index| cell(index.value)) == Some(number)
    })?;
    let memory = channel.reg()?.next()?;
    if memory.size? < DEVICE_MEMORY + MEMORY {
        return None;
    }
    let memory = memory.starting_address as usize + DEVICE_MEMORY;
    PLACE[0].store(registers, Ordering::Relaxed);
    PLACE[1].store(memory, Ordering::Relaxed);
    c_int::try_from(number).ok()
}

/// Starts the card that was found, and gives its address. False: there is none, or not yet.
///
/// # Safety
///
/// `address` is room for 6 bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn network_card_start(address: *mut u8) -> bool {
    let [registers, memory] = [0, 1].map(|at: usize| PLACE[at].load(Ordering::Relaxed));
    if registers == 0 {
        return false;
    }
    // SAFETY: the devicetree is the system's own description of what it gives this VM: the window is there, and reads
    // as zero while the VM behind it is not. The memory is the channel's, which only the card uses; a card before this
    // one is gone.
    let (registers, memory) =
        unsafe { (Mapped::new(registers), Shared::new(memory, memory as u64)) };
    *card() = Card::start(registers, memory).ok();
    let Some(card) = card() else {
        return false;
    };
    // SAFETY: ensured by the caller.
    unsafe { address.cast::<[u8; 6]>().write(card.address()) };
    true
}

/// Acknowledges the card's interrupt. False: it is broken, and to be started again.
#[unsafe(no_mangle)]
extern "C" fn network_card_acknowledge() -> bool {
    card()
        .as_mut()
        .is_some_and(|card| card.acknowledge().is_ok())
}

/// Copies the next frame that has arrived, and gives its length; 0: there is none; -1: the card is broken.
///
/// # Safety
///
/// `frame` is room for a frame of the greatest length.
#[unsafe(no_mangle)]
unsafe extern "C" fn network_card_receive(frame: *mut u8) -> c_int {
    // SAFETY: ensured by the caller.
    let frame = unsafe { &mut *frame.cast::<[u8; FRAME_MAX]>() };
    match card().as_mut().map(|card| card.receive(frame)) {
        Some(Ok(length)) => length.unwrap_or(0) as c_int,
        _ => BROKEN,
    }
}

/// Sends a frame. 0: it was sent; 1: there is no room for it, or for so long a one; -1: the card is broken.
///
/// # Safety
///
/// `frame` points to `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn network_card_send(frame: *const u8, length: usize) -> c_int {
    // SAFETY: ensured by the caller.
    let frame = unsafe { core::slice::from_raw_parts(frame, length) };
    match card().as_mut().map(|card| card.send(frame)) {
        Some(Ok(())) => 0,
        Some(Err(SendError::Full | SendError::TooLong)) => 1,
        _ => BROKEN,
    }
}
