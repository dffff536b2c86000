//! `system.toml`: read and typed, with the place of every value in the file.

mod manager;
mod model;
mod parse;
mod place;
mod reader;
mod source;
mod unit;
mod warm;

pub use model::{
    Accelerator, Accelerators, Allocator, Chain, Channel, Class, Config, Costs, CriticalityLevel,
    DEFAULT_HOLD, DEFAULT_SLICE, Device, EmulatedDevice, FileName, FlashArea, HypervisorMemory, Io,
    IoPolicies, IoPolicy, IoPort, OnFault, PciFunction, Stimulus, System, Task, TimedIo, UartUse,
    Vcpu, Vm, Window,
};
pub use place::{NoPlace, Place, PlaceError};
pub(crate) use reader::closest;
pub use source::{At, Source, Span};
pub use unit::{Address, ColourRange, Nanoseconds, Share, Size, Station};
pub use warm::{WarmList, WarmRange};

pub(crate) use reader::cure_of_unknown;
