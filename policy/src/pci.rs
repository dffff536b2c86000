//! What a VM sees and changes of the configuration space of a PCI function that it has (PCI Local Bus Specification
//! 3.0, chapter 6; PCI Express Base Specification 5.0, section 7.5).
//!
//! The space that the VM reads is made once, of what the function has after reset: a header of type 0, and of its
//! capabilities those that are the vendor's own. All others are left out of the list, and their registers read as zero:
//! messages as interrupts, power states, the resets of PCI Express. Of a write no more reaches the function than three
//! bits of `Command`. Base address registers are where the hypervisor has placed them; the VM learns their sizes, and
//! cannot change them.

use core::ops::Range;

/// Doublewords of the space: that of a function without extended capabilities.
pub const WORDS: usize = 64;
/// Base address registers of a header of type 0.
pub const BARS: usize = 6;

/// Doublewords of the header.
const COMMAND: usize = 1;
const HEADER_TYPE: usize = 3;
const FIRST_BAR: usize = 4;
const ROM: usize = 12;
const CAPABILITIES: usize = 13;
const INTERRUPT: usize = 15;
/// Doublewords of the header in all: capabilities are behind it.
const HEADER: usize = 16;

/// Bits of `Command` that the VM may change: memory space, bus master, interrupt disable.
pub const COMMAND_BITS: u16 = 1 << 1 | 1 << 2 | 1 << 10;
/// Bits of `Status`, in the doublewords of `Command`: interrupt status, capabilities list.
const INTERRUPT_STATUS: u32 = 1 << 19;
const CAPABILITIES_LIST: u32 = 1 << 20;
/// Numbers of capabilities.
const VENDOR_SPECIFIC: u8 = 0x09;
const EXPRESS: u8 = 0x10;
/// Bits of a base address register: I/O; the kind of memory; of 64 bits.
const BAR_IO: u32 = 1;
const BAR_KIND: u32 = 6;
const BAR_WIDE: u32 = 4;
const BAR_FLAGS: u32 = 0xf;

/// Why a function is given to no VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// There is none in the slot.
    Absent,
    /// It is a bridge, or one of several functions of its device, which may reach each other past the IOMMU.
    Header,
    /// Its interrupt is not INTA, whose line the configuration has.
    Pin,
    /// The list of its capabilities leads nowhere.
    Capabilities,
    /// Its registers need more addresses than there are for it.
    Room,
}

/// A write's effect on the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// None.
    None,
    /// `Command` gets this value.
    Command(u16),
    /// The base address register of this number reads as its size from now on, or as its address.
    Size(usize, bool),
}

/// The space of a function as its VM sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    words: [u32; WORDS],
    /// Base address registers after a write of ones: what their sizes are read from.
    sizes: [u32; BARS],
    /// Offset of the capability PCI Express of the function; 0: it has none.
    express: u8,
}

impl Space {
    /// That of no function.
    pub const NONE: Self = Self {
        words: [0; WORDS],
        sizes: [0; BARS],
        express: 0,
    };

    /// That of a function with these registers, whose base address registers read so after a write of ones. The
    /// function's registers are placed in `window`, a part of the 32-bit address space.
    pub fn new(raw: &[u32; WORDS], ones: &[u32; BARS], window: Range<u32>) -> Result<Self, Unfit> {
        if matches!(raw[0] as u16, 0 | u16::MAX) {
            return Err(Unfit::Absent);
        }
        // Bits 22:16 are the layout, bit 23 says that there are further functions.
        if raw[HEADER_TYPE] >> 16 & 0xff != 0 {
            return Err(Unfit::Header);
        }
        let pin = raw[INTERRUPT] >> 8 & 0xff;
        if pin > 1 {
            return Err(Unfit::Pin);
        }
        let mut own = Self {
            words: *raw,
            sizes: [0; BARS],
            express: 0,
        };
        own.words[COMMAND] = 0;
        // Neither the latency timer nor a built-in self test.
        own.words[HEADER_TYPE] = 0;
        // The CardBus pointer, and the ROM.
        own.words[10] = 0;
        own.words[ROM] = 0;
        own.words[CAPABILITIES] = 0;
        own.words[CAPABILITIES + 1] = 0;
        own.words[INTERRUPT] = pin << 8;
        own.place(ones, window)?;
        own.filter(raw)?;
        Ok(own)
    }

