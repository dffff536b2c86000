//! Admission control: which hart serves a real-time vCPU's reservation, or why none can.
//!
//! First fit: the vCPU is placed on the hart of the lowest number where it fits. If it fits on none, one other
//! real-time vCPU that may run on several harts can be moved to make room. Otherwise the request is refused, and
//! nothing changes.
//!
//! The search proceeds in steps. Each evaluates the reservations of one hart a few times, so that the caller can handle
//! interrupts between steps. A [`Search`] that finds the ledger changed restarts.
//!
//! # When a newcomer's first job may be released
//!
//! The remaining demand of a vCPU that leaves a hart adds to the demand of a newcomer, even after the old vCPU's last
//! period: in a busy period that began with the old one, its demand may be met late, and the newcomer's early. So the
//! caller must not release the first job of a new vCPU, of a moved vCPU or of a changed reservation on a hart before
//! that hart has *settled*: all vCPUs that were to leave it (deleted, moved or changed) have ended their last job
//! there, and since then it has once been idle as to real-time vCPUs. A vCPU that is moved must not wait: it is moved
//! to settled harts only, and its next job is released when it would have been on the old hart.

use crate::demand::{FULL_UTILISATION, Load, MEMBERS, Member, Test, Verdict};
use crate::ready::Handle;
use crate::reservation::Task;
use tactus_abi::blob::{Overheads, limit};
use tactus_abi::hypercall::Refusal;

/// Most evaluations of a hart's demand in one [`Search`], over all harts and moves that it tries; one test takes at
/// most [`crate::demand::EVALUATIONS`].
pub const EVALUATIONS: u32 = 4096;
/// Demand terms (evaluations of one reservation's demand) that one test at run time may take, see
/// [`Ledger::configure`]: some 15,000 instructions. With 32 vCPUs on a hart these are twelve evaluations of its demand,
/// with eight vCPUs four times as many. With a tenth of a hart to spare, nearly every set is decided in fewer. Next to
/// a full hart, and with deadlines much shorter than periods, some sets are refused as undecided.
pub const TERMS_AT_RUN_TIME: u32 = 12 * limit::RESERVATIONS_PER_HART as u32;
/// Demand terms that suffice for [`crate::demand::EVALUATIONS`] on a full hart.
pub const TERMS_MAX: u32 = crate::demand::EVALUATIONS * limit::RESERVATIONS_PER_HART as u32;

/// A request for a reservation, or for a change of one.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The vCPU. If it has a reservation, the request changes it: the test leaves the old one out, and prefers the hart
    /// where it is.
    pub handle: Handle,
    /// Its VM's index.
    pub vm: usize,
    /// The reservation requested.
    pub task: Task,
    /// Bit `n`: hart `n` is allowed. With several bits, admission may move the vCPU later.
    pub harts: u64,
}

/// The placement of an admitted vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its hart.
    pub hart: usize,
    /// The vCPU that is moved to make room, and its new hart.
    pub moved: Option<(Handle, usize)>,
}

/// The result of one step of a [`Search`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Another step is needed.
    More,
    /// The decision, valid for the ledger as it is now.
    Done(Result<Decision, Refusal>),
}

/// A reservation placed on a hart.
#[derive(Clone, Copy, Debug)]
struct Entry {
    member: Member,
    harts: u64,
    handle: Handle,
    vm: u16,
    /// Budget by period, in parts of 2^-32.
    share: u64,
}

const EMPTY: Entry = Entry {
    member: Member::NONE,
    harts: 0,
    handle: Handle::MAX,
    vm: 0,
    share: 0,
};

struct Hart {
    /// Ordered by deadline.
    entries: [Entry; MEMBERS],
    len: usize,
    /// Admits vCPUs at run time.
    open: bool,
    /// Total utilisation of the entries, in parts of 2^-32.
    utilisation: u64,
}

impl Hart {
    const EMPTY: Self = Self {
        entries: [EMPTY; MEMBERS],
        len: 0,
        open: false,
        utilisation: 0,
    };

    fn entries(&self) -> &[Entry] {
        self.entries.get(..self.len).unwrap_or(&[])
    }

