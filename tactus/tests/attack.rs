//! `tactus attack`: real-time vCPUs hold their bounds beside hostile guests, and wrong arguments get an error.

use std::process::Command;

use serde_json::Value;

use crate::harness::{output, root, written};

/// Runs the command; gives exit code, stdout and stderr.
fn attack(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    output(command.current_dir(root()).arg("attack").args(arguments))
}

/// Runs attacks; gives the exit code and the report.
#[track_caller]
fn report(system: &str, arguments: &[&str]) -> (Option<i32>, Value) {
    let all = [&[system, "--json"], arguments].concat();
    let (code, stdout, stderr) = attack(&all);
    let report = serde_json::from_str(&stdout);
    let report = report.unwrap_or_else(|error| panic!("{error}: {stdout}\n{stderr}"));
    (code, report)
}

fn runs(report: &Value) -> &[Value] {
    report["runs"].as_array().expect("it has runs")
}

/// Runs attacks, and asserts that nothing is found, and that each vCPU had jobs in each run, within its bound. Gives
/// the attacks that were run.
#[track_caller]
fn nothing_is_found(system: &str, arguments: &[&str]) -> Vec<String> {
    let (code, report) = report(system, arguments);
    assert_eq!(report["findings"], 0, "{report:#}");
    assert_eq!(code, Some(0), "{report:#}");
    for run in runs(&report) {
        for vcpu in run["vcpus"].as_array().expect("it has vCPUs") {
            assert!(vcpu["jobs"].as_u64() > Some(0), "{run:#}");
            let [response, bound] = ["response_max_us", "bound_us"].map(|name| vcpu[name].as_f64());
            assert!(bound.is_none_or(|bound| response <= Some(bound)), "{run:#}");
        }
    }
    let attacks = runs(&report).iter();
    attacks
        .filter_map(|run| Some(run["attack"].as_str()?.to_owned()))
        .collect()
}

#[test]
fn interference_holds_its_bounds() {
    let attacks = nothing_is_found(
        "systems/interference.toml",
        &[
            "--attacker",
            "noise",
            "--victim",
            "victim",
            "--victim",
            "lower",
            "--attack",
            "ring",
            "--attack",
            "walk",
            "--attack",
            "thrash",
            "--ms",
            "20",
        ],
    );
    assert_eq!(attacks, ["ring", "walk", "thrash"]);
}

/// The hostile VM has two vCPUs, one of them on the victims' hart, and a channel with one of them.
#[test]
fn a_control_loop_holds_its_bounds() {
    nothing_is_found(
        "systems/control-loop.toml",
        &[
            "--attacker",
            "linux",
            "--attack",
            "thrash",
            "--attack",
            "reserve",
            "--attack",
            "calls",
            "--attack",
            "ring",
            "--ms",
            "60",
        ],
    );
}

/// Who calls and who is called are hostile in turn, on the hart of a real-time vCPU and on another one: its jobs have
/// their time within the limit of a call.
#[test]
fn calls_cost_others_what_is_counted() {
    let vm = |name: &str, role: &str, hart: u32| {
        format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"@call-selftest\"\nmemory = \"4MiB\"\nbootargs = \"role={role}\"\n\
             on_fault = \"restart\"\n[[vm.vcpu]]\nclass = \"be\"\nharts = [{hart}]\n"
        )
    };
    let calls = |name: &str, caller: &str| {
        format!(
            "[[channel]]\nname = \"{name}\"\nbetween = [\"{caller}\", \"server\"]\nsize = \"4KiB\"\ncalls = \"20us\"\n"
        )
    };
    let file = written(&format!(
        "[system]\nplatform = \"soc\"\nharts = 2\n\
         [[vm]]\nname = \"victim\"\nimage = \"@victim\"\ncounters = true\nmemory = \"4MiB\"\nbootargs = \"jobs=1000000 listen=none\"\n\
         [[vm.vcpu]]\nclass = \"rt\"\nhart = 0\nperiod = \"1ms\"\nbudget = \"300us\"\n{}{}{}{}{}",
        vm("near", "spender ticks=100", 0),
        vm("far", "spender ticks=150", 1),
        vm("server", "server", 1),
        calls("near", "near"),
        calls("far", "far"),
    ));
    let path = file.path().to_str().expect("a name in UTF-8");
    let attacks = nothing_is_found(
        path,
        &[
            "--victim", "victim", "--attack", "service", "--attack", "walk", "--ms", "40",
        ],
    );
    // Each of the three VMs makes both.
    assert_eq!(attacks.len(), 6, "{attacks:?}");
}

