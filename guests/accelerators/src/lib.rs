//! Accelerators that VMs share: what the device manager decides, and how late a device can be had.
//!
//! After Ker-ONE (Xia et al., Journal of Systems Architecture 98, 2019), sections 4.4 and 6.
//! `docs/src/reference/regions.md` has the registers behind [`Fabric`], `docs/src/reference/device-manager.md` what
//! becomes of a request.
#![no_std]

pub mod latency;
mod manager;

pub use manager::{
    Device, Event, Manager, OPERATIONS_MAX, Pending, Policy, RELEASE_TICKS, Statistics, Turn,
};

/// Interfaces there can be: as many as the region monitor's list has room for.
pub const INTERFACES: usize = tactus_abi::blob::limit::INTERFACES;
/// Regions there can be: as many as the compatibility index has bits for each task.
pub const REGIONS: usize = 4;
/// Tasks there can be; task 0 is none.
pub const TASKS: usize = 8;

/// A region's state: `DESCRIPTOR.state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing is computed.
    Idle,
    /// The task computes.
    Busy,
    /// It is told to stop.
    Preempt,
    /// The device manager's.
    Switch,
    /// The configuration port's.
    Reconfig,
    /// Reserved for its client.
    Hold,
}

impl State {
    /// The state of that number, if there is one.
    pub const fn from_raw(value: u8) -> Option<Self> {
        match value {
            0 => Some(Self::Idle),
            1 => Some(Self::Busy),
            2 => Some(Self::Preempt),
            3 => Some(Self::Switch),
            4 => Some(Self::Reconfig),
            5 => Some(Self::Hold),
            _ => None,
        }
    }
}

/// A region: its `DESCRIPTOR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Its state.
    pub state: State,
    /// It is connected to its client.
    pub connected: bool,
    /// The interface that it was last connected to.
    pub client: u8,
    /// The priority with which that was.
    pub priority: u8,
    /// The task that it is loaded with; 0 is none.
    pub loaded: u8,
    /// Memory owes nothing to a task that was here.
    pub drained: bool,
}

/// A command to a region: `COMMAND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Idle to Switch.
    Take,
    /// Busy to Preempt.
    Preempt,
    /// Busy or Preempt to Switch, at once.
    Kill,
    /// Switch to Hold.
    Connect,
    /// Switch to Idle.
    Release,
}

/// What the region monitor has for a request: `SOLUTION`. Whether the region has to be configured is told by its
/// descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solution {
    /// An idle region.
    Assign(u8),
    /// A region that computes for a lower priority.
    Preempt(u8),
    /// None; the request waits in the monitor's list.
    Unavailable,
    /// None, and the list is full.
    NoRoom,
}

/// The first request that waits for which there is a region now: `FOUND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The interface that asked.
    pub interface: u8,
    /// The region.
    pub region: u8,
}

/// An interface: its `STATE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// A region is connected.
    pub connected: bool,
    /// The task computes.
    pub running: bool,
    /// A computation was stopped, and its context is in the buffer.
    pub unfinished: bool,
    /// The VM has asked for a computation that has not begun.
    pub asked: bool,
}

/// The fabric's registers. Each operation is one or two accesses; none waits but [`Fabric::request`], for the few
/// cycles that the monitor takes.
///
/// Numbers given are below those of the design.
pub trait Fabric {
    /// The time by now, in ticks: later than when the event began that is being handled.
    fn now(&mut self) -> u64;
    /// A region's descriptor.
    fn region(&mut self, region: u8) -> Descriptor;
    /// Commands a region; whether it was carried out.
    fn command(&mut self, region: u8, command: Command) -> bool;
    /// Who is connected by the next [`Command::Connect`]: interface, priority, and for how many cycles the region is
    /// held for it.
    fn set_client(&mut self, region: u8, interface: u8, priority: u8, hold: u32);
    /// Asks the monitor for a region, in place of what the interface had asked before. What there is none for waits in
    /// the monitor's list.
    fn request(&mut self, interface: u8, task: u8, priority: u8) -> Solution;
    /// What the monitor has found for its list.
    fn found(&mut self) -> Option<Found>;
    /// Takes an interface's request off the monitor's list, if it is there.
    fn withdraw(&mut self, interface: u8);
    /// Which regions each task fits into, a bit each.
    fn set_compatibility(&mut self, fits: &[u8; TASKS]);
    /// Whether a configuration is going on.
    fn is_configuring(&mut self) -> bool;
    /// Begins to configure a region with a task. What became of it is in the region's descriptor when it is over.
    fn configure(&mut self, region: u8, task: u8);
    /// An interface's state.
    fn interface(&mut self, interface: u8) -> Interface;
    /// Continues with the unfinished computation of a connected interface; nothing happens where there is none.
    fn resume(&mut self, interface: u8);
    /// Ends what an interface has unfinished or asked with error 15; nothing happens while it is running.
    fn fail(&mut self, interface: u8);
}

/// What a VM that knows the state of its devices is told: the paper's Table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Signal {
    /// *IPC_WAIT*: there is no region yet.
    Wait = 1,
    /// *IPC_READY*: there is one.
    Ready = 2,
    /// *IPC_PREEMPT*: the region was taken from an unfinished computation.
    Preempt = 3,
}

/// The VMs' side: their pages, their signals, and the save and restore routines that the user has registered.
///
/// After a crash any of them may be called again with the same argument: it is to do the same again.
pub trait Guests {
    /// Lets the VM write the virtual device's page, or no more. What a vCPU writes on another hart meanwhile becomes an
    /// [`Event::Request`] if it asks for something.
    fn permit(&mut self, interface: u8, writable: bool);
    /// Tells the VM.
    fn signal(&mut self, interface: u8, signal: Signal);
    /// The interface has lost its region: what the user wants to be done with its context.
    fn save(&mut self, interface: u8);
    /// It is about to get one. `false`: its context is not to be used, and the request ends with an error.
    fn restore(&mut self, interface: u8) -> bool;
}
