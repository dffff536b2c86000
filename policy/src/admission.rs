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
//! What a vCPU that has left a hart was still owed there can add up with what a newcomer demands. Two rules keep that from hurting
//! anybody ([`Ledger::free_from`]):
//!
//! * where the sum of `cost / deadline` of all, old ones and newcomer, with the hypervisor's own part, is at most the whole hart, the newcomer's first release
//!   is no earlier than the end of the old one's last period;
//! * otherwise it is no earlier than when the hart has been idle once: a busy time that began with the old ones is over after
//!   `(sum of costs + blocking + service) / (1 - utilisation)`, or when whoever sees it idle says so ([`Ledger::idle`]).
//!
//! (Without the second, vCPUs with deadlines shorter than their periods could miss: the demand of a vCPU that leaves is met late in a
//! busy time, and that of the newcomer early.)

use crate::demand::{Load, MEMBERS, Member, Test, Verdict, WHOLE};
use crate::ready::Handle;
use crate::reservation::{Kind, Reservation};
use tactus_abi::blob::{Overheads, limit};
use tactus_abi::hypercall::Refusal;

/// Looks at a hart's demand that one [`Trial`] takes, over all harts and moves it tries.
pub const EVALUATIONS: u32 = 4096;

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
#[derive(Clone, Copy)]
struct Entry {
    member: Member,
    task: Task,
    harts: u64,
    handle: Handle,
    vm: u16,
    /// Budget by period, in parts of 2^-32.
    share: u64,
}

const EMPTY: Entry = Entry {
    member: Member::NONE,
    task: Task {
        reservation: Reservation {
            period: 1,
            budget: 1,
            deadline: 1,
        },
        kind: Kind::Periodic,
    },
    harts: 0,
    handle: Handle::MAX,
    vm: 0,
    share: 0,
};

/// What the vCPUs that have left a hart had asked for, while the hart may not have been idle since. Parts of 2^-32.
#[derive(Clone, Copy)]
struct Lingering {
    /// Sum of the costs of one job of each.
    cost: u64,
    /// Sum of their parts.
    part: u64,
    /// The highest density that the hart had.
    density: u64,
}

impl Lingering {
    const NONE: Self = Self {
        cost: 0,
        part: 0,
        density: 0,
    };
}

struct Hart {
    entries: [Entry; MEMBERS],
    len: usize,
    /// It takes vCPUs at run time.
    open: bool,
    /// What the entries take, in parts of 2^-32.
    part: u64,
    /// End of the last period of the vCPUs that have left.
    gone: u64,
    /// When the hart has been idle since.
    idle: u64,
    lingering: Lingering,
}

impl Hart {
    const NEW: Self = Self {
        entries: [EMPTY; MEMBERS],
        len: 0,
        open: false,
        part: 0,
        gone: 0,
        idle: 0,
        lingering: Lingering::NONE,
    };

    fn entries(&self) -> &[Entry] {
        self.entries.get(..self.len).unwrap_or(&[])
    }

    fn find(&self, handle: Handle) -> Option<&Entry> {
        self.entries().iter().find(|e| e.handle == handle)
    }

    fn insert(&mut self, entry: Entry) {
        if let Some(place) = self.entries.get_mut(self.len) {
            *place = entry;
            self.len += 1;
            self.part += entry.member.part();
        }
    }

    fn remove(&mut self, handle: Handle) -> Option<Entry> {
        let place = self.entries().iter().position(|e| e.handle == handle)?;
        let entry = self.entries[place];
        self.len -= 1;
        self.entries[place] = self.entries[self.len];
        self.part -= entry.member.part();
        Some(entry)
    }

    /// The load without two and with another.
    fn load(&self, overheads: &Overheads, without: [Handle; 2], with: Option<Member>) -> Load {
        let mut load = Load::new(overheads);
        let stay = self
            .entries()
            .iter()
            .filter(|e| !without.contains(&e.handle));
        for member in stay.map(|e| e.member).chain(with) {
            load.add(member);
        }
        load
    }

    /// One leaves; its last period ends at `until`.
    fn depart(&mut self, overheads: &Overheads, handle: Handle, until: u64) -> Option<Entry> {
        let load = self.load(overheads, [Handle::MAX; 2], None);
        let entry = self.remove(handle)?;
        if until == 0 {
            return Some(entry);
        }
        if until.saturating_sub(entry.task.reservation.period) >= self.idle {
            self.lingering = Lingering::NONE;
        }
        let Lingering {
            cost,
            part,
            density,
        } = self.lingering;
        let busy = load.busy(cost, part).unwrap_or(u64::MAX);
        self.idle = self.idle.max(until.saturating_add(busy));
        let density = density.max(load.density());
        let gone = if load.is_linear(density) {
            until
        } else {
            self.idle
        };
        self.gone = self.gone.max(gone);
        self.lingering = Lingering {
            cost: cost + entry.member.cost(),
            part: part + entry.member.part() + 1,
            density,
        };
        Some(entry)
    }

