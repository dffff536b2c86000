//! A system on the virtual board, run in pieces.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tactus::fabric;
use tactus::image;
use tactus::problem::Weight;
use tactus::report::page::About;
use tactus::report::provenance::Commit;
use tactus::report::waveform::Waveform;
use tactus::report::{self, Quantity};
use tactus::run::board::live::{self, Live};
use tactus::run::board::probe::{Place, Probe};
use tactus::run::board::{self, Options};
use tactus::run::machine::End;
use tactus::run::script::PATIENCE;
use tactus::run::{self, Boot};
use tactus_board::board::{MemoryModel, Pace};
use tactus_board::inspect::Register;
use tactus_board::profile::Profile;
use tactus_board::time::{Clock, Femtoseconds};

use crate::error::{Kind, bad, class, error, of_diagnostic, of_report};
use crate::plot::Plot;
use crate::state::{Hart, Snapshot, Vm};
use crate::system::{System, refused};
use crate::table::Table;
use crate::until::{self, HYPERVISOR, Stop, Time, Until, vm_index};
use crate::{artifacts, tables};

/// Host time between looks whether Python has something to do, such as Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(20);
/// Most bytes of memory that are read at once.
const READ_MAX: usize = 1 << 30;
/// Who writes the firmware's output.
const FIRMWARE: &str = "(firmware)";

/// A system on the virtual board, at reset, run in pieces.
///
/// A run is a function of the system, the profile, the seed and what is sent to consoles: where it is paused makes no
/// difference. It is the run that ``tactus run --platform board`` makes with the same options, and a whole one has the
/// same trace hash.
#[pyclass(frozen, module = "tactus")]
pub struct Board {
    live: Mutex<Live>,
    about: About,
}

/// What a piece of a run came to.
struct Piece {
    stop: live::Stop,
    time: Femtoseconds,
    record: Option<String>,
    ended: Option<String>,
    /// What Python wanted meanwhile.
    interrupt: Option<PyErr>,
}

fn run_error(py: Python<'_>, error: &run::Error) -> PyErr {
    of_diagnostic(py, Kind::Tactus, error)
}

fn busy(py: Python<'_>) -> PyErr {
    error(
        py,
        Kind::BoardBusy,
        "another thread has this board",
        Some("wait for it, or give each thread a board of its own: fork() makes one"),
    )
}

/// One of some words.
fn choice<T: Copy>(py: Python<'_>, what: &str, given: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(name, _)| *name == given);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        bad(
            py,
            &format!("there is no {what} \"{given}\""),
            Some(&format!("say one of {}", names.join(", "))),
        )
    })
}

/// How the machine has ended, as a sentence without its full stop.
fn end_text(live: &mut Live) -> Option<String> {
    live.ended()?;
    Some(live.outcome().reason())
}

impl Board {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Live>> {
        match self.live.try_lock() {
            Ok(live) => Ok(live),
            Err(TryLockError::WouldBlock) => Err(busy(py)),
            Err(TryLockError::Poisoned(_)) => Err(error(
                py,
                Kind::Tactus,
                "the board is damaged: the tool has failed in it",
                Some("report this; make another board"),
            )),
        }
    }

    fn go_on(
        &self,
        py: Python<'_>,
        until: &live::Until,
        limit: Option<Femtoseconds>,
    ) -> PyResult<Piece> {
        // Others that want it are told that it is not free.
        drop(self.lock(py)?);
        let piece = py.detach(|| {
            let mut live = self.live.try_lock().ok()?;
            let mut looked = Instant::now();
            let mut interrupt = None;
            let stop = live.run(until, limit, &mut || {
                if looked.elapsed() < SIGNALS {
                    return true;
                }
                looked = Instant::now();
                interrupt = Python::attach(|py| py.check_signals()).err();
                interrupt.is_none()
            });
            let record = match stop {
                live::Stop::Reached {
                    record: Some(index),
                    ..
                } => live.records().nth(index).map(|(_, line)| line.text.clone()),
                _ => None,
            };
            Some(Piece {
                stop,
                time: live.now(),
                record,
                ended: end_text(&mut live),
                interrupt,
            })
        });
        piece.ok_or_else(|| busy(py))
    }

