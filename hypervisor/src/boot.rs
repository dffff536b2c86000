//! From the firmware's hand-over to the first guest: reads the system blob, makes everything there
//! is, and refuses what cannot work.

#[cfg(feature = "onchip")]
mod onchip;

use crate::accelerators::interfaces::{Accelerators, Interface};
use crate::admission;
use crate::arch::stage2::{MapError, Stage2};
use crate::arch::{context, entry, firmware, platform};
use crate::arena::{Arena, Exhausted, zeroed};
use crate::console;
#[cfg(feature = "forwarding")]
use crate::forwarding;
use crate::hart::context::HartCtx;
use crate::hart::{Hart, HartRole, STACK_SIZE, Wires};
use crate::log::Line;
use crate::message::endpoint;
#[cfg(feature = "pci")]
use crate::pci;
use crate::plic::Plic;
use crate::ready;
use crate::sync::Owned;
use crate::system::{Route, System, install};
use crate::vm::{Doorbell, Vcpu, Vm};
use core::ptr::NonNull;
use core::sync::atomic::AtomicU32;
use tactus_abi::blob::{Blob, Class, Header, NONE, ReadyQueue, RealTimePolicy, part, region};
use tactus_abi::map::{PAGE_SIZE, PASSTHROUGH_SOURCE_MAX};
use tactus_hypervisor::lock::Lock;
use tactus_policy::ready::{Handle, ListQueue};
use tactus_policy::table::{Array, Table};

/// How long a preempted best-effort vCPU is held for its hart: often the real-time vCPU is done sooner,
/// and moving would cost what both harts have cached.
const HOLD_US: u64 = 200;

/// How often a byte is sent through the firmware's console: about as often as a serial line takes one.
const TEXT_US: u64 = 20;

unsafe extern "C" {
    #[link_name = "__tactus_blob"]
    static BLOB: u8;
}

/// The optional parts that this hypervisor has: bits of [`part`].
const PARTS: u32 = {
    const fn bits(is_there: bool, part: u32) -> u32 {
        if is_there { part } else { 0 }
    }
    bits(cfg!(feature = "accelerators"), part::ACCELERATORS)
        | bits(cfg!(feature = "budget-modes"), part::BUDGET_MODES)
        | bits(cfg!(feature = "calls"), part::CALLS)
        | bits(cfg!(feature = "dispatch-ahead"), part::DISPATCH_AHEAD)
        | bits(cfg!(feature = "messages"), part::MESSAGES)
        | bits(cfg!(feature = "migration"), part::MIGRATION)
        | bits(cfg!(feature = "pci"), part::PCI)
        | bits(cfg!(feature = "ready-queue"), part::READY_QUEUE)
        | bits(cfg!(feature = "reservation-calls"), part::RESERVATION_CALLS)
};

/// Why the system does not boot.
enum Refusal {
    Blob(tactus_abi::blob::Error),
    Parts,
    Platform(platform::Lack),
    NoGuestTimer,
    Vmids,
    Pool,
    Map(usize, MapError),
    Segment(usize),
    Start(u64, firmware::FirmwareError),
    #[cfg(feature = "pci")]
    Pci(pci::Refusal),
}

impl From<Exhausted> for Refusal {
    fn from(_: Exhausted) -> Self {
        Self::Pool
    }
}

/// Entered from the firmware on the boot stack.
// The name is known to `.cargo/config.toml`, which has it compiled for size, with all that is compiled into it.
#[unsafe(export_name = "tactus_boot")]
pub extern "C" fn boot(hart_id: u64, devicetree: u64) -> ! {
    match prepare(devicetree) {
        Ok(system) => run(system, hart_id),
        Err(refusal) => {
            explain(&refusal);
            console::flush();
            firmware::power_off()
        }
    }
}

#[unsafe(export_name = "tactus_run")]
#[inline(never)]
extern "C" fn run(system: &'static System, hart_id: u64) -> ! {
    install(system);
    admission::initialise(&system.blob);
    Line::new()
        .begin("boot")
        .text("version", env!("CARGO_PKG_VERSION"))
        .number("harts", system.harts.len() as u64)
        .number("vms", system.vms.len() as u64)
        .time()
        .send();
    ready::begin(system.blob.header, system.harts.len(), &system.best_effort);
    for vm in system.vms {
        let boot = vm.start();
        system.harts[boot.home()].post_at_boot(boot.class, boot.handle);
    }
    let mut own = None;
    for hart in system.harts {
        if hart.id == hart_id {
            own = Some(hart);
            continue;
        }
        let argument = (&raw const *hart) as u64;
        if let Err(error) = firmware::start_hart(hart.id, entry::secondary_entry(), argument) {
            explain(&Refusal::Start(hart.id, error));
            console::flush();
            firmware::power_off();
        }
    }
    match own {
        // Safety: this is the hart's own.
        Some(hart) => unsafe { entry::enter((&raw const *hart).cast()) },
        // The system leaves this hart out.
        None => firmware::stop_hart(),
    }
}

