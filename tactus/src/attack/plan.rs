//! The list of runs: which VM is replaced for which attack, and which VMs' real-time vCPUs are watched meanwhile.
//!
//! It follows from the system and the command's options.

use crate::config::{Class, Config, cure_of_unknown};
use crate::plan::{Plan, Role};

use super::catalog::{ATTACKS, Attack, Needs, find};

/// A VM, as far as the choice depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// It has a real-time vCPU with a reservation in its configuration.
    pub reserved: bool,
    /// It serves others: the device manager, the I/O manager.
    pub service: bool,
    /// The description trusts it with the UART that carries the consoles.
    pub trusted: bool,
    /// Its channels.
    pub channels: usize,
    /// It has a device that another VM emulates.
    pub device: bool,
    /// Its vCPUs.
    pub vcpus: usize,
    /// It may make or change reservations at run time.
    pub reserves: bool,
    /// It has an accelerator.
    pub accelerator: bool,
    /// It has an I/O port or timed I/O.
    pub io: bool,
}

impl Candidate {
    /// The VMs of a system, in its order.
    pub fn of_system(config: &Config, plan: &Plan) -> Vec<Self> {
        let managers = [
            plan.accelerators.as_ref().map(|shared| shared.manager),
            plan.io.as_ref().map(|io| io.manager),
        ];
        let all = plan.vms.iter().zip(&config.vms).enumerate();
        all.map(|(index, (vm, described))| {
            let has = |wanted: fn(&Role) -> bool| vm.devices.iter().any(|one| wanted(&one.role));
            Self {
                name: vm.name.clone(),
                reserved: vm
                    .vcpus
                    .iter()
                    .any(|vcpu| vcpu.class == Class::Rt && vcpu.reservation.is_some()),
                service: managers.contains(&Some(index)),
                trusted: described.devices.iter().any(|device| device.trusted),
                channels: vm.channels.len(),
                device: plan
                    .channels
                    .iter()
                    .any(|channel| channel.device.is_some() && channel.ends[0].0 == index),
                vcpus: vm.vcpus.len(),
                reserves: vm.rt_vcpus > 0 || described.rt_share.is_some(),
                accelerator: has(|role| matches!(role, Role::Accelerator { .. })),
                io: has(|role| matches!(role, Role::IoPort { .. } | Role::TimedIo { .. })),
            }
        })
        .collect()
    }

    /// Whether an attack with these needs does anything in its place.
    pub fn has(&self, needs: Needs) -> bool {
        match needs {
            Needs::Nothing => true,
            Needs::Channel => self.channels > 0,
            Needs::Device => self.device,
            Needs::Vcpus => self.vcpus > 1,
            Needs::Reservations => self.reserves,
            Needs::Accelerator => self.accelerator,
            Needs::Io => self.io,
        }
    }
}

/// What the command line asks for; nothing stands for the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// The VMs to watch; none for all with reserved real-time vCPUs.
    pub victims: &'a [String],
    /// The VMs to replace; none for all that are not trusted.
    pub attackers: &'a [String],
    /// The VMs that are not replaced.
    pub trusted: &'a [String],
    /// The attacks; none for all.
    pub attacks: &'a [String],
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The VM that is replaced.
    pub attacker: usize,
    /// What it does.
    pub attack: &'static Attack,
    /// The VMs that are watched.
    pub victims: Vec<usize>,
}

/// Why there is nothing to run.
#[derive(Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum Nothing {
    /// A VM that the system does not have.
    #[error("{option} {name}: the system has no such VM")]
    UnknownVm {
        /// The option that names it.
        option: &'static str,
        /// The name.
        name: String,
        /// What to do.
        #[help]
        cure: String,
    },
    /// An attack that does not exist.
    #[error("--attack {name}: there is no such attack")]
    UnknownAttack {
        /// The name.
        name: String,
        /// What to do.
        #[help]
        cure: String,
    },
    /// A victim without a promise.
    #[error(
        "--victim {name}: the VM has no real-time vCPU with a reservation, and so no bound to hold"
    )]
    NotReserved {
        /// The VM.
        name: String,
        /// What to do.
        #[help]
        cure: String,
    },
    /// A VM that is both.
    #[error("{name} is named by --attacker and by {other}")]
    Both {
        /// The VM.
        name: String,
        /// The other option.
        other: &'static str,
    },
    /// No VM has a reservation.
    #[error(
        "no VM of the system has a real-time vCPU with a reservation: there is no bound to hold"
    )]
    #[diagnostic(help(
        "give a real-time vCPU `period` and `budget`, see docs/src/how-to/guarantee-a-control-loop.md"
    ))]
    NoVictim,
    /// All are trusted, or the only victim.
    #[error(
        "there is no VM to replace: each is the only victim, trusted, or a service of the system"
    )]
    #[diagnostic(help("name one with --attacker, or trust fewer"))]
    NoAttacker,
    /// None of those replaced has the right.
    #[error("no VM that is replaced has what these attacks use: {needs}")]
    #[diagnostic(help(
        "name other attacks, or other VMs with --attacker; `tactus attack --list` says what each needs"
    ))]
    NoRight {
        /// What is lacking.
        needs: String,
    },
}

