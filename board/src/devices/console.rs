//! A console: the far end of a serial line or of a virtio console, for the program that runs the board.
//!
//! Input carries the virtual time at which it arrives. Input that is given before a run, or for a time that the run
//! has not reached, arrives at exactly that time in every run. Interactive input arrives when the device next looks
//! for it, which depends on the host: such a run repeats only when what [`Console::take_record`] gave is sent
//! again by [`Console::send_at`].

use crate::time::Femtoseconds;
use std::collections::VecDeque;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Shared {
    /// By time; what has the same time, in the order it was sent.
    input: VecDeque<(Femtoseconds, u8)>,
    record: Vec<(Femtoseconds, u8)>,
    output: VecDeque<u8>,
    forward: Option<Box<dyn Write + Send>>,
    error: Option<std::io::Error>,
}

/// A handle to a console. Its clones are handles to the same.
#[derive(Clone, Default)]
pub struct Console {
    shared: Arc<Mutex<Shared>>,
    attention: Arc<AtomicBool>,
}

impl std::fmt::Debug for Console {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Console").finish_non_exhaustive()
    }
}

impl Console {
    /// How many bytes of output are kept for [`take_output`](Self::take_output); of more, the oldest are dropped.
    pub const OUTPUT_MAX: usize = 16 << 20;

    /// A console without input, which keeps its output.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // What another thread left behind when it panicked is bytes in queues, which are always whole.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends bytes to the board: they arrive as soon as the device takes them.
    pub fn send(&self, bytes: &[u8]) {
        self.send_at(Femtoseconds::default(), bytes);
    }

    /// Sends bytes to the board: they arrive at `time`, or as soon after as the device takes them.
    pub fn send_at(&self, time: Femtoseconds, bytes: &[u8]) {
        let mut shared = self.shared();
        let place = shared.input.partition_point(|&(other, _)| other <= time);
        let later = shared.input.split_off(place);
        shared.input.extend(bytes.iter().map(|&byte| (time, byte)));
        shared.input.extend(later);
        drop(shared);
        self.attention.store(true, Ordering::Release);
    }

    /// A flag that becomes set when input was sent. The board clears it and wakes the device, which cannot know of
    /// input that it did not ask for.
    #[must_use]
    pub fn attention(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.attention)
    }

    /// How many bytes of input have not arrived yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.shared().input.len()
    }

    /// The input that has arrived since this was asked last, with the times at which it did.
    #[must_use]
    pub fn take_record(&self) -> Vec<(Femtoseconds, u8)> {
        std::mem::take(&mut self.shared().record)
    }

    /// The output since this was asked last, or since the board was made; of more than [`OUTPUT_MAX`](Self::OUTPUT_MAX)
    /// bytes, the last.
    #[must_use]
    pub fn take_output(&self) -> Vec<u8> {
        std::mem::take(&mut self.shared().output).into()
    }

    /// Has all further output written to `writer`, byte by byte and at once, instead of keeping it. Where that fails,
    /// output is kept again from then on, and [`take_error`](Self::take_error) says why.
    pub fn forward(&self, writer: Box<dyn Write + Send>) {
        self.shared().forward = Some(writer);
    }

    /// Why forwarding ended.
    #[must_use]
    pub fn take_error(&self) -> Option<std::io::Error> {
        self.shared().error.take()
    }

    /// Output of the board's.
    pub(super) fn put(&self, bytes: &[u8]) {
        let mut shared = self.shared();
        if let Some(writer) = &mut shared.forward {
            match writer.write_all(bytes).and_then(|()| writer.flush()) {
                Ok(()) => return,
                Err(error) => {
                    shared.forward = None;
                    shared.error = Some(error);
                }
            }
        }
        let excess = (shared.output.len() + bytes.len()).saturating_sub(Self::OUTPUT_MAX);
        let dropped = excess.min(shared.output.len());
        shared.output.drain(..dropped);
        shared.output.extend(&bytes[excess - dropped..]);
    }

    /// The next byte of input, if it has arrived by `now`.
    pub(crate) fn get(&self, now: Femtoseconds) -> Option<u8> {
        let mut shared = self.shared();
        let &(time, byte) = shared.input.front()?;
        if time > now {
            return None;
        }
        shared.input.pop_front();
        shared.record.push((now, byte));
        Some(byte)
    }

    /// When the next byte of input arrives.
    pub(super) fn next(&self) -> Option<Femtoseconds> {
        self.shared().input.front().map(|&(time, _)| time)
    }

    /// The input that has not arrived yet, for a snapshot.
    pub(super) fn input(&self) -> Vec<(Femtoseconds, u8)> {
        self.shared().input.iter().copied().collect()
    }

    /// Takes back what [`input`](Self::input) gave, instead of the input that there is.
    pub(super) fn set_input(&self, mut input: Vec<(Femtoseconds, u8)>) {
        input.sort_by_key(|&(time, _)| time);
        self.shared().input = input.into();
        self.attention.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(time: u64) -> Femtoseconds {
        Femtoseconds(time)
    }

    #[test]
    fn input_arrives_by_time_then_in_order() {
        let console = Console::new();
        console.send_at(at(20), b"cd");
        console.send_at(at(10), b"b");
        console.send_at(at(20), b"e");
        console.send(b"a");
        assert!(console.attention().swap(false, Ordering::AcqRel));
        assert_eq!(console.next(), Some(at(0)));
        assert_eq!(console.get(at(5)), Some(b'a'));
        assert_eq!(console.get(at(5)), None);
        let rest: Vec<u8> = std::iter::from_fn(|| console.get(at(20))).collect();
        assert_eq!(rest, b"bcde");
        assert_eq!(console.take_record().first(), Some(&(at(5), b'a')));
        assert_eq!(console.waiting(), 0);
    }

    #[test]
    fn output_is_kept_to_a_limit() {
        let console = Console::new();
        console.put(b"first");
        console.put(&vec![b'x'; Console::OUTPUT_MAX - 2]);
        let output = console.take_output();
        assert_eq!(output.len(), Console::OUTPUT_MAX);
        assert_eq!(&output[..3], b"stx");
        console.put(&vec![b'y'; Console::OUTPUT_MAX + 5]);
        assert_eq!(console.take_output().len(), Console::OUTPUT_MAX);
    }

    struct Broken;

    impl Write for Broken {
        fn write(&mut self, _bytes: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no more"))
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn output_that_cannot_be_forwarded_is_kept() {
        let console = Console::new();
        console.forward(Box::new(Broken));
        console.put(b"text");
        assert_eq!(console.take_output(), b"text");
        assert_eq!(
            console.take_error().map(|error| error.to_string()),
            Some("no more".into())
        );
        assert!(console.take_error().is_none());
    }
}
