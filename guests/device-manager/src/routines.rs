//! The routines that save and restore a task's context, for tasks that need them (Ker-ONE, section 4.3).
//!
//! The context of all present tasks is in their interface's buffer when they have stopped, and is read from there when
//! they are resumed: they need no routines. A task with state elsewhere gets its routines in [`ROUTINES`].

use tactus_accelerators::TASKS;
use tactus_registers::interface_manager::components::interface_manager::context::Context;

/// Called when an interface has lost its region, with the context in its buffer. It may be called again
/// for the same context.
pub type Save = fn(interface: u8, context: Context<'static>);
/// Called before an interface is assigned a region; `false`: the context is not valid, and the computation ends
/// with an error.
pub type Restore = fn(interface: u8, context: Context<'static>) -> bool;

/// A task's routines.
#[derive(Clone, Copy, Debug)]
pub struct Routines {
    /// Saves the context, if the task needs this.
    pub save: Option<Save>,
    /// Restores the context, if the task needs this.
    pub restore: Option<Restore>,
}

/// The routines by task.
static ROUTINES: [Routines; TASKS] = [Routines {
    save: None,
    restore: None,
}; TASKS];

/// The routines of the task of that number.
pub fn of(task: u8) -> Routines {
    ROUTINES[usize::from(task) % TASKS]
}