    /// Places the registers of memory, one after the other.
    fn place(&mut self, ones: &[u32; BARS], window: Range<u32>) -> Result<(), Unfit> {
        let mut next = window.start;
        let mut number = 0;
        while number < BARS {
            let low = ones[number];
            let wide = low & (BAR_IO | BAR_KIND) == BAR_WIDE && number + 1 < BARS;
            let registers = 1 + usize::from(wide);
            self.words[FIRST_BAR + number..][..registers].fill(0);
            let mask = low & !BAR_FLAGS;
            // Registers in I/O space are left out: no address leads there.
            if low & BAR_IO == 0 && (mask != 0 || wide && ones[number + 1] != 0) {
                let size = mask & mask.wrapping_neg();
                // What is larger than the space of 32 bits does not fit, either.
                if size == 0 || wide && ones[number + 1] != u32::MAX {
                    return Err(Unfit::Room);
                }
                let at = next.checked_next_multiple_of(size).ok_or(Unfit::Room)?;
                next = at.checked_add(size).ok_or(Unfit::Room)?;
                if next > window.end {
                    return Err(Unfit::Room);
                }
                self.words[FIRST_BAR + number] = at | low & BAR_FLAGS;
                self.sizes[number] = low;
                if wide {
                    self.sizes[number + 1] = u32::MAX;
                }
            }
            number += registers;
        }
        Ok(())
    }

    /// Leaves the vendor's own capabilities, and nothing else behind the header.
    fn filter(&mut self, raw: &[u32; WORDS]) -> Result<(), Unfit> {
        let byte = |offset: usize| (raw[offset / 4] >> (8 * (offset % 4))) as u8;
        self.words[HEADER..].fill(0);
        if raw[COMMAND] & CAPABILITIES_LIST == 0 {
            return Ok(());
        }
        // Where the pointer to the next one is: its doubleword, and its lowest bit there.
        let mut pointer = (CAPABILITIES, 0);
        let mut next = byte(4 * CAPABILITIES);
        // More would overlap.
        for _ in HEADER..WORDS {
            // The two lowest bits are reserved.
            let at = usize::from(next & !3);
            if at == 0 {
                return Ok(());
            }
            if at < 4 * HEADER {
                return Err(Unfit::Capabilities);
            }
            let (id, length) = (byte(at), usize::from(byte(at + 2)));
            match id {
                VENDOR_SPECIFIC => {
                    // Its third byte is its length.
                    let words = at / 4..((at + length.max(4)).div_ceil(4)).min(WORDS);
                    self.words[words.clone()].copy_from_slice(&raw[words]);
                    self.words[at / 4] &= !0xff00;
                    self.words[pointer.0] |= (at as u32) << pointer.1;
                    self.words[COMMAND] = CAPABILITIES_LIST;
                    pointer = (at / 4, 8);
                }
                EXPRESS => self.express = at as u8,
                _ => {}
            }
            next = byte(at + 1);
        }
        Err(Unfit::Capabilities)
    }

    /// The base address register of this number; 0: it has none, or it is the upper half of the one before.
    pub fn bar(&self, number: usize) -> u32 {
        self.words[FIRST_BAR + number]
    }

    /// Where the function's capability PCI Express is.
    pub const fn express(&self) -> Option<u8> {
        match self.express {
            0 => None,
            at => Some(at),
        }
    }

    /// Whether an access of `size` bytes at `offset` is one: of 1, 2 or 4 bytes, aligned.
    const fn is_access(offset: u32, size: u8) -> bool {
        matches!(size, 1 | 2 | 4) && offset.is_multiple_of(size as u32)
    }

    /// Reads `size` bytes at `offset`. `sizing`: the base address registers, as bits, that read as their sizes. `live`
    /// gives the function's own `Command` and `Status`. `None`: there is no such access.
    pub fn read(
        &self,
        offset: u32,
        size: u8,
        sizing: u8,
        live: impl FnOnce() -> u32,
    ) -> Option<u32> {
        if !Self::is_access(offset, size) {
            return None;
        }
        let index = offset as usize / 4;
        let word = match (self.words.get(index), index.wrapping_sub(FIRST_BAR)) {
            // There are no extended capabilities.
            (None, _) => u32::MAX,
            (Some(word), _) if index == COMMAND => {
                let live = live();
                *word | live & (u32::from(COMMAND_BITS) | INTERRUPT_STATUS)
            }
            (Some(_), bar) if bar < BARS && sizing >> bar & 1 != 0 => self.sizes[bar],
            (Some(word), _) => *word,
        };
        Some((word >> (8 * (offset % 4))) & (u32::MAX >> (32 - 8 * u32::from(size))))
    }

