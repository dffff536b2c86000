//! Which hart a real-time vCPU is put on, if any: what is promised to whom, and the search for a place for one more.
//!
//! The first hart in order of number where it fits takes it. Where it fits nowhere, one other real-time vCPU that may
//! run on several harts may be moved to make room. Otherwise it is refused, and nothing changes.
//!
//! The search goes in steps, each of which looks at the reservations of one hart a few times: whoever runs it can attend to other things in
//! between. A [`Trial`] that finds the ledger changed begins anew.
//!
//! # When a newcomer may begin
//!
//! What a vCPU that leaves a hart is still owed there adds up with what a newcomer demands, even after its last period: in a busy time
//! that began with the old one, its demand may be met late, and the newcomer's early. So whoever carries a decision out lets no vCPU that comes to a hart, and
//! no changed reservation, have its first release there before the hart has been *settled*: since all those that were to leave it (by
//! deletion, move or change) have ended their last job there, it has been without work for real-time vCPUs once. A vCPU that is moved must
//! not wait: it goes to settled harts only, and is released there when it would have been where it was.

use crate::demand::{Load, MEMBERS, Member, Test, Verdict, WHOLE};
use crate::ready::Handle;
use crate::reservation::{Kind, Reservation};
use tactus_abi::blob::{Overheads, limit};
use tactus_abi::hypercall::Refusal;

/// Steps of tests that one [`Trial`] takes, over all harts and moves it tries; those of one are at most [`crate::demand::EVALUATIONS`].
pub const EVALUATIONS: u32 = 4096;
/// Looks at single reservations that one test at run time takes, see [`Ledger::configure`]: some 15,000 instructions. With 32 vCPUs on a hart
/// these are twelve looks at its demand, with eight of them four times as many. Where there is a tenth of a hart to spare, nearly every set is
/// decided in fewer; next to a full one, and with deadlines much shorter than periods, not every one is, and is refused undecided.
pub const LOOKS_AT_RUN_TIME: u32 = 12 * limit::RESERVATIONS_PER_HART as u32;
/// Looks that are always enough for as much as [`crate::demand::EVALUATIONS`] allow.
pub const LOOKS_MAX: u32 = crate::demand::EVALUATIONS * limit::RESERVATIONS_PER_HART as u32;

/// What is promised to a vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// So much time, every period.
    pub reservation: Reservation,
    /// What waiting means.
    pub kind: Kind,
}

/// A vCPU that wants a reservation, or another one.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Who. Entered already: this changes its reservation; it is judged without its old one and stays on its hart if it fits there.
    pub handle: Handle,
    /// Its VM's index.
    pub vm: usize,
    /// What it wants.
    pub task: Task,
    /// Bit `n`: it may be put on hart `n`. With several bits admission may move it later.
    pub harts: u64,
}

/// Where the vCPU goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its hart.
    pub hart: usize,
    /// Another vCPU, and the hart it goes to to make room.
    pub moved: Option<(Handle, usize)>,
}

/// What a step of a [`Trial`] has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Another is needed.
    More,
    /// It is decided, for the ledger as it is now.
    Done(Result<Decision, Refusal>),
}

/// A vCPU on a hart.
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
    /// In order of deadline.
    entries: [Entry; MEMBERS],
    len: usize,
    /// It takes vCPUs at run time.
    open: bool,
    /// What the entries take, in parts of 2^-32.
    part: u64,
}

impl Hart {
    const NEW: Self = Self {
        entries: [EMPTY; MEMBERS],
        len: 0,
        open: false,
        part: 0,
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
        self.part += entry.member.part();
    }

    /// Copies an entry within the table, field by field: as a whole it would take the one general `memmove` in the hypervisor.
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
        self.part -= entry.member.part();
        Some(entry)
    }

    /// Makes a load of the entries without two and with another.
    fn fill(&self, load: &mut Load, without: [Handle; 2], with: Member) {
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

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The newcomer on the hart; it is its own already.
    Own,
    /// The newcomer on the hart.
    Place,
    /// The newcomer on the hart, without the entry of that index.
    Room(usize),
    /// That entry on another hart.
    Move(usize, usize),
}