    /// The earliest first release of a newcomer, which is in the load.
    fn free_from(&self, load: &Load) -> u64 {
        let density = self.lingering.density.max(load.density());
        if load.is_linear(density) {
            self.gone
        } else {
            self.idle.max(self.gone)
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
    now: u64,
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

    /// What the hypervisor takes, the part of each hart that is kept for best-effort vCPUs in thousandths, and the number of harts.
    pub fn configure(&mut self, overheads: Overheads, reserve_thousandths: u32, harts: usize) {
        self.overheads = overheads;
        let left = 1000_u64.saturating_sub(reserve_thousandths.into());
        self.limit = WHOLE * left / 1000;
        self.used = harts.min(HARTS);
    }

    /// The hart orders by deadline and takes vCPUs at run time.
    pub fn open_hart(&mut self, hart: usize) {
        if let Some(hart) = self.harts.get_mut(hart) {
            hart.open = true;
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
            task: request.task,
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

    fn remove(&mut self, handle: Handle, until: u64) -> Option<Entry> {
        let hart = self.hart_of(handle)?;
        let entry = self
            .harts
            .get_mut(hart)?
            .depart(&self.overheads, handle, until)?;
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

    /// The vCPU is no more. `until`: when its next job would have been released (of one that waits, no earlier than its present deadline);
    /// 0 if none of its jobs has been released.
    pub fn leave(&mut self, handle: Handle, until: u64) {
        self.remove(handle, until);
    }

    /// The earliest time for the first release of the vCPU that was put on the hart last.
    pub fn free_from(&self, hart: usize) -> u64 {
        self.harts.get(hart).map_or(u64::MAX, |hart| {
            hart.free_from(&hart.load(&self.overheads, [Handle::MAX; 2], None))
        })
    }

    /// At `now` no real-time vCPU of the hart had anything to do, nor any that is about to leave it: those that left before are owed
    /// nothing any more, and newcomers may begin earlier. A hart that is as good as full needs to be told.
    pub fn idle(&mut self, hart: usize, now: u64) {
        if let Some(hart) = self.harts.get_mut(hart) {
            hart.idle = hart.idle.min(now);
            hart.gone = hart.gone.min(now);
            hart.lingering = Lingering::NONE;
        }
    }

    /// Begins a search at `now`, with what is cheap to tell: its share, and the utilisation of every hart.
    ///
    /// `Share`: its VM would have more than its share; `Utilisation`: on no hart is so much time left, nor could be made; `Demand`: its
    /// deadline is too short for its budget and a job's overhead.
    pub fn begin(&self, request: &Request, now: u64) -> Result<Trial, Refusal> {
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
        let mut trial = Trial {
            version: self.version,
            now,
            stage: Stage::Place,
            hart: 0,
            load: Load::new(&self.overheads),
            test: None,
            refusal: Refusal::Utilisation,
            evaluations: 0,
        };
        if let Some((hart, _)) = old {
            (trial.stage, trial.hart) = (Stage::Own, hart);
        }
        Ok(trial)
    }

    /// A hart that takes vCPUs at run time and is one of `harts`.
    fn open(&self, harts: u64, hart: usize) -> Option<&Hart> {
        let allowed = hart < self.used && harts >> hart & 1 != 0;
        self.harts.get(hart).filter(|h| allowed && h.open)
    }

    /// The load of the hart with a newcomer and without two others, if there is a place and the time for it.
    fn room(&self, hart: &Hart, without: [Handle; 2], with: Member) -> Option<Load> {
        let gone = hart
            .entries()
            .iter()
            .filter(|e| without.contains(&e.handle));
        let (part, len) = gone.fold((hart.part, hart.len), |(part, len), e| {
            (part - e.member.part(), len - 1)
        });
        (len < MEMBERS && part + with.part() <= self.limit)
            .then(|| hart.load(&self.overheads, without, Some(with)))
    }

    /// One step: a look at one hart's demand, or the choice of where to look next.
    ///
    /// `Demand`: on some hart there is time, but not before every deadline; `Undecided`: [`EVALUATIONS`], or those of one [`Test`], were not
    /// enough, or a hart is so full that what has left it may be owed for ever ([`Ledger::idle`]); `Utilisation`: no hart has the time, or a
    /// place.
    pub fn step(&self, request: &Request, trial: &mut Trial) -> Step {
        if trial.version != self.version {
            let begun = self.begin(request, trial.now);
            return match begun {
                Ok(begun) => {
                    let evaluations = trial.evaluations + 1;
                    *trial = Trial {
                        evaluations,
                        ..begun
                    };
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
        let verdict = test.step(&trial.load);
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
        let Some(newcomer) = self.entry(request) else {
            return Step::Done(Err(Refusal::Demand));
        };
        let candidate = match trial.stage {
            Stage::Own | Stage::Place => {
                if trial.stage == Stage::Place && trial.hart >= self.used {
                    (trial.stage, trial.hart) = (Stage::Room(0), 0);
                    return Step::More;
                }
                let own = self.hart_of(request.handle) == Some(trial.hart);
                self.open(request.harts, trial.hart)
                    .filter(|_| own == (trial.stage == Stage::Own))
                    .and_then(|hart| self.room(hart, [request.handle; 2], newcomer.member))
            }
            Stage::Room(index) => {
                if trial.hart >= self.used {
                    return Step::Done(Err(trial.refusal));
                }
                let hart = self.open(request.harts, trial.hart);
                let Some((hart, entry)) = hart.and_then(|h| Some((h, h.entries().get(index)?)))
                else {
                    (trial.stage, trial.hart) = (Stage::Room(0), trial.hart + 1);
                    return Step::More;
                };
                let movable =
                    entry.handle != request.handle && entry.harts & !(1 << trial.hart) != 0;
                let without = [request.handle, entry.handle];
                movable
                    .then(|| self.room(hart, without, newcomer.member))
                    .flatten()
            }
            Stage::Move(index, to) => {
                if to >= self.used {
                    trial.stage = Stage::Room(index + 1);
                    return Step::More;
                }
                let from = self.harts.get(trial.hart);
                from.and_then(|from| {
                    let entry = from.entries().get(index)?;
                    let hart = self.open(entry.harts, to).filter(|_| to != trial.hart)?;
                    let load = self.room(hart, [Handle::MAX; 2], entry.member)?;
                    // It must not have to wait there.
                    (hart.free_from(&load) <= trial.now).then_some(load)
                })
            }
        };
        let hart = self.harts.get(trial.hart);
        let endless = |load: &Load| hart.is_some_and(|h| h.free_from(load) == u64::MAX);
        match candidate {
            Some(load) if !matches!(trial.stage, Stage::Move(..)) && endless(&load) => {
                trial.refusal = Refusal::Undecided;
                trial.stage = trial.pass(trial.stage);
            }
            Some(load) => {
                trial.load = load;
                trial.test = Some(Test::new());
            }
            None => trial.stage = trial.pass(trial.stage),
        }
        Step::More
    }

    /// All steps at once.
    pub fn decide(&self, request: &Request, now: u64) -> Result<Decision, Refusal> {
        let mut trial = self.begin(request, now)?;
        loop {
            if let Step::Done(decision) = self.step(request, &mut trial) {
                return decision;
            }
        }
    }

    /// Carries out what has been decided for the ledger as it is, and returns the earliest time for the first release of the
    /// requester's new reservation. `until`: when the next job of the vCPU that is moved, or whose reservation changes, would have been released
    /// where it was; the later one if both do; 0 if neither has had a release. From now on their present jobs end when they wait.
    pub fn commit(&mut self, request: &Request, decision: Decision, until: u64) -> u64 {
        if let Some((handle, to)) = decision.moved
            && let Some(entry) = self.remove(handle, until)
        {
            self.insert(entry, to);
        }
        let before = self.free_from(decision.hart);
        let old = self.hart_of(request.handle);
        let same = old.and_then(|hart| {
            let entry = self.harts.get(hart)?.find(request.handle)?;
            let (old, new) = (entry.task.reservation, request.task.reservation);
            let grid = (old.period, old.deadline) == (new.period, new.deadline)
                && hart == decision.hart
                && entry.task.kind == request.task.kind;
            grid.then_some(old.budget <= new.budget)
        });
        // Where the grid goes on the greater of both budgets has been proven to fit: the change itself need not wait. A
        // smaller one leaves behind what others must wait for.
        self.remove(request.handle, if same == Some(true) { 0 } else { until });
        self.enter(request, decision.hart);
        if same.is_some() {
            before.max(until)
        } else {
            self.free_from(decision.hart)
        }
    }
}

impl Trial {
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
