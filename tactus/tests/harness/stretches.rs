//! How long the hypervisor goes without a look on the board.

use tactus::config::Nanoseconds;
use tactus::run::board::paths::{Cause, End, Stretches, Watch};
use tactus::run::board::{Marker, Options};
use tactus::run::machine::Platform;
use tactus_board::profile::Profile;

use super::{On, boot_text, once};

/// What a system runs on the board `soc` for: all costs are charged from a cycle on.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// That cycle.
    pub timed_from: u64,
    /// When the run ends, in virtual time.
    pub end: Nanoseconds,
}

/// All stretches that began with this interrupt, its number in `scause`, and ended in the vCPU that it came to: `end`
/// is [`End::BackBestEffort`], or [`End::Back`] for a real-time one.
///
/// # Panics
/// There are none.
#[track_caller]
pub fn of_interrupt(system: &str, span: Span, interrupt: u8, end: End) -> Stretches {
    let mut boot = boot_text(On::Board, system);
    let mut options = Options::new(Profile::named("soc").expect("it comes with the board"));
    options.timed_from = Some(Marker::Cycle(span.timed_from));
    options.paths = Some(Box::new(
        Watch::of(&boot.image, None).expect("it says where it looks"),
    ));
    let board = Platform::Board(Box::new(options));
    boot.plan = boot.plan.limit(span.end).on(board);
    let facts = once(&boot).board.expect("it ran on the board");
    let wanted = facts
        .paths
        .iter()
        .filter(|(path, _)| path.cause == Cause::Interrupt(interrupt) && path.end == end);
    wanted
        .map(|(_, stretches)| stretches)
        .reduce(|all, one| all.and(one))
        .expect("there was such an interrupt")
}