/// A search under way.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    version: u32,
    settled: u64,
    newcomer: Entry,
    stage: Stage,
    hart: usize,
    /// The load of [`Trial::stage`] and its test.
    load: Load,
    test: Option<Test>,
    /// Why not, if it ends here.
    refusal: Refusal,
    /// Steps that looked at a hart's demand, so far.
    pub evaluations: u32,
}

/// What is promised to whom, of `HARTS` harts to `VCPUS` vCPUs.
pub struct Ledger<const HARTS: usize, const VCPUS: usize> {
    harts: [Hart; HARTS],
    /// Harts in use.
    used: usize,
    /// Looks at single reservations that one test may take.
    looks: u32,
    /// Harts, as bits, that take vCPUs at run time.
    opened: u64,
    overheads: Overheads,
    /// Of each hart, for real-time vCPUs, in parts of 2^-32.
    limit: u64,
    /// Of each VM: what it may have and what it has, of one hart, in parts of 2^-32.
    shares: [(u64, u64); limit::VMS],
    /// Each vCPU's hart.
    place: [u8; VCPUS],
    version: u32,
}

const NOWHERE: u8 = u8::MAX;

impl<const HARTS: usize, const VCPUS: usize> Default for Ledger<HARTS, VCPUS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const HARTS: usize, const VCPUS: usize> Ledger<HARTS, VCPUS> {
    /// Nothing is promised, and nothing can be.
    pub const fn new() -> Self {
        assert!(HARTS <= limit::HARTS && VCPUS < Handle::MAX as usize);
        Self {
            harts: [const { Hart::NEW }; HARTS],
            used: 0,
            looks: 0,
            opened: 0,
            overheads: Overheads {
                job: 0,
                blocking: 0,
                service_period: 0,
                service: 0,
            },
            limit: 0,
            shares: [(0, 0); limit::VMS],
            place: [NOWHERE; VCPUS],
            version: 0,
        }
    }

    /// What the hypervisor takes, the part of each hart that is kept for best-effort vCPUs in thousandths, the number of harts, and the
    /// looks that a test of one hart may take: [`LOOKS_AT_RUN_TIME`], or [`LOOKS_MAX`] where time does not count.
    pub fn configure(
        &mut self,
        overheads: Overheads,
        reserve_thousandths: u32,
        harts: usize,
        looks: u32,
    ) {
        self.looks = looks;
        self.overheads = overheads;
        let left = 1000_u64.saturating_sub(reserve_thousandths.into());
        self.limit = WHOLE * left / 1000;
        self.used = harts.min(HARTS);
    }

    /// The hart orders by deadline and takes vCPUs at run time.
    pub fn open_hart(&mut self, hart: usize) {
        if let Some(found) = self.harts.get_mut(hart) {
            found.open = true;
            self.opened |= 1 << hart;
        }
    }

    /// What the VM may have for its real-time vCPUs, in thousandths of all harts together.
    pub fn set_share(&mut self, vm: usize, thousandths: u32) {
        let limit = (WHOLE * u64::from(thousandths) * self.used as u64).div_ceil(1000);
        if let Some(share) = self.shares.get_mut(vm) {
            share.0 = limit;
        }
    }

    /// The entry that the request makes; `None`: it would not fit on an empty hart.
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
        if let (Some(to), Some(place)) = (self.harts.get_mut(hart), self.place.get_mut(handle)) {
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
        *self.place.get_mut(usize::from(handle))? = NOWHERE;
        if let Some(share) = self.shares.get_mut(usize::from(entry.vm)) {
            share.1 -= entry.share;
        }
        self.version = self.version.wrapping_add(1);
        Some(entry)
    }

    /// Enters a vCPU without a test: the configuration has been checked.
    pub fn enter(&mut self, request: &Request, hart: usize) {
        if let Some(entry) = self.entry(request) {
            self.insert(entry, hart);
        }
    }

    /// A vCPU's hart.
    pub fn hart_of(&self, handle: Handle) -> Option<usize> {
        let hart = *self.place.get(usize::from(handle))?;
        (hart != NOWHERE).then_some(usize::from(hart))
    }

    /// The vCPU is no more, or is to have no reservation any more.
    pub fn leave(&mut self, handle: Handle) {
        self.remove(handle);
    }

