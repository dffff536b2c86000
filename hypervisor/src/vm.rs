//! A virtual machine: its memory, its virtual devices, its life.

use crate::accelerators;
use crate::arch::context::Exception;
use crate::arch::{entry, fence_after_device};
use crate::console;
use crate::doorbell::{self, Doorbell};
use crate::hart::Hart;
use crate::hart::context::HartCtx;
use crate::interrupt_page;
use crate::loader::Loader;
use crate::log::Line;
use crate::migration;
use crate::sbi::SbiError;
use crate::sched;
use crate::sched::signals;
use crate::sync::Owned;
use crate::system::{Route, system};
use crate::vcpu::{Body, State, Vcpu, Wait, signal};
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tactus_abi::blob::{self, OnFault, io, limit, region};
use tactus_abi::hypercall::VmState;
use tactus_abi::interrupts::InterruptPage;
use tactus_abi::map;
use tactus_hypervisor::lock::Lock;
use tactus_hypervisor::vplic::{Effect, Vplic};
use tactus_hypervisor::vuart::Vuart;
use tactus_policy::reservation::Account;
use tactus_policy::table::{Array, Table};

/// Its virtual devices.
pub struct Devices {
    plic: Vplic,
    uart: Vuart,
    /// The UART's interrupt line, as the PLIC knows it.
    uart_line: bool,
    /// Physical sources claimed for the VM and not yet completed by it, bit `n` for source `n`.
    held: u64,
}

/// Why a VM ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// It is off: it asked to be.
    Shutdown,
    /// It is off: it reported a failure, with this code.
    Fail(u32),
    /// It is off, by its `on_fault` policy.
    Fault,
    /// It starts anew.
    Restart,
}

/// What a vCPU starts with.
pub struct Entry {
    /// Its first instruction.
    pub pc: u64,
    /// Its argument registers.
    pub a0: u64,
    /// See `a0`.
    pub a1: u64,
    /// Its stack pointer.
    pub sp: u64,
}

impl Entry {
    const fn new(pc: u64, a0: u64, a1: u64) -> Self {
        Self { pc, a0, a1, sp: 0 }
    }
}

/// What is to be said of a fault.
struct Fault {
    vcpu: usize,
    why: &'static str,
    exception: Exception,
    time: u64,
}

/// Where a VM is between its start and its end; under its lifecycle lock.
pub struct Life {
    state: VmState,
    /// vCPUs that are not stopped.
    alive: u32,
    /// The VM stops; what comes then.
    ending: Option<End>,
    restarts: u32,
    last_cause: u8,
    /// The fault that ends it, until it has been reported.
    fault: Option<Fault>,
    /// What is written of that.
    line: Line,
    /// Pieces of its end that are done; of a fault's report, while there is one.
    pieces: u32,
}

/// What is a VM's of what there is in all.
#[derive(Clone, Copy, Default)]
struct Parts {
    /// vCPUs of the configuration.
    vcpus: &'static Table<Vcpu>,
    /// These, and behind them the places of those that hypercalls make.
    all_vcpus: &'static Table<Vcpu>,
    /// The doorbells that it rings.
    doorbells: &'static Table<Doorbell>,
}

/// A VM.
pub struct Vm {
    /// Index in the configuration.
    pub index: usize,
    /// For people.
    pub name: &'static str,
    config: &'static blob::Vm,
    memory: &'static blob::Region,
    /// Written at boot only.
    parts: Owned<Parts>,
    /// vCPUs, as bits, that take their interrupts by pages. Written with `devices` locked.
    pages: AtomicU32,
    devices: Lock<Devices>,
    life: Lock<Life>,
    /// Time its vCPUs have had on each hart, in ticks.
    pub ticks: Array<AtomicU64, { limit::HARTS }>,
}

/// A set of a VM's vCPUs whose external interrupt line has changed.
pub type Changed = u32;

impl Vm {
    /// A VM that is off.
    pub fn new(index: usize, config: &'static blob::Vm, memory: &'static blob::Region) -> Self {
        Self {
            index,
            name: blob::name_text(&config.name),
            config,
            memory,
            parts: Owned::new(Parts::default()),
            pages: AtomicU32::new(0),
            devices: Lock::new(Devices {
                plic: Vplic::new(config.vcpus as usize),
                uart: Vuart::new(),
                uart_line: false,
                held: 0,
            }),
            life: Lock::new(Life {
                state: VmState::Off,
                alive: 0,
                ending: None,
                restarts: 0,
                last_cause: 0,
                fault: None,
                line: Line::new(),
                pieces: 0,
            }),
            ticks: Array([const { AtomicU64::new(0) }; limit::HARTS]),
        }
    }

