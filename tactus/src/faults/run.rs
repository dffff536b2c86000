//! One run of a campaign: a pure function of the campaign and the run's number.
//!
//! A [`Walker`] goes through the window without any fault. At the time of each one it is copied, and the copy goes on
//! with the fault, to the end.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use miette::miette;
use serde::{Deserialize, Serialize};
use tactus_board::board::Pace;
use tactus_board::fault::{Cache, Fault as BoardFault};
use tactus_board::time::Femtoseconds;
use tactus_board::timing::{RegisterOf, Uses};

use super::description::{Begin, Campaign, Fault, Kind, Power, cache_name, register_name};
use super::judge::{Judged, Reference, Verdict};
use super::lives::number_of;
use super::reboot::Loss;
use super::space::{Drawn, Space, What, femtoseconds};
use super::takeover::Takeover;
use crate::attack::catalog::Attack;
use crate::attack::run::{Lab, Shown, Unfit};
use crate::attack::verdict::Watched;
use crate::config::{Config, Source};
use crate::run::Boot;
use crate::run::board::live::{Live, Pattern, Stop, Until};
use crate::run::board::{Marker, Options, Worker};
use crate::run::journal::VmJournal;
use crate::sweep::description::{Base, Invalid};

/// Virtual time within which the phase that a window begins with is to come.
const PHASE_MAX: Femtoseconds = Femtoseconds(60 * Femtoseconds::SECOND.0);
/// Why nothing can go wrong any more.
const ENDED: &str = "the system has ended";
/// How far a copy goes until it looks again whether a VM has a hart.
const STEP: Femtoseconds = Femtoseconds(Femtoseconds::SECOND.0 / 1_000_000);

/// A line of the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The run's number, from 0.
    pub run: u32,
    /// The kind of fault.
    pub fault: String,
    /// What has gone wrong, in words.
    pub what: String,
    /// When, in femtoseconds since reset.
    pub at: u64,
    /// What it has done.
    pub verdict: Verdict,
    /// The VMs that have changed.
    pub changed: Vec<String>,
    /// Why that is the verdict.
    pub reasons: Vec<String>,
    /// Whether all that happened is as without the fault.
    pub is_same: bool,
    /// The hash of all that happened.
    pub trace_hash: String,
    /// Whether it was carried out. If not, its verdict follows from the run without a fault.
    pub is_carried_out: bool,
    /// Of all places and times of the kind, the part that the fault was drawn from, in
    /// [`SHARES`](super::space::SHARES).
    pub share: u64,
}

/// A system that faults can be let happen in.
#[derive(Debug)]
pub struct Subject {
    campaign: Campaign,
    boot: Arc<Boot>,
    options: Options,
    watched: Vec<Watched>,
    /// Of each kind of fault, what it needs if a VM turns hostile by it.
    takeovers: Vec<Option<Takeover>>,
}