    /// Runs on to what is wanted, and says how that went.
    fn run_to(
        &self,
        py: Python<'_>,
        until: &Until,
        within: Option<Femtoseconds>,
    ) -> PyResult<Stop> {
        let (wanted, limit) = {
            let live = self.lock(py)?;
            let limit = within.map(|within| live.now().saturating_add(within));
            (until.on(py, &live)?, limit)
        };
        let piece = self.go_on(py, &wanted, limit)?;
        if let Some(interrupt) = piece.interrupt {
            return Err(interrupt);
        }
        let stop = |reason, hart, detail| Stop {
            reason,
            time: piece.time.as_seconds(),
            hart,
            record: piece.record.clone(),
            detail,
        };
        let waits_for_end = wanted == live::Until::End;
        match piece.stop {
            live::Stop::Reached { hart, .. } => Ok(stop(until.kind(), hart, until.to_string())),
            live::Stop::Ended(_) if waits_for_end => {
                Ok(stop("end", None, piece.ended.unwrap_or_default()))
            }
            live::Stop::Ended(end) => {
                let how = match end {
                    End::Failed(how) => how,
                    _ => piece.ended.unwrap_or_default(),
                };
                let message = format!("the run ended before {until}: {how}");
                Err(error(py, Kind::RunEnded, &message, None))
            }
            live::Stop::TimeUp if waits_for_end => Ok(stop("time", None, "time is up".to_owned())),
            live::Stop::TimeUp => {
                let within = within.unwrap_or_default();
                let message = format!("{until} did not come within {within} of virtual time");
                Err(error(py, Kind::TimeUp, &message, None))
            }
            live::Stop::Asleep => Err(error(
                py,
                Kind::BoardAsleep,
                "all harts wait, and nothing will ever wake them",
                Some("send() something, or run to a time"),
            )),
            // Only what Python wants interrupts it.
            live::Stop::Interrupted => Ok(stop("interrupted", None, String::new())),
        }
    }