    /// Begins a search, with what is cheap to tell: its share, and the utilisation of every hart. Bit `n` of `settled`: a vCPU may be moved
    /// to hart `n`, see the module.
    ///
    /// `Share`: its VM would have more than its share; `Utilisation`: on no hart is so much time left, nor could be made; `Demand`: its
    /// deadline is too short for its budget and a job's overhead.
    pub fn begin(&self, request: &Request, settled: u64, trial: &mut Trial) -> Result<(), Refusal> {
        let entry = self.entry(request).ok_or(Refusal::Demand)?;
        let (limit, have) = self.shares.get(request.vm).copied().unwrap_or((0, 0));
        let old = self.hart_of(request.handle).and_then(|hart| {
            let entry = self.harts.get(hart)?.find(request.handle)?;
            Some((hart, entry.share))
        });
        if have - old.map_or(0, |o| o.1) + entry.share > limit {
            return Err(Refusal::Share);
        }
        // Moving others about brings no more than all harts have left.
        let (mut left, mut places) = (old.map_or(0, |_| WHOLE), 0);
        for hart in self.harts.iter().take(self.used).filter(|h| h.open) {
            left += self.limit.saturating_sub(hart.part);
            places += MEMBERS - hart.len;
        }
        if left < entry.member.part() || (places == 0 && old.is_none()) {
            return Err(Refusal::Utilisation);
        }
        trial.version = self.version;
        trial.settled = settled;
        trial.newcomer = entry;
        (trial.stage, trial.hart) = match old {
            Some((hart, _)) => (Stage::Own, hart),
            None => (Stage::Place, 0),
        };
        trial.load.set_overheads(&self.overheads);
        trial.test = None;
        trial.refusal = Refusal::Utilisation;
        trial.evaluations = 0;
        Ok(())
    }

    /// A hart that takes vCPUs at run time and is one of `harts`.
    fn open(&self, harts: u64, hart: usize) -> Option<&Hart> {
        let allowed = hart < self.used && harts >> hart & 1 != 0;
        self.harts.get(hart).filter(|h| allowed && h.open)
    }

    /// Whether the hart has a place and the time for a newcomer when two others are gone; makes a load of these if so.
    fn room(&self, load: &mut Load, hart: &Hart, without: [Handle; 2], with: Member) -> bool {
        let gone = hart
            .entries()
            .iter()
            .filter(|e| e.handle == without[0] || e.handle == without[1]);
        let (part, len) = gone.fold((hart.part, hart.len), |(part, len), e| {
            (part - e.member.part(), len - 1)
        });
        let room = len < MEMBERS && part + with.part() <= self.limit;
        if room {
            hart.fill(load, without, with);
        }
        room
    }

    /// One step: a look at one hart's demand, or the choice of where to look next.
    ///
    /// `Demand`: on some hart there is time, but not before every deadline; `Undecided`: [`EVALUATIONS`], or those of one [`Test`], were not
    /// enough; `Utilisation`: no hart has the time, or a place.
    pub fn step(&self, request: &Request, trial: &mut Trial) -> Step {
        if trial.version != self.version {
            let evaluations = trial.evaluations + 1;
            return match self.begin(request, trial.settled, trial) {
                Ok(()) => {
                    trial.evaluations = evaluations;
                    Step::More
                }
                Err(refusal) => Step::Done(Err(refusal)),
            };
        }
        if trial.evaluations >= EVALUATIONS {
            return Step::Done(Err(Refusal::Undecided));
        }
        let Some(test) = &mut trial.test else {
            return self.choose(request, trial);
        };
        trial.evaluations += 1;
        let looks = test.evaluations * trial.load.members().len() as u32;
        let verdict = if looks < self.looks {
            test.step(&trial.load)
        } else {
            Verdict::Unknown
        };
        if verdict == Verdict::Open {
            return Step::More;
        }
        trial.test = None;
        let fits = verdict == Verdict::Fits;
        if verdict == Verdict::Unknown {
            trial.refusal = Refusal::Undecided;
        }
        trial.stage = match trial.stage {
            Stage::Own | Stage::Place if fits => {
                return Step::Done(Ok(Decision {
                    hart: trial.hart,
                    moved: None,
                }));
            }
            Stage::Move(index, to) if fits => {
                let hart = self.harts.get(trial.hart);
                return Step::Done(Ok(Decision {
                    hart: trial.hart,
                    moved: hart.and_then(|h| Some((h.entries().get(index)?.handle, to))),
                }));
            }
            Stage::Room(index) if fits => Stage::Move(index, 0),
            stage => {
                if verdict == Verdict::Late
                    && matches!(stage, Stage::Own | Stage::Place)
                    && trial.refusal == Refusal::Utilisation
                {
                    trial.refusal = Refusal::Demand;
                }
                trial.pass(stage)
            }
        };
        Step::More
    }

