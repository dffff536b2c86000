//! Ports to the I/O hypervisor (`docs/src/reference/io-hypervisor.md`), which shares the devices behind it between VMs: an area of a flash, a window of a
//! display, Ethernet, a UART.
//!
//! A port carries out one request after the other. What waits for its answer is written in one call ([`IoPort::read_flash`]); for several requests under way there are
//! [`IoPort::ask`] and [`IoPort::answer`].

use core::cell::Cell;
use core::sync::atomic::{Ordering, fence};

use tactus_registers::Memory;
use tactus_registers::io_port::IoPort as Registers;

use crate::devicetree::{self, Page};
use crate::{csr, trap};

/// The most bytes that one request moves.
pub const LENGTH_MAX: usize = 1536;
/// In the address of a write of the flash: more is to follow.
const FLASH_MORE: u32 = 1 << 31;
/// The shortest and the longest frame, without check sequence.
pub const FRAME: core::ops::RangeInclusive<usize> = 14..=1514;

/// A device behind the I/O hypervisor, by its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Device {
    /// The UART.
    Uart = 1,
    /// The SPI NOR flash.
    Flash = 2,
    /// The display.
    Vga = 3,
    /// Ethernet.
    Ethernet = 4,
}

/// What is asked of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// Data come from it.
    Read = 0,
    /// Data go to it.
    Write = 1,
    /// What is its own.
    Control = 2,
}

/// Where a request's data are, or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the port's buffers, so many bytes behind their beginning: a multiple of 4.
    Buffer(u32),
    /// In the VM's memory, so many bytes behind its beginning: a multiple of 64.
    Memory(u32),
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Of which device.
    pub device: Device,
    /// What.
    pub op: Op,
    /// Where at the device; what it means is the device's.
    pub address: u32,
    /// Its data.
    pub place: Place,
    /// Bytes, at most [`LENGTH_MAX`].
    pub length: usize,
    /// 0 to 3: comes back with the answer.
    pub tag: u8,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The request's.
    pub tag: u8,
    /// How many bytes came back.
    pub outcome: Result<usize, Failure>,
}

/// Why a request was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The request makes no sense.
    Malformed,
    /// There is no such device.
    NoDevice,
    /// The port may not use it.
    Denied,
    /// The device does no such thing.
    BadOp,
    /// The device has no such address, or ends too early.
    BadAddress,
    /// Not with such a length.
    BadLength,
    /// This part of the device may not be changed.
    Protected,
    /// The device answered with an error, or not in time.
    DeviceFailed,
    /// Memory did, or the data are not in the VM's memory.
    MemoryFailed,
    /// A status that this driver does not know.
    Unknown(u8),
}

impl Failure {
    const fn of(status: u8) -> Self {
        match status {
            1 => Self::Malformed,
            2 => Self::NoDevice,
            3 => Self::Denied,
            4 => Self::BadOp,
            5 => Self::BadAddress,
            6 => Self::BadLength,
            7 => Self::Protected,
            8 => Self::DeviceFailed,
            9 => Self::MemoryFailed,
            other => Self::Unknown(other),
        }
    }
}

/// A port.
pub struct IoPort {
    registers: Registers<'static>,
    page: Page,
    /// Whether answers interrupt.
    interrupts: Cell<bool>,
}

impl IoPort {
    /// The VM's port of that number, counted from 0; `None`: it has none. What was asked of it before is ended; and the I/O manager is waited for,
    /// which says what the port may do.
    pub fn find(number: usize) -> Option<Self> {
        let page = devicetree::page("tactus,io-port", number)?;
        let port = Self {
            // SAFETY: the devicetree is the system's own description of what it gives the VM.
            registers: unsafe { Registers::from_ptr(page.registers as *mut ()) },
            page,
            interrupts: Cell::new(false),
        };
        if port.registers.id().read().kind() != 0x4950 {
            return None;
        }
        port.registers.reset().write(|r| r.set_now(true));
        // The request under way, of which the data may be in the buffer, goes on to its end.
        while port.room() < 4 {
            core::hint::spin_loop();
        }
        let all = [Device::Uart, Device::Flash, Device::Vga, Device::Ethernet];
        let device = all.into_iter().find(|device| port.may_use(*device))?;
        // No device reads nothing: it refuses that, whoever asks, but not as one that may not be used.
        let nothing = Request {
            device,
            op: Op::Read,
            address: 0,
            place: Place::Buffer(0),
            length: 0,
            tag: 0,
        };
        while port.call(&nothing) == Err(Failure::Denied) {
            core::hint::spin_loop();
        }
        Some(port)
    }

    /// Whether the port may use a device.
    pub fn may_use(&self, device: Device) -> bool {
        let devices = self.page.cells("tactus,devices");
        devices.is_some_and(|[devices]| devices >> device as u8 & 1 != 0)
    }