/// The number of a run, when it was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl Subject {
    /// Judges and builds the campaign's system.
    ///
    /// # Errors
    /// It has errors, or something that it needs is missing.
    pub fn of(campaign: Campaign) -> Result<Self, Unfit> {
        let Base {
            name,
            directory,
            document,
        } = &campaign.system;
        let source = Source::new(name, document.to_string());
        let read = Config::parse(source, directory);
        let lab = Lab::read(name.clone(), read, campaign.seed, campaign.length)?;
        let boot = lab.as_is()?;
        let takeover = |fault: &Fault| {
            let Kind::Hostile { vm, attack, .. } = &fault.kind else {
                return Ok(None);
            };
            Takeover::of(&lab, &boot.image.memories, vm, *attack)
                .map(Some)
                .map_err(|why| fault.invalid(&campaign, why))
        };
        let takeovers: Result<Vec<_>, Invalid> = campaign.faults.iter().map(takeover).collect();
        let takeovers = takeovers.map_err(|invalid| Unfit::Other(invalid.into()))?;
        let all: Vec<usize> = (0..boot.image.vms.len()).collect();
        let (mut options, watched) = lab.watching(&boot, &all, None)?;
        options.quantum = campaign.quantum;
        options.memory_model = campaign.memory_model;
        let mut kinds = campaign.faults.iter().map(|fault| &fault.kind);
        options.keeps_power_on = kinds.any(|kind| matches!(kind, Kind::Power(_)));
        if campaign.pace == Pace::Timed {
            options.timed_from = Some(match &campaign.from {
                Begin::Phase(name) => Marker::Phase(name.clone()),
                Begin::Time(time) => {
                    let ticks = u128::from(time.0) * u128::from(options.profile.clock_hz);
                    Marker::Cycle((ticks / 1_000_000_000) as u64)
                }
            });
        }
        Ok(Self {
            campaign,
            boot: Arc::new(boot),
            options,
            watched,
            takeovers,
        })
    }

    /// The campaign.
    pub const fn campaign(&self) -> &Campaign {
        &self.campaign
    }

    /// What is booted.
    pub fn boot(&self) -> &Boot {
        &self.boot
    }

    /// The images of hostile guests that VMs go on in.
    pub fn hostile_images(&self) -> impl Iterator<Item = &[u8]> {
        self.takeovers.iter().flatten().flat_map(Takeover::image)
    }

    /// What a run has shown by now.
    pub fn shown(&self, live: &mut Live) -> Shown {
        Shown::of(live.outcome(), self.watched.clone())
    }

    /// The VM that turns hostile by a kind of fault, and the file of its guest.
    pub fn hostile(&self, kind: usize) -> Option<(usize, Option<&Path>)> {
        self.takeovers[kind].as_ref().map(Takeover::guest)
    }

    /// What a VM needs to turn hostile by a kind of fault.
    fn takeover(&self, kind: usize) -> miette::Result<&Takeover> {
        let takeover = self.takeovers[kind].as_ref();
        takeover.ok_or_else(|| miette!("no VM turns hostile by this kind of fault"))
    }

    /// Runs the system to the beginning of the window.
    ///
    /// # Errors
    /// It does not come there, a fault names what is not there, or it was interrupted.
    pub fn start(self: &Arc<Self>, cancel: &AtomicBool) -> miette::Result<Option<Walker>> {
        let mut live = Live::new(Arc::clone(&self.boot), self.options.clone())?;
        let (until, limit) = match &self.campaign.from {
            Begin::Time(time) => (Until::Time(femtoseconds(time.0)), None),
            Begin::Phase(name) => {
                let pattern = Pattern {
                    kind: "phase".to_owned(),
                    fields: vec![("name".to_owned(), name.clone())],
                    source: None,
                };
                (Until::Record(pattern), Some(PHASE_MAX))
            }
        };
        match live.run(&until, limit, &mut || !cancel.load(Ordering::Relaxed)) {
            Stop::Reached { .. } => {}
            Stop::Interrupted => return Ok(None),
            stop => {
                return Err(miette!(
                    help = "see with `tactus run` how far it comes",
                    "the system does not come to the beginning of the window: {stop:?}"
                ));
            }
        }
        if let Some(vm) = live.journal().vms.iter().find(|vm| vm.failed()) {
            let check = vm.failed.first();
            let why = check.map(|(name, reason)| format!(": check {name} failed: {reason}"));
            return Err(miette!(
                help = "see with `tactus run` what it says; of a VM that has failed nothing can be judged",
                "VM `{}` has failed before faults begin{}",
                vm.name,
                why.unwrap_or_default()
            ));
        }
        let follows = self.campaign.skip_unread
            || self
                .campaign
                .faults
                .iter()
                .any(|fault| fault.kind.is_live());
        let memory = Space::memory(&self.campaign, &self.boot.image)?;
        let begin = live.now();
        let end = begin
            .saturating_add(femtoseconds(self.campaign.length.0))
            .saturating_add(femtoseconds(self.campaign.after.0));
        let mut copy = live.fork()?;
        if follows {
            copy.board_mut().follow_uses(&memory);
        }
        let go_on = &mut || !cancel.load(Ordering::Relaxed);
        if copy.run(&Until::Time(end), None, go_on) == Stop::Interrupted {
            return Ok(None);
        }
        let uses = copy.board_mut().take_uses().unwrap_or_default();
        let space = Space::of(
            &self.campaign,
            &self.boot.image,
            live.board(),
            &uses,
            &self.takeovers,
        )?;
        // What is drawn is there; whether the others can be is tried.
        for (kind, first) in space.fixed() {
            let mut copy = live.fork()?;
            let now = copy.now();
            copy.board_mut().inject(now, first).map_err(|error| {
                miette!(
                    help = "correct the campaign's file",
                    "`{kind}` cannot be: {error}"
                )
            })?;
        }
        let shown = self.shown(&mut copy);
        let lines = copy.line_times().to_vec();
        let trace_hash = copy.board().trace_hash();
        let clock_hz = self.options.profile.clock_hz;
        Ok(Some(Walker {
            subject: Arc::clone(self),
            root: live,
            space,
            begin,
            end,
            trace_hash,
            reference: Reference::of(shown, lines, self.campaign.compare, clock_hz),
            uses: self.campaign.skip_unread.then_some(uses),
            instructions: 0,
            simulated: Duration::ZERO,
        }))
    }
}

