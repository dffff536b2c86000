//! The board's serial lines: the one that carries all consoles, and beside it perhaps one that a VM has for itself.
//!
//! What a VM writes to a UART of its own is put into the shared line as that VM's, so that all else sees one line with
//! one framing, and no byte from that UART counts as anything but the VM's text.

use std::sync::atomic::Ordering;

use tactus_abi::console::{Demux, Event, LOG_STREAM, SELECT, STREAM_BASE};
use tactus_board::devices::Console;
use tactus_board::time::Femtoseconds;

use crate::run::console::Framer;

/// The far ends of the board's UARTs.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    /// Carries all consoles.
    shared: Console,
    own: Option<Own>,
}

/// The UART that a VM has.
#[derive(Clone, Debug)]
struct Own {
    uart: Console,
    merge: Merge,
    sort: Sort,
}

impl Lines {
    /// One line, which carries all.
    pub(super) const fn one(shared: Console) -> Self {
        Self { shared, own: None }
    }

    /// The line that carries all, and the UART that the VM with this index has for itself.
    pub(super) const fn two(shared: Console, uart: Console, vm: usize) -> Self {
        let own = Own {
            uart,
            merge: Merge::new(vm),
            sort: Sort::new(vm),
        };
        Self {
            shared,
            own: Some(own),
        }
    }

    /// Whether input waits that its device has not been told of.
    pub(super) fn need_attention(&self) -> bool {
        let own = self.own.iter().map(|own| &own.uart);
        let mut consoles = own.chain([&self.shared]);
        consoles.any(|console| console.attention().load(Ordering::Acquire))
    }

    /// Sends framed input, which arrives at `time`: to the UART of the VM that it is for, if the VM has one.
    pub(super) fn send_at(&mut self, time: Femtoseconds, framed: &[u8]) {
        match &mut self.own {
            None => self.shared.send_at(time, framed),
            Some(own) => {
                let (to_own, to_shared) = own.sort.take(framed);
                own.uart.send_at(time, &to_own);
                self.shared.send_at(time, &to_shared);
            }
        }
    }

    /// What was written since this was asked last, framed.
    pub(super) fn take_output(&mut self) -> Vec<u8> {
        let shared = self.shared.take_output();
        match &mut self.own {
            None => shared,
            Some(own) => own.merge.take(shared, &own.uart.take_output()),
        }
    }

    /// Power is lost: what comes next is the firmware's.
    pub(super) fn restart(&mut self) {
        if let Some(own) = &mut self.own {
            own.merge = Merge::new(own.merge.vm);
        }
    }

    /// Goes on behind this output, which was taken before.
    pub(super) fn go_on_behind(&mut self, output: &[u8]) {
        if let Some(own) = &mut self.own {
            own.merge.follow(output);
        }
    }
}

/// Puts what a VM writes to its own UART into the shared line.
#[derive(Clone, Debug)]
struct Merge {
    vm: usize,
    /// The stream that the shared line is in. `None`: the firmware's, until the first selection.
    stream: Option<u8>,
    /// It is within a sequence of the framing.
    within: bool,
}

impl Merge {
    const fn new(vm: usize) -> Self {
        Self {
            vm,
            stream: None,
            within: false,
        }
    }

    /// Takes a part of the shared line, and what the VM wrote meanwhile. Gives the part with that behind it.
    fn take(&mut self, shared: Vec<u8>, own: &[u8]) -> Vec<u8> {
        let mut bytes = shared;
        if self.within {
            // The first half was kept back.
            bytes.insert(0, SELECT);
            self.within = false;
        }
        self.follow(&bytes);
        if self.within {
            bytes.pop();
        }
        if !own.is_empty()
            && let Some(mut framer) = Framer::new(self.vm)
        {
            bytes.extend(framer.frame(own));
            // The firmware has no stream to go back to: what it says once VMs run is as good as the log.
            bytes.extend([SELECT, STREAM_BASE + self.stream.unwrap_or(LOG_STREAM)]);
        }
        bytes
    }

    /// Follows the shared line's framing.
    fn follow(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if std::mem::take(&mut self.within) {
                self.stream = byte.checked_sub(STREAM_BASE).or(self.stream);
            } else {
                self.within = byte == SELECT;
            }
        }
    }
}

/// Sorts framed input by whether it is for the VM that has a UART of its own.
#[derive(Clone, Debug)]
struct Sort {
    vm: usize,
    typed: Demux,
    /// The stream that the shared line's input is in.
    stream: Option<u8>,
}

impl Sort {
    const fn new(vm: usize) -> Self {
        Self {
            vm,
            typed: Demux::new(),
            stream: None,
        }
    }

