//! The line to a manager: requests, and their answers.

use std::fmt::{self, Display};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use tactus_management::{
    Encoded, ImageSignature, LINE_MAX, Report, Request, State, Text, WRITE_MAX,
};

use crate::guest_image::GuestImage;
use crate::problem::io_reason;

/// How often a manager is called that does not answer yet, since it boots.
const CALL_AGAIN: Duration = Duration::from_secs(1);
/// How long it may take to answer at all.
const CALL_MAX: Duration = Duration::from_secs(120);
/// How long a request may take: a VM's memory may have to be cleared.
const REQUEST_MAX: Duration = Duration::from_secs(300);
/// Longest line of a console that is kept: no answer is as long.
const ANSWER_MAX: usize = 4 * LINE_MAX;

/// Why there is no answer that says yes.
#[derive(Debug)]
pub enum Failure {
    /// The manager refuses, in its words.
    Refused(String),
    /// It does not answer in time.
    Late,
    /// It cannot be reached.
    Link(String),
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) | Self::Link(reason) => f.write_str(reason),
            Self::Late => f.write_str(
                "the manager does not answer: does the VM at this socket run `@manager`?",
            ),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Self::Late,
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                Self::Link("the run has ended, or another program has its socket".to_owned())
            }
            _ => Self::Link(format!("the run cannot be reached: {}", io_reason(&error))),
        }
    }
}

/// A VM, as its manager tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vm {
    /// Its name.
    pub name: String,
    /// All else; without a name.
    pub report: Report<'static>,
}

impl Vm {
    fn of(report: Report<'_>) -> Self {
        Self {
            name: report.name.to_owned(),
            report: Report { name: "", ..report },
        }
    }
}

/// What an answer tells.
#[derive(Debug, Default)]
struct Told {
    vms: Vec<Vm>,
    texts: Vec<Text>,
}

/// A connection to a manager.
#[derive(Debug)]
pub struct Link {
    reader: BufReader<UnixStream>,
    /// What its tags begin with: answers to a program that had the socket before may still be on their way.
    prefix: String,
    /// Requests so far.
    count: u16,
}