/// A run without faults, at the beginning of the window.
#[derive(Debug)]
pub struct Walker {
    subject: Arc<Subject>,
    root: Live,
    space: Space,
    begin: Femtoseconds,
    end: Femtoseconds,
    trace_hash: u64,
    reference: Reference,
    /// What the run without a fault reads, where that saves runs.
    uses: Option<Uses>,
    instructions: u64,
    simulated: Duration,
}

/// A run with its fault, which has just been let happen, and the same without it.
#[derive(Debug)]
pub struct Struck {
    /// With it.
    pub with: Live,
    /// Without it.
    pub without: Live,
    /// The kind of fault, by its number.
    pub kind: usize,
    /// The byte of a VM's memory that has changed.
    pub byte: Option<Byte>,
}

/// A byte of a VM's memory.
#[derive(Clone, Copy, Debug)]
pub struct Byte {
    /// The VM.
    pub vm: usize,
    /// Its physical address.
    pub address: u64,
    /// Its address for the VM.
    pub guest: u64,
}

/// What goes wrong in a run that has come to the time of its fault.
#[derive(Debug)]
struct Blow {
    deed: Deed,
    /// In words.
    what: String,
}

#[derive(Debug)]
enum Deed {
    /// The faults, and when each happens.
    Faults(Vec<(Femtoseconds, BoardFault)>),
    /// The harts of a VM go on in the hostile guest.
    Takeover {
        /// The kind of fault, by its number.
        kind: usize,
        harts: Vec<usize>,
        attack: &'static Attack,
        seed: u64,
    },
}

/// Goes on to `time`, and adds to `simulated` for how long the board runs.
fn run_to(
    live: &mut Live,
    time: Femtoseconds,
    cancel: &AtomicBool,
    simulated: &mut Duration,
) -> Stop {
    let before = live.host_time();
    let stop = live.run(&Until::Time(time), None, &mut || {
        !cancel.load(Ordering::Relaxed)
    });
    *simulated += live.host_time() - before;
    stop
}

impl Blow {
    fn strike(&self, subject: &Subject, live: &mut Live) -> miette::Result<()> {
        let now = live.now();
        let faults = match &self.deed {
            Deed::Faults(faults) => faults,
            Deed::Takeover {
                kind,
                harts,
                attack,
                seed,
            } => {
                let takeover = subject.takeover(*kind)?;
                return takeover.strike(live.board_mut(), harts, attack, *seed);
            }
        };
        for (time, fault) in faults {
            let board = live.board_mut();
            let injected = if *time <= now {
                board.inject_now(*fault)
            } else {
                board.inject(*time, *fault)
            };
            injected.map_err(|error| miette!("the fault cannot be: {error}"))?;
            if let BoardFault::PowerLoss { .. } = fault {
                live.restart_consoles();
            }
        }
        Ok(())
    }
}

impl Walker {
    /// The hash of all that happens without a fault.
    pub const fn trace_hash(&self) -> u64 {
        self.trace_hash
    }

    /// Where faults are drawn from.
    pub const fn space(&self) -> &Space {
        &self.space
    }

    /// When the window begins.
    pub const fn begin(&self) -> Femtoseconds {
        self.begin
    }

    /// When each run ends.
    pub const fn end(&self) -> Femtoseconds {
        self.end
    }

    /// Instructions of all harts, from the fault to the end, of the runs that were carried out.
    pub const fn instructions(&self) -> u64 {
        self.instructions
    }

