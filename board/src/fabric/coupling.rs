//! The device around a fabric: time, ports and the crossings between the clocks.
//!
//! The fabric is behind the board's time, never ahead of it but where a hart waits for its answer: it is advanced when
//! software touches it, and at the next cycle at which anything can come out of it. That is the next one while it is at
//! work; in cycles in which it is quiet it is not simulated. Where one hart is behind another that has waited for the
//! fabric, what it asks for comes after that, and it waits for so long: the fabric's time can't go back.

use std::collections::VecDeque;
use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use super::gp::{Gp, Request};
use super::master::{Master, Sides};
use super::waves::{Recorder, Waves};
use super::{Fabric, FabricPort, GP_SIZE, INTERRUPTS, Inputs, PORT_SIZE, QUIET_FOR_EVER};
use crate::bus::{BadState, Device, Port, Refused};
use crate::devices::state;
use crate::time::{Clock, DriftingClock, Femtoseconds};

/// Registers of the port itself, from [`GP_SIZE`] on: a write is an event for the fabric.
const EVENT: u64 = 0x0;
/// How many writes of software were not carried out since this was written last.
const ERRORS: u64 = 0x4;
/// The address of the first of them.
const ERROR_ADDRESS: u64 = 0x8;
/// Events on their way at most; what comes beyond is one with the last.
const EVENTS_MAX: usize = 64;
/// Changes of interrupt lines on their way at most.
const LINES_MAX: usize = 1 << 12;

/// The fabric's parameters in a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Its clock.
    pub clock: Clock,
    /// The harts' clock.
    pub hart_clock: Clock,
    /// Cycles of the receiving clock that a signal takes from one clock to the other.
    pub crossing: u64,
    /// Writes of software that may be on their way; 0: each is waited for.
    pub writes: usize,
    /// Cycles of the fabric after which a hart does not wait any longer.
    pub timeout: u64,
    /// The PLIC's source of the fabric's first interrupt line; the others follow, and then that of the port itself.
    pub first_line: u32,
}

/// Counters of a fabric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// Its cycles since reset.
    pub cycles: u64,
    /// Those of them that were simulated, and not skipped.
    pub simulated: u64,
    /// Words that it read and wrote over its coherent port.
    pub acp: (u64, u64),
    /// The same over the port past the caches.
    pub hp: (u64, u64),
}

/// The mutable state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// The fabric's last rising edge, counted from reset: it is in the cycle behind it.
    cycle: u64,
    /// The fabric's clock, which a fault may let drift.
    clock: DriftingClock,
    simulated: u64,
    gp: Gp,
    acp: Master,
    hp: Master,
    /// The cycles in which events are there.
    events: VecDeque<u64>,
    /// How many of the next ones are lost: a fault.
    events_lost: u32,
    /// The interrupt lines as the fabric drives them.
    irq: u32,
    /// When they come to the other side.
    lines: VecDeque<(Femtoseconds, u32)>,
    /// Writes that were not carried out, and the address of the first of them.
    errors: u32,
    error_address: u32,
}

impl State {
    /// After a reset that ends at this time, with the interrupt lines at these levels.
    fn at_reset(clock: Clock, irq: u32, time: Femtoseconds) -> Self {
        Self {
            cycle: 0,
            clock: DriftingClock::steady(clock),
            simulated: 0,
            gp: Gp::default(),
            acp: Master::new(true),
            hp: Master::new(false),
            events: VecDeque::new(),
            events_lost: 0,
            irq,
            lines: VecDeque::from([(time, irq)]),
            errors: 0,
            error_address: 0,
        }
    }
}

/// The device.
pub struct Coupling {
    settings: Settings,
    fabric: Box<dyn Fabric>,
    state: State,
    recorder: Recorder,
    skipping: bool,
}

impl Coupling {
    /// A fabric after reset, in its place.
    #[must_use]
    pub fn new(settings: Settings, fabric: Box<dyn Fabric>) -> Self {
        let irq = fabric.outputs().irq;
        Self {
            settings,
            fabric,
            state: State::at_reset(settings.clock, irq, Femtoseconds(0)),
            recorder: Recorder::default(),
            skipping: true,
        }
    }

    /// The counters of the fabric so far.
    #[must_use]
    pub fn activity(&self) -> Activity {
        Activity {
            cycles: self.state.cycle,
            simulated: self.state.simulated,
            acp: self.state.acp.moved,
            hp: self.state.hp.moved,
        }
    }

    /// Simulates the cycles too in which the fabric is quiet, or no longer. It makes no difference to the run.
    pub fn simulate_all(&mut self, on: bool) {
        self.skipping = !on;
    }

