//! All of the board that its harts share: memory, decoded code, devices, and what runs over the slow paths to them.

mod weak;

use crate::bus::{Device, Effects, Lines, Port, Refused, Stop};
use crate::code::{Block, Code, Draft, PAGE, Scratch};
use crate::devices::{Clint, Plic};
use crate::fabric::{Coupling, TilePort};
use crate::hart::Hart;
use crate::memory::Memory;
use crate::op::Op;
use crate::pace::Variant;
use crate::privileged::{
    Access, Context, Counters, Event, Exception, PageTables, Translation, Trap,
};
use crate::probe::{Probes, Reaction};
use crate::time::{Clock, Femtoseconds};
use crate::timing::{BranchKind, Lookup, Page, Schedule, Side, Timing};
use crate::trace::Trace;
use crate::weak_memory::WeakMemory;

/// No address is this: reservations are aligned.
const NO_RESERVATION: u64 = u64::MAX;

/// After how many instructions a reservation that was not used is given up, whether or not other harts got to run. A
/// loop that has to succeed has at most 16 (I 8.3).
pub(crate) const RESERVATION_INSTRUCTIONS: u64 = 64;

/// Output, in a fence's set of predecessors (I 2.7).
const OUTPUT: u8 = 0b0100;

/// How many address spaces a hart's modelled TLBs tell apart.
const SPACES: usize = 256;

/// A device in its place.
pub(crate) struct Attached {
    pub(crate) name: String,
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) device: Part,
    /// When it is to be woken.
    pub(crate) wake: Femtoseconds,
}

/// What stands in a range of addresses.
pub(crate) enum Part {
    Clint(Clint),
    Plic(Box<Plic>),
    Fabric(Box<Coupling>),
    TilePort(Box<TilePort>),
    Other(Box<dyn Device>),
}

impl Part {
    pub(crate) fn device(&mut self) -> &mut dyn Device {
        match self {
            Self::Clint(clint) => clint,
            Self::Plic(plic) => plic.as_mut(),
            Self::Fabric(fabric) => fabric.as_mut(),
            Self::TilePort(port) => port.as_mut(),
            Self::Other(device) => device.as_mut(),
        }
    }
}

/// What harts share.
pub(crate) struct Machine {
    pub(crate) memory: Memory,
    pub(crate) code: Code,
    /// In the order of their addresses, which do not overlap.
    pub(crate) devices: Vec<Attached>,
    /// Which of them is the fabric.
    pub(crate) fabric: Option<usize>,
    /// Which is the port of a tile.
    pub(crate) tile_port: Option<usize>,
    pub(crate) lines: Lines,
    /// By hart, the bits of `mip` that are driven from outside.
    pub(crate) wires: Vec<u64>,
    /// By hart, the physical address that is reserved.
    pub(crate) reservations: Vec<u64>,
    /// The board has something to see to: a wire changed, a device asked to be woken, or to stop.
    pub(crate) disturbed: bool,
    pub(crate) stop: Option<Stop>,
    /// The run ended before an access that a device could not answer yet.
    pub(crate) postponed: bool,
    /// The hart and address of the stop that ended the run.
    pub(crate) stopped_at: Option<(usize, u64)>,
    /// The hart that touched what is watched, the byte, and whether it wrote.
    pub(crate) watched_at: Option<(usize, u64, bool)>,
    /// The harts' clock.
    pub(crate) clock: Clock,
    /// What counts `time`.
    pub(crate) timebase: Clock,
    /// What writes of `mtime` have added to `time`.
    pub(crate) time_offset: u64,
    /// Loads and stores, where they are weakly ordered.
    pub(crate) weak: Option<Box<WeakMemory>>,
    pub(crate) timing: Timing,
    /// Whether costs are charged.
    pub(crate) timed: bool,
    pub(crate) probes: Probes,
    pub(crate) trace: Trace,
    /// While the second part of an access is translated that lies in two pages, its distance from the first in bytes.
    pub(crate) fault_offset: u64,
    /// The earliest time that a device is to be woken.
    pub(crate) next_wake: Femtoseconds,
    pub(crate) draft: Draft,
    /// For blocks that run once.
    pub(crate) once: Scratch,
}

/// Page tables, as walks find them in memory.
struct Tables<'a> {
    memory: &'a Memory,
    code: &'a mut Code,
    reservations: &'a mut [u64],
    /// Whether decoded code was dropped.
    dropped: bool,
    /// Whether anything was written.
    updated: bool,
    /// What charges for the accesses, where they are charged for.
    timing: Option<&'a mut Timing>,
    hart: usize,
    now: u64,
    /// Cycles that the walk took.
    stall: u64,
}

impl Tables<'_> {
    fn charge(&mut self, physical: u64, write: bool) {
        if let Some(timing) = &mut self.timing {
            self.stall += timing.walk_access(self.hart, physical, write, self.now + self.stall);
        }
    }
}

