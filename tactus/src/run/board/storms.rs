//! Interrupt storms of devices that VMs have: which line stayed up, and how often it interrupted meanwhile.
//!
//! The hypervisor lets a device interrupt a real-time vCPU's hart again once in a deferral period at most (protocol
//! I1), so that a storm takes nothing from others. Who caused one is told by the board, whose interrupt controller sees
//! that a line is high each time a source is completed.

use tactus_board::devices::Storm;
use tactus_board::time::Femtoseconds;

use crate::config::Nanoseconds;
use crate::plan::GivenInterrupt;

use super::FEMTOSECONDS_PER_NANOSECOND;

/// Deferral periods for which a line has to stay up for a storm.
pub const PERIODS: u64 = 8;

/// What is known of a system's device interrupts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// The interrupts that VMs have.
    pub interrupts: Vec<GivenInterrupt>,
    /// The platform's deferral period.
    pub period: Nanoseconds,
}

/// A storm, and whose it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The VM's name.
    pub vm: String,
    /// The device's name.
    pub device: String,
    /// The longest storm of its source.
    pub storm: Storm,
}

impl Watched {
    /// Which of a board's storms lasted for [`PERIODS`], of these VMs.
    pub(super) fn find(&self, storms: &[Storm], vms: &[String]) -> Vec<Found> {
        let least = Femtoseconds(PERIODS * self.period.0 * FEMTOSECONDS_PER_NANOSECOND);
        let given = self.interrupts.iter();
        given
            .filter_map(|given| {
                let storm = storms.iter().find(|storm| storm.source == given.source)?;
                (storm.length() >= least).then(|| Found {
                    vm: vms.get(given.vm).cloned().unwrap_or_default(),
                    device: given.device.clone(),
                    storm: *storm,
                })
            })
            .collect()
    }
}

impl Found {
    /// It in a sentence without its full stop.
    pub fn sentence(&self) -> String {
        let milliseconds = |time: Femtoseconds| time.as_seconds() * 1e3;
        format!(
            "{}: the interrupt of {} (source {}) was up for {:.1} ms from {:.6} s on, and was raised again {} times",
            self.vm,
            self.device,
            self.storm.source,
            milliseconds(self.storm.length()),
            self.storm.since.as_seconds(),
            self.storm.services,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_up_for_long_is_named() {
        let given = |source, vm, device: &str| GivenInterrupt {
            source,
            vm,
            device: device.to_owned(),
        };
        let watched = Watched {
            interrupts: vec![given(11, 1, "rtc"), given(3, 0, "other")],
            period: Nanoseconds(500_000),
        };
        let storm = |source, microseconds: u64| Storm {
            source,
            since: Femtoseconds(1_000_000_000_000),
            until: Femtoseconds(1_000_000_000_000 + microseconds * 1_000_000_000),
            services: 17,
        };
        let vms = ["calm".to_owned(), "noise".to_owned()];
        // The console's is no VM's.
        let storms = [storm(3, 3_999), storm(10, 9_000), storm(11, 4_000)];
        let found = watched.find(&storms, &vms);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].sentence(),
            "noise: the interrupt of rtc (source 11) was up for 4.0 ms from 0.001000 s on, and was raised again 17 times"
        );
    }
}