    /// Writes waveforms of a part of the run. It makes no difference to the run.
    pub fn record(&mut self, waves: Waves) {
        self.recorder.record(&mut *self.fabric, waves);
    }

    /// Ends waveforms, when all of what they were to show has been; what there is is whole then.
    ///
    /// # Errors
    ///
    /// Why they could not be written.
    pub fn take_waves(&mut self) -> Result<(), String> {
        self.recorder.take(&mut *self.fabric)
    }

    /// The clocks on both sides of a port.
    const fn sides(&self) -> Sides {
        Sides {
            fabric: self.state.clock,
            hart: self.settings.hart_clock,
            crossing: self.settings.crossing,
        }
    }

    /// Lets a cycle pass. Gives the answer that a hart waits for: a word, or that there is none.
    fn step(&mut self, port: &mut Port<'_>) -> Option<Option<u32>> {
        let state = &mut self.state;
        let cycle = state.cycle;
        let outputs = *self.fabric.outputs();
        let mut inputs = Inputs::default();
        let asked = state.gp.drive(cycle);
        inputs.at_gp(&asked);
        state.acp.drive(cycle, &mut inputs.acp);
        state.hp.drive(cycle, &mut inputs.hp);
        if state.events.front().is_some_and(|due| *due <= cycle) {
            state.events.pop_front();
            inputs.event = 1;
        }
        let edge = cycle + 1;
        let clock = state.clock;
        let time = clock.time_of(edge);
        self.recorder.turn(&mut *self.fabric, clock, edge);
        let sides = self.sides();
        let state = &mut self.state;
        self.fabric.cycle(&inputs, time.as_picoseconds());
        state.cycle = edge;
        state.simulated += 1;
        if !state.acp.held {
            state.acp.edge(edge, &outputs.acp, &inputs.acp, sides, port);
        }
        if !state.hp.held {
            state.hp.edge(edge, &outputs.hp, &inputs.hp, sides, port);
        }
        let irq = self.fabric.outputs().irq;
        if irq != state.irq {
            state.irq = irq;
            self.change_lines(time);
        }
        let state = &mut self.state;
        let answer = state
            .gp
            .edge(cycle, &outputs.gp(), &asked, self.settings.timeout)?;
        if answer.request.awaited {
            return Some(answer.data);
        }
        if answer.data.is_none() {
            if state.errors == 0 {
                state.error_address = answer.request.address;
            }
            state.errors = state.errors.saturating_add(1);
            self.change_lines(time);
        }
        None
    }

    /// Lets the interrupt lines, as they are now, come to the other side.
    fn change_lines(&mut self, time: Femtoseconds) {
        let crossing = self.settings.hart_clock.time_of(self.settings.crossing);
        let levels = self.state.irq | u32::from(self.state.errors != 0) << INTERRUPTS;
        if self.state.lines.len() == LINES_MAX {
            self.state.lines.pop_back();
        }
        self.state
            .lines
            .push_back((time.saturating_add(crossing), levels));
    }

    /// The cycles from now on in which there is nothing to simulate.
    fn idle(&self) -> u64 {
        let state = &self.state;
        let quiet = match self.fabric.outputs().quiet {
            QUIET_FOR_EVER => u64::MAX,
            cycles => cycles.into(),
        };
        let due = state
            .gp
            .due(state.cycle)
            .min(state.acp.due(state.cycle))
            .min(state.hp.due(state.cycle))
            .min(state.events.front().copied().unwrap_or(u64::MAX));
        quiet.min(due.saturating_sub(state.cycle))
    }

    /// Lets the fabric come to `cycle`.
    fn advance(&mut self, cycle: u64, port: &mut Port<'_>) {
        while self.state.cycle < cycle {
            let left = cycle - self.state.cycle;
            let idle = self.idle().min(self.unseen()).min(left);
            if idle > 0 {
                self.fabric.skip(idle);
                self.state.cycle += idle;
            } else {
                self.step(port);
            }
        }
    }

    /// Cycles for which the fabric's state is not observed.
    fn unseen(&self) -> u64 {
        if self.skipping {
            let edge = self.state.cycle + 1;
            self.recorder.unseen(self.state.clock, edge)
        } else {
            0
        }
    }

    /// Executes what is due now; returns the time of the next event.
    fn settle(&mut self, port: &mut Port<'_>) {
        while let Some((time, levels)) = self.state.lines.front().copied()
            && time <= port.now()
        {
            self.state.lines.pop_front();
            for line in 0..=INTERRUPTS {
                port.interrupt(self.settings.first_line + line, levels >> line & 1 != 0);
            }
        }
        let edge = self
            .state
            .cycle
            .saturating_add(self.idle())
            .saturating_add(1);
        let lines = self.state.lines.front();
        let lines = lines.map_or(Femtoseconds::NEVER, |(time, _)| *time);
        port.wake_at(self.state.clock.time_of(edge).min(lines));
    }