    /// How long boards have run, on the wall's clock, while runs were carried out.
    pub const fn simulated(&self) -> Duration {
        self.simulated
    }

    /// Carries out these runs, and hands each on. Their order makes no difference.
    ///
    /// # Errors
    /// There is no memory for a copy, or it was interrupted.
    pub fn carry_out(
        &mut self,
        runs: &[u32],
        cancel: &AtomicBool,
        take: &mut dyn FnMut(Row),
    ) -> miette::Result<Result<(), Interrupted>> {
        let mut drawn: Vec<(u32, Drawn)> = runs
            .iter()
            .map(|&run| (run, self.space.draw(run)))
            .collect();
        drawn.sort_by_key(|(run, drawn)| (drawn.at, *run));
        let mut now = self.root.fork()?;
        for (run, drawn) in drawn {
            let Some(row) = self.one(&mut now, run, &drawn, cancel)? else {
                return Ok(Err(Interrupted));
            };
            take(row);
        }
        Ok(Ok(()))
    }

    /// Lets the fault of a run happen. The text says why there is nothing to go wrong.
    ///
    /// # Errors
    /// There is no memory for a copy.
    pub fn strike(&mut self, run: u32) -> miette::Result<Result<Struck, String>> {
        let drawn = self.space.draw(run);
        let mut without = self.root.fork()?;
        let never = AtomicBool::new(false);
        let at = Until::Time(self.begin.saturating_add(drawn.at));
        without.run(&at, None, &mut || true);
        let blow = self.aim(&mut without, &drawn, &never)?;
        let blow = blow.ok_or_else(|| miette!("it was interrupted"))?;
        Ok(match blow {
            Err(reason) => Err(reason),
            Ok(blow) => {
                let mut with = without.fork()?;
                blow.strike(&self.subject, &mut with)?;
                let byte = match (&self.space.kind(drawn.kind).kind, drawn.what) {
                    (Kind::Memory { vm, .. }, What::Memory { address, guest, .. }) => {
                        let mut vms = self.subject.boot.image.vms.iter();
                        vms.position(|name| name == vm)
                            .map(|vm| Byte { vm, address, guest })
                    }
                    _ => None,
                };
                Ok(Struck {
                    with,
                    without,
                    kind: drawn.kind,
                    byte,
                })
            }
        })
    }

    /// What goes wrong in `live`, which has come to the time of a fault, and goes on to when there is something to go
    /// wrong. `None`: it was interrupted. The text says why there is nothing.
    fn aim(
        &self,
        live: &mut Live,
        drawn: &Drawn,
        cancel: &AtomicBool,
    ) -> miette::Result<Option<Result<Blow, String>>> {
        if live.ended().is_some() {
            return Ok(Some(Err(ENDED.to_owned())));
        }
        let of_vm = match drawn.what {
            What::Register { vm, hart, .. } => Some((vm, hart)),
            What::Hostile { vm, .. } => Some((vm, None)),
            What::Fault(_) | What::Memory { .. } | What::Pulse(..) => None,
        };
        let hart = match of_vm.map(|(vm, hart)| self.wait_for_hart(live, vm, hart, cancel)) {
            // Not one of a VM's.
            None => 0,
            Some(None) => return Ok(None),
            Some(Some(Err(reason))) => return Ok(Some(Err(reason))),
            Some(Some(Ok(hart))) => hart,
        };
        let (faults, what) = match &drawn.what {
            What::Fault(fault) => (vec![(live.now(), *fault)], words(fault)),
            What::Memory {
                address,
                guest,
                bit,
            } => {
                let fault = BoardFault::Memory {
                    address: *address,
                    bits: 1 << bit,
                };
                let what = format!("bit {bit} of the byte at {guest:#x}, physical {address:#x}");
                (vec![(live.now(), fault)], what)
            }
            What::Pulse(first, lasts, last) => {
                let time = live.now();
                let faults = vec![(time, *first), (time.saturating_add(*lasts), *last)];
                (faults, words(first))
            }
            What::Hostile { vm, attack, seed } => {
                let harts: Vec<usize> = self.harts_of(live, *vm).collect();
                let what = format!(
                    "attack `{}` with seed {seed}: hart {hart} goes on at {:#x} in place of {:#x}",
                    attack.name,
                    self.subject.takeover(drawn.kind)?.entry(),
                    live.board().pc(hart)
                );
                let deed = Deed::Takeover {
                    kind: drawn.kind,
                    harts,
                    attack,
                    seed: *seed,
                };
                return Ok(Some(Ok(Blow { deed, what })));
            }
            What::Register { register, bit, .. } => {
                let bits = match bit {
                    Some(bit) => 1 << bit,
                    None => live.board().pc(hart),
                };
                let fault = BoardFault::Register {
                    hart,
                    register: *register,
                    bits,
                };
                let what = match bit {
                    Some(_) => words(&fault),
                    None => format!("hart {hart} goes on at 0 in place of {bits:#x}"),
                };
                (vec![(live.now(), fault)], what)
            }
        };
        let deed = Deed::Faults(faults);
        Ok(Some(Ok(Blow { deed, what })))
    }

