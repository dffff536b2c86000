//! Ports to the I/O hypervisor (`docs/src/reference/io-hypervisor.md`), which shares devices between VMs: an area of a
//! flash, a window of a display, Ethernet, a UART.
//!
//! A port executes requests in order. Functions such as [`IoPort::read_flash`] wait for the answer; [`IoPort::submit`]
//! and [`IoPort::next_answer`] allow several requests in progress.

use core::cell::Cell;
use core::sync::atomic::{Ordering, fence};

use tactus_registers::Memory;
use tactus_registers::io_port::IoPort as Registers;

use crate::devicetree::{self, Page};
use crate::{csr, trap};

/// Most bytes of one request.
pub const LENGTH_MAX: usize = 1536;
/// Bit of the address of a flash write: the next write continues it, so that a partial page may be buffered.
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

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// Transfers data from the device.
    Read = 0,
    /// Transfers data to the device.
    Write = 1,
    /// An operation specific to the device.
    Control = 2,
}

/// The location of a request's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataLocation {
    /// In the port's buffers, at this offset: a multiple of 4.
    Buffer(u32),
    /// In the VM's memory, at this offset: a multiple of 64.
    Memory(u32),
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The device.
    pub device: Device,
    /// The operation.
    pub op: Op,
    /// The address at the device, with a meaning specific to the device.
    pub address: u32,
    /// The location of its data.
    pub data: DataLocation,
    /// Length in bytes, at most [`LENGTH_MAX`].
    pub length: usize,
    /// A tag, 0 to 3, returned with the answer.
    pub tag: u8,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The tag of the request.
    pub tag: u8,
    /// Bytes returned.
    pub outcome: Result<usize, Failure>,
}

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The request is malformed.
    Malformed,
    /// The device does not exist.
    NoDevice,
    /// The port has no right to the device.
    Denied,
    /// The device does not support the operation.
    BadOp,
    /// The address is out of range of the device.
    BadAddress,
    /// The length is not valid.
    BadLength,
    /// This part of the device is read-only.
    Protected,
    /// The device answered with an error, or not in time.
    DeviceFailed,
    /// Memory answered with an error, or the data are not in the VM's memory.
    MemoryFailed,
    /// A status unknown to this driver.
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
    /// Whether answers raise the interrupt.
    interrupts: Cell<bool>,
}