    /// Lets the fabric come to an access that is made now. Gives the cycle in which the access is there.
    fn begin(&mut self, port: &mut Port<'_>) -> u64 {
        let clock = self.state.clock;
        self.advance(clock.cycle_at(port.now()), port);
        let crossing = self.settings.crossing;
        clock.cycle_from(port.now()).max(self.state.cycle) + crossing
    }

    /// Lets the hart wait until what the fabric says now has come to it.
    fn wait(&self, port: &mut Port<'_>) {
        let hart = self.settings.hart_clock;
        let seen = hart.cycle_from(self.state.clock.time_of(self.state.cycle));
        let done = hart.time_of(seen.saturating_add(self.settings.crossing));
        port.lengthen(done);
    }

    /// Asks for a word, and waits for the answer.
    fn ask(&mut self, request: Request, port: &mut Port<'_>) -> Result<u32, Refused> {
        self.state.gp.push(request);
        // Each of those before it is over after the timeout at the latest.
        loop {
            if let Some(answer) = self.step(port) {
                return answer.ok_or(Refused);
            }
        }
    }

    /// Lets all writes of software be answered before the hart continues: what a fence asks for.
    pub(crate) fn drain(&mut self, port: &mut Port<'_>) {
        if self.state.gp.waiting() > 0 {
            self.begin(port);
            if self.finish(0, port) {
                self.wait(port);
            }
        }
        self.settle(port);
    }

    /// Steps until at most `left` requests wait for an answer. Whether that took any time.
    fn finish(&mut self, left: usize, port: &mut Port<'_>) -> bool {
        let before = self.state.cycle;
        while self.state.gp.waiting() > left {
            self.step(port);
        }
        before != self.state.cycle
    }

    /// Spoils answers, or holds or releases a port: a fault.
    pub(crate) fn fault(&mut self, port: FabricPort, fault: PortFault, at: &mut Port<'_>) {
        self.advance(self.state.clock.cycle_at(at.now()), at);
        let state = &mut self.state;
        let (held, spoilt) = match port {
            FabricPort::Gp => (&mut state.gp.held, &mut state.gp.spoilt),
            FabricPort::Acp => (&mut state.acp.held, &mut state.acp.spoilt),
            FabricPort::Hp => (&mut state.hp.held, &mut state.hp.spoilt),
        };
        match fault {
            PortFault::Error => *spoilt = spoilt.saturating_add(1),
            PortFault::Hang(on) => *held = on,
        }
        self.settle(at);
    }

    /// Loses the next event, or raises one: a fault.
    pub(crate) fn event_fault(&mut self, fault: EventFault, at: &mut Port<'_>) {
        let due = self.begin(at);
        match fault {
            EventFault::Lost => self.state.events_lost = self.state.events_lost.saturating_add(1),
            EventFault::Extra => self.raise_event(due),
        }
        self.settle(at);
    }

    /// Lets the fabric's period be the profile's, longer by so many millionths, from its next edge on: a fault.
    pub(crate) fn drift(&mut self, millionths: i32, at: &mut Port<'_>) {
        self.advance(self.state.clock.cycle_at(at.now()), at);
        let State { clock, cycle, .. } = self.state;
        if let Some(clock) = clock.drift(self.settings.clock, cycle, millionths) {
            self.state.clock = clock;
        }
        self.settle(at);
    }

    /// Is without power until `on`: a fault. All is as after reset then, but for what the design keeps.
    pub(crate) fn lose_power(&mut self, seed: u64, on: Femtoseconds, at: &mut Port<'_>) {
        self.advance(self.state.clock.cycle_at(at.now()), at);
        let state = &mut self.state;
        let cycle = state.clock.cycle_from(on).max(state.cycle);
        self.fabric.lose_power(seed, cycle - state.cycle);
        let irq = self.fabric.outputs().irq;
        *state = State {
            cycle,
            clock: state.clock,
            simulated: state.simulated,
            acp: state.acp.after_reset(),
            hp: state.hp.after_reset(),
            ..State::at_reset(self.settings.clock, irq, on)
        };
        self.settle(at);
    }

    fn raise_event(&mut self, due: u64) {
        if self.state.events.len() < EVENTS_MAX {
            // One event is in one cycle.
            let last = self.state.events.back().map_or(0, |last| last + 1);
            self.state.events.push_back(due.max(last));
        }
    }

    fn read_port(&self, offset: u64) -> Result<u64, Refused> {
        match offset {
            ERRORS => Ok(self.state.errors.into()),
            ERROR_ADDRESS => Ok(self.state.error_address.into()),
            _ => Err(Refused),
        }
    }