impl Link {
    /// Connects to the socket of `tactus run --console-socket`, and waits until the manager answers.
    ///
    /// # Errors
    /// No run listens there, or no manager answers.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let stream = UnixStream::connect(path).map_err(|error| {
            Failure::Link(format!(
                "{} cannot be reached: {}; `tactus run FILE --console-socket VM={0}` offers it",
                path.display(),
                io_reason(&error)
            ))
        })?;
        let mut link = Self::on(stream, fastrand::u16(..));
        let end = Instant::now() + CALL_MAX;
        loop {
            link.say(&Request::Nothing)?;
            // An answer to an earlier call is as good: the manager may always be behind by some.
            match link.hear_answer(Instant::now() + CALL_AGAIN, |_| true) {
                Err(Failure::Late) if Instant::now() < end => {}
                Ok(_) | Err(Failure::Refused(_)) => return Ok(link),
                Err(failure) => return Err(failure),
            }
        }
    }

    fn on(stream: UnixStream, number: u16) -> Self {
        Self {
            reader: BufReader::new(stream),
            prefix: format!("#{number:04x}"),
            count: 0,
        }
    }

    /// Makes a request; what it tells of VMs.
    ///
    /// # Errors
    /// It is refused, or not answered.
    pub fn request(&mut self, request: &Request<'_>) -> Result<Vec<Vm>, Failure> {
        Ok(self.ask(request)?.vms)
    }

    fn ask(&mut self, request: &Request<'_>) -> Result<Told, Failure> {
        let number = format!("{:x}", self.say(request)?);
        self.hear_answer(Instant::now() + REQUEST_MAX, |tag| tag == number)
    }

    /// What a VM has written to its console, in pieces: from byte `position` of its output on, or all that is
    /// kept.
    ///
    /// # Errors
    /// It is refused, or not answered.
    pub fn console(&mut self, vm: &str, position: Option<u64>) -> Result<Vec<Text>, Failure> {
        Ok(self.ask(&Request::Console(vm, position))?.texts)
    }

    /// Makes a request; its number.
    fn say(&mut self, request: &Request<'_>) -> io::Result<u16> {
        self.count = self.count.wrapping_add(1);
        let line = format!("{}{:x} {request}\n", self.prefix, self.count);
        let mut stream = self.reader.get_ref();
        stream.write_all(line.as_bytes())?;
        stream.flush()?;
        Ok(self.count)
    }

    /// The answer to a request of this connection whose number, in hexadecimal, is one that is wanted.
    fn hear_answer(
        &mut self,
        end: Instant,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Told, Failure> {
        let mut told = Told::default();
        loop {
            let line = self.hear(end)?;
            let line = line.trim_end_matches(['\r', '\n']);
            let answer = line.strip_prefix(&self.prefix);
            let Some((number, answer)) = answer.and_then(|answer| answer.split_once(' ')) else {
                continue;
            };
            if !is_wanted(number) {
                continue;
            }
            match answer.strip_prefix("error ") {
                Some(reason) => return Err(Failure::Refused(reason.to_owned())),
                None if answer == "ok" => return Ok(told),
                None => {
                    told.vms.extend(Report::parse(answer).map(Vm::of));
                    told.texts.extend(Text::parse(answer));
                }
            }
        }
    }

    /// The next line; what is too long for an answer is left out.
    fn hear(&mut self, end: Instant) -> io::Result<String> {
        let mut line = Vec::new();
        loop {
            let rest = end.saturating_duration_since(Instant::now());
            let rest = rest.max(Duration::from_millis(1));
            self.reader.get_ref().set_read_timeout(Some(rest))?;
            let bytes = match self.reader.fill_buf() {
                Ok([]) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end_of_line = bytes.iter().position(|byte| *byte == b'\n');
            let count = end_of_line.map_or(bytes.len(), |end| end + 1);
            if line.len() < ANSWER_MAX {
                line.extend_from_slice(&bytes[..count]);
            }
            self.reader.consume(count);
            if end_of_line.is_some() {
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
        }
    }

    /// All VMs.
    ///
    /// # Errors
    /// It is refused, or not answered.
    pub fn list(&mut self) -> Result<Vec<Vm>, Failure> {
        self.request(&Request::List)
    }

    /// Loads an image into a VM that is off, and starts it, or leaves it held. Before anything is changed, each part of
    /// the image and its entry are found to be in the VM's memory. `progress` is told bytes.
    ///
    /// # Errors
    /// The image does not fit, it is refused, or not answered.
    pub fn load(
        &mut self,
        vm: &str,
        image: &GuestImage,
        signature: Option<ImageSignature>,
        starts: bool,
        mut progress: impl FnMut(usize),
    ) -> Result<(), Failure> {
        let told = self.request(&Request::Status(vm))?;
        let report = told.first().map(|vm| vm.report);
        let report = report.ok_or_else(|| Failure::Link("the manager tells nothing".to_owned()))?;
        fits(vm, &report, image).map_err(Failure::Refused)?;
        self.request(&Request::Load(vm, signature))?;
        for (address, bytes) in writes(image) {
            self.request(&Request::Write {
                vm,
                address,
                bytes: &Encoded(bytes).to_string(),
            })?;
            progress(bytes.len());
        }
        if starts {
            self.request(&Request::StartAt(vm, image.entry))?;
        }
        Ok(())
    }
}

/// What is written to a VM's memory for an image, and where, in this order; the memory is clear.
pub(crate) fn writes(image: &GuestImage) -> impl Iterator<Item = (u64, &[u8])> {
    image.segments.iter().flat_map(|segment| {
        let pieces = segment.bytes.chunks(WRITE_MAX).enumerate();
        let pieces =
            pieces.map(|(index, bytes)| (segment.guest + (index * WRITE_MAX) as u64, bytes));
        pieces.filter(|(_, bytes)| bytes.iter().any(|byte| *byte != 0))
    })
}

/// Whether an image and its entry are in a VM's memory, and the VM is off; otherwise why not.
fn fits(vm: &str, report: &Report<'_>, image: &GuestImage) -> Result<(), String> {
    if !matches!(report.state, State::Off | State::Faulted | State::Held) {
        return Err(format!("VM {vm} is {}; stop it first", report.state.name()));
    }
    let (begin, size) = (report.memory, report.memory_size);
    let inside = |address: u64, length: u64| {
        let offset = address.checked_sub(begin);
        let end = offset.and_then(|offset| offset.checked_add(length));
        end.is_some_and(|end| end <= size)
    };
    let outside = |what: &dyn Display| {
        let last = begin.wrapping_add(size).wrapping_sub(1);
        Err(format!(
            "{what} is not in the memory of VM {vm}, {begin:#x} to {last:#x}"
        ))
    };
    for segment in &image.segments {
        if !inside(segment.guest, segment.memory_size) {
            let (guest, length) = (segment.guest, segment.memory_size);
            return outside(&format_args!("the image, {length} bytes at {guest:#x},"));
        }
    }
    if !inside(image.entry, 2) || !image.entry.is_multiple_of(2) {
        return outside(&format_args!("the entry, {:#x},", image.entry));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::guest_image::Segment;

    /// A report of a VM in that state.
    pub fn report(state: State) -> Report<'static> {
        Report {
            name: "",
            state,
            cause: 0,
            time: 0,
            hz: 10_000_000,
            run_time: 0,
            running: 0,
            faults: 0,
            restarts: 0,
            memory: 0x8000_0000,
            memory_size: 4 << 20,
            jobs: 0,
            overruns: 0,
            missed: 0,
            late_max: 0,
            interference_max: 0,
        }
    }

    fn image(entry: u64, guest: u64, memory_size: u64) -> GuestImage {
        GuestImage {
            format: "raw image",
            entry,
            segments: vec![Segment {
                guest,
                bytes: vec![1; 16],
                memory_size,
            }],
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let check = |state, image| fits("a", &report(state), &image);
        let good = image(0x8020_0000, 0x8020_0000, 4096);
        assert_eq!(check(State::Off, good.clone()), Ok(()));
        assert_eq!(check(State::Held, good.clone()), Ok(()));
        let reason = |state, image| check(state, image).expect_err("it does not fit");
        assert_eq!(
            reason(State::Running, good),
            "VM a is running; stop it first"
        );
        let memory = "is not in the memory of VM a, 0x80000000 to 0x803fffff";
        for (image, what) in [
            (
                image(0x8020_0000, 0x8020_0000, 4 << 20),
                "the image, 4194304 bytes at 0x80200000,",
            ),
            (
                image(0x8020_0000, u64::MAX, 16),
                "the image, 16 bytes at 0xffffffffffffffff,",
            ),
            (
                image(0x803f_ffff, 0x8020_0000, 16),
                "the entry, 0x803fffff,",
            ),
            (
                image(0x8020_0001, 0x8020_0000, 16),
                "the entry, 0x80200001,",
            ),
            (image(0x1000, 0x8020_0000, 16), "the entry, 0x1000,"),
        ] {
            assert_eq!(reason(State::Off, image), format!("{what} {memory}"));
        }
    }

    /// A manager that says these lines for each line that it hears; `TAG` is the line's.
    fn manager(answers: &'static [&'static str]) -> Link {
        let (here, there) = UnixStream::pair().expect("a pair can be made");
        thread::spawn(move || {
            let mut reader = BufReader::new(there);
            for answer in answers {
                let mut line = String::new();
                reader.read_line(&mut line).expect("it is text");
                let tag = line.split(' ').next().expect("it has a tag");
                let answer = answer.replace("TAG", tag);
                reader
                    .get_mut()
                    .write_all(answer.as_bytes())
                    .expect("it is read");
            }
        });
        Link::on(here, 7)
    }

    #[test]
    fn answers_are_told_from_all_else() {
        let mut link = manager(&[
            "some text\n#00061 ok\n#0007 ok\n#00079 ok\r\nTAG ok\r\n",
            "#00071 ok\nTAG error no\n",
            "TAG vm a state=off cause=13 time=5 hz=10 run=1 running=0 faults=1 restarts=2 memory=0x80000000 size=0x400000 jobs=0 overruns=0 missed=0 late=0 waited=0\nTAG nonsense\nTAG ok\n",
        ]);
        assert!(link.list().expect("it is answered").is_empty());
        let refused = link.request(&Request::Stop("a"));
        assert!(matches!(refused, Err(Failure::Refused(reason)) if reason == "no"));
        let vms = link.list().expect("it is answered");
        let [vm] = &vms[..] else {
            panic!("{vms:?}");
        };
        assert_eq!((vm.name.as_str(), vm.report.state), ("a", State::Off));
        assert_eq!((vm.report.cause, vm.report.restarts), (13, 2));
        // It has left.
        assert!(matches!(link.list(), Err(Failure::Link(_))));
    }
}