impl PageTables for Tables<'_> {
    fn read(&mut self, physical: u64) -> Option<u64> {
        if self.memory.holds(physical, 8) {
            self.charge(physical, false);
        }
        // Safety: aligned, and so all in memory when its first byte is.
        self.memory
            .host(physical & !7)
            .map(|host| unsafe { host.cast::<u64>().read() })
    }

    fn update(&mut self, physical: u64, old: u64, new: u64) -> Option<bool> {
        let host = self.memory.host(physical & !7)?.cast::<u64>();
        // Safety: as above.
        unsafe {
            if host.read() != old {
                return Some(false);
            }
            host.write(new);
        }
        self.dropped |= self.code.written(physical, 8);
        self.updated = true;
        break_reservations(self.reservations, self.hart, physical, 8);
        self.charge(physical, true);
        Some(true)
    }
}

/// Takes back the reservations of harts other than `index` that the written bytes touch.
fn break_reservations(reservations: &mut [u64], index: usize, physical: u64, length: u64) {
    for (other, address) in reservations.iter_mut().enumerate() {
        let touched =
            *address < physical.wrapping_add(length) && address.wrapping_add(8) > physical;
        if other != index && *address != NO_RESERVATION && touched {
            *address = NO_RESERVATION;
        }
    }
}

impl Machine {
    /// Ticks of `time` at a hart's cycle.
    pub(crate) fn ticks(&self, cycle: u64) -> u64 {
        self.timebase
            .cycle_at(self.clock.time_of(cycle))
            .wrapping_add(self.time_offset)
    }

    /// The first cycle that does not begin before `time`; for the end of time, the last there is.
    pub(crate) fn cycle_from(&self, time: Femtoseconds) -> u64 {
        if time == Femtoseconds::NEVER {
            u64::MAX
        } else {
            self.clock.cycle_from(time)
        }
    }

    /// The first cycle at which `time` is `ticks` more than at a hart's cycle. One that never comes is the last one.
    fn cycle_after(&self, cycle: u64, ticks: u64) -> u64 {
        let now = self.timebase.cycle_at(self.clock.time_of(cycle));
        // A sum beyond the last tick must not come out as one that has passed: `mtime` may have been set back.
        self.clock
            .cycle_from(self.timebase.time_of(now.saturating_add(ticks)))
    }

    /// The first cycle at which `hart` has an interrupt of its own timers; none without any change: the end of time.
    pub(crate) fn timer_cycle(&self, hart: &Hart) -> u64 {
        let now = self.ticks(hart.cycle());
        let value = hart.privileged.next_timer(now);
        value.map_or(u64::MAX, |value| {
            self.cycle_after(hart.cycle(), value.wrapping_sub(now))
        })
    }

    /// How often each event happened to the hart, by [`Event`] less 1.
    pub(crate) fn events(&self, hart: &Hart) -> [u64; Event::COUNT] {
        let counts = self.timing.counts(hart.index);
        let mut events = [0; Event::COUNT];
        for (event, count) in [
            (Event::BranchMispredicted, counts.mispredictions),
            (Event::InstructionCacheMiss, counts.fetch_misses),
            (
                Event::DataCacheMiss,
                counts.load_misses + counts.store_misses,
            ),
            (Event::SecondLevelCacheMiss, counts.level2_misses),
            (Event::Load, counts.loads),
            (Event::Store, counts.stores),
            (Event::InstructionTlbMiss, hart.happened.fetch_tlb_misses),
            (Event::DataTlbMiss, hart.happened.data_tlb_misses),
            (Event::PageWalkAccess, counts.walk_accesses),
            (Event::Interrupt, hart.happened.interrupts),
            (Event::Exception, hart.happened.exceptions),
        ] {
            events[event as usize - 1] = count;
        }
        events
    }

