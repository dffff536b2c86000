//! What a board run has to know of its own output: whether the awaited VM is off, whether a phase has begun.

use tactus_board::time::Femtoseconds;

use super::{FEMTOSECONDS_PER_NANOSECOND, Marker};
use crate::config::Nanoseconds;
use crate::run::console::{Consoles, Line, Piece, Source};
use crate::run::record::{self, GuestRecord, LogRecord};
use crate::run::script::Player;
use crate::run::session::{CLOSING_MAX, CLOSING_PATIENCE, Closing, Plan};

/// Reads the serial line beside the run.
#[derive(Debug)]
pub(super) struct Watch {
    consoles: Consoles,
    /// Index and name of the awaited VM.
    until: Option<(usize, String)>,
    phase: Option<String>,
    /// Set when the awaited VM is off, with when that was and when something that counts came last.
    closing: Option<(Closing, [Femtoseconds; 2])>,
}

impl Watch {
    pub(super) fn new(plan: &Plan, timed_from: &Option<Marker>) -> Self {
        Self {
            consoles: Consoles::new(plan.carriage),
            until: plan.until.map(|vm| (vm, plan.vms[vm].clone())),
            phase: match timed_from {
                Some(Marker::Phase(name)) => Some(name.clone()),
                _ => None,
            },
            closing: None,
        }
    }

    /// Takes what was written by `now`, and shows its lines; tells whether the phase began with it.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        now: Femtoseconds,
        mut player: Option<&mut Player>,
        mut each: impl FnMut(&Line),
    ) -> bool {
        let Self {
            consoles,
            until,
            phase,
            closing,
        } = self;
        let mut begun = false;
        consoles.push(bytes, |piece| {
            if let Some((closing, [_, last])) = closing
                && closing.counts(&piece, until.as_ref().map(|(vm, _)| *vm))
            {
                *last = now;
            }
            if let (Some(player), Piece::Byte(Source::Vm(vm), byte)) = (&mut player, &piece) {
                player.heard(*vm, *byte);
            }
            let Piece::Line(line) = piece else { return };
            each(&line);
            match line.source {
                Source::Log if closing.is_none() => {
                    if let Some((_, awaited)) = until
                        && let Ok(LogRecord::Off { vm, .. }) = record::parse_log(&line.text())
                        && vm == *awaited
                    {
                        *closing = Some((Closing::default(), [now, now]));
                    }
                }
                Source::Vm(_) => {
                    if let Some(wanted) = phase
                        && let Some(text) = record::guest_record_text(&line.text())
                        && let Ok(GuestRecord::Phase { name }) = record::parse_guest(text)
                        && name == *wanted
                    {
                        begun = true;
                    }
                }
                _ => {}
            }
        });
        begun
    }

    /// Whether the awaited VM is off and has nothing more to say.
    pub(super) fn over(&self, now: Femtoseconds) -> bool {
        let passed = |since: Femtoseconds, time: Nanoseconds| {
            now.0 >= since.0.saturating_add(time.0 * FEMTOSECONDS_PER_NANOSECOND)
        };
        self.closing.is_some_and(|(_, [began, last])| {
            passed(last, CLOSING_PATIENCE) || passed(began, CLOSING_MAX)
        })
    }
}
