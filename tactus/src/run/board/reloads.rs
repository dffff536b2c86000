//! What real-time vCPUs pay to reload cache lines that they lost while they did not have their hart, measured on the
//! timed board. [`tactus_board::timing::Watch`] says what counts.
//!
//! A vCPU is told by its VM and its hart, so that only one is seen whose VM has no other vCPU there.

use serde_json::{Value, json};
use tactus_board::timing::{self, Cost, Reloads};

use crate::config::Class;
use crate::plan::Plan;

use super::jobs;

/// A vCPU whose reload costs are measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// VM and number: "control.0".
    pub name: String,
    /// Its VM, by its index in the system.
    pub vm: usize,
    /// The harts, as bits, that it may run on, and no other vCPU of its VM.
    pub harts: u16,
}

impl Watched {
    /// The real-time vCPUs of a system's configuration that can be told apart.
    pub fn all(plan: &Plan) -> Vec<Self> {
        let mut all = Vec::new();
        for (index, vm) in plan.vms.iter().enumerate() {
            for (number, vcpu) in vm.vcpus.iter().enumerate() {
                let alone = vcpu.harts.iter();
                let alone = alone.filter(|hart| plan.is_alone(index, number, **hart));
                let harts = alone.fold(0, |harts, hart| harts | 1 << hart);
                if vcpu.class == Class::Rt && harts != 0 {
                    all.push(Self {
                        name: format!("{}.{number}", vm.name),
                        vm: index,
                        harts,
                    });
                }
            }
        }
        all
    }
}

/// What the board has to watch. The hypervisor gives VM `n` of the system the VMID `n + 1`.
pub(super) fn watch(vcpus: &[Watched]) -> timing::Watch {
    let guests = vcpus.iter().map(|vcpu| timing::Watched {
        guest: vcpu.vm as u16 + 1,
        harts: vcpu.harts,
    });
    timing::Watch {
        guests: guests.collect(),
        is_wait: jobs::is_wait,
    }
}

/// What a vCPU has paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paid {
    /// VM and number.
    pub vcpu: String,
    /// For which stops.
    pub reloads: Reloads,
}

impl Paid {
    /// The kinds of stops, with what reports call them.
    pub const fn kinds(&self) -> [(&'static str, &Cost); 2] {
        [
            ("preemption", &self.reloads.preemptions),
            ("interruption", &self.reloads.interruptions),
        ]
    }

    /// The same for programs.
    pub fn json(&self, clock_hz: u64) -> Value {
        let cost = |cost: &Cost| {
            json!({
                "times": cost.stops,
                "lines": cost.lines,
                "lines_max": cost.lines_max,
                "cycles": cost.cycles,
                "cycles_max": cost.cycles_max,
                "us_mean": microseconds(mean(cost.cycles, cost.stops), clock_hz),
                "us_max": microseconds(cost.cycles_max as f64, clock_hz),
            })
        };
        json!({
            "vcpu": self.vcpu,
            "preemptions": cost(&self.reloads.preemptions),
            "interruptions": cost(&self.reloads.interruptions),
        })
    }
}

/// A sum by how often there was one.
pub fn mean(sum: u64, times: u64) -> f64 {
    sum as f64 / times.max(1) as f64
}

/// Cycles as a time.
pub fn microseconds(cycles: f64, clock_hz: u64) -> f64 {
    cycles * 1e6 / clock_hz as f64
}