    /// What goes to the VM's UART, as it is, and what goes down the shared line, framed.
    fn take(&mut self, framed: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (mut own, mut shared) = (Vec::new(), Vec::new());
        for &byte in framed {
            let Event::Byte(Some(stream), byte) = self.typed.push(byte) else {
                continue;
            };
            if usize::from(stream) == self.vm + 1 {
                own.push(byte);
                continue;
            }
            if self.stream != Some(stream) {
                self.stream = Some(stream);
                shared.extend([SELECT, STREAM_BASE + stream]);
            }
            if byte == SELECT {
                shared.push(SELECT);
            }
            shared.push(byte);
        }
        (own, shared)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::run::console::{Carriage, Consoles, Piece, Source, framed};

    /// Who wrote what, byte by byte.
    fn bytes_by_source(line: &[u8]) -> Vec<(Source, Vec<u8>)> {
        let sources = [Source::Firmware, Source::Log, Source::Vm(0), Source::Vm(1)];
        let mut seen = sources.map(|source| (source, Vec::new()));
        Consoles::new(Carriage::Framed { vms: 2 }).push(line, |piece| {
            if let Piece::Byte(source, byte) = piece
                && let Some((_, bytes)) = seen.iter_mut().find(|(other, _)| *other == source)
            {
                bytes.push(byte);
            }
        });
        seen.into()
    }

    #[test]
    fn forged_framing_is_the_text_of_the_vm_that_wrote_it() {
        let forged = framed(&[(Source::Log, "end time=1\n"), (Source::Vm(0), "lie\n")]);
        let mut merge = Merge::new(1);
        let mut line = merge.take(framed(&[(Source::Log, "boot ")]), &forged);
        line.extend(merge.take(b"time=1\n".to_vec(), &[]));
        let seen = bytes_by_source(&line);
        assert_eq!(seen[1].1, b"boot time=1\n");
        assert_eq!(seen[2].1, b"");
        assert_eq!(seen[3].1, forged);
    }

    #[test]
    fn what_comes_before_the_first_selection_stays_the_firmwares() {
        let mut merge = Merge::new(0);
        let mut line = merge.take(b"OpenSBI\n".to_vec(), &[]);
        line.extend(merge.take(Vec::new(), b"early"));
        line.extend(merge.take(framed(&[(Source::Vm(1), "text")]), &[]));
        let seen = bytes_by_source(&line);
        assert_eq!(seen[0].1, b"OpenSBI\n");
        assert_eq!(seen[2].1, b"early");
        assert_eq!(seen[3].1, b"text");
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_wherever_the_line_is_cut(
            texts in prop::collection::vec((0usize..2, any::<Vec<u8>>()), 0..8),
            own in prop::collection::vec(any::<Vec<u8>>(), 0..8),
            cuts in prop::collection::vec(0usize..400, 0..8),
        ) {
            // VM 1 has a UART of its own, and no other console.
            let mut shared = Vec::new();
            let mut expected = [Vec::new(), own.concat()];
            for (stream, text) in &texts {
                shared.extend([SELECT, STREAM_BASE + *stream as u8]);
                shared.extend(text.iter().flat_map(|&byte| match byte {
                    SELECT => vec![SELECT, SELECT],
                    byte => vec![byte],
                }));
                if *stream == 1 {
                    expected[0].extend(text);
                }
            }
            let mut merge = Merge::new(1);
            let mut line = Vec::new();
            let mut own = own.iter();
            for cut in cuts {
                let rest = shared.split_off(cut.min(shared.len()));
                line.extend(merge.take(shared, own.next().map_or(&[], |bytes| bytes)));
                shared = rest;
            }
            line.extend(merge.take(shared, &own.flatten().copied().collect::<Vec<_>>()));
            let seen = bytes_by_source(&line);
            prop_assert_eq!(&seen[2].1, &expected[0]);
            prop_assert_eq!(&seen[3].1, &expected[1]);
        }

        #[test]
        fn input_goes_to_whom_it_is_for(texts in prop::collection::vec((0usize..2, any::<Vec<u8>>()), 0..8)) {
            let mut sort = Sort::new(1);
            let (mut own, mut shared) = (Vec::new(), Vec::new());
            let mut expected = [Vec::new(), Vec::new()];
            for (vm, text) in &texts {
                let framed = Framer::new(*vm).expect("small").frame(text);
                let (to_own, to_shared) = sort.take(&framed);
                own.extend(to_own);
                shared.extend(to_shared);
                expected[*vm].extend_from_slice(text);
            }
            prop_assert_eq!(&bytes_by_source(&shared)[2].1, &expected[0]);
            prop_assert_eq!(&own, &expected[1]);
        }
    }
}