    /// Takes the next of what may be tried, in order, up to one that needs a test; or ends the search. A step passes over the
    /// entries of one hart, or over the harts, at most.
    fn choose(&self, request: &Request, trial: &mut Trial) -> Step {
        let newcomer = trial.newcomer.member;
        let load = &mut trial.load;
        let candidate = match trial.stage {
            Stage::Own | Stage::Place => {
                if trial.stage == Stage::Place && trial.hart >= self.used {
                    (trial.stage, trial.hart) = (Stage::Room(0), 0);
                    return Step::More;
                }
                let own = self.hart_of(request.handle) == Some(trial.hart);
                self.open(request.harts, trial.hart)
                    .filter(|_| own == (trial.stage == Stage::Own))
                    .is_some_and(|hart| self.room(load, hart, [request.handle; 2], newcomer))
            }
            Stage::Room(first) => {
                if trial.hart >= self.used {
                    return Step::Done(Err(trial.refusal));
                }
                let others = self.opened & !(1 << trial.hart);
                let movable = |e: &Entry| e.handle != request.handle && e.harts & others != 0;
                let found = self.open(request.harts, trial.hart).and_then(|hart| {
                    let entries = hart.entries().get(first..)?;
                    let index = first + entries.iter().position(movable)?;
                    Some((hart, index, hart.entries().get(index)?.handle))
                });
                let Some((hart, index, handle)) = found else {
                    (trial.stage, trial.hart) = (Stage::Room(0), trial.hart + 1);
                    return Step::More;
                };
                trial.stage = Stage::Room(index);
                self.room(load, hart, [request.handle, handle], newcomer)
            }
            Stage::Move(index, to) => {
                if to >= self.used {
                    trial.stage = Stage::Room(index + 1);
                    return Step::More;
                }
                let from = self.harts.get(trial.hart);
                let entry = from.and_then(|from| from.entries().get(index));
                let settled = to != trial.hart && trial.settled >> to & 1 != 0;
                entry.filter(|_| settled).is_some_and(|entry| {
                    self.open(entry.harts, to)
                        .is_some_and(|hart| self.room(load, hart, [Handle::MAX; 2], entry.member))
                })
            }
        };
        if candidate {
            trial.test = Some(Test::new());
        } else {
            trial.stage = trial.pass(trial.stage);
        }
        Step::More
    }

    /// All steps at once.
    pub fn decide(&self, request: &Request, settled: u64) -> Result<Decision, Refusal> {
        let mut trial = Trial::new();
        self.begin(request, settled, &mut trial)?;
        loop {
            if let Step::Done(decision) = self.step(request, &mut trial) {
                return decision;
            }
        }
    }

    /// Enters what has been decided for the ledger as it is. The jobs that the one that is moved, and the one whose reservation changes, now
    /// have end when they wait; see the module for the next.
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

impl Default for Trial {
    fn default() -> Self {
        Self::new()
    }
}

impl Trial {
    /// Of nothing yet.
    pub const fn new() -> Self {
        Self {
            version: 0,
            settled: 0,
            newcomer: EMPTY,
            stage: Stage::Place,
            hart: 0,
            load: Load::EMPTY,
            test: None,
            refusal: Refusal::Utilisation,
            evaluations: 0,
        }
    }

    /// What comes after a stage that leads nowhere.
    fn pass(&mut self, stage: Stage) -> Stage {
        match stage {
            Stage::Own => {
                self.hart = 0;
                Stage::Place
            }
            Stage::Place => {
                self.hart += 1;
                Stage::Place
            }
            Stage::Room(index) => Stage::Room(index + 1),
            Stage::Move(index, to) => Stage::Move(index, to + 1),
        }
    }
}