/// A guest that has a disk, a network card, random bytes and a console of other VMs is hostile, and the VMs that have
/// them are, on the hart of a real-time vCPU: its jobs have their time within the limit of an access.
#[test]
fn devices_of_other_vms_cost_others_what_is_counted() {
    let vm = |name: &str, image: &str, arguments: &str| {
        format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"@{image}\"\nmemory = \"4MiB\"\nbootargs = \"{arguments}\"\non_fault = \"restart\"\n\
             [[vm.vcpu]]\nclass = \"be\"\nharts = [0]\n"
        )
    };
    let device = |name: &str, server: &str| {
        format!(
            "[[channel]]\nname = \"{name}\"\nbetween = [\"client\", \"{server}\"]\nsize = \"256KiB\"\n\
             calls = \"60us\"\ndevice = {{ compatible = \"virtio,mmio\", memory = true }}\n"
        )
    };
    let file = written(&format!(
        "[system]\nplatform = \"soc\"\nharts = 1\n\
         [[vm]]\nname = \"victim\"\nimage = \"@victim\"\ncounters = true\nmemory = \"4MiB\"\nbootargs = \"jobs=1000000 listen=none\"\n\
         [[vm.vcpu]]\nclass = \"rt\"\nhart = 0\nperiod = \"1ms\"\nbudget = \"300us\"\n{}",
        [
            vm("client", "disk-journal", ""),
            vm("disk", "virtio-disk", ""),
            vm("switch", "virtio-switch", ""),
            vm(
                "entropy",
                "virtio-entropy",
                &format!("seed={}", "5a".repeat(32))
            ),
            vm("console", "virtio-console", ""),
            device("disk", "disk"),
            device("port", "switch"),
            device("bytes", "entropy"),
            device("text", "console"),
        ]
        .concat(),
    ));
    let path = file.path().to_str().expect("a name in UTF-8");
    let options = ["--victim", "victim", "--ms", "40"];
    let attacks = [
        "--attack", "virtio", "--attack", "service", "--attack", "mmio",
    ];
    let attacks = nothing_is_found(path, &[options.as_slice(), &attacks].concat());
    // The client drives; each of the five serves and writes to registers, or tries.
    assert_eq!(attacks.len(), 11, "{attacks:?}");
}

/// Two real-time VMs on a hart, each in turn hostile, and a best-effort one.
#[test]
fn reservations_hold_their_bounds_beside_each_other() {
    nothing_is_found(
        "systems/bench-job.toml",
        &["--attack", "walk", "--attack", "instructions", "--ms", "20"],
    );
}

/// `systems/accelerators.toml` with a victim in the place of its first guest, and a hostile VM with an accelerator.
///
/// A task that writes outside of its VM's memory causes a fault in every cycle, which interrupts the device manager;
/// the victim is below it.
#[test]
fn accelerators_and_a_victim_below_the_device_manager() {
    let shared = std::fs::read_to_string(root().join("systems/accelerators.toml"));
    let shared = shared.expect("the system is there");
    let (manager, _) = shared
        .split_once("[[vm]]\nname = \"modem\"")
        .expect("its first guest");
    let system = format!(
        r#"{manager}
[[vm]]
name = "victim"
image = "@victim"
counters = true
memory = "4MiB"
bootargs = "jobs=1000000 listen=none"

[[vm.vcpu]]
class = "rt"
hart = 0
priority = 100
period = "1ms"
budget = "300us"

[[vm]]
name = "user"
image = "@noise"
memory = "4MiB"
bootargs = "noise=none"

[[vm.vcpu]]
class = "be"
harts = [1]

[[vm.vcpu]]
class = "be"
harts = [1]

[[vm.accelerator]]
task = "qam16"

[[channel]]
name = "regions"
between = ["manager", "user"]
size = "4KiB"
"#
    );
    let file = written(&system);
    let path = file.path().display().to_string();
    // The manager is a service: it is not replaced. As it has a reservation, the victim attacks it, too.
    let names = ["thrash", "ring", "accelerator"];
    let attacks = names.map(|name| ["--attack", name]);
    let attacks = nothing_is_found(&path, &[attacks.as_flattened(), &["--ms", "20"]].concat());
    assert_eq!(attacks, ["thrash", "thrash", "ring", "accelerator"]);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let once = |seed| {
        let options = [
            "--attacker",
            "noise",
            "--attack",
            "walk",
            "--ms",
            "5",
            "--seed",
            seed,
        ];
        report("systems/interference.toml", &options).1
    };
    assert_eq!(once("7"), once("7"));
}