fn blob() -> Result<Blob<'static>, Refusal> {
    let start = &raw const BLOB;
    // Safety: the image continues after this symbol with the blob; where it does not, memory does, and the header
    // has no valid magic. The blob is page aligned and never changes.
    let header = unsafe { core::slice::from_raw_parts(start, size_of::<Header>()) };
    // Little-endian, as all of the blob.
    let at = core::mem::offset_of!(Header, length);
    let length = header[at..at + 4]
        .iter()
        .rev()
        .fold(0, |length, &byte| length << 8 | usize::from(byte));
    // A blob of that size is impossible; its checksum would be sought in what may not be memory.
    let length = if header[..8] == tactus_abi::blob::MAGIC && length < 1 << 20 {
        length.max(header.len())
    } else {
        header.len()
    };
    // Safety: as above.
    let bytes = unsafe { core::slice::from_raw_parts(start, length) };
    Blob::open(bytes).map_err(Refusal::Blob)
}

fn prepare(devicetree: u64) -> Result<&'static System, Refusal> {
    #[cfg(feature = "forwarding")]
    const PARTS: u32 = self::PARTS | forwarding::PARTS;
    #[cfg(feature = "onchip")]
    const PARTS: u32 = self::PARTS | tactus_abi::blob::onchip::ONCHIP;
    let blob = blob()?;
    if blob.header.parts & !PARTS != 0 {
        return Err(Refusal::Parts);
    }
    #[cfg(feature = "dispatch-ahead")]
    blob.check_warm_ranges().map_err(Refusal::Blob)?;
    #[cfg(feature = "calls")]
    blob.check_calls().map_err(Refusal::Blob)?;
    #[cfg(feature = "forwarding")]
    forwarding::check(&blob).map_err(Refusal::Blob)?;
    #[cfg(feature = "onchip")]
    let onchip = onchip::rest(&blob).map_err(Refusal::Blob)?;
    #[cfg(feature = "pci")]
    blob.check_pci().map_err(Refusal::Blob)?;
    if blob.header.uart_base != 0 {
        // Safety: the tool gives the UART to no guest, and the blob's checksum says that the tool wrote this.
        unsafe { console::use_uart(blob.header.uart_base, blob.header.uart_source != 0) };
    }
    let sswi = platform::check(devicetree, &blob).map_err(Refusal::Platform)?;
    if !context::has_guest_timer() {
        return Err(Refusal::NoGuestTimer);
    }
    if !context::can_hold(blob.vms.len() as u64) {
        return Err(Refusal::Vmids);
    }
    check_segments(&blob)?;
    clear_channels(&blob);
    // Safety: the tool keeps the pool apart from everything else.
    let arena = unsafe { Arena::new(blob.header.pool_base, blob.header.pool_size) };
    // Safety: nothing else is told of that memory.
    #[cfg(feature = "onchip")]
    let arena = unsafe { arena.with_onchip(onchip) };
    let stacks = arena.stack(STACK_SIZE * blob.harts.len() as u64)?;
    // Safety: the tool gives the controller to no guest.
    let plic = (blob.header.plic_base != 0).then(|| unsafe { Plic::new(blob.header.plic_base) });
    let thresholds = plic.filter(|_| blob.header.separation != 0);
    let harts = arena.slice(blob.harts.len(), |index| {
        let config = &Table::new(blob.harts)[index];
        let stack = stacks - STACK_SIZE * index as u64;
        let here = || {
            let vcpus = blob.vcpus.iter();
            vcpus.filter(|vcpu| vcpu.harts >> index & 1 != 0)
        };
        let shared = here().count() > 1 || here().any(|vcpu| vcpu.period != 0);
        let by_deadline = config.policy == RealTimePolicy::EarliestDeadline as u32;
        let role = match blob.header.user_only {
            0 => HartRole::Any,
            harts if harts >> index & 1 != 0 => HartRole::User,
            _ => HartRole::Kernel,
        };
        Hart::new(
            index,
            config.id,
            Wires {
                plic_context: config.plic_context,
                threshold: thresholds
                    .and_then(|plic| NonNull::new(plic.threshold(config.plic_context))),
                sswi: sswi.and_then(|base| NonNull::new((base + 4 * config.id) as *mut u32)),
            },
            stack,
            shared,
            by_deadline,
            role,
        )
    })?;
    let text_ticks = ticks(&blob, TEXT_US);
    let contexts = arena.slice(blob.harts.len(), |index| {
        Owned::new(HartCtx::new(&harts[index], text_ticks, blob.header))
    })?;
    #[cfg(feature = "onchip")]
    let memories = arena.slice(blob.vms.len(), |index| {
        blob.memory_of(&Table::new(blob.vms)[index])
    })?;
    #[cfg(feature = "onchip")]
    arena.keep_for_objects(onchip::objects(&blob));
    let mut interfaces = None;
    let mut roots = Array([0; tactus_abi::blob::limit::VMS]);
    for (index, vm) in blob.vms.iter().enumerate() {
        let mut stage2 = Stage2::new(arena.table()?);
        let memory = &blob.regions_of(vm)[0];
        let mut tables = 0..u64::from(memory.tables);
        // Those of a coloured VM have its colours, so that its walks evict nothing of others' from the cache.
        let mut table = || {
            let at = match memory.spread {
                0 => arena.take(PAGE_SIZE, PAGE_SIZE).ok()?,
                _ => memory.host_at(memory.size + tables.next()? * PAGE_SIZE),
            };
            // Safety: of the arena, or kept by the tool for tables of this VM.
            Some(unsafe { zeroed(at) })
        };
        for region in blob.regions_of(vm) {
            #[cfg(feature = "forwarding")]
            if region.flags == forwarding::WINDOW {
                continue;
            }
            #[cfg(feature = "onchip")]
            if let Some(piece) = memories[index].mapped_ahead(region) {
                stage2
                    .map(&piece, &mut table)
                    .map_err(|error| Refusal::Map(index, error))?;
            }
            #[cfg(feature = "onchip")]
            let region = &memories[index].mapped(region);
            let leaf = stage2
                .map(region, &mut table)
                .map_err(|error| Refusal::Map(index, error))?;
            interfaces = Interface::of(&arena, region, index, leaf, interfaces)?;
        }
        roots[index] = context::hgatp(index as u64 + 1, stage2.root());
    }
    let vms = arena.slice(blob.vms.len(), |index| {
        let config = &Table::new(blob.vms)[index];
        let memory = &blob.regions_of(config)[0];
        #[cfg(feature = "onchip")]
        let (memory, _) = (&memories[index], memory);
        Vm::new(index, config, memory)
    })?;
    let vcpus = arena.slice(blob.vcpus.len(), |handle| {
        let config = &Table::new(blob.vcpus)[handle];
        Vcpu::new(
            handle as Handle,
            &blob,
            roots[config.vm as usize],
            &vms[config.vm as usize],
        )
    })?;
    let doorbells = arena.slice(blob.channel_ends.len(), |index| {
        let end = &Table::new(blob.channel_ends)[index];
        Doorbell::new(&vms[end.peer_vm as usize], end.peer_channel)
    })?;
    for vm in vms {
        // Safety: at boot, once; nothing has asked before.
        unsafe { vm.adopt(vcpus, doorbells) };
    }
    let endpoints = endpoint::endpoints(&arena, &blob)?;
    #[cfg(feature = "pci")]
    let pci = pci::Host::new(&arena, &blob, &roots.0).map_err(Refusal::Pci)?;
    Ok(arena.object(System {
        routes: routes(&blob),
        blob,
        harts,
        contexts,
        vms,
        vcpus,
        best_effort: Lock::new(ready::software(
            if blob.header.ready_queue == ReadyQueue::Linear as u32 {
                ListQueue::linear()
            } else {
                ListQueue::bitmap()
            },
        )),
        held_for_ticks: ticks(&blob, HOLD_US),
        endpoints,
        accelerators: Accelerators::new(interfaces, blob.header.allocator),
        #[cfg(feature = "pci")]
        pci,
        vms_on: AtomicU32::new(vms.len() as u32 - u32::from(blob.header.device_manager != NONE)),
        plic,
    })?)
}