/// The runs that `wanted` asks for, by attacker and attack.
///
/// # Errors
/// A name is unknown, or there is nothing to run.
pub fn runs(vms: &[Candidate], wanted: &Wanted<'_>) -> Result<Vec<Run>, Nothing> {
    let victims = victims(vms, wanted.victims)?;
    let attackers = attackers(vms, wanted, &victims)?;
    let attacks = attacks(wanted.attacks)?;
    let mut runs = Vec::new();
    for &attacker in &attackers {
        let watched = victims.iter().copied().filter(|victim| *victim != attacker);
        let watched: Vec<usize> = watched.collect();
        let usable = attacks
            .iter()
            .filter(|attack| vms[attacker].has(attack.needs));
        runs.extend(usable.map(|attack| Run {
            attacker,
            attack,
            victims: watched.clone(),
        }));
    }
    if runs.is_empty() {
        let mut needs: Vec<&str> = attacks.iter().map(|attack| attack.needs.words()).collect();
        needs.dedup();
        let needs = needs.join(", ");
        return Err(Nothing::NoRight { needs });
    }
    Ok(runs)
}

fn index(vms: &[Candidate], option: &'static str, name: &str) -> Result<usize, Nothing> {
    vms.iter().position(|vm| vm.name == name).ok_or_else(|| {
        let known: Vec<&str> = vms.iter().map(|vm| vm.name.as_str()).collect();
        Nothing::UnknownVm {
            option,
            name: name.to_owned(),
            cure: cure_of_unknown(name, &known),
        }
    })
}

fn indices(
    vms: &[Candidate],
    option: &'static str,
    names: &[String],
) -> Result<Vec<usize>, Nothing> {
    let mut all = Vec::new();
    for name in names {
        let index = index(vms, option, name)?;
        if !all.contains(&index) {
            all.push(index);
        }
    }
    all.sort_unstable();
    Ok(all)
}

fn victims(vms: &[Candidate], names: &[String]) -> Result<Vec<usize>, Nothing> {
    let reserved: Vec<usize> = (0..vms.len()).filter(|&vm| vms[vm].reserved).collect();
    if names.is_empty() {
        return if reserved.is_empty() {
            Err(Nothing::NoVictim)
        } else {
            Ok(reserved)
        };
    }
    let named = indices(vms, "--victim", names)?;
    match named.iter().find(|vm| !reserved.contains(vm)) {
        None => Ok(named),
        Some(&vm) => {
            let known: Vec<&str> = reserved.iter().map(|&vm| vms[vm].name.as_str()).collect();
            Err(Nothing::NotReserved {
                name: vms[vm].name.clone(),
                cure: if known.is_empty() {
                    "give its vCPU `class = \"rt\"`, `period` and `budget`".to_owned()
                } else {
                    format!("those with one are {}", known.join(", "))
                },
            })
        }
    }
}

fn attackers(
    vms: &[Candidate],
    wanted: &Wanted<'_>,
    victims: &[usize],
) -> Result<Vec<usize>, Nothing> {
    let trusted = indices(vms, "--trust", wanted.trusted)?;
    let named = indices(vms, "--attacker", wanted.attackers)?;
    let both = |name: usize, other| Nothing::Both {
        name: vms[name].name.clone(),
        other,
    };
    if let Some(&vm) = named.iter().find(|vm| trusted.contains(vm)) {
        return Err(both(vm, "--trust"));
    }
    // A VM that is named as victim stays what it is.
    let stays = |vm: usize| !wanted.victims.is_empty() && victims.contains(&vm);
    if let Some(&vm) = named.iter().find(|&&vm| stays(vm)) {
        return Err(both(vm, "--victim"));
    }
    let others = |vm: usize| victims.iter().any(|&victim| victim != vm);
    let all = (0..vms.len()).filter(|&vm| {
        let chosen = if named.is_empty() {
            !vms[vm].service && !vms[vm].trusted && !trusted.contains(&vm)
        } else {
            named.contains(&vm)
        };
        chosen && !stays(vm) && others(vm)
    });
    let all: Vec<usize> = all.collect();
    if all.is_empty() {
        Err(Nothing::NoAttacker)
    } else {
        Ok(all)
    }
}