#[test]
fn what_cannot_be_attacked_is_told() {
    for (arguments, message) in [
        (
            &["systems/interference.toml", "--victim", "victin"][..],
            "--victim victin: the system has no such VM",
        ),
        (
            &["systems/interference.toml", "--attack", "rings"],
            "--attack rings: there is no such attack",
        ),
        (
            &["systems/hello.toml"],
            "no VM of the system has a real-time vCPU with a reservation",
        ),
        (&["systems/freertos-rt.toml"], "there is no VM to replace"),
        (&["systems/manycore.toml"], "is a system of tiles"),
        (
            &["systems/no-such-system.toml"],
            "cannot read systems/no-such-system.toml",
        ),
        (
            &["systems/interference.toml", "--artifacts", "absent"],
            "absent",
        ),
        (
            &["systems/interference.toml", "--random", "2"],
            "cannot be used with",
        ),
        (&["--random", "0"], "0 is not in 1"),
        (&["--near-limit", "systems/rt.toml"], "cannot be used with"),
        (&[], "required arguments were not provided"),
        (&["systems/interference.toml", "--ms", "0"], "0 is not in 1"),
    ] {
        let (code, stdout, stderr) = attack(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {stdout}\n{stderr}");
        assert_eq!(stdout, "", "{arguments:?}");
        let joined = stderr.replace("\n  │", "").replace("\n", " ");
        assert!(joined.contains(message), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_system_with_errors_is_refused_as_by_check() {
    let (code, stdout, stderr) = attack(&["tactus/tests/faults/over-subscribed.toml"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("over-subscribed"), "{stderr}");
}

#[test]
fn attacks_are_listed() {
    let (code, stdout, _) = attack(&["--list"]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("\nthrash"), "{stdout}");
    let (_, stdout, _) = attack(&["--list", "--json"]);
    let list: Value = serde_json::from_str(&stdout).expect("it prints JSON");
    assert_eq!(list[0]["attack"], "walk");
}

#[test]
fn random_systems_hold_their_bounds() {
    let (code, stdout, stderr) = attack(&["--random", "4", "--seed", "5", "--ms", "20", "--json"]);
    let report: Value = serde_json::from_str(&stdout).expect(&stderr);
    assert_eq!(report["findings"], 0, "{report:#}");
    assert_eq!(code, Some(0), "{report:#}");
    let systems = report["systems"].as_array().expect("it has systems");
    let seeds: Vec<_> = systems.iter().map(|system| &system["seed"]).collect();
    assert_eq!(seeds, [5, 6, 7, 8]);
    for system in systems {
        assert!(system["jobs"].as_u64() > Some(0), "{system:#}");
        let [response, bound] = ["response_max_us", "bound_us"].map(|name| system[name].as_f64());
        assert!(response <= bound, "{system:#}");
    }
}

/// The deferred work in a job's time, 13,000 cycles here, is no finding where the job is cut off sooner by as much:
/// admission counts it.
#[test]
fn a_job_pays_for_the_work_deferred_in_its_time() {
    let (code, stdout, stderr) = attack(&["--random", "1", "--seed", "1092", "--ms", "20"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
}

/// Sets of real-time vCPUs with the largest budgets that are admitted, and one that a guest makes at the limit. In that
/// of seed 25 an interrupt is sent to the hart between a budget's end and the switch from the vCPU: once that vCPU then
/// had a rest of its budget, and waited for all of another one's job that was due later.
#[test]
fn sets_at_the_limit_hold_what_is_stated() {
    let arguments = ["--random", "6", "--near-limit", "--seed", "23", "--json"];
    let (code, stdout, stderr) = attack(&arguments);
    let report: Value = serde_json::from_str(&stdout).expect(&stderr);
    assert_eq!(report["findings"], 0, "{report:#}");
    assert_eq!(code, Some(0), "{report:#}");
    let sets = report["sets"].as_array().expect("it has sets");
    let seeds: Vec<_> = sets.iter().map(|set| &set["seed"]).collect();
    assert_eq!(seeds, [23, 25, 26, 27]);
    let measures = &report["measures"];
    let measure = |name: &str| measures[name].as_f64().unwrap_or(f64::NAN);
    assert!(
        measure("jobs") > 100.0 && measure("rings") > 100.0,
        "{measures:#}"
    );
    assert!(
        measure("server_response_over_bound_max") <= 1.0,
        "{measures:#}"
    );
    assert!(measure("response_over_model_max") <= 1.0, "{measures:#}");
    assert!(measure("release_lateness_uncounted") == 0.0, "{measures:#}");
    for made in report["made"].as_array().expect("it has such systems") {
        let [vcpus, jobs] = ["made", "jobs"].map(|name| made[name].as_u64());
        assert!(vcpus > Some(0) && jobs > Some(0), "{made:#}");
    }
}

/// All attacks on each system that has several VMs and a reservation.
#[test]
#[ignore = "long"]
fn all_attacks_on_all_systems() {
    for system in [
        "interference",
        "control-loop",
        "embassy",
        "bench-job",
        "bench-hostile",
        "hostile-reserve",
        "hostile-reserve-smp",
    ] {
        let (_, report) = report(&format!("systems/{system}.toml"), &[]);
        for run in runs(&report) {
            let found = run["findings"].as_array().expect("it has findings");
            assert!(found.is_empty(), "{system}: {run:#}");
        }
    }
}

/// One after the other, doorbells for three vCPUs of a hart are rung while it is busy. Once the second of them, which
/// the third displaced on the way there, had used up its interrupt without one: its vCPU was released a deferral period
/// late.
#[test]
fn a_doorbell_that_another_displaces_releases_its_vcpu_in_time() {
    let arguments = ["--random", "1", "--near-limit", "--seed", "5041", "--json"];
    let (code, stdout, stderr) = attack(&arguments);
    let report: Value = serde_json::from_str(&stdout).expect(&stderr);
    assert_eq!(code, Some(0), "{report:#}");
    let measures = &report["measures"];
    let of_model = measures["response_over_model_max"].as_f64();
    assert!(of_model <= Some(1.0), "{measures:#}");
    assert!(measures["rings"].as_u64() > Some(100), "{measures:#}");
}