    fn write_port(&mut self, offset: u64, port: &mut Port<'_>) -> Result<(), Refused> {
        match offset {
            EVENT => {
                let due = self.begin(port);
                match self.state.events_lost.checked_sub(1) {
                    Some(left) => self.state.events_lost = left,
                    None => self.raise_event(due),
                }
                Ok(())
            }
            ERRORS => {
                (self.state.errors, self.state.error_address) = (0, 0);
                self.change_lines(port.now());
                Ok(())
            }
            _ => Err(Refused),
        }
    }

    fn hash(model: &[u8]) -> u64 {
        let mut hash = SipHasher13::new();
        hash.write(model);
        hash.finish()
    }
}

/// Faults of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortFault {
    /// The next answer is an error.
    Error,
    /// Nothing gets through any more, or again.
    Hang(bool),
}

/// Faults of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventFault {
    /// The next one does not come.
    Lost,
    /// An event without a cause arrives.
    Extra,
}

impl Device for Coupling {
    fn read(&mut self, offset: u64, size: u8, port: &mut Port<'_>) -> Result<u64, Refused> {
        if offset >= GP_SIZE {
            if size != 4 {
                return Err(Refused);
            }
            self.advance(self.state.clock.cycle_at(port.now()), port);
            let value = self.read_port(offset - GP_SIZE);
            self.settle(port);
            return value;
        }
        let due = self.begin(port);
        let mut value = Ok(0);
        // A doubleword is two words, the lower one first.
        for word in 0..u64::from(size).div_ceil(4) {
            let request = Request {
                write: false,
                address: ((offset & !3) + 4 * word) as u32,
                data: 0,
                strobe: 0,
                due,
                awaited: true,
            };
            value = match (value, self.ask(request, port)) {
                (Ok(before), Ok(data)) => Ok(before | u64::from(data) << (32 * word)),
                _ => Err(Refused),
            };
            if value.is_err() {
                break;
            }
        }
        self.wait(port);
        self.settle(port);
        value.map(|value| value >> (8 * (offset & 3)))
    }

    fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused> {
        if offset >= GP_SIZE {
            if size != 4 {
                return Err(Refused);
            }
            self.advance(self.state.clock.cycle_at(port.now()), port);
            let result = self.write_port(offset - GP_SIZE, port);
            self.settle(port);
            return result;
        }
        let due = self.begin(port);
        let shift = offset & 3;
        let strobes = (0xff_u8 >> (8 - size)) << shift;
        let mut result = Ok(());
        for word in 0..u64::from(size).div_ceil(4) {
            let request = Request {
                write: true,
                address: ((offset & !3) + 4 * word) as u32,
                data: (value << (8 * shift) >> (32 * word)) as u32,
                strobe: strobes >> (4 * word) & 15,
                due,
                awaited: self.settings.writes == 0,
            };
            if request.awaited {
                result = self.ask(request, port).map(|_| ());
                if result.is_err() {
                    break;
                }
            } else {
                if self.finish(self.settings.writes - 1, port) {
                    self.wait(port);
                }
                self.state.gp.push(request);
            }
        }
        if self.settings.writes == 0 {
            self.wait(port);
        }
        self.settle(port);
        result
    }

    fn wake(&mut self, port: &mut Port<'_>) {
        self.advance(self.state.clock.cycle_at(port.now()), port);
        self.settle(port);
    }

    fn save(&self) -> Vec<u8> {
        let model = self.fabric.save();
        state::save(&(self.fabric.name(), &self.state, Self::hash(&model), model))
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        const DEVICE: &str = "fabric";
        let (name, saved, hash, model): (String, State, u64, Vec<u8>) =
            state::restore(DEVICE, bytes)?;
        state::require(
            name == self.fabric.name(),
            DEVICE,
            &format!(
                "the state is that of the design {name}, and here is {}",
                self.fabric.name()
            ),
        )?;
        let time = |cycle: u64| cycle < 1 << 62;
        let sound = time(saved.cycle)
            && saved.clock.is_sound()
            && saved.gp.is_sound(self.settings.writes + 2)
            && saved.acp.is_sound(true)
            && saved.hp.is_sound(false)
            && saved.events.len() <= EVENTS_MAX
            && saved.events.iter().all(|due| time(*due))
            && saved.lines.len() <= LINES_MAX
            && hash == Self::hash(&model);
        state::require(sound, DEVICE, "its state is damaged")?;
        self.fabric.restore(&model)?;
        self.state = saved;
        Ok(())
    }
}

const _: () = assert!(GP_SIZE.is_multiple_of(PORT_SIZE));
