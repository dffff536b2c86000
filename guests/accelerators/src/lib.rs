//! Accelerators that VMs share: the decisions of the device manager, and the latency of a device's allocation.
//!
//! After Ker-ONE (Xia et al., Journal of Systems Architecture 98, 2019), sections 4.4 and 6.
//! `docs/src/reference/regions.md` describes the registers behind [`Fabric`], and
//! `docs/src/reference/device-manager.md` the states of a request.
#![no_std]

pub mod latency;
mod manager;

pub use manager::{
    Device, Event, Manager, OPERATIONS_MAX, Pending, Policy, RELEASE_TICKS, Statistics, Turn,
};

/// Most interfaces: the capacity of the region monitor's list.
pub const INTERFACES: usize = tactus_abi::blob::limit::INTERFACES;
/// Most regions: the bits per task of the compatibility index.
pub const REGIONS: usize = 4;
/// Most tasks; task 0 is none.
pub const TASKS: usize = 8;

/// A region's state: `DESCRIPTOR.state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No computation is in progress.
    Idle,
    /// The task is computing.
    Busy,
    /// The task has been told to stop.
    Preempt,
    /// The device manager owns the region.
    Switch,
    /// The configuration port owns the region.
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
    /// The interface to which it was last connected.
    pub client: u8,
    /// The priority of that connection.
    pub priority: u8,
    /// The task that it is loaded with; 0 is none.
    pub loaded: u8,
    /// Memory has answered all accesses of earlier tasks.
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

/// The region monitor's solution of a request: `SOLUTION`. The region's descriptor shows whether it has to be
/// configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solution {
    /// An idle region.
    Assign(u8),
    /// A region that computes for a device of lower priority.
    Preempt(u8),
    /// None; the request waits in the monitor's list.
    Unavailable,
    /// None, and the list is full.
    NoRoom,
}

/// The first waiting request for which a region is available: `FOUND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The requesting interface.
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
    /// The VM has requested a computation that has not started.
    pub asked: bool,
}

/// The fabric's registers. Each operation is one or two accesses; only [`Fabric::request`] waits, for the few
/// cycles that the monitor takes.
///
/// The numbers passed are below those of the design.
pub trait Fabric {
    /// The current time, in ticks: later than the start of the event that is being handled.
    fn now(&mut self) -> u64;
    /// A region's descriptor.
    fn region(&mut self, region: u8) -> Descriptor;
    /// Sends a command to a region; returns whether it was executed.
    fn command(&mut self, region: u8, command: Command) -> bool;
    /// Sets the parameters of the next [`Command::Connect`]: interface, priority, and the cycles for which the region
    /// is held for it.
    fn set_client(&mut self, region: u8, interface: u8, priority: u8, hold: u32);
    /// Requests a region from the monitor, in place of the interface's earlier request. Without a solution, the request
    /// waits in the monitor's list.
    fn request(&mut self, interface: u8, task: u8, priority: u8) -> Solution;
    /// The monitor's solution for its list.
    fn found(&mut self) -> Option<Found>;
    /// Removes an interface's request from the monitor's list, if it is there.
    fn withdraw(&mut self, interface: u8);
    /// Sets the regions that each task fits into, a bit each.
    fn set_compatibility(&mut self, fits: &[u8; TASKS]);
    /// Whether a configuration is in progress.
    fn is_configuring(&mut self) -> bool;
    /// Starts to configure a region with a task. At the end, the region's descriptor shows the result.
    fn configure(&mut self, region: u8, task: u8);
    /// An interface's state.
    fn interface(&mut self, interface: u8) -> Interface;
    /// Resumes the unfinished computation of a connected interface; has no effect if there is none.
    fn resume(&mut self, interface: u8);
    /// Ends an interface's unfinished or requested computation with error 15; has no effect while it is running.
    fn fail(&mut self, interface: u8);
}

/// Signals to a VM that follows the state of its devices: the paper's Table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Signal {
    /// *IPC_WAIT*: there is no region yet.
    Wait = 1,
    /// *IPC_READY*: there is a region.
    Ready = 2,
    /// *IPC_PREEMPT*: the region was preempted with an unfinished computation.
    Preempt = 3,
}

/// The interface to the VMs: their pages, their signals, and the save and restore routines that the user registered.
///
/// After a crash each may be called again with the same argument, and must have the same effect again.
pub trait Guests {
    /// Makes the virtual device's page writable for the VM, or not. A concurrent write by a vCPU on another hart is
    /// delivered as an [`Event::Request`] if it requests a computation.
    fn permit(&mut self, interface: u8, writable: bool);
    /// Sends a signal to the VM.
    fn signal(&mut self, interface: u8, signal: Signal);
    /// The interface has lost its region: runs the user's routine that saves its context.
    fn save(&mut self, interface: u8);
    /// The interface is about to get a region. `false`: its context is not valid, and the request ends with an error.
    fn restore(&mut self, interface: u8) -> bool;
}