    fn find(&self, handle: Handle) -> Option<&Entry> {
        self.entries().iter().find(|e| e.handle == handle)
    }

    fn insert(&mut self, entry: Entry) {
        if self.len >= MEMBERS {
            return;
        }
        let mut place = self.len;
        while place > 0 && self.entries[place - 1].member.deadline() > entry.member.deadline() {
            self.copy(place - 1, place);
            place -= 1;
        }
        self.entries[place] = entry;
        self.len += 1;
        self.utilisation += entry.member.utilisation();
    }

    /// Copies an entry within the table, field by field: copied as a whole, it would need the only general `memmove` in
    /// the hypervisor.
    fn copy(&mut self, from: usize, to: usize) {
        let Entry {
            member,
            harts,
            handle,
            vm,
            share,
        } = self.entries[from];
        self.entries[to] = Entry {
            member,
            harts,
            handle,
            vm,
            share,
        };
    }

    fn remove(&mut self, handle: Handle) -> Option<Entry> {
        let place = self.entries().iter().position(|e| e.handle == handle)?;
        let entry = *self.entries.get(place)?;
        self.len -= 1;
        for next in place..self.len.min(MEMBERS - 1) {
            self.copy(next + 1, next);
        }
        self.utilisation -= entry.member.utilisation();
        Some(entry)
    }

    /// Fills a load with the entries except two, plus another.
    fn fill_load(&self, load: &mut Load, without: [Handle; 2], with: Member) {
        load.clear();
        let mut with = Some(with);
        for entry in self.entries() {
            if let Some(member) = with.take_if(|m| m.deadline() < entry.member.deadline()) {
                load.push(member);
            }
            if entry.handle != without[0] && entry.handle != without[1] {
                load.push(entry.member);
            }
        }
        if let Some(member) = with {
            load.push(member);
        }
    }
}

/// The placement under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The newcomer on its current hart.
    CurrentHart,
    /// The newcomer on the hart.
    Fit,
    /// The newcomer on the hart, without the entry of that index.
    MakeRoom(usize),
    /// The entry of that index on another hart.
    Relocate(usize, usize),
}

/// The state of a search.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    version: u32,
    settled: u64,
    newcomer: Entry,
    stage: Stage,
    hart: usize,
    /// The load of [`Search::stage`] and its test.
    load: Load,
    test: Option<Test>,
    /// The reason, should no further stage succeed.
    refusal: Refusal,
    /// Evaluations of a hart's demand so far.
    pub evaluations: u32,
}

/// All reservations admitted, of `VCPUS` vCPUs on `HARTS` harts.
pub struct Ledger<const HARTS: usize, const VCPUS: usize> {
    harts: [Hart; HARTS],
    /// Harts in use.
    used: usize,
    /// Demand terms that one test may take.
    terms: u32,
    /// Bit `n`: hart `n` admits vCPUs at run time.
    opened: u64,
    overheads: Overheads,
    /// Utilisation of each hart that real-time vCPUs may have, in parts of 2^-32.
    limit: u64,
    /// By VM: the limit and the sum of its reservations, in parts of 2^-32 of one hart.
    shares: [(u64, u64); limit::VMS],
    /// By vCPU: its hart.
    hart_by_vcpu: [u8; VCPUS],
    version: u32,
}

const NO_HART: u8 = u8::MAX;

impl<const HARTS: usize, const VCPUS: usize> Default for Ledger<HARTS, VCPUS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const HARTS: usize, const VCPUS: usize> Ledger<HARTS, VCPUS> {
    /// An empty ledger without harts.
    pub const fn new() -> Self {
        assert!(HARTS <= limit::HARTS && VCPUS < Handle::MAX as usize);
        Self {
            harts: [const { Hart::EMPTY }; HARTS],
            used: 0,
            terms: 0,
            opened: 0,
            overheads: Overheads {
                job: 0,
                blocking: 0,
                service_period: 0,
                service: 0,
                release: 0,
            },
            limit: 0,
            shares: [(0, 0); limit::VMS],
            hart_by_vcpu: [NO_HART; VCPUS],
            version: 0,
        }
    }

