//! A VM's virtual devices and interrupts: the virtual PLIC, interrupt pages, the virtual UART.

use super::{Devices, Vm};
use crate::arch::{entry, fence_after_device};
use crate::call::{SbiError, SbiResult};
use crate::console;
use crate::doorbell::listeners;
use crate::hart::context::HartCtx;
use crate::sched::signals;
use crate::system::{Route, system};
use crate::vm::Vcpu;
use crate::vm::vcpu::signal;
use core::hint::cold_path;
use core::ptr;
use core::sync::atomic::{Ordering, fence};
use tactus_abi::blob::{Class, io, region};
use tactus_abi::interrupts::{InterruptPage, word_and_bit};
use tactus_abi::map;
use tactus_hypervisor::vplic::{Effect, Vplic};
use tactus_hypervisor::vuart::Vuart;
use tactus_policy::table::bits;

/// A set of a VM's vCPUs, as bits, whose external interrupt line has changed.
pub type Changed = u32;

impl Vm {
    /// Works on the UART and passes on what changes in its interrupt line.
    #[inline(always)]
    fn with_uart<R>(&self, cx: &mut HartCtx, work: impl FnOnce(&mut Vuart) -> R) -> R {
        let mut devices = self.devices.lock();
        let result = work(&mut devices.uart);
        let line = devices.uart.line();
        let changed = if line == devices.uart_line {
            0
        } else {
            self.uart_line_changed(&mut devices, line)
        };
        drop(devices);
        self.tell(cx, changed);
        result
    }

    #[inline(never)]
    fn uart_line_changed(&self, devices: &mut Devices, line: bool) -> Changed {
        devices.uart_line = line;
        devices.plic.set_line(map::UART_SOURCE, line);
        let by_page = if line {
            self.raise_by_page(map::UART_SOURCE)
        } else {
            0
        };
        by_page | self.outputs(&devices.plic)
    }

    /// Updates the vCPUs' external interrupt lines; called with the devices locked. Those that change are to be
    /// notified.
    #[unsafe(link_section = ".text.doorbell")]
    fn outputs(&self, plic: &Vplic) -> Changed {
        let mut changed = 0;
        for (context, vcpu) in self.vcpus().iter().enumerate() {
            let output = plic.output(context);
            if vcpu.external.load(Ordering::Relaxed) != output {
                vcpu.external.store(output, Ordering::Relaxed);
                changed |= 1 << context;
            }
        }
        changed
    }

    /// Tells vCPUs of changes, if there are any.
    #[inline]
    pub fn tell(&self, cx: &mut HartCtx, changed: Changed) {
        if changed != 0 {
            self.tell_those(cx, changed);
        }
    }

    #[inline(never)]
    fn tell_those(&self, cx: &mut HartCtx, changed: Changed) {
        for index in bits(changed.into()) {
            signals::notify(cx, &self.vcpus()[index]);
        }
    }

    /// A physical source interrupts the VM. It stays claimed until the guest completes it.
    pub fn physical_interrupt(&self, cx: &mut HartCtx, source: u32) {
        let changed = {
            let mut devices = self.devices.lock();
            devices.held |= 1 << source;
            self.raise_with(&mut devices, source)
        };
        self.tell(cx, changed);
    }

    /// A virtual source interrupts the VM once. Returns its vCPUs that are to be told.
    #[inline]
    pub fn raise(&self, source: u32) -> Changed {
        let mut devices = self.devices.lock_inlined();
        self.raise_with(&mut devices, source)
    }

    /// As [`Vm::raise`], of a channel's doorbell.
    pub fn raise_channel(&self, channel: u32) -> Changed {
        let mut devices = self.devices.lock();
        devices.plic.raise_channel(channel);
        self.raise_by_page(map::CHANNEL_SOURCE + channel) | self.outputs(&devices.plic)
    }

    /// Fast path of [`Vm::raise_channel`], for a VM whose only vCPU is this one, which runs on this hart: whether its
    /// external interrupt line rises. It takes interrupts by the PLIC. `None`: another hart uses the devices.
    #[inline(always)]
    pub fn raise_for_only(&self, vcpu: &Vcpu, channel: u32) -> Option<bool> {
        let mut devices = self.devices.try_lock()?;
        devices.plic.raise_channel(channel);
        // A source that is raised takes no line down.
        let rises = devices.plic.output(0) && !vcpu.external.load(Ordering::Relaxed);
        if rises {
            vcpu.external.store(true, Ordering::Relaxed);
        }
        Some(rises)
    }

    #[inline]
    fn raise_with(&self, devices: &mut Devices, source: u32) -> Changed {
        devices.plic.raise(source);
        self.raise_by_page(source) | self.outputs(&devices.plic)
    }

