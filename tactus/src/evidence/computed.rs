//! What is computed of the hypervisor's hot code: bounds that no overhead of the profile is made of.

use std::path::Path;

use serde_json::{Value, json};
use tactus_board::profile::Profile as Board;

use crate::plan::Plan;
use crate::run::board::paths::looks;
use crate::walk::{Bound, Bounds, Costs, End, Start};

/// The bounds of a system's hypervisor on the board of its platform.
pub(super) struct Computed {
    bounds: Vec<((Start, End), Bound)>,
    clock_hz: u64,
}

impl Computed {
    /// Of a hypervisor's program.
    ///
    /// # Errors
    /// There are none; says why.
    pub(super) fn of(plan: &Plan, hypervisor: Option<&Path>) -> Result<Self, String> {
        let platform = &plan.profile.name;
        let board =
            Board::named(platform).ok_or_else(|| format!("{platform} is no virtual board"))?;
        let costs = Costs::of(&board.timing, plan.harts as usize)
            .ok_or_else(|| format!("the board {platform} has no caches"))?;
        let path = hypervisor.ok_or("the hypervisor was not read")?;
        let program = std::fs::read(path).map_err(|error| error.to_string())?;
        let vcpus = plan.vms.iter().map(|vm| vm.most_vcpus() as u64);
        let bounds = Bounds::of(&program, &looks(&program)?, &costs, vcpus.sum())?;
        Ok(Self {
            bounds: bounds.of.into_iter().collect(),
            clock_hz: board.clock_hz,
        })
    }

    /// Lines of a table: beginning, end, cycles and time, lines of code, lines of data.
    pub(super) fn rows(&self) -> impl Iterator<Item = [String; 5]> {
        self.bounds.iter().map(|((start, end), bound)| {
            let us = bound.cycles as f64 * 1e6 / self.clock_hz as f64;
            [
                start.to_string(),
                end.to_string(),
                format!("{} cycles, {us:.2} us", bound.cycles),
                bound.code.to_string(),
                bound.data.to_string(),
            ]
        })
    }

    pub(super) fn to_json(&self) -> Value {
        let each = self.bounds.iter().map(|((start, end), bound)| {
            json!({
                "begun_by": start.to_string(),
                "ends": end.to_string(),
                "cycles": bound.cycles,
                "code_lines": bound.code,
                "data_lines": bound.data,
                "clock_hz": self.clock_hz,
            })
        });
        each.collect()
    }
}
