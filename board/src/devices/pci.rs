//! PCI: a host with bus 0, the functions there, and the IOMMU that their accesses to memory go through.
//!
//! The host has two windows. In the one that is called ECAM every function has 4 KiB of configuration space (PCI
//! Express Base Specification 5.0, section 7.2.2); in the other one functions' registers are where software puts them.
//! Device 0 is the host bridge, as on QEMU's `virt`. Interrupts are INTx: four lines to the interrupt controller.

mod config;
mod iommu;
mod root;

pub(crate) use config::{Bar, Config, Identity};
pub use iommu::{Iommu, SIZE as IOMMU_SIZE, Sizes};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::state;
use super::virtio::{Backend, VirtioFunction};
use crate::bus::{BadState, Device, Port, Refused};
use crate::time::{Clock, Femtoseconds};
use root::{Root, Way};

/// Where the host's windows are among the offsets that it is called with.
pub mod window {
    /// Configuration spaces.
    pub const ECAM: u64 = 0;
    /// Registers of functions: behind this stand physical addresses.
    pub const MEMORY: u64 = 1 << 32;
    /// Registers of the IOMMU.
    pub const IOMMU: u64 = 2 << 32;
}

/// What the host is called among the board's devices.
pub const NAME: &str = "pci";
/// Bytes of the configuration spaces of a bus.
pub const ECAM_SIZE: u64 = 1 << 20;
/// How many lines interrupts have: INTA to INTD.
pub const INTERRUPTS: usize = 4;
/// How many devices there can be beside the host bridge.
pub const SLOTS: usize = 31;

/// The host bridge is that of QEMU's machine.
const BRIDGE: Identity = Identity {
    vendor: 0x1b36,
    device: 0x0008,
    class: 0x06_0000,
    revision: 0,
    subsystem_vendor: 0x1af4,
    subsystem: 0x1100,
};

/// A host, and what is on its bus.
pub struct Pci {
    clock: Clock,
    /// The lines of INTA to INTD of device 0.
    lines: [u32; INTERRUPTS],
    bridge: Config,
    /// By device number, 1 to 31.
    functions: BTreeMap<u8, VirtioFunction>,
    iommu: Option<Iommu>,
}

impl std::fmt::Debug for Pci {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Pci")
            .field("lines", &self.lines)
            .field("functions", &self.functions)
            .finish_non_exhaustive()
    }
}

#[derive(Serialize, Deserialize)]
struct State {
    functions: Vec<(u8, Vec<u8>)>,
    iommu: Option<Vec<u8>>,
}

impl Pci {
    /// A host without functions. `clock` is that of the harts, in whose cycles accesses to memory are counted.
    #[must_use]
    pub fn new(clock: Clock, lines: [u32; INTERRUPTS], iommu: Option<Iommu>) -> Self {
        Self {
            clock,
            lines,
            bridge: Config::new(BRIDGE),
            functions: BTreeMap::new(),
            iommu,
        }
    }

    /// Puts a virtio device into the next slot, the first of which has the device number 1. Gives that number, or
    /// `None` where all slots are taken.
    pub fn plug(&mut self, backend: Box<dyn Backend>) -> Option<u8> {
        let slot = self.functions.len() + 1;
        if slot > SLOTS {
            return None;
        }
        let function = VirtioFunction::new(backend, self.iommu.is_some());
        self.functions.insert(slot as u8, function);
        Some(slot as u8)
    }

    /// Whether there is any function.
    pub(crate) fn has_functions(&self) -> bool {
        !self.functions.is_empty()
    }

    /// The IOMMU.
    #[must_use]
    pub const fn iommu(&self) -> Option<&Iommu> {
        self.iommu.as_ref()
    }

    /// Calls a function with its way to memory.
    fn call<T>(
        &mut self,
        slot: u8,
        port: &mut Port<'_>,
        call: impl FnOnce(&mut VirtioFunction, &mut Way<'_, '_>) -> T,
    ) -> Option<T> {
        let function = self.functions.get_mut(&slot)?;
        let mut way = Way::new(
            Root::new(port, self.clock),
            self.iommu.as_mut(),
            requester(slot),
        );
        Some(call(function, &mut way))
    }

