//! A virtio PCI function, for tests of what drives one.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::cell::RefCell;

use tactus_virtio::function::{Bus, Function};

/// Where the configuration space and the registers are.
pub const SPACE: u64 = 0x2900_8000;
pub const BASE: u64 = 0x4000_0000;
pub const WINDOW: std::ops::Range<u64> = BASE..BASE + 0x20_0000;
/// Offsets in the registers, as QEMU's functions have them.
pub const COMMON: u32 = 0;
pub const INTERRUPT: u32 = 0x1000;
pub const DEVICE: u32 = 0x2000;
pub const NOTIFY: u32 = 0x3000;

/// A function in memory: its features, and registers of the common structure that answer.
pub struct Model {
    pub space: RefCell<[u8; 256]>,
    pub registers: RefCell<[u8; 0x4000]>,
    pub features: u64,
    /// It never ends its reset; it agrees on no features.
    pub stuck: bool,
    pub stubborn: bool,
    /// Entries of its queues, at most, and the number that it announces requests by.
    pub entries: u16,
    pub notify: u16,
}

impl Model {
    pub fn new() -> Self {
        let mut space = [0; 256];
        space[..4].copy_from_slice(&[0xf4, 0x1a, 0x42, 0x10]);
        // A memory register of 64 bits, BAR 4.
        space[0x20..0x24].copy_from_slice(&(BASE as u32 | 0xc).to_le_bytes());
        space[0x34] = 0x40;
        for (at, kind, offset, length, next) in [
            (0x40, 5, 0, 0, 0x50),
            (0x50, 2, NOTIFY, 0x1000, 0x64),
            (0x64, 4, DEVICE, 0x1000, 0x74),
            (0x74, 3, INTERRUPT, 0x1000, 0x84),
            (0x84, 1, COMMON, 0x1000, 0),
        ] {
            let own = &mut space[at..];
            own[..5].copy_from_slice(&[9, next, 16, kind, 4]);
            own[8..12].copy_from_slice(&offset.to_le_bytes());
            own[12..16].copy_from_slice(&u32::to_le_bytes(length));
        }
        space[0x60..0x64].copy_from_slice(&4_u32.to_le_bytes());
        Self {
            space: RefCell::new(space),
            registers: RefCell::new([0; 0x4000]),
            features: 1 << 32 | 1 << 33 | 1 << 9 | 1 << 5,
            stuck: false,
            stubborn: false,
            entries: 256,
            notify: 3,
        }
    }

    pub fn word(&self, at: usize) -> u32 {
        let registers = self.registers.borrow();
        u32::from_le_bytes(registers[at..at + 4].try_into().expect("four"))
    }

    fn read(&self, address: u64, size: usize) -> u32 {
        let mut bytes = [0; 4];
        if let Some(at) = address.checked_sub(SPACE).filter(|at| *at < 256) {
            let space = self.space.borrow();
            bytes[..size].copy_from_slice(&space[at as usize..at as usize + size]);
            return u32::from_le_bytes(bytes);
        }
        assert!(WINDOW.contains(&address), "{address:#x}");
        match (address - BASE) as usize {
            4 => (self.features >> (32 * self.word(0))) as u32,
            20 if self.stuck => 1,
            24 => self.entries.into(),
            30 => self.notify.into(),
            at => {
                // Behind its structures there is nothing.
                let registers = self.registers.borrow();
                let found = registers.get(at..at + size).unwrap_or(&[0; 4][..size]);
                bytes[..size].copy_from_slice(found);
                u32::from_le_bytes(bytes)
            }
        }
    }

    fn write(&self, address: u64, value: u32, size: usize) {
        let mut bytes = value.to_le_bytes();
        if (SPACE..SPACE + 256).contains(&address) {
            assert_eq!((address - SPACE, value, size), (4, 6, 2));
            return;
        }
        assert!(WINDOW.contains(&address), "{address:#x}");
        let at = (address - BASE) as usize;
        if at == 20 && self.stubborn {
            bytes[0] &= !8;
        }
        self.registers.borrow_mut()[at..at + size].copy_from_slice(&bytes[..size]);
    }
}

impl Bus for &Model {
    fn read_byte(&self, address: u64) -> u8 {
        self.read(address, 1) as u8
    }

    fn read_half(&self, address: u64) -> u16 {
        assert!(address.is_multiple_of(2));
        self.read(address, 2) as u16
    }

    fn read_word(&self, address: u64) -> u32 {
        assert!(address.is_multiple_of(4));
        self.read(address, 4)
    }

    fn write_byte(&self, address: u64, value: u8) {
        self.write(address, value.into(), 1);
    }

    fn write_half(&self, address: u64, value: u16) {
        assert!(address.is_multiple_of(2));
        self.write(address, value.into(), 2);
    }

    fn write_word(&self, address: u64, value: u32) {
        assert!(address.is_multiple_of(4));
        self.write(address, value, 4);
    }
}

/// A function whose configuration space has these bytes at these places, pairs of a place and a byte. No access is
/// outside of the space and the window, and none is unaligned: the model panics otherwise.
pub fn garbled(bytes: &[u8]) {
    let model = Model::new();
    for [at, byte] in bytes.as_chunks::<2>().0 {
        model.space.borrow_mut()[usize::from(*at)] = *byte;
    }
    if let Ok(function) = Function::find(&model, SPACE, WINDOW) {
        function.take_reasons();
        function.configuration(0);
    }
}