    /// Sets the hypervisor's overheads, the part of each hart reserved for best-effort vCPUs (in thousandths), the
    /// number of harts, and the demand terms that a test of one hart may take: [`TERMS_AT_RUN_TIME`], or [`TERMS_MAX`]
    /// off-line.
    pub fn configure(
        &mut self,
        overheads: Overheads,
        reserve_thousandths: u32,
        harts: usize,
        terms: u32,
    ) {
        self.terms = terms;
        self.overheads = overheads;
        let left = 1000_u64.saturating_sub(reserve_thousandths.into());
        self.limit = FULL_UTILISATION * left / 1000;
        self.used = harts.min(HARTS);
    }

    /// Lets a hart, which schedules by deadline, admit vCPUs at run time.
    pub fn open_hart(&mut self, hart: usize) {
        if let Some(found) = self.harts.get_mut(hart) {
            found.open = true;
            self.opened |= 1 << hart;
        }
    }

    /// Limits the reservations of a VM, in thousandths of all harts together.
    pub fn set_share(&mut self, vm: usize, thousandths: u32) {
        let limit = (FULL_UTILISATION * u64::from(thousandths) * self.used as u64).div_ceil(1000);
        if let Some(share) = self.shares.get_mut(vm) {
            share.0 = limit;
        }
    }

    /// The entry of a request; `None`: it does not fit on an empty hart.
    fn entry(&self, request: &Request) -> Option<Entry> {
        let Task { reservation, kind } = request.task;
        Some(Entry {
            member: Member::new(reservation, kind, self.overheads.job)?,
            harts: request.harts,
            handle: request.handle,
            vm: request.vm as u16,
            share: (reservation.budget << 32) / reservation.period,
        })
    }

    fn insert(&mut self, entry: Entry, hart: usize) {
        let handle = usize::from(entry.handle);
        if let (Some(to), Some(place)) =
            (self.harts.get_mut(hart), self.hart_by_vcpu.get_mut(handle))
        {
            to.insert(entry);
            *place = hart as u8;
            if let Some(share) = self.shares.get_mut(usize::from(entry.vm)) {
                share.1 += entry.share;
            }
        }
        self.version = self.version.wrapping_add(1);
    }

    fn remove(&mut self, handle: Handle) -> Option<Entry> {
        let hart = self.hart_of(handle)?;
        let entry = self.harts.get_mut(hart)?.remove(handle)?;
        *self.hart_by_vcpu.get_mut(usize::from(handle))? = NO_HART;
        if let Some(share) = self.shares.get_mut(usize::from(entry.vm)) {
            share.1 -= entry.share;
        }
        self.version = self.version.wrapping_add(1);
        Some(entry)
    }

    /// Enters a reservation of the configuration, which has been tested off-line.
    pub fn enter(&mut self, request: &Request, hart: usize) {
        if let Some(entry) = self.entry(request) {
            self.insert(entry, hart);
        }
    }

    /// A vCPU's hart.
    pub fn hart_of(&self, handle: Handle) -> Option<usize> {
        let hart = *self.hart_by_vcpu.get(usize::from(handle))?;
        (hart != NO_HART).then_some(usize::from(hart))
    }

    /// Removes the reservation of a vCPU.
    pub fn leave(&mut self, handle: Handle) {
        self.remove(handle);
    }

