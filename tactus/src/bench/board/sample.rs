//! One run of a job on a machine: what its serial line said, and how long it took.

use serde::{Deserialize, Serialize};

use super::host::HostTime;
use super::job::Job;
use crate::run::console::{Consoles, Line, Piece, Source};
use crate::run::journal::Journal;

/// Names of the figures that a program like `bench/board/mix` gives.
const CHECKSUM: &str = "mix_checksum";
const INSTRUCTIONS: &str = "mix_instructions";

/// Hears a job's serial line, whatever machine it comes from, until the job is done.
#[derive(Debug)]
pub struct Hearing {
    consoles: Consoles,
    journal: Journal,
    until: Option<String>,
    met: bool,
}

impl Hearing {
    /// Nothing heard yet.
    pub fn of(job: &Job) -> Self {
        Self {
            consoles: Consoles::new(job.carriage()),
            journal: Journal::new(&job.vms, job.timebase_hz),
            until: job.until.clone(),
            met: false,
        }
    }

    /// Takes what was written; true when the line that the job is done with has come.
    pub fn take(&mut self, bytes: &[u8]) -> bool {
        let Self {
            consoles,
            journal,
            until,
            met,
        } = self;
        consoles.push(bytes, |piece| match piece {
            Piece::Byte(source, byte) => journal.take_byte(source, byte),
            Piece::Line(line) => {
                *met |= until.as_deref().is_some_and(|until| begins(&line, until));
                journal.take_line(&line);
            }
        });
        self.met
    }

    /// Whether the program has said that it passed or failed, behind which it has nothing to say.
    pub fn has_verdict(&self) -> bool {
        let mut vms = self.journal.vms.iter();
        vms.any(|vm| !vm.passed.is_empty() || !vm.failed.is_empty())
    }

    /// What was heard, if the job came to a good end. `ended` says whether the machine ended by itself.
    ///
    /// # Errors
    /// It did not; says how.
    pub fn judge(mut self, ended: bool) -> Result<Journal, String> {
        for line in self.consoles.finish() {
            self.journal.take_line(&line);
        }
        let journal = self.journal;
        if let Some(failure) = &journal.failure {
            return Err(format!("the hypervisor gave up: {failure:?}"));
        }
        for vm in &journal.vms {
            if let Some((check, reason)) = vm.failed.first() {
                return Err(format!("{}: check `{check}` failed: {reason}", vm.name));
            }
            if vm.failed() {
                return Err(format!("{} did not end in good order", vm.name));
            }
        }
        match &self.until {
            Some(until) if !self.met => Err(format!("no console line began with `{until}`")),
            Some(_) => Ok(journal),
            None if !ended => Err("the machine did not end".to_owned()),
            None if journal.version.is_some() && journal.ended.is_none() => {
                Err("the machine ended though the hypervisor had not ended it".to_owned())
            }
            None if journal.vms.iter().all(|vm| vm.passed.is_empty()) => {
                Err("the machine ended and no check had passed".to_owned())
            }
            None => Ok(journal),
        }
    }

    /// The same, of a machine that ended by itself or was ended, or else failed in a way that it names.
    ///
    /// # Errors
    /// It failed, or the job did not come to a good end.
    pub fn judge_end(self, ended: Result<bool, String>) -> Result<Journal, String> {
        match ended {
            Ok(ended) => self.judge(ended),
            // What the guest has to say about it is better than that it failed.
            Err(reason) => {
                let reason = reason.trim_end();
                Err(match self.judge(true) {
                    Ok(_) => reason.to_owned(),
                    Err(said) => format!("{reason}; {said}"),
                })
            }
        }
    }
}

fn begins(line: &Line, until: &str) -> bool {
    matches!(line.source, Source::Vm(_)) && line.bytes.starts_with(until.as_bytes())
}

/// What a good run gave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// From the machine's reset to the job's end, loading of the image and start of the machine included.
    pub time: HostTime,
    /// Instructions of the job, from a machine that counts them: what a program counted itself between its first and
    /// its last round, on all its harts; of a system, all that its harts retired.
    pub instructions: Option<u64>,
    /// What a program computed.
    pub checksum: Option<u64>,
    /// Hash of the run's trace, from a machine that makes one.
    pub trace_hash: Option<u64>,
    /// Runs of a campaign, or copies of a board.
    pub runs: Option<u32>,
    /// Of the wall's time of all threads of a campaign, the part in which boards ran.
    pub simulated: Option<f64>,
}

impl Sample {
    /// Of a machine that neither counts instructions nor makes traces.
    pub fn timed(time: HostTime, journal: &Journal) -> Self {
        Self {
            time,
            instructions: None,
            checksum: figure(journal, CHECKSUM),
            trace_hash: None,
            runs: None,
            simulated: None,
        }
    }

    /// The instructions that a program says it took; right where `minstret` counts instructions.
    pub fn counted_by_program(journal: &Journal) -> Option<u64> {
        figure(journal, INSTRUCTIONS)
    }
}

fn figure(journal: &Journal, name: &str) -> Option<u64> {
    let metric = journal.vms.iter().find_map(|vm| vm.metrics.get(name))?;
    Some(metric.value as u64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::run::console::Carriage;

    fn hearing(until: Option<&str>) -> Hearing {
        Hearing {
            consoles: Consoles::new(Carriage::Bare),
            journal: Journal::new(&["mix"], 10_000_000),
            until: until.map(str::to_owned),
            met: false,
        }
    }

    #[test]
    fn a_program_is_heard() {
        let mut hearing = hearing(None);
        assert!(!hearing.take(
            b"@tactus metric name=mix_checksum value=7 unit=count\n\
              @tactus metric name=mix_instructions value=123 unit=instructions\n\
              @tactus pass name=mix\n"
        ));
        let journal = hearing.judge(true).expect("it is good");
        let second = Duration::from_secs(1);
        let time = HostTime {
            wall: second,
            cpu: second,
        };
        let sample = Sample::timed(time, &journal);
        assert_eq!((sample.checksum, sample.instructions), (Some(7), None));
        assert_eq!(Sample::counted_by_program(&journal), Some(123));
    }

    #[test]
    fn a_job_is_done_with_its_line() {
        let mut hearing = hearing(Some("This is"));
        assert!(!hearing.take(b"Is This is\nThis"));
        assert!(hearing.take(b" is a shell\n"));
        assert!(hearing.judge(false).is_ok());
    }

    #[test]
    fn bad_ends_are_told_apart() {
        let end = |text: &[u8], until, ended| {
            let mut hearing = hearing(until);
            hearing.take(text);
            hearing.judge(ended).expect_err("it is not good")
        };
        let failed = b"@tactus fail name=mix reason=crc\n@tactus pass name=mix\n";
        assert!(end(failed, None, true).contains("`mix` failed: crc"));
        assert!(end(b"@tactus pass name=mix\n", None, false).contains("did not end"));
        assert!(end(b"", None, true).contains("no check"));
        assert!(end(b"something\n", Some("This"), true).contains("began with"));
    }
}
