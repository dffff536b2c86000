//! Virtio PCI functions that this VM has.

use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{Ordering, fence};

use tactus_guest::abi::map;
use tactus_guest::plic::Plic;
use tactus_guest::{csr, devicetree, start};
use tactus_virtio::function::{self, Bus, Lack};
use tactus_virtio::passed::Bell;

/// The VM's PCI functions.
#[derive(Clone, Copy, Debug)]
pub struct Pci(());

impl Bus for Pci {
    fn read_byte(&self, address: u64) -> u8 {
        // SAFETY: a configuration space, or a register of a function that this VM has (`Function`).
        unsafe { read_volatile(address as *const u8) }
    }

    fn read_half(&self, address: u64) -> u16 {
        // SAFETY: as above.
        unsafe { read_volatile(address as *const u16) }
    }

    fn read_word(&self, address: u64) -> u32 {
        // SAFETY: as above.
        unsafe { read_volatile(address as *const u32) }
    }

    fn write_byte(&self, address: u64, value: u8) {
        // SAFETY: as above. What a function may access of memory is not used by Rust's references (`tactus_virtio`'s
        // windows have it).
        unsafe { write_volatile(address as *mut u8, value) }
    }

    fn write_half(&self, address: u64, value: u16) {
        // SAFETY: as above.
        unsafe { write_volatile(address as *mut u16, value) }
    }

    fn write_word(&self, address: u64, value: u32) {
        // SAFETY: as above.
        unsafe { write_volatile(address as *mut u32, value) }
    }
}

/// A function, and its PLIC source.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    function: function::Function<Pci>,
    source: u32,
}

impl Function {
    /// The VM's first function that is a virtio device of that kind; `None`: it has none.
    ///
    /// # Errors
    ///
    /// Its structures are not in its registers.
    pub fn find(kind: u32) -> Result<Option<Self>, Lack> {
        let Some(host) = devicetree::pci_host() else {
            return Ok(None);
        };
        for (slot, source) in host.interrupts() {
            let space = map::PCI_ECAM_BASE + (u64::from(slot) << 15);
            if function::Function::is_there(&Pci(()), space, kind) {
                let function = function::Function::find(Pci(()), space, host.window())?;
                return Ok(Some(Self { function, source }));
            }
        }
        Ok(None)
    }

    /// Its registers.
    pub const fn registers(&self) -> &function::Function<Pci> {
        &self.function
    }

    /// What announces requests of its queue `number`, by the address that [`function::Function::set_queue`] gave.
    pub const fn bell(&self, number: u16, address: u64) -> QueueBell {
        QueueBell {
            function: self.function,
            number,
            address,
        }
    }

    /// Its interrupt ends waits from now on.
    pub fn enable_interrupt(&self) {
        Plic::of_hart(start::hart()).enable(self.source, 1);
        // SAFETY: interrupts stay off in `sstatus`: this one ends waits only.
        unsafe { csr::set::<{ csr::SIE }>(csr::INTERRUPT_EXTERNAL) };
    }

    /// Takes its interrupt if there is one, and says whether there was. It is no longer pending then; what it was for
    /// is to be looked at afterwards.
    ///
    /// # Panics
    ///
    /// The function cannot go on.
    pub fn take_interrupt(&self) -> bool {
        let plic = Plic::of_hart(start::hart());
        let Some(source) = plic.claim() else {
            return false;
        };
        let reasons = self.function.take_reasons();
        plic.complete(source);
        assert!(
            reasons & tactus_virtio::mmio::interrupt::CONFIGURATION == 0
                || !self.function.needs_reset(),
            "the function cannot go on"
        );
        reasons != 0
    }
}

/// Announces requests of a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueBell {
    function: function::Function<Pci>,
    number: u16,
    address: u64,
}

impl Bell for QueueBell {
    fn ring(&self) {
        // The request is in memory before the function is told.
        fence(Ordering::SeqCst);
        self.function.notify(self.address, self.number);
    }
}
