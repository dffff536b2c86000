//! Tactus as a Python package: a thin layer upon the library `tactus`.
//!
//! | module | what |
//! |---|---|
//! | `artifacts` | where hypervisor, guests and models come from |
//! | `error` | the tool's errors as exceptions |
//! | `system` | `System`: a description that is read, changed and checked; `Problem` |
//! | `path` | places within a description |
//! | `value` | Python's values as TOML, and back |
//! | `board` | `Board`: a system on the board, run in pieces |
//! | `until` | `Until` and `Stop`: what a run goes on to, and why it stopped |
//! | `state` | `Hart`, `Vm` and `Snapshot` |
//! | `sweep` | systems run with all combinations of what is varied |
//! | `faults` | campaigns of faults |
//! | `campaign` | the same in pieces: `Campaign` and `Results` |
//! | `long` | what they share: progress, Ctrl-C, a file of the results |
//! | `table` | `Table`: columns that others take over as Arrow |
//! | `tables` | records, samples, cycles, hits and pins as tables |
//! | `plot` | `Plot`: pictures as SVG |

use pyo3::prelude::*;

mod artifacts;
mod board;
mod campaign;
mod error;
mod faults;
mod long;
mod path;
mod plot;
mod state;
mod sweep;
mod system;
mod table;
mod tables;
mod until;
mod value;

/// The compiled part of the package `tactus`.
#[pymodule]
mod _tactus {
    #[pymodule_export]
    use crate::artifacts::{artifacts, use_artifacts};
    #[pymodule_export]
    use crate::board::{Board, profiles};
    #[pymodule_export]
    use crate::campaign::{Campaign, Results};
    #[pymodule_export]
    use crate::faults::faults;
    #[pymodule_export]
    use crate::plot::Plot;
    #[pymodule_export]
    use crate::state::{Hart, Snapshot, Vm};
    #[pymodule_export]
    use crate::sweep::sweep;
    #[pymodule_export]
    use crate::system::{Problem, System};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::until::{Stop, Until};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