    /// Called with the devices locked.
    #[inline]
    fn raise_by_page(&self, source: u32) -> Changed {
        match self.pages.load(Ordering::Relaxed) {
            0 => 0,
            pages => self.raise_in_pages(pages, source),
        }
    }

    /// Sends a source to those of its vCPUs, as bits, that have pages. Those that this is news for are to be told.
    #[inline(never)]
    fn raise_in_pages(&self, pages: u32, source: u32) -> Changed {
        let (word, bit) = word_and_bit(source);
        let mut changed = 0;
        // What the sender has written before is not later than a look that finds the source pending: who takes it then
        // sees that.
        fence(Ordering::SeqCst);
        for index in bits(pages.into()) {
            let vcpu = &self.vcpus()[index];
            // With the bit still there the vCPU knows, or looks when it enables the source: one that does not listen is
            // disturbed once.
            if vcpu.page.get().is_some_and(|page| !page.is_pending(source))
                && vcpu.page.send(word, bit)
            {
                vcpu.signal(signal::SOFTWARE);
                changed |= vcpu.bit;
            }
        }
        changed
    }

    /// A virtual source interrupts the VM once; tells its vCPUs.
    #[unsafe(export_name = "tactus_signal")]
    #[inline(never)]
    pub extern "C" fn signal(&self, cx: &mut HartCtx, source: u32) {
        self.tell(cx, self.raise(source));
    }

    /// Whether any of its vCPUs takes interrupts by a page.
    #[inline]
    pub fn has_pages(&self) -> bool {
        self.pages.load(Ordering::Relaxed) != 0
    }

    /// Whether none of its vCPUs takes interrupts otherwise.
    pub fn has_pages_only(&self) -> bool {
        self.pages.load(Ordering::Relaxed) == (1 << self.vcpus().len()) - 1
    }

    /// The call `interrupt_page`, of one of its vCPUs, which runs on this hart.
    pub fn share_page(&self, cx: &mut HartCtx, vcpu: &'static Vcpu, address: u64) -> SbiResult {
        if vcpu.is_made() {
            return Err(SbiError::DENIED);
        }
        let size = size_of::<InterruptPage>() as u64;
        let at = match self.memory_at(address, size) {
            _ if address == 0 => ptr::null_mut(),
            Some(at) if address.is_multiple_of(size) => at as *mut InterruptPage,
            _ => return Err(SbiError::INVALID_ADDRESS),
        };
        self.set_page(vcpu, at);
        signals::notify(cx, vcpu);
        Ok(0)
    }

    /// A vCPU takes its interrupts by a page from now on, or, if that is null, by the PLIC. It runs on this hart, and
    /// is then to be told, or is stopped.
    #[inline(never)]
    fn set_page(&self, vcpu: &'static Vcpu, at: *mut InterruptPage) {
        let mut devices = self.devices.lock();
        let plic = &mut devices.plic;
        plic.add(vcpu.page.replace(at));
        if at.is_null() {
            self.pages.fetch_and(!vcpu.bit, Ordering::Relaxed);
        } else {
            self.pages.fetch_or(vcpu.bit, Ordering::Relaxed);
            for (word, sources) in plic.pending().into_iter().enumerate() {
                if vcpu.page.send(word, sources) {
                    vcpu.signal(signal::SOFTWARE);
                }
            }
        }
        plic.turn_off(vcpu.index, !at.is_null());
        let output = plic.output(vcpu.index);
        vcpu.external.store(output, Ordering::Relaxed);
        listeners::update(vcpu, plic);
    }

    /// A stopped vCPU forgets its page.
    pub(super) fn forget_page(&self, vcpu: &'static Vcpu) {
        if vcpu.page.get().is_some() {
            self.set_page(vcpu, ptr::null_mut());
        }
    }

    /// The call `interrupt_end`.
    pub fn end_interrupt(&self, cx: &mut HartCtx, source: u64) -> SbiResult {
        if !(1..=u64::from(map::PASSTHROUGH_SOURCE_MAX)).contains(&source) {
            return Err(SbiError::INVALID_PARAM);
        }
        let source = source as u32;
        let asks = {
            let mut devices = self.devices.lock();
            if devices.held >> source & 1 != 0 {
                self.complete(&mut devices, source);
            }
            source == map::UART_SOURCE && devices.uart_line
        };
        if asks {
            self.signal(cx, source);
        }
        Ok(0)
    }