impl IoPort {
    /// The VM's port `number`, counted from 0; `None`: the VM has none. Earlier requests are cancelled. Waits for the
    /// I/O manager to set the port's rights.
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
        // The request in progress, whose data may be in the buffer, runs to its end.
        while port.free_requests() < 4 {
            core::hint::spin_loop();
        }
        let all = [Device::Uart, Device::Flash, Device::Vga, Device::Ethernet];
        let device = all.into_iter().find(|device| port.may_use(*device))?;
        // An empty read is always refused, with a different status if the port has no right to the device.
        let nothing = Request {
            device,
            op: Op::Read,
            address: 0,
            data: DataLocation::Buffer(0),
            length: 0,
            tag: 0,
        };
        while port.execute(&nothing) == Err(Failure::Denied) {
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

    /// PLIC source of the interrupt of an answer, which [`IoPort::set_interrupt`] enables.
    pub const fn source(&self) -> Option<u32> {
        self.page.source
    }

    /// Sets whether an answer interrupts: then functions that wait release the hart. The handler calls
    /// [`clear_interrupt`].
    pub fn set_interrupt(&self, enabled: bool) {
        self.interrupts.set(enabled);
        self.registers
            .irq_enable()
            .write(|r| r.set_response(enabled));
    }

    /// Number of answers not yet read.
    pub fn answers_pending(&self) -> u8 {
        self.registers.status().read().waiting()
    }

    /// Number of free request entries: four at most, that of the request in progress included.
    pub fn free_requests(&self) -> u8 {
        self.registers.status().read().room()
    }

    /// Submits a request; `false`: no entry is free.
    pub fn submit(&self, request: &Request) -> bool {
        if self.free_requests() == 0 {
            return false;
        }
        let (memory, place) = match request.data {
            DataLocation::Buffer(place) => (false, place),
            DataLocation::Memory(place) => (true, place),
        };
        let registers = &self.registers;
        registers.address().write(|r| r.set_value(request.address));
        registers.data().write(|r| r.set_place(place));
        // Data to send are in memory before the port reads them.
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

    /// Removes the oldest answer.
    pub fn next_answer(&self) -> Option<Answer> {
        let response = self.registers.response().read();
        if !response.valid() {
            return None;
        }
        // Received data are in memory before they are read.
        fence(Ordering::SeqCst);
        Some(Answer {
            tag: response.tag(),
            outcome: match response.status() {
                0 => Ok(response.length().into()),
                status => Err(Failure::of(status)),
            },
        })
    }

    /// Submits a request and waits for its answer, while no other is in progress; returns the number of bytes returned.
    ///
    /// # Errors
    ///
    /// The request failed.
    pub fn execute(&self, request: &Request) -> Result<usize, Failure> {
        while !self.submit(request) {
            core::hint::spin_loop();
        }
        loop {
            if let Some(answer) = self.next_answer() {
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

    /// Copies data to the start of the buffer to devices.
    fn copy_in(&self, data: &[u8]) {
        for (index, bytes) in data.chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            let mut place = self.registers.buffer().index(index);
            place.write(u32::from_le_bytes(word));
        }
    }

    /// Copies data from the start of the buffer from devices.
    fn copy_out(&self, to: &mut [u8]) {
        for (index, bytes) in to.chunks_mut(4).enumerate() {
            let word = self.registers.buffer().index(index).read().to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
    }

    fn read(&self, device: Device, address: u32, to: &mut [u8]) -> Result<usize, Failure> {
        let came = self.execute(&Request {
            device,
            op: Op::Read,
            address,
            data: DataLocation::Buffer(0),
            length: to.len(),
            tag: 0,
        })?;
        self.copy_out(&mut to[..came]);
        Ok(came)
    }

    fn write(&self, device: Device, op: Op, address: u32, data: &[u8]) -> Result<(), Failure> {
        if data.len() > LENGTH_MAX {
            return Err(Failure::BadLength);
        }
        self.copy_in(data);
        let request = Request {
            device,
            op,
            address,
            data: DataLocation::Buffer(0),
            length: data.len(),
            tag: 0,
        };
        self.execute(&request).map(drop)
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

    /// Programs the flash with data that a later call continues: bytes that do not fill a page of 256 are buffered, and
    /// programmed with that call, or before any other request of the port to the flash. When [`IoPort::write_flash`]
    /// has succeeded, all bytes are in the flash.
    ///
    /// # Errors
    ///
    /// As [`IoPort::write_flash`]. Buffered bytes are lost if the flash does not answer.
    pub fn append_flash(&self, address: u32, data: &[u8]) -> Result<(), Failure> {
        if address & FLASH_MORE != 0 {
            return Err(Failure::BadAddress);
        }
        self.write_flash(address | FLASH_MORE, data)
    }

    /// Erases the sector of 4 KiB at this address: all bits become 1. Takes 45 ms, in which no port can access the
    /// flash.
    ///
    /// # Errors
    ///
    /// As [`IoPort::write_flash`].
    pub fn erase_flash(&self, address: u32) -> Result<(), Failure> {
        self.write(Device::Flash, Op::Control, address, &[])
    }

    /// Draws pixels from a position in the port's window to the right. Pixels outside of the window are dropped.
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

    /// Receives a frame, truncated to the buffer, and returns its length; 0: none.
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

    /// Reads bytes received by the UART and returns their number; 0: none.
    ///
    /// # Errors
    ///
    /// The port has no right to read.
    pub fn read_text(&self, to: &mut [u8]) -> Result<usize, Failure> {
        let length = to.len().min(LENGTH_MAX);
        self.read(Device::Uart, 0, &mut to[..length])
    }
}

/// Clears the interrupt of an answer at the VM's port `number`, which must exist. For the handler of its source.
pub fn clear_interrupt(number: usize) {
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