    /// The hart that a VM has, of those that are `wanted`. `live` goes on until it has one; `None`: it was interrupted.
    /// The text says why there will be none.
    fn wait_for_hart(
        &self,
        live: &mut Live,
        vm: usize,
        wanted: Option<usize>,
        cancel: &AtomicBool,
    ) -> Option<Result<usize, String>> {
        loop {
            if let Some(hart) = self.hart_of(live, vm, wanted) {
                return Some(Ok(hart));
            }
            let next = live.now().saturating_add(STEP);
            if next >= self.end {
                let name = &self.subject.boot.image.vms[vm];
                return Some(Err(format!("{name} has no hart any more")));
            }
            match live.run(&Until::Time(next), None, &mut || {
                !cancel.load(Ordering::Relaxed)
            }) {
                Stop::Interrupted => return None,
                Stop::Ended(_) => return Some(Err(ENDED.to_owned())),
                _ => {}
            }
        }
    }

    /// The first hart that a VM has, or `wanted` if it has that.
    fn hart_of(&self, live: &Live, vm: usize, wanted: Option<usize>) -> Option<usize> {
        let mut harts = self.harts_of(live, vm);
        harts.find(|&hart| wanted.is_none_or(|wanted| wanted == hart))
    }

    /// The harts that a VM has.
    fn harts_of(&self, live: &Live, vm: usize) -> impl Iterator<Item = usize> {
        let vms = self.subject.boot.image.vms.len();
        let board = live.board();
        (0..board.harts()).filter(move |&hart| Worker::of(board.doing(hart), vms) == Worker::Vm(vm))
    }

    /// Whether the fault is of what nothing reads from now on. `live` has come to its time.
    fn is_unread(&self, live: &Live, drawn: &Drawn) -> bool {
        let Some(uses) = &self.uses else {
            return false;
        };
        if live.ended().is_some() {
            return false;
        }
        match drawn.what {
            What::Memory { address, .. } => {
                let cycle = live.board().clock().cycle_at(live.now());
                !uses.is_read_from(address, cycle)
            }
            What::Register {
                vm,
                register,
                hart,
                bit: Some(_),
            } => {
                let number = number_of(register);
                let hart = self.hart_of(live, vm, hart);
                number.zip(hart).is_some_and(|(number, hart)| {
                    let cycle = live.board().cycle(hart);
                    !uses.is_alive(RegisterOf { hart, number }, cycle)
                })
            }
            _ => false,
        }
    }

