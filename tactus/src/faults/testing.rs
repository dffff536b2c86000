//! What unit tests of campaigns share.

use super::judge::Verdict;
use super::run::Row;

/// A run that has done nothing else.
pub fn row(run: u32, fault: &str, verdict: Verdict) -> Row {
    Row {
        run,
        fault: fault.to_owned(),
        what: format!("bit 3 of the byte at {run:#x}"),
        at: 55_993_052_155_262,
        verdict,
        changed: Vec::new(),
        reasons: Vec::new(),
        is_same: false,
        trace_hash: String::new(),
        is_carried_out: true,
        share: super::space::SHARES,
    }
}
