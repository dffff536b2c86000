//! Types on a console no faster than its guest takes it.
//!
//! A VM's UART holds 64 bytes of input, and what comes while it is full is lost, as on a real line. So input is typed
//! in portions that fit twice, one after the other: the next when the guest has echoed the last, or has had time
//! enough.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::config::Nanoseconds;

/// Bytes of a portion.
const PORTION: usize = 32;
/// What a portion takes on a line of 115,200 baud, about.
const PORTION_TIME: Nanoseconds = Nanoseconds(2_800_000);
/// How long a guest that does not echo has for a portion.
const ECHO_PATIENCE: Nanoseconds = Nanoseconds(200_000_000);
/// How long a guest has written nothing after the start of a line when that is taken for a prompt.
const PROMPT_SILENCE: Nanoseconds = Nanoseconds(20_000_000);
/// How long a guest has written nothing at all when it is taken to listen without a prompt.
const SILENCE: Nanoseconds = Nanoseconds(5_000_000_000);

/// Who types on one console.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Typist {
    waiting: VecDeque<u8>,
    /// Bytes of the last portion that have no echo yet.
    unechoed: usize,
    /// When the last portion was typed.
    last: Option<Nanoseconds>,
}

impl Typist {
    /// Has this typed, behind all before.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
    }

    /// The guest has written a byte.
    pub(super) fn heard(&mut self) {
        self.unechoed = self.unechoed.saturating_sub(1);
    }

    /// What is typed now.
    pub(super) fn due(&mut self, now: Nanoseconds) -> Option<Vec<u8>> {
        if self.waiting.is_empty() {
            return None;
        }
        if let Some(last) = self.last {
            let passed = now.0.saturating_sub(last.0);
            let pause = if self.unechoed > 0 {
                ECHO_PATIENCE
            } else {
                PORTION_TIME
            };
            if passed < pause.0 {
                return None;
            }
        }
        let portion: Vec<u8> = self
            .waiting
            .drain(..PORTION.min(self.waiting.len()))
            .collect();
        self.unechoed = portion.len();
        self.last = Some(now);
        Some(portion)
    }

    /// Whether something waits to be typed.
    pub(super) fn is_busy(&self) -> bool {
        !self.waiting.is_empty()
    }
}

/// Finds out when a guest listens to its console first: before, its driver may clear the UART.
#[derive(Debug, Default)]
pub(super) struct Prompt {
    /// The last line has begun and not ended.
    in_line: bool,
    /// Something was written since the last look.
    heard: bool,
    /// When something was written last.
    last: Nanoseconds,
    there: bool,
}

impl Prompt {
    /// The guest has written a byte.
    pub(super) fn heard(&mut self, byte: u8) {
        self.in_line = byte != b'\n';
        self.heard = true;
    }

    /// Whether the guest listens, as far as can be seen.
    pub(super) fn is_there(&mut self, now: Nanoseconds) -> bool {
        if std::mem::take(&mut self.heard) {
            self.last = now;
        }
        let silence = if self.in_line {
            PROMPT_SILENCE
        } else {
            SILENCE
        };
        self.there |= now.0.saturating_sub(self.last.0) >= silence.0;
        self.there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Nanoseconds {
        Nanoseconds(milliseconds * 1_000_000)
    }

    #[test]
    fn portions_follow_the_echo() {
        let mut typist = Typist::default();
        typist.add(&[b'x'; 70]);
        assert_eq!(typist.due(ms(0)).map(|bytes| bytes.len()), Some(32));
        (0..32).for_each(|_| typist.heard());
        assert_eq!(typist.due(ms(2)), None, "faster than the line");
        assert_eq!(typist.due(ms(3)).map(|bytes| bytes.len()), Some(32));
        (0..31).for_each(|_| typist.heard());
        assert_eq!(typist.due(ms(100)), None, "a byte has no echo");
        assert_eq!(typist.due(ms(203)).map(|bytes| bytes.len()), Some(6));
        assert!(!typist.is_busy());
    }

    #[test]
    fn a_line_that_is_not_ended_is_a_prompt() {
        let mut prompt = Prompt::default();
        "booting\n~ # ".bytes().for_each(|byte| prompt.heard(byte));
        assert!(!prompt.is_there(ms(500)));
        assert!(!prompt.is_there(ms(519)));
        assert!(prompt.is_there(ms(520)));
        prompt.heard(b'\n');
        assert!(prompt.is_there(ms(521)), "it stays so");
    }

    #[test]
    fn a_guest_without_a_prompt_is_waited_for_longer() {
        let mut prompt = Prompt::default();
        "booting\n".bytes().for_each(|byte| prompt.heard(byte));
        assert!(!prompt.is_there(ms(1000)));
        assert!(!prompt.is_there(ms(5999)));
        assert!(prompt.is_there(ms(6000)));
    }
}