    /// Bytes of the port's area of the flash; 0: it has none.
    pub fn flash_size(&self) -> u32 {
        self.page
            .cells("tactus,flash-size")
            .map_or(0, |[size]| size)
    }

    /// Whether the port may write to the flash and erase.
    pub fn flash_writable(&self) -> bool {
        self.page.has("tactus,flash-writable")
    }

    /// Width and height of the port's window of the display, in pixels; `None`: it has none.
    pub fn window(&self) -> Option<[u32; 2]> {
        self.page.cells("tactus,window")
    }

    /// The port's Ethernet address; `None`: it has none.
    pub fn station(&self) -> Option<[u8; 6]> {
        self.page.bytes("local-mac-address")
    }

    /// PLIC source of the interrupt that an answer raises, when [`IoPort::set_interrupt`] says so.
    pub const fn source(&self) -> Option<u32> {
        self.page.source
    }

    /// Whether an answer interrupts: whoever waits gives the hart away meanwhile. The handler calls [`silence`].
    pub fn set_interrupt(&self, enabled: bool) {
        self.interrupts.set(enabled);
        self.registers
            .irq_enable()
            .write(|r| r.set_response(enabled));
    }

    /// How many answers wait.
    pub fn waiting(&self) -> u8 {
        self.registers.status().read().waiting()
    }

    /// How many requests there is room for: four at most, one under way included.
    pub fn room(&self) -> u8 {
        self.registers.status().read().room()
    }

    /// Asks for something; `false`: there is no room for it.
    pub fn ask(&self, request: &Request) -> bool {
        if self.room() == 0 {
            return false;
        }
        let (memory, place) = match request.place {
            Place::Buffer(place) => (false, place),
            Place::Memory(place) => (true, place),
        };
        let registers = &self.registers;
        registers.address().write(|r| r.set_value(request.address));
        registers.data().write(|r| r.set_place(place));
        // What is to be sent is in memory before the port looks for it.
        fence(Ordering::SeqCst);
        registers.request().write(|r| {
            r.set_device(request.device as u8);
            r.set_op(request.op as u8);
            r.set_memory(memory);
            r.set_tag(request.tag);
            r.set_length(request.length as u16);
        });
        true
    }

    /// The oldest answer that waits.
    pub fn answer(&self) -> Option<Answer> {
        let response = self.registers.response().read();
        if !response.valid() {
            return None;
        }
        // What came is there before it is looked at.
        fence(Ordering::SeqCst);
        Some(Answer {
            tag: response.tag(),
            outcome: match response.status() {
                0 => Ok(response.length().into()),
                status => Err(Failure::of(status)),
            },
        })
    }

    /// Asks, and waits for the answer, when nothing else is under way: the bytes that came back.
    ///
    /// # Errors
    ///
    /// It was not done.
    pub fn call(&self, request: &Request) -> Result<usize, Failure> {
        while !self.ask(request) {
            core::hint::spin_loop();
        }
        loop {
            if let Some(answer) = self.answer() {
                return answer.outcome;
            }
            self.pause();
        }
    }

    fn pause(&self) {
        // Without an interrupt nothing would end the wait.
        if !self.interrupts.get() || csr::read::<{ csr::SIE }>() == 0 {
            core::hint::spin_loop();
            return;
        }
        trap::without_interrupts(|| {
            self.registers.irq_enable().write(|r| r.set_response(true));
            if self.registers.status().read().waiting() == 0 {
                trap::wait_for_interrupt();
            }
        });
    }