    fn one(
        &mut self,
        now: &mut Live,
        run: u32,
        drawn: &Drawn,
        cancel: &AtomicBool,
    ) -> miette::Result<Option<Row>> {
        let at = self.begin.saturating_add(drawn.at);
        if run_to(now, at, cancel, &mut self.simulated) == Stop::Interrupted {
            return Ok(None);
        }
        let row = |trace_hash: u64, what: String, judged: Judged| Row {
            run,
            fault: self.space.kind(drawn.kind).kind.to_string(),
            what,
            at: at.0,
            verdict: judged.verdict,
            changed: judged.changed,
            reasons: judged.reasons,
            is_same: trace_hash == self.trace_hash,
            trace_hash: format!("{trace_hash:016x}"),
            is_carried_out: true,
            share: drawn.share,
        };
        if self.is_unread(now, drawn)
            && let Some(Ok(blow)) = self.aim(now, drawn, cancel)?
        {
            let judged = Judged {
                verdict: Verdict::Masked,
                changed: Vec::new(),
                reasons: Vec::new(),
            };
            return Ok(Some(Row {
                at: now.now().0,
                is_carried_out: false,
                ..row(self.trace_hash, blow.what, judged)
            }));
        }
        let mut live = now.fork()?;
        let Some(blow) = self.aim(&mut live, drawn, cancel)? else {
            return Ok(None);
        };
        let blow = match blow {
            Ok(blow) => blow,
            Err(reason) => {
                let judged = Judged {
                    verdict: Verdict::NotPlaced,
                    changed: Vec::new(),
                    reasons: vec![reason],
                };
                let trace_hash = live.board().trace_hash();
                return Ok(Some(row(trace_hash, String::new(), judged)));
            }
        };
        let at = live.now();
        let written = |vm: &VmJournal| vm.console.bytes().len();
        let before: Vec<usize> = live.journal().vms.iter().map(written).collect();
        blow.strike(&self.subject, &mut live)?;
        let kind = &self.space.kind(drawn.kind).kind;
        let loss = match kind {
            Kind::Power(Power { off, keeps, .. }) => {
                let on = at.saturating_add(femtoseconds(off.0));
                Some(Loss {
                    before: live.journal().vms.clone(),
                    powered: Femtoseconds(self.end.0.saturating_sub(on.0)),
                    keeps,
                })
            }
            _ => None,
        };
        let executed = |live: &Live| -> u64 {
            let board = live.board();
            (0..board.harts())
                .map(|hart| board.instructions(hart))
                .sum()
        };
        let executed_before = executed(&live);
        if run_to(&mut live, self.end, cancel, &mut self.simulated) == Stop::Interrupted {
            return Ok(None);
        }
        self.instructions += executed(&live) - executed_before;
        let image = &self.subject.boot.image;
        let affects = &self.space.kind(drawn.kind).affects;
        let affects: Vec<usize> = (0..image.vms.len())
            .filter(|&vm| affects.contains(&image.vms[vm]))
            .collect();
        let shown = self.subject.shown(&mut live);
        let hostile = match drawn.what {
            What::Hostile { vm, .. } => Some(vm),
            _ => None,
        };
        let judged = match &loss {
            Some(loss) => self.reference.judge_loss(&shown, &affects, loss),
            None => self.reference.judge(&shown, &affects, &before, hostile),
        };
        Ok(Some(Row {
            at: at.0,
            ..row(live.board().trace_hash(), blow.what, judged)
        }))
    }
}

/// A fault in words.
fn words(fault: &BoardFault) -> String {
    match *fault {
        BoardFault::Register {
            hart,
            register,
            bits,
        } => {
            let name = register_name(register);
            format!("bit {} of {name} of hart {hart}", bits.trailing_zeros())
        }
        BoardFault::HoldLine { line, level } => {
            format!("line {line} is held {}", if level { "high" } else { "low" })
        }
        BoardFault::Stall { hart, cycles } => format!("hart {hart} stands for {cycles} cycles"),
        BoardFault::FabricError { port } => format!("the next answer at {port:?} is an error"),
        BoardFault::FabricHang { port } => format!("nothing gets through at {port:?}"),
        BoardFault::FabricEventLost => "the next event of software is lost".to_owned(),
        BoardFault::FabricEventExtra => "an event comes that nothing has raised".to_owned(),
        BoardFault::FabricDrift { ppm } => {
            format!("the fabric's period is {ppm} ppm longer from then on")
        }
        BoardFault::PowerLoss { off, seed } => {
            let ms = off.0 as f64 / 1e12;
            format!("there is no power for {ms} ms; what is torn is drawn from {seed:#x}")
        }
        BoardFault::Tag {
            cache,
            hart,
            place,
            bit,
        } => {
            let name = cache_name(cache);
            let tag = format!("address bit {bit} of the tag in place {place} of the cache {name}");
            match cache {
                Cache::Level2 => tag,
                Cache::Data | Cache::Code => format!("{tag} of hart {hart}"),
            }
        }
        fault => format!("{fault:?}"),
    }
}
