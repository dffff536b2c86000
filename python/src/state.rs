//! What a board and its VMs are at a moment, and snapshots.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tactus::run::board::Worker;
use tactus::run::board::live::Live;
use tactus::run::journal::{Journal, VmJournal};

/// A hart at a moment.
#[pyclass(frozen, get_all, module = "tactus")]
#[derive(Debug)]
pub struct Hart {
    index: usize,
    pc: u64,
    cycle: u64,
    instructions: u64,
    /// Who has it: a VM's name, ``"(hypervisor)"``, ``"(firmware)"`` or ``"(idle)"``.
    who: String,
    /// Its privilege level: ``"M"``, ``"S"``, ``"U"``, ``"VS"`` or ``"VU"``.
    mode: &'static str,
    /// Whether it waits for an interrupt.
    waiting: bool,
}

impl Hart {
    /// All of a board's.
    pub fn all(live: &Live) -> Vec<Self> {
        use tactus_board::privileged::Privilege;
        let board = live.board();
        let vms = &live.image().vms;
        let hart = |index| {
            let mode = board.mode(index);
            Self {
                index,
                pc: board.pc(index),
                cycle: board.cycle(index),
                instructions: board.instructions(index),
                who: Worker::of(board.doing(index), vms.len()).name(vms),
                mode: match (mode.privilege, mode.v) {
                    (Privilege::Machine, _) => "M",
                    (Privilege::Supervisor, false) => "S",
                    (Privilege::User, false) => "U",
                    (Privilege::Supervisor, true) => "VS",
                    (Privilege::User, true) => "VU",
                },
                waiting: board.is_waiting(index),
            }
        };
        (0..board.harts()).map(hart).collect()
    }
}

#[pymethods]
impl Hart {
    fn __repr__(&self) -> String {
        let Self {
            index,
            pc,
            who,
            mode,
            cycle,
            ..
        } = self;
        let waiting = if self.waiting { ", waiting" } else { "" };
        format!("<Hart {index}: {who}, pc {pc:#x} in {mode}-mode, cycle {cycle}{waiting}>")
    }
}

/// A VM at a moment. Times are in seconds of virtual time since reset.
#[pyclass(frozen, get_all, module = "tactus")]
#[derive(Debug)]
pub struct Vm {
    name: String,
    /// ``"not_started"``, ``"loading"``, ``"running"``, ``"waiting"``, ``"shut_down"``, ``"failed"``, ``"faulted"``,
    /// ``"refused"``, ``"stopped"`` or ``"held"``.
    state: &'static str,
    /// Whether it ended by a fault or as failed, or a check of its own did not hold.
    failed: bool,
    /// When it started, and when it was off, in seconds of virtual time.
    started: Option<f64>,
    off: Option<f64>,
    /// The code that it ended with.
    code: Option<u64>,
    faults: u64,
    restarts: u64,
    phases: Vec<String>,
    checks_passed: Vec<String>,
    /// Name and reason of each.
    checks_failed: Vec<(String, String)>,
    /// The figures that it has reported, each with its unit.
    metrics: BTreeMap<String, (f64, &'static str)>,
}

impl Vm {
    /// All of a journal that has been settled.
    pub fn all(journal: &Journal) -> Vec<Self> {
        let vm = |vm: &VmJournal| Self {
            name: vm.name.clone(),
            state: vm.state().name(),
            failed: vm.failed(),
            started: vm.started.map(|ticks| journal.seconds(ticks)),
            off: vm.off.map(|off| journal.seconds(off.time)),
            code: vm.off.map(|off| off.code),
            faults: vm.faults,
            restarts: vm.restarts,
            phases: vm.phases.clone(),
            checks_passed: vm.passed.clone(),
            checks_failed: vm.failed.clone(),
            metrics: vm
                .metrics
                .iter()
                .map(|(name, metric)| (name.clone(), (metric.value, metric.unit.name())))
                .collect(),
        };
        journal.vms.iter().map(vm).collect()
    }
}

#[pymethods]
impl Vm {
    fn __repr__(&self) -> String {
        format!("<Vm {}: {}>", self.name, self.state)
    }
}

/// All of a run's state; can be pickled. ``tactus run --restore`` takes its file, too.
#[pyclass(frozen, eq, module = "tactus")]
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot(pub Vec<u8>);

#[pymethods]
impl Snapshot {
    /// Make one of its bytes; whether they are good is told by `Board.restore`.
    #[staticmethod]
    fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Read one from a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        std::fs::read(&path)
            .map(Self)
            .map_err(|error| PyOSError::new_err(format!("cannot read {}: {error}", path.display())))
    }

    /// Write it to a file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        std::fs::write(&path, &self.0).map_err(|error| {
            PyOSError::new_err(format!("cannot write {}: {error}", path.display()))
        })
    }

    /// Give its bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py),)))
    }

    fn __repr__(&self) -> String {
        format!("<Snapshot of {} bytes>", self.0.len())
    }
}