    /// The guest has completed a physical source, which lets the device interrupt again. A completion that comes too
    /// early for a real-time vCPU's hart (protocol I1) is kept, and the source claimed, until that hart handles the
    /// vCPU's signals.
    #[inline(never)]
    fn complete(&self, devices: &mut Devices, source: u32) {
        devices.held &= !(1 << source);
        let mut vcpus = self.vcpus().iter();
        if let Some(vcpu) = vcpus.find(|vcpu| vcpu.class == Class::RealTime) {
            let hart = &system().harts[vcpu.home()];
            if !hart.accepts_ipi_for(vcpu, Some(self), false) {
                cold_path();
                self.early_completions
                    .fetch_or(1 << source, Ordering::SeqCst);
                vcpu.signal(signal::EARLY);
                hart.post(vcpu, None);
                return;
            }
        }
        complete(source as usize);
    }

    /// Lets the devices interrupt again whose interrupts were completed too early.
    pub fn complete_early(&self) {
        bits(self.early_completions.swap(0, Ordering::SeqCst)).for_each(complete);
    }

    /// Reads a register of its virtual PLIC; `None`: a bus error.
    pub fn plic_read(&self, cx: &mut HartCtx, offset: u64, size: u8) -> Option<u32> {
        let (value, changed) = {
            let mut devices = self.devices.lock();
            let (value, effect) = devices.plic.read(offset, size)?;
            let changed = match effect {
                Effect::None => 0,
                _ => self.outputs(&devices.plic),
            };
            (value, changed)
        };
        self.tell(cx, changed);
        Some(value)
    }

    /// Writes a register of its virtual PLIC; `None`: a bus error.
    pub fn plic_write(&self, cx: &mut HartCtx, offset: u64, size: u8, value: u32) -> Option<()> {
        let changed = {
            let mut devices = self.devices.lock();
            let effect = devices.plic.write(offset, size, value)?;
            if let Effect::Completed(source) = effect
                && source <= map::PASSTHROUGH_SOURCE_MAX
                && devices.held >> source & 1 != 0
            {
                self.complete(&mut devices, source);
            }
            if let Effect::Enabled(context) = effect {
                listeners::update(&self.vcpus()[context], &devices.plic);
            }
            match effect {
                Effect::None => 0,
                _ => self.outputs(&devices.plic),
            }
        };
        self.tell(cx, changed);
        Some(())
    }

    /// Reads a register of its virtual UART.
    pub fn uart_read(&self, cx: &mut HartCtx, offset: u64) -> u8 {
        let room = console::has_room(self.stream());
        self.with_uart(cx, |uart| uart.read(offset, room))
    }

    /// Writes a register of its virtual UART.
    pub fn uart_write(&self, cx: &mut HartCtx, offset: u64, value: u8) {
        let room = console::has_room(self.stream());
        if let Some(byte) = self.with_uart(cx, |uart| uart.write(offset, value, room)) {
            let (_, room) = console::write(self.stream(), &[byte]);
            notify_room(cx, room);
        }
    }

    /// A byte arrives for its console; lost when the guest is far behind.
    pub fn console_input(&self, cx: &mut HartCtx, byte: u8) {
        self.with_uart(cx, |uart| uart.receive(byte));
    }

    /// Takes a byte of its console's input past the UART.
    pub fn console_take(&self, cx: &mut HartCtx) -> Option<u8> {
        self.with_uart(cx, Vuart::take_input)
    }

    /// Brings its virtual devices into the state in which it starts.
    pub(super) fn reset_devices(&self) {
        for vcpu in self.vcpus() {
            self.forget_page(vcpu);
        }
        // Before their interrupts are completed: none is up then.
        for region in system().blob.regions_of(self.config()) {
            if region.flags == region::IO {
                end_io(region.host);
            }
        }
        let mut devices = self.devices.lock();
        devices.plic.reset();
        devices.uart.reset();
        devices.uart_line = false;
        let held = core::mem::take(&mut devices.held);
        listeners::clear(self);
        self.outputs(&devices.plic);
        self.complete_early();
        bits(held).for_each(complete);
    }
}

/// Ends what a VM has asked the fabric for by a page of I/O, if that is there.
fn end_io(page: u64) {
    // Safety: it says what it is, or is nothing's.
    if unsafe { entry::probe_register(page) }.is_some() {
        let register = (page + io::END_REGISTER) as *mut u32;
        // Safety: the page of a VM that has ended; the register takes this at any time.
        unsafe { register.write_volatile(io::END) };
        fence_after_device();
    }
}

/// Tells the VMs of the console's streams given that there is room again.
pub fn notify_room(cx: &mut HartCtx, streams: console::Room) {
    for stream in bits(streams) {
        if let Some(vm) = stream.checked_sub(1).and_then(|vm| system().vms.get(vm)) {
            vm.with_uart(cx, Vuart::room);
        }
    }
}

/// Lets a physical source interrupt again.
fn complete(source: usize) {
    let route = system().routes[source];
    if let (Some(plic), Route::Vm(_, context)) = (system().plic, route) {
        plic.complete(context, source as u32);
    }
}