    /// Writes `size` bytes at `offset`. `live` gives the function's own `Command`. `None`: there is no such access.
    pub fn write(
        &self,
        offset: u32,
        size: u8,
        value: u32,
        live: impl FnOnce() -> u16,
    ) -> Option<Effect> {
        if !Self::is_access(offset, size) {
            return None;
        }
        let (index, byte) = (offset as usize / 4, offset % 4);
        let bar = index.wrapping_sub(FIRST_BAR);
        Some(if index == COMMAND && byte < 2 {
            let written = u16::MAX >> (16 - 8 * size.min(2)) << (8 * byte);
            let value = (value as u16) << (8 * byte);
            Effect::Command((live() & !written | value & written) & COMMAND_BITS)
        } else if bar < BARS && size == 4 {
            Effect::Size(bar, value | BAR_FLAGS == u32::MAX)
        } else {
            Effect::None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Range<u32> = 0x4020_0000..0x4040_0000;

    /// QEMU's virtio-blk-pci, as far as it matters: MSI-X, five of the vendor's, and PCI Express.
    fn disk() -> ([u32; WORDS], [u32; BARS]) {
        let mut raw = [0; WORDS];
        raw[0] = 0x1042_1af4;
        raw[1] = CAPABILITIES_LIST;
        raw[2] = 0x0100_0001;
        raw[CAPABILITIES] = 0x98;
        raw[INTERRUPT] = 0x100;
        raw[0x98 / 4] = 0x0003_8411;
        raw[0x84 / 4] = 0x0114_7009;
        raw[0x88 / 4] = 0x1234_5678;
        raw[0x70 / 4] = 0x0210_4009;
        raw[0x40 / 4] = 0x0092_0010;
        (raw, [0, 0xffff_f000, 0, 0, 0xffff_c00c, u32::MAX])
    }

    fn space() -> Space {
        let (raw, ones) = disk();
        Space::new(&raw, &ones, WINDOW).expect("it can be given to a VM")
    }

    #[test]
    fn only_the_vendors_capabilities_are_there() {
        let space = space();
        let read = |offset| space.read(offset, 1, 0, || 0).expect("an access");
        assert_eq!(read(0x34), 0x84);
        assert_eq!([read(0x84), read(0x85)], [0x09, 0x70]);
        assert_eq!([read(0x70), read(0x71)], [0x09, 0]);
        assert_eq!([read(0x98), read(0x40)], [0, 0]);
        assert_eq!(space.read(0x88, 4, 0, || 0), Some(0x1234_5678));
        assert_eq!(space.express(), Some(0x40));
    }

    #[test]
    fn registers_are_placed_and_tell_their_sizes() {
        let space = space();
        assert_eq!(space.bar(1), 0x4020_0000);
        assert_eq!(space.bar(4), 0x4020_400c);
        assert_eq!(space.read(0x20, 4, 0, || 0), Some(0x4020_400c));
        let sizing = |value| space.write(0x20, 4, value, || 0);
        assert_eq!(sizing(u32::MAX), Some(Effect::Size(4, true)));
        assert_eq!(sizing(0x5000_0000), Some(Effect::Size(4, false)));
        assert_eq!(space.read(0x20, 4, 1 << 4, || 0), Some(0xffff_c00c));
        assert_eq!(space.read(0x24, 4, 1 << 5, || 0), Some(u32::MAX));
    }

    #[test]
    fn three_bits_of_command_are_the_vms() {
        let space = space();
        let write = |offset, size, value| space.write(offset, size, value, || 0x0002);
        assert_eq!(write(4, 4, u32::MAX), Some(Effect::Command(COMMAND_BITS)));
        assert_eq!(write(4, 2, 0), Some(Effect::Command(0)));
        assert_eq!(write(5, 1, 4), Some(Effect::Command(0x0402)));
        assert_eq!(write(6, 2, 0xffff), Some(Effect::None));
        assert_eq!(write(0x48, 4, 0x8000), Some(Effect::None));
        assert_eq!(write(5, 2, 0), None);
        let read = space.read(4, 4, 0, || u32::MAX);
        assert_eq!(read, Some(0x0018_0406));
    }

    #[test]
    fn what_is_not_isolated_is_refused() {
        let (raw, ones) = disk();
        let unfit = |change: &dyn Fn(&mut [u32; WORDS])| {
            let mut raw = raw;
            change(&mut raw);
            Space::new(&raw, &ones, WINDOW).err()
        };
        assert_eq!(unfit(&|raw| raw[0] = u32::MAX), Some(Unfit::Absent));
        assert_eq!(unfit(&|raw| raw[3] = 0x80_0000), Some(Unfit::Header));
        assert_eq!(unfit(&|raw| raw[3] = 0x01_0000), Some(Unfit::Header));
        assert_eq!(unfit(&|raw| raw[INTERRUPT] = 0x200), Some(Unfit::Pin));
        let round = unfit(&|raw| raw[0x40 / 4] = 0x0092_9810);
        assert_eq!(round, Some(Unfit::Capabilities));
        let small = Space::new(&raw, &ones, 0x4020_0000..0x4020_4000);
        assert_eq!(small, Err(Unfit::Room));
    }
}