fn ticks(blob: &Blob, microseconds: u64) -> u64 {
    u64::from(blob.header.timebase_hz) * microseconds / 1_000_000
}

/// Segments must lie within their VM's memory: they are copied there without further question.
fn check_segments(blob: &Blob) -> Result<(), Refusal> {
    for (index, vm) in blob.vms.iter().enumerate() {
        let memory = &blob.regions_of(vm)[0];
        let inside = |guest: u64, size: u64| {
            guest
                .checked_sub(memory.guest)
                .and_then(|offset| offset.checked_add(size))
                .is_some_and(|end| end <= memory.size)
        };
        let good = memory.flags == region::MEMORY
            && inside(vm.entry, 2)
            && blob
                .segments_of(vm)
                .iter()
                .all(|segment| inside(segment.guest, segment.size));
        if !good {
            return Err(Refusal::Segment(index));
        }
    }
    Ok(())
}

/// Channels begin empty: what an earlier system has left in their memory belongs to no VM.
fn clear_channels(blob: &Blob) {
    for region in blob.regions {
        if region.flags == region::CHANNEL {
            // Safety: the tool gives channels memory of their own, and no guest runs yet.
            (0..region.size / PAGE_SIZE).for_each(|page| unsafe {
                zeroed::<{ PAGE_SIZE as usize / 8 }>(region.host_at(page * PAGE_SIZE));
            });
        }
    }
}