    /// Begins a search with the cheap tests: the VM's share, and the utilisation of every hart. Bit `n` of `settled`: a
    /// vCPU may be moved to hart `n`, see the module.
    ///
    /// # Errors
    ///
    /// `Share`: the VM would exceed its share; `Utilisation`: no hart has the capacity, and no move could free it;
    /// `Demand`: the deadline is too short for the budget and the overhead of a job.
    pub fn begin(
        &self,
        request: &Request,
        settled: u64,
        search: &mut Search,
    ) -> Result<(), Refusal> {
        let entry = self.entry(request).ok_or(Refusal::Demand)?;
        let (limit, have) = self.shares.get(request.vm).copied().unwrap_or((0, 0));
        let old = self.hart_of(request.handle).and_then(|hart| {
            let entry = self.harts.get(hart)?.find(request.handle)?;
            Some((hart, entry.share))
        });
        if have - old.map_or(0, |o| o.1) + entry.share > limit {
            return Err(Refusal::Share);
        }
        // Moves cannot free more than all harts together have left.
        let (mut left, mut places) = (old.map_or(0, |_| FULL_UTILISATION), 0);
        for hart in self.harts.iter().take(self.used).filter(|h| h.open) {
            left += self.limit.saturating_sub(hart.utilisation);
            places += MEMBERS - hart.len;
        }
        if left < entry.member.utilisation() || (places == 0 && old.is_none()) {
            return Err(Refusal::Utilisation);
        }
        search.version = self.version;
        search.settled = settled;
        search.newcomer = entry;
        (search.stage, search.hart) = match old {
            Some((hart, _)) => (Stage::CurrentHart, hart),
            None => (Stage::Fit, 0),
        };
        search.load.set_overheads(&self.overheads);
        search.test = None;
        search.refusal = Refusal::Utilisation;
        search.evaluations = 0;
        Ok(())
    }

    /// The hart, if it admits vCPUs at run time and is one of `harts`.
    fn open_among(&self, harts: u64, hart: usize) -> Option<&Hart> {
        let allowed = hart < self.used && harts >> hart & 1 != 0;
        self.harts.get(hart).filter(|h| allowed && h.open)
    }

    /// Whether a hart without two of its entries has a free entry and the utilisation for a newcomer; if so, fills the
    /// load.
    fn fill_if_room(
        &self,
        load: &mut Load,
        hart: &Hart,
        without: [Handle; 2],
        with: Member,
    ) -> bool {
        let gone = hart
            .entries()
            .iter()
            .filter(|e| e.handle == without[0] || e.handle == without[1]);
        let (part, len) = gone.fold((hart.utilisation, hart.len), |(part, len), e| {
            (part - e.member.utilisation(), len - 1)
        });
        let room = len < MEMBERS && part + with.utilisation() <= self.limit;
        if room {
            hart.fill_load(load, without, with);
        }
        room
    }

    /// One step: evaluates the demand of one hart, or selects the next placement to test.
    ///
    /// It ends with `Demand` if some hart has the utilisation, but not before every deadline; with `Undecided` if
    /// [`EVALUATIONS`], or those of one [`Test`], do not suffice; with `Utilisation` if no hart has the utilisation or
    /// a free entry.
    pub fn step(&self, request: &Request, search: &mut Search) -> Step {
        if search.version != self.version {
            let evaluations = search.evaluations + 1;
            return match self.begin(request, search.settled, search) {
                Ok(()) => {
                    search.evaluations = evaluations;
                    Step::More
                }
                Err(refusal) => Step::Done(Err(refusal)),
            };
        }
        if search.evaluations >= EVALUATIONS {
            return Step::Done(Err(Refusal::Undecided));
        }
        let Some(test) = &mut search.test else {
            return self.next_candidate(request, search);
        };
        search.evaluations += 1;
        let terms = test.evaluations * search.load.members().len() as u32;
        let verdict = if terms < self.terms {
            test.step(&search.load)
        } else {
            Verdict::Undecided
        };
        if verdict == Verdict::Pending {
            return Step::More;
        }
        search.test = None;
        let fits = verdict == Verdict::Fits;
        if verdict == Verdict::Undecided {
            search.refusal = Refusal::Undecided;
        }
        search.stage = match search.stage {
            Stage::CurrentHart | Stage::Fit if fits => {
                return Step::Done(Ok(Decision {
                    hart: search.hart,
                    moved: None,
                }));
            }
            Stage::Relocate(index, to) if fits => {
                let hart = self.harts.get(search.hart);
                return Step::Done(Ok(Decision {
                    hart: search.hart,
                    moved: hart.and_then(|h| Some((h.entries().get(index)?.handle, to))),
                }));
            }
            Stage::MakeRoom(index) if fits => Stage::Relocate(index, 0),
            stage => {
                if verdict == Verdict::DemandExceeded
                    && matches!(stage, Stage::CurrentHart | Stage::Fit)
                    && search.refusal == Refusal::Utilisation
                {
                    search.refusal = Refusal::Demand;
                }
                search.advance(stage)
            }
        };
        Step::More
    }