    /// Its configuration.
    pub fn config(&self) -> &'static blob::Vm {
        self.config
    }

    /// Its memory.
    pub fn memory(&self) -> &'static blob::Region {
        self.memory
    }

    /// Takes its vCPUs and the doorbells that it rings from among all.
    ///
    /// # Safety
    /// Called once, at boot, before any guest or other hart runs.
    pub unsafe fn adopt(&self, vcpus: &'static [Vcpu], doorbells: &'static [Doorbell]) {
        let count = self.config.vcpus + self.config.rt_vcpus;
        let all = &vcpus[self.config.first_vcpu as usize..][..count as usize];
        let doorbells = &doorbells[self.config.first_channel_end as usize..];
        // Safety: the caller's promise.
        *unsafe { self.parts.get() } = Parts {
            vcpus: Table::new(&all[..self.config.vcpus as usize]),
            all_vcpus: Table::new(all),
            doorbells: Table::new(&doorbells[..self.config.channel_ends as usize]),
        };
    }

    /// Its vCPUs of the configuration, by number.
    pub fn vcpus(&self) -> &'static Table<Vcpu> {
        // Safety: nobody writes it after boot.
        unsafe { self.parts.get() }.vcpus
    }

    /// The places of those that hypercalls make, by number.
    pub fn made_vcpus(&self) -> &'static [Vcpu] {
        let made = self.all_vcpus().get(self.vcpus().len()..);
        made.unwrap_or_default()
    }

    /// The doorbells that it rings, by channel.
    pub fn doorbells(&self) -> &'static Table<Doorbell> {
        // Safety: as above.
        unsafe { self.parts.get() }.doorbells
    }

    /// All of them.
    pub fn all_vcpus(&self) -> &'static Table<Vcpu> {
        // Safety: as above.
        unsafe { self.parts.get() }.all_vcpus
    }

    /// Its stream on the console's line.
    pub fn stream(&self) -> u8 {
        self.index as u8 + 1
    }

    /// Physical address of guest-physical bytes of its memory, if all are.
    #[inline(never)]
    pub fn memory_at(&self, guest: u64, length: u64) -> Option<u64> {
        let memory = self.memory();
        let offset = guest.checked_sub(memory.guest)?;
        (offset.checked_add(length)? <= memory.size).then_some(memory.host + offset)
    }

    // ----- virtual devices

    /// Works on the UART and passes on what changes in its interrupt line.
    // Compiled once, and not into each caller.
    #[inline(never)]
    fn with_uart(&self, cx: &mut HartCtx, work: &mut dyn FnMut(&mut Vuart)) {
        let changed = {
            let mut devices = self.devices.lock();
            let devices = &mut *devices;
            work(&mut devices.uart);
            let line = devices.uart.line();
            if line == devices.uart_line {
                0
            } else {
                self.uart_line_changed(devices, line)
            }
        };
        self.tell(cx, changed);
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

    /// Updates the vCPUs' external interrupt lines; called with the devices locked. Those that change are to be notified.
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

    /// Tells vCPUs of changes.
    #[inline(never)]
    pub fn tell(&self, cx: &mut HartCtx, mut changed: Changed) {
        // At most one step for each vCPU.
        while changed != 0 {
            let index = changed.trailing_zeros() as usize;
            changed &= changed - 1;
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
    #[inline]
    pub fn raise_channel(&self, channel: u32) -> Changed {
        let mut devices = self.devices.lock_inlined();
        devices.plic.raise_channel(channel);
        self.raise_by_page(map::CHANNEL_SOURCE + channel) | self.outputs(&devices.plic)
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
            pages => interrupt_page::raise(self, pages, source),
        }
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
    pub fn share_page(
        &self,
        cx: &mut HartCtx,
        vcpu: &'static Vcpu,
        address: u64,
    ) -> Result<u64, SbiError> {
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

    /// A vCPU takes its interrupts by a page from now on, or, if that is null, by the PLIC. It runs on this hart, and is then to be told, or is stopped.
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
        doorbell::listen(vcpu, plic);
    }

    /// A stopped vCPU forgets its page.
    fn forget_page(&self, vcpu: &'static Vcpu) {
        if vcpu.page.get().is_some() {
            self.set_page(vcpu, ptr::null_mut());
        }
    }

    /// The call `interrupt_end`.
    pub fn end_interrupt(&self, cx: &mut HartCtx, source: u64) -> Result<u64, SbiError> {
        if !(1..=u64::from(map::PASSED_SOURCE_MAX)).contains(&source) {
            return Err(SbiError::INVALID_PARAM);
        }
        let source = source as u32;
        let asks = {
            let mut devices = self.devices.lock();
            if devices.held >> source & 1 != 0 {
                devices.held &= !(1 << source);
                complete(source);
            }
            source == map::UART_SOURCE && devices.uart_line
        };
        if asks {
            self.signal(cx, source);
        }
        Ok(0)
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
                && source <= map::PASSED_SOURCE_MAX
                && devices.held >> source & 1 != 0
            {
                devices.held &= !(1 << source);
                complete(source);
            }
            if let Effect::Enabled(context) = effect {
                doorbell::listen(&self.vcpus()[context], &devices.plic);
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
        let mut value = 0;
        self.with_uart(cx, &mut |uart| value = uart.read(offset, room));
        value
    }

    /// Writes a register of its virtual UART.
    pub fn uart_write(&self, cx: &mut HartCtx, offset: u64, value: u8) {
        let room = console::has_room(self.stream());
        let mut sent = None;
        self.with_uart(cx, &mut |uart| sent = uart.write(offset, value, room));
        if let Some(byte) = sent {
            let (_, room) = console::write(self.stream(), &[byte]);
            notify_room(cx, room);
        }
    }

    /// A byte arrives for its console; lost when the guest is far behind.
    pub fn console_input(&self, cx: &mut HartCtx, byte: u8) {
        self.with_uart(cx, &mut |uart| {
            uart.receive(byte);
        });
    }

    /// Takes a byte of its console's input past the UART.
    pub fn console_take(&self, cx: &mut HartCtx) -> Option<u8> {
        let mut byte = None;
        self.with_uart(cx, &mut |uart| byte = uart.take_input());
        byte
    }

    // ----- life

    /// Time its vCPUs have had, in ticks.
    pub fn cpu_ticks(&self) -> u64 {
        let harts = system().harts.iter().zip(self.ticks.iter());
        harts.map(|(_, ticks)| ticks.load(Ordering::Relaxed)).sum()
    }

    /// State, and `scause` code of its last fault.
    #[inline(never)]
    pub fn status(&self) -> (VmState, u8) {
        let life = self.life.lock();
        (life.state, life.last_cause)
    }

    /// Makes its boot vCPU load and start it. It is off, or being built.
    #[inline(never)]
    pub fn start(&self) -> &'static Vcpu {
        let boot = &self.vcpus()[0];
        {
            let mut life = self.life.lock();
            life.state = VmState::Loading;
            life.alive = 1;
            let config = self.config();
            let entry = Entry::new(config.entry, 0, config.devicetree);
            self.prepare(&mut life, boot, &entry, |body| {
                body.loader = Some(Loader::default());
                body.unfinished = true;
            });
        }
        boot
    }

    /// Makes a stopped vCPU ready to be started by its home, whose it is then, with what `also` sets; called with the lifecycle lock held.
    #[inline(never)]
    fn prepare(
        &self,
        life: &mut Life,
        vcpu: &'static Vcpu,
        entry: &Entry,
        also: impl FnOnce(&mut Body),
    ) {
        let Some(body) = vcpu.stopped_body(life) else {
            return;
        };
        body.context.reset(entry.pc, entry.a0, entry.a1);
        body.context.registers[2] = entry.sp;
        body.loaded_on = 0;
        body.fpu_on = 0;
        body.uses_fpu = false;
        body.fpu.reset();
        body.slice_left = 0;
        body.wait = Wait::Start;
        also(body);
        vcpu.set_affinity(false);
        self.forget_page(vcpu);
        vcpu.take_signals(signal::SOFTWARE | signal::STOP);
        // What harts have cached of an earlier life of this vCPU is dropped when it is entered.
        vcpu.fences_asked.fetch_add(1, Ordering::SeqCst);
        vcpu.signal(signal::FENCES | signal::CLOSED);
        vcpu.state.set(State::Waiting);
    }

    /// Its image is loaded: the guest's first instruction is about to run.
    pub fn loaded(&self) {
        let restarts = {
            let mut life = self.life.lock();
            life.state = VmState::Running;
            life.restarts
        };
        let mut line = Line::new();
        if restarts == 0 {
            line.begin_of("start", self.name);
        } else {
            line.begin_of("restart", self.name)
                .number("count", restarts.into());
        }
        line.time().send();
    }

    /// Starts one of its further vCPUs. `false`: it is not stopped, or the VM is ending.
    pub fn start_vcpu(&self, index: usize, pc: u64, argument: u64) -> bool {
        let vcpu = &self.vcpus()[index];
        {
            let mut life = self.life.lock();
            if vcpu.state.get() != State::Stopped || life.ending.is_some() {
                return false;
            }
            life.alive += 1;
            let entry = Entry::new(pc, index as u64, argument);
            self.prepare(&mut life, vcpu, &entry, |_| {});
        }
        signals::post(vcpu);
        true
    }

    /// Starts a vCPU that a hypercall makes, at home on a hart; the caller then notifies it. `before`: what is to be done first. `false`: the VM is
    /// ending.
    pub fn start_made(
        &self,
        vcpu: &'static Vcpu,
        hart: usize,
        entry: &Entry,
        account: Account,
        before: impl FnOnce(),
    ) -> bool {
        let mut life = self.life.lock();
        if life.ending.is_some() || life.alive == 0 {
            return false;
        }
        before();
        life.alive += 1;
        vcpu.relocation.settle(hart);
        self.prepare(&mut life, vcpu, entry, |body| {
            body.account = Some(account);
            body.reserved = true;
        });
        true
    }

    /// Makes a vCPU that a hypercall has made stop; whoever calls this then tells it. `false`: it has stopped.
    pub fn stop_made(&self, vcpu: &Vcpu) -> bool {
        let _life = self.life.lock();
        let runs = vcpu.state.get() != State::Stopped;
        if runs {
            vcpu.signal(signal::STOP);
        }
        runs
    }

    /// Stops all its vCPUs; the hart that stops the last one brings about the `end`. The first
    /// of several reasons counts.
    pub fn end(&self, cx: &mut HartCtx, end: End) {
        {
            let mut life = self.life.lock();
            if life.ending.is_some() || life.alive == 0 {
                return;
            }
            life.ending = Some(end);
            for vcpu in self.all_vcpus() {
                if vcpu.state.get() != State::Stopped {
                    vcpu.signal(signal::STOP);
                }
            }
        }
        for vcpu in self.all_vcpus() {
            if vcpu.stops() {
                if !vcpu.state.has_left() {
                    signals::notify(cx, vcpu);
                } else {
                    signals::post(vcpu);
                }
            }
        }
        // Giving the hart up is another piece of work.
        sched::may_continue(cx);
    }

    /// Applies the `on_fault` policy. `why`: in a word.
    #[inline(never)]
    pub fn fault(&self, cx: &mut HartCtx, vcpu: &Vcpu, why: &'static str, exception: &Exception) {
        {
            let mut life = self.life.lock();
            if life.ending.is_none() {
                let (why, exception) = exception.reported(why);
                life.last_cause = exception.cause as u8;
                life.fault = Some(Fault {
                    vcpu: vcpu.index,
                    why,
                    exception,
                    time: crate::arch::now(),
                });
            }
        }
        self.end(cx, self.on_fault().1);
    }

    /// The `on_fault` policy, in words and in deeds.
    fn on_fault(&self) -> (&'static str, End) {
        match OnFault::from_raw(self.config().on_fault) {
            Some(OnFault::Restart) => ("restart", End::Restart),
            Some(OnFault::Signal) => ("signal", End::Fault),
            _ => ("halt", End::Fault),
        }
    }

    /// One of its vCPUs has stopped, and no hart owns it. `true`: it was the last one; what follows is [`Vm::finish_end`]'s.
    pub fn vcpu_stopped(&self, vcpu: &'static Vcpu) -> bool {
        let mut life = self.life.lock();
        vcpu.owner.release();
        vcpu.state.set(State::Stopped);
        vcpu.take_signals(signal::STOP);
        vcpu.claimed.store(false, Ordering::Release);
        life.alive -= 1;
        life.alive == 0
    }

    /// Does a piece of what follows when its last vCPU has stopped; `true`: all is done. In pieces, a line of the log at most each, since real-time
    /// vCPUs may wait meanwhile.
    pub fn finish_end(&self, cx: &mut HartCtx) -> bool {
        let (end, piece) = {
            let mut life = self.life.lock();
            let piece = life.pieces;
            life.pieces += 1;
            if life.fault.is_some() {
                self.report(&mut life, piece);
                return false;
            }
            (life.ending.unwrap_or(End::Shutdown), piece as usize)
        };
        if piece == 0 {
            self.reset_devices();
            accelerators::end(cx, self);
            return false;
        }
        let (reason, code) = match end {
            End::Restart => {
                {
                    let mut life = self.life.lock();
                    life.restarts += 1;
                    life.pieces = 0;
                    life.ending = None;
                }
                signals::post(self.start());
                return true;
            }
            End::Shutdown => ("shutdown", 0),
            End::Fail(code) => ("fail", code),
            End::Fault => ("fault", 0),
        };
        if piece == 1 {
            Line::new()
                .begin_of("off", self.name)
                .text("reason", reason)
                .number("code", u64::from(code))
                .time()
                .send();
            return false;
        }
        if let Some(on) = system().harts.get(piece - 2) {
            self.report_usage(on);
            return false;
        }
        if let Some(vcpu) = self.vcpus().get(piece - 2 - system().harts.len()) {
            migration::report(vcpu);
            return false;
        }
        // Nobody starts it before its state says that it is off.
        {
            let mut life = self.life.lock();
            life.pieces = 0;
            life.ending = None;
            life.state = match end {
                End::Fault => VmState::Faulted,
                _ => VmState::Off,
            };
        }
        if matches!(end, End::Fault)
            && let Some(other) = system().vms.get(self.config().signal_vm as usize)
        {
            other.signal(cx, map::FAULT_SOURCE);
        }
        if !self.is_service() {
            count_off();
        }
        true
    }

    /// Whether it is there for others only: the device manager.
    fn is_service(&self) -> bool {
        self.index == system().blob.header.device_manager as usize
    }

    /// Says how long it has had a hart, if it has.
    pub fn report_usage(&self, hart: &Hart) {
        let ticks = self.ticks[hart.index].load(Ordering::Relaxed);
        if ticks > 0 {
            Line::new()
                .begin_of("usage", self.name)
                .number("hart", hart.index as u64)
                .number("ticks", ticks)
                .send();
        }
    }

    /// Writes a piece of the line about the fault that ends it; with the last it is forgotten.
    fn report(&self, life: &mut Life, piece: u32) {
        let Life {
            fault,
            line,
            pieces,
            ..
        } = life;
        let Some(Fault {
            vcpu,
            why,
            exception,
            time,
        }) = fault
        else {
            return;
        };
        match piece {
            0 => line
                .begin_of("fault", self.name)
                .number("vcpu", *vcpu as u64),
            1 => line.number("cause", exception.cause).text("why", why),
            2 => line.hex("address", exception.guest_address),
            3 => line.hex("pc", exception.pc),
            4 => line.hex("instruction", exception.instruction),
            5 => line.text("action", self.on_fault().0).number("time", *time),
            _ => {
                line.send();
                *fault = None;
                *pieces = 0;
                line
            }
        };
    }

    /// Starts it again after it has gone off; `false`: it is not off.
    pub fn revive(&self) -> bool {
        {
            let mut life = self.life.lock();
            if !matches!(life.state, VmState::Off | VmState::Faulted) {
                return false;
            }
            life.state = VmState::Loading;
            life.restarts += 1;
        }
        if !self.is_service() {
            system().vms_on.fetch_add(1, Ordering::SeqCst);
        }
        signals::post(self.start());
        true
    }

    fn reset_devices(&self) {
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
        let mut held = core::mem::take(&mut devices.held);
        doorbell::ignore(self);
        self.outputs(&devices.plic);
        // At most one step for each source.
        while held != 0 {
            complete(held.trailing_zeros());
            held &= held - 1;
        }
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
pub fn notify_room(cx: &mut HartCtx, mut streams: console::Room) {
    // At most one step for each stream.
    while streams != 0 {
        let stream = streams.trailing_zeros() as usize;
        streams &= streams - 1;
        if let Some(vm) = stream.checked_sub(1).and_then(|vm| system().vms.get(vm)) {
            vm.with_uart(cx, &mut Vuart::room);
        }
    }
}

/// Lets a physical source interrupt again.
fn complete(source: u32) {
    let route = system().routes[source as usize];
    if let (Some(plic), Route::Vm(_, context)) = (system().plic, route) {
        plic.complete(context, source);
    }
}

/// A VM has gone off. With the last one the machine does.
fn count_off() {
    let system = system();
    if system.vms_on.fetch_sub(1, Ordering::SeqCst) > 1 {
        return;
    }
    for hart in system.harts {
        for vm in system.vms {
            vm.report_usage(hart);
            console::flush();
        }
        Line::new()
            .begin("usage idle")
            .number("hart", hart.index as u64)
            .number("ticks", hart.idle_ticks.load(Ordering::Relaxed))
            .send();
        console::flush();
    }
    let lost = console::take_lost();
    if lost > 0 {
        Line::new()
            .begin("lost")
            .number("stream", 0)
            .number("bytes", lost.into())
            .send();
    }
    Line::new().begin("end").time().send();
    console::flush();
    crate::arch::firmware::power_off();
}
