//! The routines by which a task's context is saved and restored, where it needs any (Ker-ONE, section 4.3).
//!
//! The context of the tasks that there are is in its interface's buffer when they have stopped, and is found there when
//! they are resumed: they need none. A task with state elsewhere gets its routines in [`ROUTINES`].

use tactus_accelerators::TASKS;
use tactus_registers::interface_manager::components::interface_manager::context::Context;

/// What is called when an interface has lost its region, with the context that is in its buffer. It may be called again
/// for the same context.
pub type Save = fn(interface: u8, context: Context<'static>);
/// What is called when one is about to get a region; `false`: the context is not to be used, and the computation ends
/// with an error.
pub type Restore = fn(interface: u8, context: Context<'static>) -> bool;

/// A task's routines.
#[derive(Clone, Copy, Debug)]
pub struct Routines {
    /// If it needs one.
    pub save: Option<Save>,
    /// If it needs one.
    pub restore: Option<Restore>,
}

/// By task.
static ROUTINES: [Routines; TASKS] = [Routines {
    save: None,
    restore: None,
}; TASKS];

/// The routines of the task of that number.
pub fn of(task: u8) -> Routines {
    ROUTINES[usize::from(task) % TASKS]
}