    /// Puts data at the beginning of the buffer that goes to devices.
    fn put(&self, data: &[u8]) {
        for (index, bytes) in data.chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            let mut place = self.registers.buffer().index(index);
            place.write(u32::from_le_bytes(word));
        }
    }

    /// Takes data from the beginning of the buffer that comes from devices.
    fn take(&self, to: &mut [u8]) {
        for (index, bytes) in to.chunks_mut(4).enumerate() {
            let word = self.registers.buffer().index(index).read().to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
    }

    fn read(&self, device: Device, address: u32, to: &mut [u8]) -> Result<usize, Failure> {
        let came = self.call(&Request {
            device,
            op: Op::Read,
            address,
            place: Place::Buffer(0),
            length: to.len(),
            tag: 0,
        })?;
        self.take(&mut to[..came]);
        Ok(came)
    }

    fn write(&self, device: Device, op: Op, address: u32, data: &[u8]) -> Result<(), Failure> {
        if data.len() > LENGTH_MAX {
            return Err(Failure::BadLength);
        }
        self.put(data);
        let request = Request {
            device,
            op,
            address,
            place: Place::Buffer(0),
            length: data.len(),
            tag: 0,
        };
        self.call(&request).map(drop)
    }

    /// Reads from the port's area of the flash.
    ///
    /// # Errors
    ///
    /// Not all is in the area; the flash does not answer.
    pub fn read_flash(&self, address: u32, to: &mut [u8]) -> Result<(), Failure> {
        for (part, at) in to
            .chunks_mut(LENGTH_MAX)
            .zip((address..).step_by(LENGTH_MAX))
        {
            self.read(Device::Flash, at, part)?;
        }
        Ok(())
    }

    /// Programs the flash: bits go from 1 to 0 only. 0.4 ms for each 256 bytes.
    ///
    /// # Errors
    ///
    /// Not all is in the area, or it may not be changed; the flash does not answer. Part of it may have been written.
    pub fn write_flash(&self, address: u32, data: &[u8]) -> Result<(), Failure> {
        for (part, at) in data.chunks(LENGTH_MAX).zip((address..).step_by(LENGTH_MAX)) {
            self.write(Device::Flash, Op::Write, at, part)?;
        }
        Ok(())
    }

    /// Programs the flash with what more is to follow behind: what does not fill a page of 256 bytes is kept, and programmed with what follows, or before
    /// whatever else the port asks of the flash. When [`IoPort::write_flash`] has gone well, all is in the flash.
    ///
    /// # Errors
    ///
    /// As [`IoPort::write_flash`]. What was kept is lost where the flash does not answer.
    pub fn append_flash(&self, address: u32, data: &[u8]) -> Result<(), Failure> {
        if address & FLASH_MORE != 0 {
            return Err(Failure::BadAddress);
        }
        self.write_flash(address | FLASH_MORE, data)
    }

    /// Erases the sector of 4 KiB that begins there: all bits are 1 then. 45 ms, in which nobody has the flash.
    ///
    /// # Errors
    ///
    /// As [`IoPort::write_flash`].
    pub fn erase_flash(&self, address: u32) -> Result<(), Failure> {
        self.write(Device::Flash, Op::Control, address, &[])
    }

    /// Draws pixels from a place of the port's window to the right. What lies outside of the window is not drawn.
    ///
    /// # Errors
    ///
    /// More than [`LENGTH_MAX`] pixels, or none.
    pub fn draw(&self, [x, y]: [u16; 2], colours: &[u8]) -> Result<(), Failure> {
        self.write(Device::Vga, Op::Write, corner([x, y]), colours)
    }

    /// Fills a rectangle of the port's window.
    ///
    /// # Errors
    ///
    /// The port has no window.
    pub fn fill(&self, at: [u16; 2], size: [u16; 2], colour: u8) -> Result<(), Failure> {
        let [[a, b], [c, d]] = size.map(u16::to_le_bytes);
        let operands = [a, b, c, d, colour];
        self.write(Device::Vga, Op::Control, corner(at), &operands)
    }

    /// Sends a frame, without preamble and check sequence; its source address becomes the port's.
    ///
    /// # Errors
    ///
    /// Its length is not one of [`FRAME`].
    pub fn send(&self, frame: &[u8]) -> Result<(), Failure> {
        self.write(Device::Ethernet, Op::Write, 0, frame)
    }

    /// The frame that has come, or as much of it as there is room for: its bytes; 0: none has.
    ///
    /// # Errors
    ///
    /// The port has no address.
    pub fn receive(&self, to: &mut [u8]) -> Result<usize, Failure> {
        let length = to.len().min(*FRAME.end());
        self.read(Device::Ethernet, 0, &mut to[..length])
    }

    /// Sends text by the UART.
    ///
    /// # Errors
    ///
    /// The port may not use it.
    pub fn write_text(&self, text: &[u8]) -> Result<(), Failure> {
        let mut parts = text.chunks(LENGTH_MAX);
        parts.try_for_each(|part| self.write(Device::Uart, Op::Write, 0, part))
    }

    /// What has come to the UART: so many bytes; 0: nothing.
    ///
    /// # Errors
    ///
    /// The port is not the one that reads.
    pub fn read_text(&self, to: &mut [u8]) -> Result<usize, Failure> {
        let length = to.len().min(LENGTH_MAX);
        self.read(Device::Uart, 0, &mut to[..length])
    }
}

/// For a handler of its source: the answer that waits at the VM's port of that number, which there is, interrupts no more.
pub fn silence(number: usize) {
    if let Some(page) = devicetree::page("tactus,io-port", number) {
        // SAFETY: the devicetree is the system's own description of what it gives the VM.
        let registers = unsafe { Registers::from_ptr(page.registers as *mut ()) };
        registers.irq_enable().write(|r| r.set_response(false));
        // The line is low before the interrupt is completed.
        let _ = registers.irq_enable().read();
    }
}

/// An address of the display.
const fn corner([x, y]: [u16; 2]) -> u32 {
    (y as u32) << 16 | x as u32
}