    /// Does what is due everywhere, drives the lines, and asks for the next waking.
    fn settle(&mut self, port: &mut Port<'_>) {
        let now = port.now();
        for (slot, function) in &mut self.functions {
            let root = Root::new(port, self.clock);
            let mut way = Way::new(root, self.iommu.as_mut(), requester(*slot));
            function.advance(&mut way, now);
        }
        if let Some(iommu) = &mut self.iommu {
            iommu.advance(&mut Root::new(port, self.clock));
        }
        let mut levels = [false; INTERRUPTS];
        let mut next = Femtoseconds::NEVER;
        for (slot, function) in &mut self.functions {
            // INTA of a device is the line of its number (PCI-to-PCI Bridge Architecture Specification 1.2, table 9-1).
            levels[usize::from(*slot) % INTERRUPTS] |= function.interrupts();
            next = next.min(function.next(now));
        }
        for (line, level) in self.lines.iter().zip(levels) {
            port.interrupt(*line, level);
        }
        if let Some(iommu) = &self.iommu {
            iommu.drive(port);
            next = next.min(iommu.next());
        }
        port.wake_at(next);
    }

    /// The device number and the register that an offset in ECAM stands for. Only function 0 of a device exists.
    const fn target(offset: u64) -> Option<(u8, usize)> {
        if offset >> 12 & 7 != 0 {
            return None;
        }
        Some(((offset >> 15 & 31) as u8, (offset & 0xfff) as usize))
    }

    fn read_config(&mut self, offset: u64, size: u8) -> u64 {
        let Some((slot, register)) = Self::target(offset) else {
            return u64::MAX;
        };
        if slot == 0 {
            return self.bridge.read(register, size);
        }
        match self.functions.get_mut(&slot) {
            Some(function) => function.read_config(register, size),
            None => u64::MAX,
        }
    }

    fn write_config(&mut self, offset: u64, size: u8, value: u64, port: &mut Port<'_>) {
        let Some((slot, register)) = Self::target(offset) else {
            return;
        };
        if slot == 0 {
            self.bridge.write(register, size, value);
        } else {
            self.call(slot, port, |function, way| {
                function.write_config(register, size, value, way);
            });
        }
    }

    /// The function that answers at a physical address: device number, base address register, offset.
    fn decode(&self, address: u64) -> Option<(u8, usize, u64)> {
        self.functions.iter().find_map(|(slot, function)| {
            let (bar, offset) = function.decode(address)?;
            Some((*slot, bar, offset))
        })
    }
}

/// The identity under which a device's function 0 on bus 0 accesses memory.
const fn requester(slot: u8) -> u32 {
    (slot as u32) << 3
}

impl Device for Pci {
    fn read(&mut self, offset: u64, size: u8, port: &mut Port<'_>) -> Result<u64, Refused> {
        // What is due by now is seen.
        self.settle(port);
        let (base, place) = (offset & !0xffff_ffff, offset & 0xffff_ffff);
        let value = match base {
            window::ECAM => self.read_config(place, size),
            window::MEMORY => match self.decode(place) {
                Some((slot, bar, place)) => self
                    .functions
                    .get_mut(&slot)
                    .map_or(u64::MAX, |function| function.read(bar, place, size)),
                None => u64::MAX,
            },
            _ => self.iommu.as_ref().ok_or(Refused)?.read(place, size)?,
        };
        self.settle(port);
        Ok(value)
    }

    fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused> {
        let (base, place) = (offset & !0xffff_ffff, offset & 0xffff_ffff);
        match base {
            window::ECAM => self.write_config(place, size, value, port),
            window::MEMORY => {
                if let Some((slot, bar, place)) = self.decode(place) {
                    self.call(slot, port, |function, way| {
                        function.write(bar, place, size, value, way);
                    });
                }
            }
            _ => self
                .iommu
                .as_mut()
                .ok_or(Refused)?
                .write(place, size, value)?,
        }
        self.settle(port);
        Ok(())
    }

    fn wake(&mut self, port: &mut Port<'_>) {
        self.settle(port);
    }

    fn save(&self) -> Vec<u8> {
        let functions = self.functions.iter();
        state::save(&State {
            functions: functions
                .map(|(slot, function)| (*slot, function.save()))
                .collect(),
            iommu: self.iommu.as_ref().map(Iommu::save),
        })
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        let new: State = state::restore("pci", bytes)?;
        let same = new
            .functions
            .iter()
            .map(|(slot, _)| slot)
            .eq(self.functions.keys())
            && new.iommu.is_some() == self.iommu.is_some();
        state::require(same, "pci", "it has other functions, or an IOMMU alone")?;
        let before = self.save();
        let taken = self.take_back(&new);
        if taken.is_err() {
            // What was taken before the part that is damaged goes back.
            let before: State = state::restore("pci", &before)?;
            self.take_back(&before)?;
        }
        taken
    }
}

impl Pci {
    fn take_back(&mut self, state: &State) -> Result<(), BadState> {
        for ((_, function), (_, bytes)) in self.functions.iter_mut().zip(&state.functions) {
            function.restore(bytes)?;
        }
        if let (Some(iommu), Some(bytes)) = (&mut self.iommu, &state.iommu) {
            iommu.restore(bytes)?;
        }
        Ok(())
    }
}