fn attacks(names: &[String]) -> Result<Vec<&'static Attack>, Nothing> {
    if names.is_empty() {
        return Ok(ATTACKS.iter().collect());
    }
    let mut all: Vec<&'static Attack> = Vec::new();
    for name in names {
        let attack = find(name).ok_or_else(|| {
            let known = ATTACKS.map(|attack| attack.name);
            Nothing::UnknownAttack {
                name: name.clone(),
                cure: cure_of_unknown(name, &known),
            }
        })?;
        if !all.contains(&attack) {
            all.push(attack);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(name: &str) -> Candidate {
        Candidate {
            name: name.to_owned(),
            vcpus: 1,
            ..Candidate::default()
        }
    }

    /// A control loop, a monitor, Linux, a manager.
    fn system() -> Vec<Candidate> {
        let reserved = |name| Candidate {
            reserved: true,
            channels: 1,
            device: false,
            ..vm(name)
        };
        let linux = Candidate {
            vcpus: 2,
            channels: 1,
            device: false,
            ..vm("linux")
        };
        let manager = Candidate {
            service: true,
            ..vm("manager")
        };
        vec![reserved("loop"), reserved("monitor"), linux, manager]
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|&name| name.to_owned()).collect()
    }

    fn told(wanted: &Wanted<'_>) -> Vec<(usize, &'static str, Vec<usize>)> {
        let runs = runs(&system(), wanted).expect("there is something to run");
        runs.into_iter()
            .map(|run| (run.attacker, run.attack.name, run.victims))
            .collect()
    }

    #[test]
    fn each_vm_but_services_is_replaced_in_turn() {
        let attacks = names(&["ring", "vcpus"]);
        let wanted = Wanted {
            attacks: &attacks,
            ..Wanted::default()
        };
        let all = [
            (0, "ring", vec![1]),
            (1, "ring", vec![0]),
            (2, "ring", vec![0, 1]),
            (2, "vcpus", vec![0, 1]),
        ];
        assert_eq!(told(&wanted), all);
    }

    #[test]
    fn a_named_victim_is_not_replaced() {
        let (attacks, victims) = (names(&["spin"]), names(&["loop"]));
        let wanted = Wanted {
            attacks: &attacks,
            victims: &victims,
            ..Wanted::default()
        };
        let all = [(1, "spin", vec![0]), (2, "spin", vec![0])];
        assert_eq!(told(&wanted), all);
    }

    #[test]
    fn trusted_vms_stay_and_named_services_go() {
        let attacks = names(&["spin"]);
        let trusted = names(&["linux", "monitor"]);
        let wanted = Wanted {
            attacks: &attacks,
            trusted: &trusted,
            ..Wanted::default()
        };
        assert_eq!(told(&wanted), [(0, "spin", vec![1])]);
        let attackers = names(&["manager"]);
        let wanted = Wanted {
            attacks: &attacks,
            attackers: &attackers,
            ..Wanted::default()
        };
        assert_eq!(told(&wanted), [(3, "spin", vec![0, 1])]);
    }

    #[test]
    fn what_cannot_be_run_is_told() {
        let error = |wanted: &Wanted<'_>| {
            let error = runs(&system(), wanted).expect_err("there is nothing to run");
            error.to_string()
        };
        let (linux, manager) = (names(&["linux"]), names(&["manager"]));
        let unknown = names(&["linus"]);
        let loop_ = names(&["loop"]);
        let all = names(&["loop", "monitor", "linux"]);
        let wanted = Wanted::default();
        let cases = [
            (
                Wanted {
                    victims: &unknown,
                    ..wanted
                },
                "--victim linus: the system has no such VM",
            ),
            (
                Wanted {
                    victims: &linux,
                    ..wanted
                },
                "--victim linux: the VM has no real-time vCPU with a reservation, and so no bound to hold",
            ),
            (
                Wanted {
                    attacks: &unknown,
                    ..wanted
                },
                "--attack linus: there is no such attack",
            ),
            (
                Wanted {
                    attackers: &loop_,
                    victims: &loop_,
                    ..wanted
                },
                "loop is named by --attacker and by --victim",
            ),
            (
                Wanted {
                    attackers: &linux,
                    trusted: &linux,
                    ..wanted
                },
                "linux is named by --attacker and by --trust",
            ),
            (
                Wanted {
                    trusted: &all,
                    ..wanted
                },
                "there is no VM to replace: each is the only victim, trusted, or a service of the system",
            ),
            (
                Wanted {
                    attackers: &manager,
                    attacks: &names(&["ring"]),
                    ..wanted
                },
                "no VM that is replaced has what these attacks use: a channel",
            ),
        ];
        for (wanted, text) in cases {
            assert_eq!(error(&wanted), text);
        }
        let none = [vm("a"), vm("b")];
        let nothing = runs(&none, &Wanted::default()).expect_err("no VM has a reservation");
        assert_eq!(nothing, Nothing::NoVictim);
    }
}