    /// Selects the next placement that needs a test, in order, or ends the search. A step passes over at most the
    /// entries of one hart, or over the harts.
    fn next_candidate(&self, request: &Request, search: &mut Search) -> Step {
        let newcomer = search.newcomer.member;
        let load = &mut search.load;
        let candidate = match search.stage {
            Stage::CurrentHart | Stage::Fit => {
                if search.stage == Stage::Fit && search.hart >= self.used {
                    (search.stage, search.hart) = (Stage::MakeRoom(0), 0);
                    return Step::More;
                }
                let own = self.hart_of(request.handle) == Some(search.hart);
                self.open_among(request.harts, search.hart)
                    .filter(|_| own == (search.stage == Stage::CurrentHart))
                    .is_some_and(|hart| {
                        self.fill_if_room(load, hart, [request.handle; 2], newcomer)
                    })
            }
            Stage::MakeRoom(first) => {
                if search.hart >= self.used {
                    return Step::Done(Err(search.refusal));
                }
                let others = self.opened & !(1 << search.hart);
                let movable = |e: &Entry| e.handle != request.handle && e.harts & others != 0;
                let found = self
                    .open_among(request.harts, search.hart)
                    .and_then(|hart| {
                        let entries = hart.entries().get(first..)?;
                        let index = first + entries.iter().position(movable)?;
                        Some((hart, index, hart.entries().get(index)?.handle))
                    });
                let Some((hart, index, handle)) = found else {
                    (search.stage, search.hart) = (Stage::MakeRoom(0), search.hart + 1);
                    return Step::More;
                };
                search.stage = Stage::MakeRoom(index);
                self.fill_if_room(load, hart, [request.handle, handle], newcomer)
            }
            Stage::Relocate(index, to) => {
                if to >= self.used {
                    search.stage = Stage::MakeRoom(index + 1);
                    return Step::More;
                }
                let from = self.harts.get(search.hart);
                let entry = from.and_then(|from| from.entries().get(index));
                let settled = to != search.hart && search.settled >> to & 1 != 0;
                entry.filter(|_| settled).is_some_and(|entry| {
                    self.open_among(entry.harts, to).is_some_and(|hart| {
                        self.fill_if_room(load, hart, [Handle::MAX; 2], entry.member)
                    })
                })
            }
        };
        if candidate {
            search.test = Some(Test::new());
        } else {
            search.stage = search.advance(search.stage);
        }
        Step::More
    }

    /// Runs a search to its end.
    pub fn decide(&self, request: &Request, settled: u64) -> Result<Decision, Refusal> {
        let mut search = Search::new();
        self.begin(request, settled, &mut search)?;
        loop {
            if let Step::Done(decision) = self.step(request, &mut search) {
                return decision;
            }
        }
    }

    /// Enters a decision made for the ledger as it is. The current job of a moved vCPU, and of one whose reservation
    /// changes, ends when the vCPU waits; for the next job see the module.
    pub fn commit(&mut self, request: &Request, decision: Decision) {
        if let Some((handle, to)) = decision.moved
            && let Some(entry) = self.remove(handle)
        {
            self.insert(entry, to);
        }
        self.remove(request.handle);
        self.enter(request, decision.hart);
    }
}

impl Default for Search {
    fn default() -> Self {
        Self::new()
    }
}

impl Search {
    /// An idle search.
    pub const fn new() -> Self {
        Self {
            version: 0,
            settled: 0,
            newcomer: EMPTY,
            stage: Stage::Fit,
            hart: 0,
            load: Load::EMPTY,
            test: None,
            refusal: Refusal::Utilisation,
            evaluations: 0,
        }
    }

    /// The stage that follows one that failed.
    fn advance(&mut self, stage: Stage) -> Stage {
        match stage {
            Stage::CurrentHart => {
                self.hart = 0;
                Stage::Fit
            }
            Stage::Fit => {
                self.hart += 1;
                Stage::Fit
            }
            Stage::MakeRoom(index) => Stage::MakeRoom(index + 1),
            Stage::Relocate(index, to) => Stage::Relocate(index, to + 1),
        }
    }
}
