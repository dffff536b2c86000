//! Snapshots: all of a board's state as bytes, to continue from later, or again and again.
//!
//! A snapshot holds what the run depends on: harts, memory, devices, modelled caches and TLBs, faults to come, what the
//! board was when it got power, the hash of the trace so far. It does not hold what only watches (probes, stops,
//! recorded events) nor what only makes the board fast (decoded code, host pointers): a run that continues from a
//! snapshot does the same at the same cycles as the one that it was taken from. The one exception is software that
//! breaks the architecture's rules: where it changed a page table and executed no fence, a hart may still use the old
//! translation, and after a restore uses the new one.

use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::board::Board;
use crate::bus::{BadState, Lines};
use crate::fault::{Fault, FaultPlan};
use crate::hart::{Happened, Hart, Space};
use crate::memory::{NoMemory, Place};
use crate::privileged::Privileged;
use crate::time::Femtoseconds;
use crate::trace::Hash;
use crate::weak_memory::{Dependencies, WeakMemory};

/// The start of a snapshot: name and version of the format.
const MAGIC: &[u8; 16] = b"tactus board   5";
/// Memory is kept in pages of this many bytes.
const PAGE: usize = 4096;

/// A snapshot that can't be taken back.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// It is no snapshot of this version.
    #[error("this is no snapshot of a board, or one of another version")]
    Format,
    /// It is damaged.
    #[error("the snapshot is damaged: {0}")]
    Damaged(String),
    /// It is of another board.
    #[error("the snapshot is of another board: {0}")]
    OtherBoard(String),
    /// The host has no memory for a copy of another board's.
    #[error("the host has no memory for a copy: {0}")]
    Host(#[from] std::io::Error),
}