    /// The counts that `hart`'s counters are made of.
    pub(crate) fn counters<'a>(
        &self,
        hart: &Hart,
        events: &'a [u64; Event::COUNT],
    ) -> Counters<'a> {
        let cycle = hart.cycle();
        Counters {
            cycle,
            instructions: hart.instructions.wrapping_sub(1),
            time: self.ticks(cycle),
            events,
        }
    }

    /// Whether the hart has to look at interrupts, or to drop what is void, before it runs.
    #[inline]
    pub(crate) fn needs_attention(&self, hart: &Hart) -> bool {
        hart.waiting
            || hart.seen != (self.wires[hart.index], self.time_offset)
            || hart.cycle() >= hart.timer_cycle
            || hart.epoch != self.code.epoch()
            || hart.pages_epoch != self.code.pages_epoch()
    }

    /// What the run loop has to do before it goes on: drop what is void, take an interrupt, find how far to run.
    pub(crate) fn attend(&mut self, hart: &mut Hart) {
        self.drop_void(hart);
        self.see_interrupts(hart);
    }

    /// Drops what the hart keeps of code that is gone.
    pub(crate) fn drop_void(&self, hart: &mut Hart) {
        hart.link = std::ptr::null();
        if hart.epoch != self.code.epoch() {
            hart.epoch = self.code.epoch();
            hart.drop_jumps();
        }
        if hart.pages_epoch != self.code.pages_epoch() {
            hart.pages_epoch = self.code.pages_epoch();
            hart.stores.clear();
        }
    }

    fn see_interrupts(&mut self, hart: &mut Hart) {
        let time = self.ticks(hart.cycle());
        let wires = hart.privileged.latch(self.wires[hart.index]);
        self.wires[hart.index] = wires;
        if hart.waiting && hart.privileged.wake(wires, time) {
            hart.waiting = false;
            self.turned(hart);
        }
        if !hart.waiting
            && let Some(interrupt) = hart.privileged.interrupt(wires, time)
        {
            let pc = hart.pc;
            self.release(hart);
            self.order_trap(hart);
            hart.pc = hart.privileged.enter_interrupt(interrupt, pc);
            hart.refresh();
            hart.happened.interrupts += 1;
            self.charge_trap(hart);
            self.trace.interrupt(&self.timing, hart, interrupt, pc);
            self.turned(hart);
        }
        hart.seen = (wires, self.time_offset);
        hart.timer_cycle = self.timer_cycle(hart);
        hart.set_limit(hart.timer_cycle.min(hart.until));
    }

    /// The 16 bits of code at a physical address that is memory and even.
    pub(crate) fn halfword(&self, physical: u64) -> u16 {
        // Safety: aligned, so all of it is memory when its begin is.
        self.memory
            .host(physical)
            .map_or(0, |host| unsafe { host.cast::<u16>().read() })
    }

    /// The physical address of a pointer into memory.
    pub(crate) fn physical(&self, host: *mut u8) -> u64 {
        let begin = self
            .memory
            .host(self.memory.base())
            .map_or(0, |begin| begin as u64);
        (host as u64)
            .wrapping_sub(begin)
            .wrapping_add(self.memory.base())
    }

    /// The bits of the instruction of `op`.
    pub(crate) fn bits(&self, hart: &Hart, op: *const Op) -> u32 {
        let block = hart.running();
        if block.bits != 0 {
            return block.bits;
        }
        // Safety: an op of the running block.
        let physical = block.physical + 2 * u64::from(unsafe { (*op).at });
        self.instruction(physical)
    }

    /// The bits of the instruction at a physical address that is memory and even. It has to lie in one page.
    pub(crate) fn instruction(&self, physical: u64) -> u32 {
        let low = self.halfword(physical);
        if crate::decode::length(low) == 4 {
            u32::from(self.halfword(physical + 2)) << 16 | u32::from(low)
        } else {
            low.into()
        }
    }

    /// Whether the instruction at a physical address that is memory and even reaches into the next page.
    pub(crate) fn straddles(&self, physical: u64) -> bool {
        physical % PAGE == PAGE - 2 && crate::decode::length(self.halfword(physical)) == 4
    }

    /// The illegal-instruction exception of `op`.
    pub(crate) fn illegal(&self, hart: &Hart, op: *const Op) -> Trap {
        Trap::illegal(self.bits(hart, op))
    }

    /// Notes that the hart took an exception, at which it gives up its reservation.
    pub(crate) fn trapped(&mut self, hart: &mut Hart, trap: &Trap, pc: u64) {
        self.release(hart);
        self.order_trap(hart);
        hart.happened.exceptions += 1;
        self.charge_trap(hart);
        self.trace.exception(&self.timing, hart, trap, pc);
        self.turned(hart);
    }

    /// Reserves the 8 bytes around the physical address for the hart, by `op`.
    pub(crate) fn reserve(&mut self, hart: &mut Hart, op: *const Op, physical: u64) {
        self.reservations[hart.index] = physical & !7;
        hart.reserved_at = hart.instructions_until(op);
    }

    /// Takes the hart's reservation back.
    pub(crate) fn release(&mut self, hart: &Hart) {
        self.reservations[hart.index] = NO_RESERVATION;
    }

    /// Whether the hart holds a reservation of the 8 bytes around the physical address, at `op`.
    pub(crate) fn holds(&self, hart: &Hart, op: *const Op, physical: u64) -> bool {
        let since = hart.instructions_until(op).wrapping_sub(hart.reserved_at);
        self.reservations[hart.index] == physical & !7 && since <= RESERVATION_INSTRUCTIONS
    }

    /// Whether a hart other than `index` holds a reservation.
    pub(crate) fn others_hold(&self, index: usize) -> bool {
        self.reservations
            .iter()
            .enumerate()
            .any(|(other, address)| other != index && *address != NO_RESERVATION)
    }

    /// Whether hart `index` holds a reservation.
    pub(crate) fn holds_any(&self, index: usize) -> bool {
        self.reservations[index] != NO_RESERVATION
    }

    /// Notes that the hart wrote, or is about to write, to memory past its cache of host pointers.
    pub(crate) fn written(&mut self, hart: &mut Hart, physical: u64, size: u8) {
        if self.code.in_page(physical) && self.code.written(physical, size.into()) {
            hart.attention = true;
        }
        if hart.watched {
            self.break_reservations(hart.index, physical, size.into());
        }
    }

    /// Takes back the reservations of harts other than `index` that the written bytes touch.
    pub(crate) fn break_reservations(&mut self, index: usize, physical: u64, length: u64) {
        break_reservations(&mut self.reservations, index, physical, length);
    }

    /// Translates for the hart, and charges the walk.
    fn translate<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
        access: Access,
        context: &Context,
    ) -> Result<Translation, Trap> {
        let side = if access == Access::Fetch {
            Side::Fetch
        } else {
            Side::Data
        };
        let mut walk = None;
        if V::TIMED && !context.bare() {
            let (walks, page) = self.charge_translation(hart, address, side, context);
            walk = walks.then_some(page);
        }
        let mut tables = Tables {
            memory: &self.memory,
            code: &mut self.code,
            reservations: &mut self.reservations,
            dropped: false,
            updated: false,
            timing: walk.map(|_| &mut self.timing),
            hart: hart.index,
            now: hart.cycle(),
            stall: 0,
        };
        let translation = hart
            .privileged
            .translate(address, size, access, context, &mut tables);
        hart.budget -= tables.stall as i64;
        // Marks that a walk left in a page with code.
        hart.attention |= tables.dropped;
        if V::WEAK && tables.updated {
            self.written_from_outside();
        }
        if let (Some(page), Ok(_)) = (walk, &translation) {
            let left = self.timing.tlb_fill(hart.index, side, page);
            hart.page_left(side, left);
        }
        translation
    }

    /// The physical address of code at `address`, and whether all of its page may be run.
    ///
    /// # Errors
    ///
    /// The exception that fetching from there raises.
    pub(crate) fn fetch<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
    ) -> Result<(u64, bool), Trap> {
        if let Some(physical) = hart.fetch(address) {
            return Ok((physical, true));
        }
        let context = hart.privileged.fetch_context();
        let place = self.translate::<V>(hart, address, 2, Access::Fetch, &context)?;
        if self.memory.host(place.physical).is_none() {
            return Err(context.access_fault(address, Access::Fetch));
        }
        if place.whole_page {
            hart.enter_superpage(address, place.page);
            hart.enter_fetch(address, place.physical);
        }
        Ok((place.physical, place.whole_page))
    }

    /// The physical address of `size` bytes in one page, entered into the hart's caches where it may be.
    fn place<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
        access: Access,
        context: &Context,
        tag: Option<u64>,
    ) -> Result<u64, Trap> {
        let place = self.translate::<V>(hart, address, size, access, context)?;
        if self.probes.watches_page(address) {
            self.see_watched(hart, address, size, access);
        } else if let Some(tag) = tag
            && place.whole_page
            && let Some(host) = self.memory.host(place.physical)
        {
            hart.enter_superpage(address, place.page);
            if access == Access::Load {
                hart.loads.insert(address, tag, host);
            } else if !self.code.in_page(place.physical) {
                hart.stores.insert(address, tag, host);
            }
        }
        Ok(place.physical)
    }

    /// Ends the run behind an access to what is watched.
    #[cold]
    fn see_watched(&mut self, hart: &mut Hart, address: u64, size: u8, access: Access) {
        let write = access == Access::Store;
        if let Some(byte) = self.probes.watched(address, size, write) {
            self.watched_at = Some((hart.index, byte, write));
            self.disturbed = true;
            hart.attention = true;
        }
    }

    /// The places of `size` bytes that may lie in two pages: the first, how many bytes are there, the second.
    fn places<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
        access: Access,
        context: &Context,
        tag: Option<u64>,
    ) -> Result<(u64, u8, u64), Trap> {
        let left = PAGE - address % PAGE;
        if u64::from(size) <= left {
            return Ok((
                self.place::<V>(hart, address, size, access, context, tag)?,
                size,
                0,
            ));
        }
        let first = left as u8;
        let begin = self.place::<V>(hart, address, first, access, context, tag)?;
        let behind = address.wrapping_add(left);
        self.fault_offset = left;
        let rest = self.place::<V>(hart, behind, size - first, access, context, tag)?;
        self.fault_offset = 0;
        Ok((begin, first, rest))
    }

    /// Loads `size` bytes for `op`, past the hart's cache of host pointers.
    pub(crate) fn load<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        address: u64,
        size: u8,
    ) -> Result<u64, Trap> {
        let (context, tag) = (hart.privileged.data_context(), hart.load_tag);
        self.load_in::<V>(hart, op, address, size, Access::Load, &context, Some(tag))
    }

    /// Loads in any context.
    #[expect(clippy::too_many_arguments, reason = "all of it describes one access")]
    pub(crate) fn load_in<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        address: u64,
        size: u8,
        access: Access,
        context: &Context,
        tag: Option<u64>,
    ) -> Result<u64, Trap> {
        let (begin, first, rest) = self.places::<V>(hart, address, size, access, context, tag)?;
        let mut bytes = [0; 8];
        if first == size {
            if self.memory.holds(begin, size.into()) {
                self.read_memory::<V>(hart, begin, &mut bytes[..size as usize]);
                self.charge_bytes::<V>(hart, op, begin, size, false);
                return Ok(u64::from_le_bytes(bytes));
            }
            return self
                .read_device::<V>(hart, op, begin, size)
                .map_err(|_| context.access_fault(address, access));
        }
        for (index, byte) in bytes[..size as usize].iter_mut().enumerate() {
            let physical = if index < first as usize {
                begin + index as u64
            } else {
                rest + (index - first as usize) as u64
            };
            if !self.memory.holds(physical, 1) {
                return Err(context.access_fault(address, access));
            }
            self.read_memory::<V>(hart, physical, std::slice::from_mut(byte));
        }
        self.charge_bytes::<V>(hart, op, begin, first, false);
        self.charge_bytes::<V>(hart, op, rest, size - first, false);
        Ok(u64::from_le_bytes(bytes))
    }

    /// Loads `size` bytes as the guest would: for the hypervisor's loads.
    pub(crate) fn load_for_guest<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        address: u64,
        size: u8,
        access: Access,
        context: &Context,
    ) -> Result<u64, Trap> {
        if access != Access::Load {
            return self.load_in::<V>(hart, op, address, size, access, context, None);
        }
        let tag = hart.tag_of_other(context);
        if let Some(host) = hart.loads.find(address, size.into(), tag) {
            let physical = self.physical(host);
            let mut bytes = [0; 8];
            self.read_memory::<V>(hart, physical, &mut bytes[..size as usize]);
            self.charge_bytes::<V>(hart, op, physical, size, false);
            return Ok(u64::from_le_bytes(bytes));
        }
        self.load_in::<V>(hart, op, address, size, access, context, Some(tag))
    }

    /// Stores `size` bytes for `op`, past the hart's cache of host pointers.
    pub(crate) fn store<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        address: u64,
        size: u8,
        value: u64,
    ) -> Result<(), Trap> {
        if !V::WEAK
            && hart.watched
            && let Some(host) = hart.stores.find(address, size.into(), hart.load_tag)
        {
            let physical = self.physical(host);
            self.copy_in(physical, &value.to_le_bytes()[..size as usize]);
            self.break_reservations(hart.index, physical, size.into());
            self.charge_bytes::<V>(hart, op, physical, size, true);
            return Ok(());
        }
        let (context, tag) = (hart.privileged.data_context(), hart.load_tag);
        self.store_in::<V>(hart, op, address, size, value, &context, Some(tag))
    }

    /// Stores in any context.
    #[expect(clippy::too_many_arguments, reason = "all of it describes one access")]
    pub(crate) fn store_in<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        address: u64,
        size: u8,
        value: u64,
        context: &Context,
        tag: Option<u64>,
    ) -> Result<(), Trap> {
        let (begin, first, rest) =
            self.places::<V>(hart, address, size, Access::Store, context, tag)?;
        let bytes = value.to_le_bytes();
        let refused = context.access_fault(address, Access::Store);
        if first == size {
            if self.memory.holds(begin, size.into()) {
                self.write_memory::<V>(hart, begin, &bytes[..size as usize]);
                self.charge_bytes::<V>(hart, op, begin, size, true);
                return Ok(());
            }
            return self
                .write_device::<V>(hart, op, begin, size, value)
                .map_err(|_| refused);
        }
        if !self.memory.holds(begin, first.into())
            || !self.memory.holds(rest, (size - first).into())
        {
            return Err(refused);
        }
        self.write_memory::<V>(hart, begin, &bytes[..first as usize]);
        self.write_memory::<V>(hart, rest, &bytes[first as usize..size as usize]);
        self.charge_bytes::<V>(hart, op, begin, first, true);
        self.charge_bytes::<V>(hart, op, rest, size - first, true);
        Ok(())
    }

    /// Charges for an access past the cache of host pointers: to the lines of its first and last byte.
    fn charge_bytes<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        physical: u64,
        size: u8,
        write: bool,
    ) {
        if !V::TIMED {
            return;
        }
        let last = physical + u64::from(size) - 1;
        let mut stall = self
            .timing
            .data(hart.index, physical, write, hart.cycle_of(op));
        if (physical ^ last) >= 8 {
            stall += self
                .timing
                .data(hart.index, last, write, hart.cycle_of(op) + stall);
        }
        hart.attention |= Self::stall(hart, stall);
    }

    /// Carries out a load, or a part of one, from bytes that are in memory.
    fn read_memory<V: Variant>(&mut self, hart: &mut Hart, physical: u64, bytes: &mut [u8]) {
        if V::WEAK {
            let value = self.load_weakly(hart, physical, bytes.len() as u8);
            bytes.copy_from_slice(&value.to_le_bytes()[..bytes.len()]);
        } else {
            self.copy_out(physical, bytes);
        }
    }

    /// Carries out a store, or a part of one, to bytes that are in memory.
    fn write_memory<V: Variant>(&mut self, hart: &mut Hart, physical: u64, bytes: &[u8]) {
        if V::WEAK {
            self.store_weakly(hart, physical, bytes);
        } else {
            self.copy_in(physical, bytes);
            self.written(hart, physical, bytes.len() as u8);
        }
    }

    fn copy_out(&self, physical: u64, bytes: &mut [u8]) {
        if let Some(host) = self.memory.host(physical) {
            // Safety: the callers have asked whether all of it is memory.
            unsafe { std::ptr::copy_nonoverlapping(host, bytes.as_mut_ptr(), bytes.len()) }
        }
    }

    fn copy_in(&self, physical: u64, bytes: &[u8]) {
        if let Some(host) = self.memory.host(physical) {
            // Safety: the callers have asked whether all of it is memory.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, bytes.len()) }
        }
    }

    /// Where an atomic of `size` bytes finds its operand in memory, past the hart's cache of host pointers.
    fn atomic_place<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
        access: Access,
    ) -> Result<*mut u8, Trap> {
        let (context, tag) = (hart.privileged.data_context(), hart.load_tag);
        if !address.is_multiple_of(size.into()) {
            let cause = if access == Access::Load {
                Exception::LoadAddressMisaligned
            } else {
                Exception::StoreAddressMisaligned
            };
            return Err(Trap {
                guest_address: context.v,
                ..Trap::new(cause, address)
            });
        }
        let physical = self.place::<V>(hart, address, size, access, &context, Some(tag))?;
        self.memory
            .host(physical)
            .ok_or_else(|| context.access_fault(address, access))
    }

    /// The memory that a read-modify-write is about to change.
    pub(crate) fn exclusive<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
    ) -> Result<*mut u8, Trap> {
        let host = self.atomic_place::<V>(hart, address, size, Access::Store)?;
        self.written(hart, self.physical(host), size);
        Ok(host)
    }

    /// The memory that a load-reserved reads.
    pub(crate) fn reservable<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
    ) -> Result<*mut u8, Trap> {
        self.atomic_place::<V>(hart, address, size, Access::Load)
    }

    /// The memory that a store-conditional may change.
    pub(crate) fn conditional<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
    ) -> Result<*mut u8, Trap> {
        self.atomic_place::<V>(hart, address, size, Access::Store)
    }

    fn device_at(&self, physical: u64, size: u8) -> Result<(usize, u64), Refused> {
        let index = self
            .devices
            .partition_point(|device| device.base <= physical);
        let device = index
            .checked_sub(1)
            .and_then(|index| self.devices.get(index))
            .ok_or(Refused)?;
        let offset = physical - device.base;
        if offset >= device.size
            || u64::from(size) > device.size - offset
            || !offset.is_multiple_of(size.into())
        {
            return Err(Refused);
        }
        Ok((index - 1, offset))
    }

    fn read_device<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        physical: u64,
        size: u8,
    ) -> Result<u64, Refused> {
        let (index, offset) = self.device_at(physical, size)?;
        self.order_device(hart);
        let now = self.device_time::<V>(hart, op, physical, false);
        let (value, stall) = self.call(index, now, |device, port| device.read(offset, size, port));
        let Ok(value) = value else {
            self.after_access(hart, stall);
            return Err(Refused);
        };
        let when = (hart.cycle_of(op), now);
        self.trace.access(
            &self.timing,
            hart,
            when,
            physical,
            (index, offset),
            (false, value),
        );
        self.after_access(hart, stall);
        Ok(value & (u64::MAX >> (64 - 8 * u32::from(size))))
    }

    fn write_device<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        physical: u64,
        size: u8,
        value: u64,
    ) -> Result<(), Refused> {
        let (index, offset) = self.device_at(physical, size)?;
        self.order_device(hart);
        let now = self.device_time::<V>(hart, op, physical, true);
        let value = value & (u64::MAX >> (64 - 8 * u32::from(size)));
        let (result, stall) = self.call(index, now, |device, port| {
            device.write(offset, size, value, port)
        });
        let when = (hart.cycle_of(op), now);
        self.trace.access(
            &self.timing,
            hart,
            when,
            physical,
            (index, offset),
            (true, value),
        );
        self.after_access(hart, stall);
        result
    }

    /// When an access reaches its device: charges for the way there and back.
    fn device_time<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        physical: u64,
        write: bool,
    ) -> Femtoseconds {
        if V::TIMED {
            hart.budget -= self
                .timing
                .uncached(hart.index, physical, write, hart.cycle_of(op))
                as i64;
        }
        self.clock.time_of(hart.cycle_of(op))
    }

    /// Charges what a device's access took beyond the bus, and sees whether the block has to end.
    fn after_access(&mut self, hart: &mut Hart, stall: Femtoseconds) {
        hart.budget -= self.clock.cycle_from(stall) as i64;
        hart.attention |= self.disturbed || hart.budget <= 0;
    }

    /// Calls a device and does what it asks for. Gives its answer, and how long it stalls the access.
    pub(crate) fn call<T>(
        &mut self,
        index: usize,
        now: Femtoseconds,
        call: impl FnOnce(&mut dyn Device, &mut Port<'_>) -> T,
    ) -> (T, Femtoseconds) {
        self.call_part(index, now, |part, port| call(part.device(), port))
    }

    /// The same with what the device is.
    fn call_part<T>(
        &mut self,
        index: usize,
        now: Femtoseconds,
        call: impl FnOnce(&mut Part, &mut Port<'_>) -> T,
    ) -> (T, Femtoseconds) {
        let mut effects = Effects::default();
        let answer = {
            let part = &mut self.devices[index].device;
            let timing = self.timed.then_some(&mut self.timing);
            let port = Port::new(now, &self.memory, &mut self.lines, &mut effects);
            call(part, &mut port.with_timing(timing))
        };
        let (stall, mastered) = (effects.stall, effects.mastered);
        self.see_writes_of_fabric(&effects.written);
        self.apply(index, now, effects);
        self.see_lines(now);
        if mastered {
            self.see_writes_of_masters(now);
        }
        (answer, stall)
    }

    /// Calls the fabric's coupling, where there is one. Gives how long it stalls.
    pub(crate) fn call_fabric(
        &mut self,
        now: Femtoseconds,
        call: impl FnOnce(&mut Coupling, &mut Port<'_>),
    ) -> Femtoseconds {
        let Some(index) = self.fabric else {
            return Femtoseconds(0);
        };
        let called = self.call_part(index, now, |part, port| {
            if let Part::Fabric(fabric) = part {
                call(fabric, port);
            }
        });
        called.1
    }

    /// Drops code and reservations that the fabric wrote over.
    fn see_writes_of_fabric(&mut self, written: &[(u64, u64)]) {
        if !written.is_empty() {
            self.written_from_outside();
        }
        for &(address, length) in written {
            self.disturbed |= self.code.written(address, length);
            // It is no hart.
            break_reservations(&mut self.reservations, usize::MAX, address, length);
        }
    }

    /// Tells the PLIC of changed lines.
    pub(crate) fn see_lines(&mut self, now: Femtoseconds) {
        if !self.lines.take_changed() {
            return;
        }
        for plic in 0..self.devices.len() {
            if let Part::Plic(controller) = &mut self.devices[plic].device {
                let mut effects = Effects::default();
                controller.lines_changed(&mut Port::new(
                    now,
                    &self.memory,
                    &mut self.lines,
                    &mut effects,
                ));
                self.apply(plic, now, effects);
            }
        }
    }

    fn apply(&mut self, index: usize, now: Femtoseconds, effects: Effects) {
        if let Part::Clint(clint) = &self.devices[index].device {
            let offset = clint.offset();
            // Whoever waits for a time waits for another moment now.
            self.disturbed |= offset != self.time_offset;
            self.time_offset = offset;
        }
        for (hart, bits, level) in effects.wires {
            if let Some(wires) = self.wires.get_mut(hart) {
                let new = if level { *wires | bits } else { *wires & !bits };
                self.disturbed |= new != *wires;
                *wires = new;
            }
        }
        // A device that asks again for the time that it has asked for disturbs no one: one that was restored may.
        if let Some(time) = effects
            .wake_at
            .map(|time| time.max(now))
            .filter(|time| *time != self.devices[index].wake)
        {
            self.devices[index].wake = time;
            self.find_next_wake();
            self.disturbed = true;
        }
        if let Some(stop) = effects.stop {
            self.stop = Some(stop);
            self.disturbed = true;
        }
        if effects.postponed {
            self.postponed = true;
            self.disturbed = true;
        }
    }

    /// Finds the earliest time that a device is to be woken, after one of them changed.
    pub(crate) fn find_next_wake(&mut self) {
        let wakes = self.devices.iter().map(|device| device.wake);
        self.next_wake = wakes.min().unwrap_or(Femtoseconds::NEVER);
    }

    /// Drops code and reservations in the pages that bus masters wrote to.
    pub(crate) fn see_writes_of_masters(&mut self, now: Femtoseconds) {
        let mut written = false;
        self.memory.take_written(|page| {
            written = true;
            self.code.written(page, PAGE);
            if self.timed {
                self.timing
                    .master_write(page, PAGE, self.clock.cycle_at(now));
            }
            for address in &mut self.reservations {
                if *address / PAGE == page / PAGE {
                    *address = NO_RESERVATION;
                }
            }
        });
        if written {
            self.written_from_outside();
        }
        self.disturbed |= written;
    }

    /// Looks at the probes at `op`, which the hart is about to carry out. Whether the hart stops there.
    pub(crate) fn probe(&mut self, hart: &Hart, op: *const Op) -> bool {
        // Safety: the caller's op, of the running block.
        let (index, pc) = (hart.index, hart.pc_of(unsafe { &*op }));
        // What is behind is counted already.
        let begun = hart.instructions_until(op) - 1;
        if self
            .probes
            .at(pc)
            .any(|reaction| reaction == Reaction::Stop)
            && self.probes.stops(index, pc, begun)
        {
            self.stopped_at = Some((index, pc));
            self.disturbed = true;
            return true;
        }
        for reaction in self.probes.at(pc) {
            if let Reaction::Record(probe) = reaction {
                self.trace.probe(&self.timing, hart, op, probe);
            }
        }
        false
    }

    /// Notes that the hart does something else from here on, if it does.
    #[inline]
    pub(crate) fn turned(&mut self, hart: &mut Hart) {
        let on = hart.doing();
        if hart.account.current() != on {
            let (cycle, instructions) = (hart.cycle(), hart.instructions);
            hart.account.turn_to(on, cycle, instructions);
            self.trace.turn(&self.timing, hart, on);
        }
    }

    /// Fills in how many cycles a block takes by its pipeline alone.
    pub(crate) fn settle_cycles<V: Variant>(&self, draft: &mut Draft) {
        if !V::TIMED {
            draft.cycles.extend(1..=draft.instructions.len() as u16);
            return;
        }
        let mut schedule = Schedule::new(self.timing.pipeline());
        let mut cycles = 0_u16;
        for instruction in &draft.instructions {
            let more = instruction
                .as_ref()
                .map_or(1, |instruction| schedule.next(instruction));
            cycles = cycles.saturating_add(u16::try_from(more).unwrap_or(u16::MAX));
            draft.cycles.push(cycles);
        }
        draft.lines = self
            .timing
            .fetch_lines(draft.physical, 2 * u64::from(draft.halfwords));
    }

    /// Takes stall cycles off the hart's budget. Whether it can't finish its block with what is left.
    #[inline(always)]
    fn stall(hart: &mut Hart, stall: u64) -> bool {
        hart.budget -= stall as i64;
        hart.budget <= 0
    }

    /// Charges for fetching a block. Whether the budget is used up.
    #[inline(always)]
    pub(crate) fn charge_fetch(&mut self, hart: &mut Hart, block: &Block) -> bool {
        let stall = self
            .timing
            .fetch(hart.index, block.physical, block.lines, hart.cycle());
        Self::stall(hart, stall)
    }

    /// Charges for a load or store in memory. Whether the block has to end behind it.
    #[inline(always)]
    pub(crate) fn charge_data(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        host: *mut u8,
        write: bool,
    ) -> bool {
        let stall = self
            .timing
            .data(hart.index, self.physical(host), write, hart.cycle_of(op));
        Self::stall(hart, stall)
    }

    /// Charges for a load-reserved. Whether the block has to end behind it.
    pub(crate) fn charge_reserved(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        host: *mut u8,
    ) -> bool {
        // Safety: the caller's op.
        let ordering = unsafe { (*op).immediate };
        let stall =
            self.timing
                .load_reserved(hart.index, self.physical(host), ordering, hart.cycle_of(op));
        Self::stall(hart, stall)
    }

    /// Charges for a read-modify-write, or for a store-conditional that `stores` or not. Whether the block has to end
    /// behind it.
    pub(crate) fn charge_atomic(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        host: *mut u8,
        stores: bool,
    ) -> bool {
        // Safety: the caller's op.
        let ordering = unsafe { (*op).immediate };
        let (physical, now) = (self.physical(host), hart.cycle_of(op));
        let stall = self
            .timing
            .store_conditional(hart.index, physical, ordering, stores, now);
        Self::stall(hart, stall)
    }

    /// Which accesses before a fence are done before those behind it: input, output, reads, writes in bits 3 to 0.
    const fn predecessors(op: *const Op) -> u8 {
        // Safety: the caller's op.
        let immediate = unsafe { (*op).immediate };
        // fence.tso, of mode 8, waits for nothing.
        if immediate >> 8 & 15 == 8 {
            0
        } else {
            (immediate >> 4 & 15) as u8
        }
    }

    /// Lets the fabric answer what a fence orders. Whether the block has to end behind it.
    pub(crate) fn order_fabric(&mut self, hart: &mut Hart, op: *const Op) -> bool {
        if self.fabric.is_none() || Self::predecessors(op) & OUTPUT == 0 {
            return false;
        }
        let now = self.clock.time_of(hart.cycle_of(op));
        let stall = self.call_fabric(now, Coupling::drain);
        self.after_access(hart, stall);
        hart.attention
    }

    /// Charges for a fence. Whether the block has to end behind it.
    pub(crate) fn charge_fence(&mut self, hart: &mut Hart, op: *const Op) -> bool {
        let predecessors = Self::predecessors(op);
        let stall = self
            .timing
            .fence(hart.index, predecessors, hart.cycle_of(op));
        Self::stall(hart, stall)
    }

    /// Charges for `fence.i`, at the end of a block.
    pub(crate) fn charge_fence_i(&mut self, hart: &mut Hart) {
        let stall = self.timing.fence_i(hart.index, hart.cycle());
        Self::stall(hart, stall);
    }

    /// Charges for the end of a block.
    #[inline(always)]
    pub(crate) fn charge_branch(
        &mut self,
        hart: &mut Hart,
        pc: u64,
        kind: BranchKind,
        taken: bool,
        target: u64,
        behind: u64,
    ) {
        let stall = self
            .timing
            .branch(hart.index, pc, kind, taken, target, behind);
        Self::stall(hart, stall);
    }

    /// Charges for a trap.
    fn charge_trap(&self, hart: &mut Hart) {
        if self.timed {
            hart.budget -= self.timing.trap() as i64;
        }
    }

    /// Charges for what the hart's TLBs do for an address that the engine's own does not know. Whether page tables are
    /// walked, and the page.
    fn charge_translation(
        &mut self,
        hart: &mut Hart,
        address: u64,
        side: Side,
        context: &Context,
    ) -> (bool, Page) {
        if hart.spaces.len() > SPACES {
            // Software that makes up address spaces loses its translations once in a while.
            self.timing.tlb_remove(
                hart.index,
                |_| true,
                |side, page| hart.page_left(side, Some(page)),
            );
            hart.spaces.clear();
        }
        let page = Page {
            context: hart.space(context),
            number: address >> 12,
        };
        let found = self.timing.tlb(hart.index, side, page);
        if found != Lookup::Resident {
            match side {
                Side::Fetch => hart.happened.fetch_tlb_misses += 1,
                Side::Data => hart.happened.data_tlb_misses += 1,
            }
        }
        match found {
            Lookup::Resident => (false, page),
            Lookup::Refilled { stall, left } => {
                hart.budget -= stall as i64;
                hart.page_left(side, left);
                (false, page)
            }
            Lookup::Walk { stall } => {
                hart.budget -= stall as i64;
                (true, page)
            }
        }
    }

    /// Drops what the hart's TLBs hold of the guests' (`v`) or the machine's own address spaces: of one page, or all.
    pub(crate) fn drop_translations(&mut self, hart: &mut Hart, v: bool, address: Option<u64>) {
        if !self.timed {
            return;
        }
        let index = hart.index;
        let spaces = std::mem::take(&mut hart.spaces);
        self.timing.tlb_remove(
            index,
            |page| {
                address.is_none_or(|address| page.number == address >> 12)
                    && spaces
                        .iter()
                        .any(|space| space.number == page.context && space.v == v)
            },
            |side, page| hart.page_left(side, Some(page)),
        );
        hart.spaces = spaces;
    }
}