    fn quantity<T>(
        live: &mut Live,
        about: &About,
        with: impl Fn(&Quantity<'_>, String, &tactus::run::journal::Journal) -> T,
    ) -> Vec<T> {
        let outcome = live.outcome();
        let subtitle = report::subtitle(&outcome, about);
        report::quantities(&outcome.journal)
            .iter()
            .map(|quantity| with(quantity, subtitle.clone(), &outcome.journal))
            .collect()
    }
}

fn check_hart(live: &Live, hart: usize) -> PyResult<()> {
    let harts = live.board().harts();
    if hart < harts {
        return Ok(());
    }
    Err(PyIndexError::new_err(format!(
        "there is no hart {hart}: the board has harts 0 to {}",
        harts - 1
    )))
}

fn register(py: Python<'_>, name: &str) -> PyResult<Register> {
    Register::named(name).ok_or_else(|| {
        bad(
            py,
            &format!("there is no register `{name}`"),
            Some("say pc, a name of the ABI such as a0 or fa0, x0 to x31, f0 to f31, or a CSR such as sepc"),
        )
    })
}

#[pymethods]
impl Board {
    #[new]
    #[pyo3(signature = (
        system, profile = None, seed = None, *, pace = None, timed_from = None, quantum = None,
        memory_model = "sequential", probes = Vec::new(), pins = false, timeline = false,
    ))]
    /// Put a system on a board.
    ///
    /// ``profile`` is one of `profiles`, or a profile's file; without, it is the system's platform, or ``soc``.
    /// ``pace`` is ``"fast"``, where each instruction takes a cycle, or ``"timed"``, where pipeline, caches and memory
    /// take what the profile says; ``timed_from`` makes it timed at ``phase:NAME``, ``symbol:PLACE`` or
    /// ``cycle:NUMBER``. ``memory_model`` is ``"sequential"`` or ``"weak"``. ``probes`` are places to be watched, each
    /// with ``:N`` for N argument registers. ``pins`` has the changes of the fabric's pins kept, and ``timeline`` what
    /// the report shows over time.
    ///
    /// Raises `CheckError` if the system is not in order, and warns (`TactusWarning`) of what may not be meant.
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        system: &Bound<'_, System>,
        profile: Option<String>,
        seed: Option<u64>,
        pace: Option<&str>,
        timed_from: Option<&str>,
        quantum: Option<u64>,
        memory_model: &str,
        probes: Vec<String>,
        pins: bool,
        timeline: bool,
    ) -> PyResult<Self> {
        let artifacts = artifacts::chosen(py)?;
        let description = system.get().description();
        let verdict = py.detach(|| description.judged(&artifacts));
        if verdict.tiles.is_some() {
            return Err(error(
                py,
                Kind::Tactus,
                &format!(
                    "{} is a system of tiles, which this package does not run",
                    description.name
                ),
                Some("say `tactus run` on the command line"),
            ));
        }
        for warning in verdict.of_weight(Weight::Warning) {
            let category = class(py, "TactusWarning")?;
            let text = std::ffi::CString::new(warning.in_a_line())?;
            PyErr::warn(py, &category, &text, 1)?;
        }
        let about = About {
            system: description.name.clone(),
            configuration: Some(description.text.clone()),
            ..About::default()
        };
        let about = about.planned(verdict.plan.as_ref());
        let image = image::build(verdict).map_err(|refusal| {
            let message = format!("{} is not in order", description.name);
            refused(py, &message, refusal.problems())
        })?;
        let made = py.detach(|| Options::of(&image, profile.as_deref()));
        let mut options = made.map_err(|report| of_report(py, Kind::BadArgument, &report))?;
        if let (Some(_), Some(_)) = (pace, timed_from) {
            return Err(bad(py, "`pace` and `timed_from` exclude each other", None));
        }
        let paces = [("fast", Pace::Fast), ("timed", Pace::Timed)];
        options.pace = choice(py, "pace", pace.unwrap_or("fast"), &paces)?;
        let models = [
            ("sequential", MemoryModel::Sequential),
            ("weak", MemoryModel::Weak),
        ];
        options.memory_model = choice(py, "memory model", memory_model, &models)?;
        if quantum.is_some_and(|quantum| !(1..=1_000_000).contains(&quantum)) {
            return Err(bad(py, "`quantum` is 1 to 1,000,000 cycles", None));
        }
        options.quantum = quantum;
        options.seed = seed.unwrap_or(options.seed);
        options.timed_from = timed_from
            .map(|text| until::marker(py, text, &image))
            .transpose()?;
        for text in &probes {
            options.probes.push(
                Probe::find(text, &image)
                    .map_err(|error| of_diagnostic(py, Kind::BadArgument, &error))?,
            );
        }
        if pins {
            let (number, at) = image
                .design
                .as_deref()
                .map(fabric::pins)
                .unwrap_or_default();
            if number == 0 {
                return Err(bad(
                    py,
                    "`pins` shows the fabric's pins, and it has none",
                    Some(
                        "name a design that has them in the system's `[fabric]`: `io` or `accelerators`",
                    ),
                ));
            }
            (options.ends.pins, options.ends.pins_at) = (number, at);
        }
        options.timeline = timeline.then(|| board::interfaces(&image));
        let made = py.detach(|| {
            let boot = Boot::of_image(image)?;
            Ok::<_, miette::Report>(Live::new(Arc::new(boot), options))
        });
        let live = made
            .map_err(|report| of_report(py, Kind::Tactus, &report))?
            .map_err(|error| run_error(py, &error))?;
        Ok(Self {
            live: Mutex::new(live),
            about,
        })
    }

    /// Run on until something comes; without ``until``, to the board's end.
    ///
    /// ``until`` is an `Until`; a virtual time since reset; or ``"phase:NAME"``, ``"symbol:PLACE"`` or
    /// ``"cycle:NUMBER"``. Raises `TimeUp` if it does not come ``within`` so much virtual time; without ``until``, the
    /// run just stops then. Raises `RunEnded` if the board ends before, and `BoardAsleep` if nothing can come without
    /// input.
    ///
    /// Other threads of Python run meanwhile. Ctrl-C raises ``KeyboardInterrupt``, and the run can go on.
    #[pyo3(signature = (until = None, *, within = None))]
    fn run(
        &self,
        py: Python<'_>,
        until: Option<&Bound<'_, PyAny>>,
        within: Option<Time>,
    ) -> PyResult<Stop> {
        let until = until::of_argument(until)?;
        self.run_to(py, &until, within.map(|time| time.0))
    }

    /// Run on until a VM has written a text, within 60 s of virtual time unless told.
    ///
    /// Gives what it has written from behind what was expected last up to the end of the text. What has been written
    /// already counts.
    #[pyo3(signature = (vm, text, *, within = None))]
    fn expect(
        &self,
        py: Python<'_>,
        vm: String,
        text: String,
        within: Option<Time>,
    ) -> PyResult<String> {
        let within = within.map_or(Femtoseconds(PATIENCE.0 * 1_000_000), |time| time.0);
        let wanted = Until::text(py, vm.clone(), text)?;
        let place = {
            let live = self.lock(py)?;
            let vm = vm_index(py, &live.image().vms, &vm)?;
            let console = &live.journal().vms[vm].console;
            let unheard = live.unheard(vm).map_or(0, <[u8]>::len);
            (
                vm,
                console.dropped() + (console.bytes().len() - unheard) as u64,
            )
        };
        self.run_to(py, &wanted, Some(within))?;
        let live = self.lock(py)?;
        let (vm, begin) = place;
        let console = &live.journal().vms[vm].console;
        let end = console.bytes().len() - live.unheard(vm).map_or(0, <[u8]>::len);
        let begin = usize::try_from(begin.saturating_sub(console.dropped())).unwrap_or(end);
        let heard = console.bytes().get(begin..end).unwrap_or_default();
        Ok(String::from_utf8_lossy(heard).into_owned())
    }

    /// Type a text and Enter on a VM's console, no faster than its guest takes it, as the run goes on.
    fn send(&self, py: Python<'_>, vm: &str, text: &str) -> PyResult<()> {
        self.type_text(py, vm, &format!("{text}\n"))
    }

    /// Type a text as it is.
    fn type_text(&self, py: Python<'_>, vm: &str, text: &str) -> PyResult<()> {
        let mut live = self.lock(py)?;
        let vm = vm_index(py, &live.image().vms, vm)?;
        live.send(vm, text.as_bytes());
        Ok(())
    }

    /// Give what a VM has written, or ``"(tactus)"``, or ``"(firmware)"``: the last 4 MiB at least.
    fn console(&self, py: Python<'_>, vm: &str) -> PyResult<String> {
        let live = self.lock(py)?;
        let journal = live.journal();
        let console = match vm {
            HYPERVISOR => &journal.log,
            FIRMWARE => &journal.firmware,
            _ => &journal.vms[vm_index(py, &live.image().vms, vm)?].console,
        };
        Ok(console.text().into_owned())
    }

    /// The virtual time since reset, in seconds.
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.lock(py)?.now().as_seconds())
    }

    /// The same exactly.
    #[getter]
    fn femtoseconds(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.now().0)
    }

    /// The profile's name.
    #[getter]
    fn profile(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.lock(py)?.options().profile.name.clone())
    }

    /// What everything random is made of.
    #[getter]
    fn seed(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.options().seed)
    }

    /// How the board has ended, if it has.
    #[getter]
    fn ended(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(end_text(&mut *self.lock(py)?))
    }

    /// The hash of all that happened: the same, the same run.
    #[getter]
    fn trace_hash(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("{:016x}", self.lock(py)?.board().trace_hash()))
    }

    /// The harts as they are now.
    #[getter]
    fn harts(&self, py: Python<'_>) -> PyResult<Vec<Hart>> {
        Ok(Hart::all(&*self.lock(py)?))
    }

    /// The VMs as they are now.
    #[getter]
    fn vms(&self, py: Python<'_>) -> PyResult<Vec<Vm>> {
        let outcome = self.lock(py)?.outcome();
        Ok(Vm::all(&outcome.journal))
    }

    /// Give the integer registers and ``pc`` of a hart.
    fn registers<'py>(&self, py: Python<'py>, hart: usize) -> PyResult<Bound<'py, PyDict>> {
        let live = self.lock(py)?;
        check_hart(&live, hart)?;
        let registers = PyDict::new(py);
        for (name, register) in Register::general() {
            registers.set_item(name, live.board().register(hart, register))?;
        }
        Ok(registers)
    }

    /// Give a register: ``pc``, ``a0`` or ``x10``, ``fa0`` or ``f10``, or a CSR such as ``sepc``.
    fn register(&self, py: Python<'_>, hart: usize, name: &str) -> PyResult<u64> {
        let live = self.lock(py)?;
        check_hart(&live, hart)?;
        let value = live.board().register(hart, register(py, name)?);
        value.ok_or_else(|| bad(py, &format!("the hart has no register `{name}`"), None))
    }

    /// Set a register.
    fn set_register(&self, py: Python<'_>, hart: usize, name: &str, value: u64) -> PyResult<()> {
        let mut live = self.lock(py)?;
        check_hart(&live, hart)?;
        let register = register(py, name)?;
        live.board_mut()
            .set_register(hart, register, value)
            .map_err(|error| bad(py, &format!("`{name}`: {error}"), None))
    }

    /// Give the virtual address of ``SYMBOL`` of the hypervisor, or of ``VM/SYMBOL``.
    fn symbol(&self, py: Python<'_>, place: &str) -> PyResult<u64> {
        let live = self.lock(py)?;
        Place::find(place, live.image())
            .map(|place| place.address)
            .map_err(|error| of_diagnostic(py, Kind::BadArgument, &error))
    }

    /// Read memory by physical address, or as the code that a hart runs now has it.
    #[pyo3(signature = (address, size, *, hart = None))]
    fn read_memory<'py>(
        &self,
        py: Python<'py>,
        address: u64,
        size: usize,
        hart: Option<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let live = self.lock(py)?;
        if size > READ_MAX {
            return Err(bad(py, "at most 1 GiB of memory is read at once", None));
        }
        hart.map_or(Ok(()), |hart| check_hart(&live, hart))?;
        // What is too large for the memory is not even made room for.
        if size as u64 > live.board().memory().size() {
            let message = format!("there are no {size} bytes of memory at {address:#x}");
            return Err(bad(py, &message, None));
        }
        let mut bytes = vec![0; size];
        match hart {
            None => live
                .board()
                .memory()
                .read(address, &mut bytes)
                .map_err(|error| bad(py, &error.to_string(), None))?,
            Some(hart) => live
                .board()
                .read_virtual(hart, address, &mut bytes)
                .map_err(|error| bad(py, &error.to_string(), None))?,
        }
        Ok(PyBytes::new(py, &bytes))
    }

    /// Write memory; nothing is written where not all of it is there.
    #[pyo3(signature = (address, data, *, hart = None))]
    fn write_memory(
        &self,
        py: Python<'_>,
        address: u64,
        data: &[u8],
        hart: Option<usize>,
    ) -> PyResult<()> {
        let mut live = self.lock(py)?;
        hart.map_or(Ok(()), |hart| check_hart(&live, hart))?;
        let board = live.board_mut();
        match hart {
            None => board
                .write(address, data)
                .map_err(|error| bad(py, &error.to_string(), None)),
            Some(hart) => board
                .write_virtual(hart, address, data)
                .map_err(|error| bad(py, &error.to_string(), None)),
        }
    }

    /// Watch a place from here on.
    fn add_probe(&self, py: Python<'_>, probe: &str) -> PyResult<()> {
        let mut live = self.lock(py)?;
        let probe = Probe::find(probe, live.image())
            .map_err(|error| of_diagnostic(py, Kind::BadArgument, &error))?;
        live.add_probe(probe);
        Ok(())
    }

    /// Save all of the run's state. What only watches, such as hits of probes, is not part of it.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let mut live = self.lock(py)?;
        Ok(Snapshot(live.snapshot()))
    }

    /// Go to a snapshot of the same system on the same board; hits, pins and the timeline begin again.
    fn restore(&self, py: Python<'_>, snapshot: &Bound<'_, Snapshot>) -> PyResult<()> {
        let mut live = self.lock(py)?;
        live.restore(&snapshot.get().0)
            .map_err(|error| run_error(py, &error))
    }

    /// Make a second board that goes on from here, independent of this one, with all that was recorded.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        let mut live = self.lock(py)?;
        let fork = live.fork().map_err(|error| run_error(py, &error))?;
        Ok(Self {
            live: Mutex::new(fork),
            about: self.about.clone(),
        })
    }

    /// Give all records: ``seconds``, ``source``, ``kind``, ``text``. Of a ``kind``, a column for each field.
    ///
    /// ``seconds`` is the virtual time by which the record had come, to 0.1 ms.
    #[pyo3(signature = (kind = None))]
    fn records(&self, py: Python<'_>, kind: Option<&str>) -> PyResult<Table> {
        let live = self.lock(py)?;
        match kind {
            None => tables::records(&live),
            Some(kind) => tables::records_of(&live, kind),
        }
    }

    /// Give all samples in their order: ``vm``, ``name``, ``phase``, ``unit``, ``value``, ``ns``.
    fn samples(&self, py: Python<'_>) -> PyResult<Table> {
        tables::samples(self.lock(py)?.journal())
    }

    /// Give who had the harts' cycles since reset: ``hart``, ``who``, ``cycles``, ``instructions``, ``share``.
    fn cycles(&self, py: Python<'_>) -> PyResult<Table> {
        let mut live = self.lock(py)?;
        let facts = live.facts();
        tables::cycles(&facts, &live.image().vms)
    }

    /// Give when harts came to probes: ``probe``, ``seconds``, ``cycle``, ``hart``, and argument registers.
    fn probe_hits(&self, py: Python<'_>) -> PyResult<Table> {
        tables::hits(&*self.lock(py)?)
    }

    /// Give when pins changed: ``seconds``, ``cycle`` of the fabric, and all ``levels`` from then on.
    fn pins(&self, py: Python<'_>) -> PyResult<Table> {
        let mut live = self.lock(py)?;
        let hertz = live
            .options()
            .profile
            .fabric
            .as_ref()
            .map_or(1, |fabric| fabric.clock_hz);
        tables::pins(live.pins(), Clock::from_hertz(hertz))
    }

    /// Give the pictures of the run's report: the distribution of each quantity that was sampled.
    fn plots(&self, py: Python<'_>) -> PyResult<Vec<Plot>> {
        let mut live = self.lock(py)?;
        let drawn = Self::quantity(&mut live, &self.about, |quantity, subtitle, journal| {
            let picture = quantity.picture(subtitle, journal);
            picture.svg_text().map(|svg| Plot {
                title: picture.title,
                svg,
            })
        });
        let all = drawn.into_iter().collect::<Result<Vec<_>, _>>();
        all.map_err(|fault| error(py, Kind::Tactus, &fault.to_string(), None))
    }

    /// Give the distribution of a quantity that a VM has sampled.
    #[pyo3(signature = (vm, name))]
    fn plot(&self, py: Python<'_>, vm: &str, name: &str) -> PyResult<Plot> {
        let mut live = self.lock(py)?;
        vm_index(py, &live.image().vms, vm)?;
        let drawn = Self::quantity(&mut live, &self.about, |quantity, subtitle, journal| {
            let known = format!("{} of {}", quantity.name, quantity.vm);
            let wanted = quantity.vm == vm && quantity.name == name;
            let picture = wanted.then(|| quantity.picture(subtitle, journal));
            let plot = picture.map(|picture| {
                picture.svg_text().map(|svg| Plot {
                    title: picture.title,
                    svg,
                })
            });
            (known, plot)
        });
        let known: Vec<String> = drawn.iter().map(|(known, _)| known.clone()).collect();
        match drawn.into_iter().find_map(|(_, plot)| plot) {
            Some(plot) => plot.map_err(|fault| error(py, Kind::Tactus, &fault.to_string(), None)),
            None => Err(bad(
                py,
                &format!("there are no samples of {name} of {vm}"),
                Some(&match known.is_empty() {
                    true => "no VM has reported any".to_owned(),
                    false => format!("there are those of {}", known.join(", ")),
                }),
            )),
        }
    }

    /// Give the pins around so many first changes.
    #[pyo3(signature = (changes = 40))]
    fn pins_plot(&self, py: Python<'_>, changes: usize) -> PyResult<Plot> {
        let mut live = self.lock(py)?;
        let pins = live.options().ends.pins;
        let waveform = Waveform {
            title: format!("Pins of {}", self.about.system),
            pins,
            changes: live.pins(),
            shown: changes,
        };
        let svg = waveform.svg_text();
        let svg = svg.map_err(|fault| error(py, Kind::Tactus, &fault.to_string(), None))?;
        Ok(Plot {
            title: waveform.title,
            svg,
        })
    }

    /// Give what ``tactus run`` prints at the end.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        let outcome = self.lock(py)?.outcome();
        Ok(report::summary(&outcome))
    }

    /// Write the report into a directory, or as one page if that ends in ``.html``; gives the page's path.
    fn report(&self, py: Python<'_>, directory: PathBuf) -> PyResult<PathBuf> {
        let outcome = self.lock(py)?.outcome();
        let about = About {
            commit: Commit::find(),
            ..self.about.clone()
        };
        let written = py.detach(|| {
            report::prepare(&directory)?;
            report::write(&outcome, &about, &directory)
        });
        match written {
            Ok(written) => Ok(written.page),
            Err(fault) => Err(error(py, Kind::Tactus, &fault.to_string(), None)),
        }
    }

    /// Give the report for programs, as ``tactus run --json`` prints it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let outcome = self.lock(py)?.outcome();
        let json = report::report_json(&outcome, &self.about.system).to_string();
        py.import("json")?.call_method1("loads", (json,))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        match self.lock(py) {
            Ok(live) => format!(
                "<Board {}: {} at {:.6} s>",
                live.options().profile.name,
                self.about.system,
                live.now().as_seconds()
            ),
            Err(_) => format!("<Board: {}, running>", self.about.system),
        }
    }
}

/// Give the names of the boards' profiles that come with the tool.
#[pyfunction]
pub fn profiles() -> Vec<String> {
    Profile::names().map(str::to_owned).collect()
}