#[derive(Serialize, Deserialize)]
pub(crate) struct HartState {
    x: Vec<u64>,
    f: Vec<u64>,
    pc: u64,
    cycle: u64,
    instructions: u64,
    waiting: bool,
    reserved_at: u64,
    /// Where it is within a block: the block's address and the number of the instruction there.
    resumes_at: Option<(u64, usize)>,
    fetched: u64,
    privileged: Privileged,
    happened: Happened,
    account: Account,
    spaces: Vec<Space>,
    superpages: (u64, u64),
    dependencies: Dependencies,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct DeviceState {
    pub(crate) name: String,
    base: u64,
    wake: Femtoseconds,
    pub(crate) state: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct State {
    memory_base: u64,
    memory_size: u64,
    onchip: Option<Place>,
    pub(crate) harts: Vec<HartState>,
    pub(crate) devices: Vec<DeviceState>,
    pub(crate) lines: Lines,
    pub(crate) wires: Vec<u64>,
    pub(crate) reservations: Vec<u64>,
    time_offset: u64,
    timed: bool,
    timing: Vec<u8>,
    pub(crate) weak: Option<Box<WeakMemory>>,
    faults: FaultPlan,
    /// What the board was when it got power, as a snapshot; none where it is a copy that this is for.
    power_on: Option<Vec<u8>>,
    turn: Option<(usize, u64)>,
    hash: Hash,
    /// The pages of memory that are not all zero, by number, in order. Of what the board was when it got power, also
    /// those in which zeros were loaded.
    pub(crate) pages: Vec<u32>,
}

impl Board {
    /// All of the board's state.
    #[must_use]
    pub fn snapshot(&mut self) -> Vec<u8> {
        self.snapshot_of(|page| *page != [0; PAGE])
    }

    /// The same with those of the pages that may be other than zero of which `takes` says so.
    pub(crate) fn snapshot_of(&mut self, takes: impl Fn(&[u8; PAGE]) -> bool) -> Vec<u8> {
        let memory = &self.machine.memory;
        let mut pages = Vec::new();
        let mut contents = Vec::new();
        let mut page = [0; PAGE];
        for (number, address) in memory.given() {
            if memory.read(address, &mut page).is_ok() && takes(&page) {
                pages.push(number);
                contents.extend_from_slice(&page);
            }
        }
        let mut state = self.state(pages);
        state.timing = self.machine.timing.save();
        state.power_on = self.power_on.as_deref().map(<[u8]>::to_vec);
        let mut bytes = MAGIC.to_vec();
        let mut encoder = lz4_flex::frame::FrameEncoder::new(&mut bytes);
        let head = postcard::to_stdvec(&state).expect("plain data can be written to a vector");
        for part in [&(head.len() as u64).to_le_bytes()[..], &head, &contents] {
            encoder
                .write_all(part)
                .expect("a vector takes all that is written");
        }
        encoder
            .finish()
            .expect("a vector takes all that is written");
        bytes
    }

    /// All of the board's state but what timing is made of, and its memory, of which `pages` are not all zero.
    fn state(&mut self, pages: Vec<u32>) -> State {
        let harts = self.harts.iter().map(|hart| save_hart(hart)).collect();
        let devices = self.machine.devices.iter_mut().map(|attached| DeviceState {
            name: attached.name.clone(),
            base: attached.base,
            wake: attached.wake,
            state: attached.device.device().save(),
        });
        let devices = devices.collect();
        let machine = &self.machine;
        State {
            memory_base: machine.memory.base(),
            memory_size: machine.memory.size(),
            onchip: machine.memory.onchip(),
            harts,
            devices,
            lines: machine.lines.clone(),
            wires: machine.wires.clone(),
            reservations: machine.reservations.clone(),
            time_offset: machine.time_offset,
            timed: machine.timed,
            timing: Vec::new(),
            weak: machine.weak.clone(),
            faults: self.faults.clone(),
            power_on: None,
            turn: self.turn,
            hash: machine.trace.hash(),
            pages,
        }
    }

    /// Goes to the state of another board, which has to be as this one was when it was built. It is what
    /// [`restore`](Self::restore) does with the other's snapshot, several times as fast.
    ///
    /// # Errors
    ///
    /// As of [`restore`](Self::restore); or the host has no memory for a copy.
    pub fn copy_from(&mut self, other: &mut Self) -> Result<(), SnapshotError> {
        let state = other.state(Vec::new());
        self.check(&state, &[], other.power_on.is_some())?;
        let timing = &mut self.machine.timing;
        timing
            .copy_from(&other.machine.timing)
            .map_err(bad_timing)?;
        let memory = &mut self.machine.memory;
        memory.copy_from(&mut other.machine.memory)?;
        self.take(state)?;
        self.power_on.clone_from(&other.power_on);
        Ok(())
    }

    /// Goes back, or forth, to the state of a snapshot. The board has to be as that of the snapshot was when it was
    /// built: the same harts, memory, and devices at the same addresses.
    ///
    /// # Errors
    ///
    /// When the bytes are no snapshot of such a board. Nothing has changed then, unless a device refused its state:
    /// then the board is as after [`Board::new`] in no defined way, and must be restored from a good one.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), SnapshotError> {
        let damaged = |reason: &dyn std::fmt::Display| SnapshotError::Damaged(reason.to_string());
        let (mut state, contents) = self.read_snapshot(snapshot)?;
        let power_on = state.power_on.take();
        if let Some(power_on) = &power_on
            && self.read_snapshot(power_on)?.0.power_on.is_some()
        {
            return Err(damaged(&"its parts do not fit together"));
        }
        self.restore_memory(&state.pages, &contents)
            .map_err(|error| damaged(&error))?;
        let timing = &mut self.machine.timing;
        timing.restore(&state.timing).map_err(bad_timing)?;
        self.take(state)?;
        self.power_on = power_on.map(Into::into);
        Ok(())
    }

    /// What is in a snapshot of a board like this: the state, and what pages of memory have.
    pub(crate) fn read_snapshot(&self, snapshot: &[u8]) -> Result<(State, Vec<u8>), SnapshotError> {
        let compressed = snapshot.strip_prefix(MAGIC).ok_or(SnapshotError::Format)?;
        let damaged = |reason: &dyn std::fmt::Display| SnapshotError::Damaged(reason.to_string());
        // No more than what a board of this memory can have, now and when it got power, whatever the bytes say.
        let most = 2 * self.machine.memory.size() + (64 << 20);
        let mut bytes = Vec::new();
        let decoder = lz4_flex::frame::FrameDecoder::new(compressed);
        decoder
            .take(most)
            .read_to_end(&mut bytes)
            .map_err(|error| damaged(&error))?;
        let (length, rest) = bytes
            .split_first_chunk::<8>()
            .ok_or_else(|| damaged(&"it is too short"))?;
        let length =
            usize::try_from(u64::from_le_bytes(*length)).map_err(|error| damaged(&error))?;
        let (head, contents) = rest
            .split_at_checked(length)
            .ok_or_else(|| damaged(&"it is too short"))?;
        let state: State = postcard::from_bytes(head).map_err(|error| damaged(&error))?;
        self.check(&state, contents, state.power_on.is_some())?;
        Ok((state, contents.to_vec()))
    }

    /// Takes a state that fits the board. Its memory and timing have been taken.
    fn take(&mut self, state: State) -> Result<(), SnapshotError> {
        for (attached, saved) in self.machine.devices.iter_mut().zip(&state.devices) {
            attached
                .device
                .device()
                .restore(&saved.state)
                .map_err(|error| bad_part(&saved.name, error))?;
            attached.wake = saved.wake;
        }
        for (hart, saved) in self.harts.iter_mut().zip(state.harts) {
            restore_hart(hart, saved);
        }
        self.faults = state.faults;
        self.turn = state.turn;
        let machine = &mut self.machine;
        machine.find_next_wake();
        machine.lines = state.lines;
        machine.wires = state.wires;
        machine.reservations = state.reservations;
        machine.time_offset = state.time_offset;
        machine.timed = state.timed;
        machine.weak = state.weak;
        machine.stop = None;
        machine.stopped_at = None;
        machine.watched_at = None;
        machine.code.clear();
        machine.probes.forget_passed();
        machine.trace.set_hash(state.hash);
        Ok(())
    }

    /// Whether the state is that of a board like this. `powered`: it is known what that was when it got power.
    fn check(&self, state: &State, contents: &[u8], powered: bool) -> Result<(), SnapshotError> {
        let other = |reason: String| Err(SnapshotError::OtherBoard(reason));
        let memory = &self.machine.memory;
        if (state.memory_base, state.memory_size, state.onchip)
            != (memory.base(), memory.size(), memory.onchip())
        {
            return other(format!(
                "it has {:#x} bytes of memory at {:#x}",
                state.memory_size, state.memory_base
            ));
        }
        let harts = self.harts.len();
        if [
            state.harts.len(),
            state.wires.len(),
            state.reservations.len(),
        ] != [harts; 3]
        {
            return other(format!("it has {} harts", state.harts.len()));
        }
        let devices = self
            .machine
            .devices
            .iter()
            .map(|device| (device.name.as_str(), device.base));
        if !devices.eq(state
            .devices
            .iter()
            .map(|device| (device.name.as_str(), device.base)))
        {
            return other("it has other devices".to_owned());
        }
        if state.weak.is_some() != self.machine.weak.is_some() {
            return other("it has another memory model".to_owned());
        }
        let pages = memory.page_count() as u32;
        let sound = state.lines.is_sound()
            && state.turn.is_none_or(|(hart, _)| hart < harts)
            && state.faults.is_sound(|fault| {
                let needs_power = matches!(fault, Fault::PowerLoss { .. });
                (powered || !needs_power) && self.check_fault(fault).is_ok()
            })
            && state.pages.is_sorted_by(|one, next| one < next)
            && state.pages.last().is_none_or(|page| *page < pages)
            && contents.len() == state.pages.len() * PAGE
            && is_sound(&state.hash)
            && state.harts.iter().all(|hart| {
                hart.x.len() == 32
                    && hart.f.len() == 32
                    && hart.account.is_sound()
                    && hart.dependencies.is_sound()
            })
            && state
                .weak
                .as_ref()
                .is_none_or(|weak| weak.is_sound(harts, memory));
        if sound {
            Ok(())
        } else {
            Err(SnapshotError::Damaged(
                "its parts do not fit together".to_owned(),
            ))
        }
    }

    fn restore_memory(&mut self, pages: &[u32], contents: &[u8]) -> Result<(), NoMemory> {
        let memory = &self.machine.memory;
        let mut page = [0; PAGE];
        for (number, address) in memory.given() {
            if pages.binary_search(&number).is_err() {
                memory.read(address, &mut page)?;
                if page != [0; PAGE] {
                    memory.write(address, &[0; PAGE])?;
                }
            }
        }
        for (number, saved) in pages.iter().zip(contents.chunks_exact(PAGE)) {
            memory.write(memory.page(*number), saved)?;
        }
        memory.take_written(|_| {});
        Ok(())
    }
}

/// A part of the board does not take its state.
fn bad_part(name: &str, BadState(reason): BadState) -> SnapshotError {
    SnapshotError::OtherBoard(format!("{name}: {reason}"))
}

fn bad_timing(error: BadState) -> SnapshotError {
    bad_part("timing", error)
}

/// Whether a hash is in a state that whole words lead to: the number of bytes that wait for others, the last of its
/// fields, is 0.
fn is_sound(hash: &Hash) -> bool {
    postcard::to_stdvec(hash).is_ok_and(|bytes| bytes.last() == Some(&0))
}

fn save_hart(hart: &Hart) -> HartState {
    HartState {
        x: hart.x[..32].to_vec(),
        f: hart.f.to_vec(),
        pc: hart.pc,
        cycle: hart.cycle(),
        instructions: hart.instructions,
        waiting: hart.waiting,
        reserved_at: hart.reserved_at,
        resumes_at: hart.resumes_at(),
        fetched: hart.fetched,
        privileged: hart.privileged.clone(),
        happened: hart.happened,
        account: hart.account.clone(),
        spaces: hart.spaces.clone(),
        superpages: hart.superpages,
        dependencies: hart.dependencies.clone(),
    }
}

/// Resets a hart, which goes on at a cycle, with a state of when it got power. What is counted of it goes on.
pub(crate) fn power_up(hart: &mut Hart, saved: HartState, cycle: u64) {
    let saved = HartState {
        cycle,
        instructions: hart.instructions,
        happened: hart.happened,
        account: hart.account.clone(),
        ..saved
    };
    restore_hart(hart, saved);
}

fn restore_hart(hart: &mut Hart, saved: HartState) {
    hart.x[..32].copy_from_slice(&saved.x);
    hart.x[0] = 0;
    hart.f.copy_from_slice(&saved.f);
    hart.pc = saved.pc & !1;
    hart.set_cycle(saved.cycle);
    hart.instructions = saved.instructions;
    hart.waiting = saved.waiting;
    hart.reserved_at = saved.reserved_at;
    hart.fetched = saved.fetched;
    let extensions = hart.privileged.extensions();
    hart.privileged = saved.privileged;
    hart.privileged.settle(extensions);
    hart.happened = saved.happened;
    hart.account = saved.account;
    hart.spaces = saved.spaces;
    hart.drop_all();
    hart.restored = saved.resumes_at.map(|(begin, index)| (begin & !1, index));
    hart.superpages = saved.superpages;
    hart.dependencies = saved.dependencies;
    hart.recheck_interrupts();
}