/// A VM's interrupts go to the hart of its first real-time vCPU, or where its first vCPU starts.
fn routes(blob: &Blob) -> Array<Route, { PASSTHROUGH_SOURCE_MAX as usize + 1 }> {
    let mut routes = Array([Route::Unused; PASSTHROUGH_SOURCE_MAX as usize + 1]);
    for interrupt in blob.interrupts {
        let vm = interrupt.vm as usize;
        let vcpus = blob.vcpus_of(&Table::new(blob.vms)[vm]);
        let vcpu = vcpus
            .iter()
            .find(|vcpu| vcpu.class == Class::RealTime as u32)
            .unwrap_or(&Table::new(vcpus)[0]);
        let hart = blob.kernel_harts(vcpu).trailing_zeros() as usize;
        routes[interrupt.source as usize] =
            Route::Vm(vm, Table::new(blob.harts)[hart].plic_context);
    }
    #[cfg(feature = "accelerators")]
    if blob.header.allocator != 0
        && let Some(route) = routes.get_mut(blob.header.allocator_source as usize)
    {
        *route = Route::Allocator;
    }
    let console = blob.header.uart_source as usize;
    if blob.header.uart_base != 0 && (1..routes.len()).contains(&console) {
        routes[console] = Route::Console;
    }
    routes
}

#[unsafe(export_name = "tactus_explain")]
#[inline(never)]
extern "C" fn explain(refusal: &Refusal) {
    let mut line = Line::new();
    line.begin("refused").text("reason", "");
    match refusal {
        Refusal::Blob(error) => line
            .words(error.message())
            .words("; build the image again with `tactus build`"),
        Refusal::Parts => line.words(
            "this hypervisor was built without a part that the system needs; build the image again with `tactus build`",
        ),
        Refusal::Platform(platform::Lack::Devicetree) => {
            line.words("the firmware passed no devicetree in a1")
        }
        Refusal::Platform(platform::Lack::Hart(id)) => {
            line.words("the machine has no hart ").decimal(*id)
        }
        Refusal::Platform(platform::Lack::Extension(name, id)) => line
            .words("hart ")
            .decimal(*id)
            .words(" lacks the extension ")
            .words(name),
        Refusal::Platform(platform::Lack::Memory) => {
            line.words("the machine's memory does not cover the system's")
        }
        Refusal::Platform(platform::Lack::Timebase(hz)) => line
            .words("the machine's time base is ")
            .decimal(*hz)
            .words(" Hz, not the system's"),
        Refusal::NoGuestTimer => {
            line.words("the firmware does not let guests have their own timer (Sstc)")
        }
        Refusal::Vmids => line.words("hgatp holds too few VMIDs, or no Sv39x4"),
        Refusal::Pool => line.words("the hypervisor's memory pool is too small"),
        Refusal::Map(vm, error) => line
            .words("a region of VM ")
            .decimal(*vm as u64)
            .words(" cannot be mapped: ")
            .words(match error {
                MapError::Pool => "the hypervisor's memory pool is too small",
                MapError::Address => {
                    "its addresses are out of reach or no multiples of a page, or its colours are impossible"
                }
                MapError::Overlap => "it overlaps another one",
            }),
        Refusal::Segment(vm) => line
            .words("VM ")
            .decimal(*vm as u64)
            .words(" has a segment or its entry outside of its memory"),
        Refusal::Start(id, error) => line
            .words("the firmware cannot start hart ")
            .decimal(*id)
            .words(": error -")
            .decimal(error.0.unsigned_abs() as u64),
        #[cfg(feature = "pci")]
        Refusal::Pci(refusal) => refusal.explain(&mut line),
    }
    .send();
}
