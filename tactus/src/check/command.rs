//! The command itself: verdict to terminal or JSON, exit code.

use std::process::ExitCode;

use miette::Report;
use serde_json::{Value, json};

use super::{Verdict, calls, check_file_for, inside, of_tiles, pci, report, summary};
use crate::artifacts::Artifacts;
use crate::cli::CheckArguments;
use crate::config::Nanoseconds;
use crate::evidence;
use crate::pci::Model;
use crate::plan::{Device, Function, Plan};
use crate::problem::{Problem, Weight, count};

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &CheckArguments) -> ExitCode {
    let machine = arguments.functions.known();
    let verdict = check_file_for(&arguments.file, &Artifacts::chosen(), machine);
    let guarantee = verdict.guarantee.as_ref();
    if arguments.json {
        let mut json = to_json(&verdict);
        if let Some(guarantee) = guarantee.filter(|_| arguments.sensitivity) {
            let found = guarantee.sensitivity();
            json["guarantee"]["sensitivity"] = report::sensitivity_json(guarantee, found.as_ref());
        }
        println!("{json:#}");
    } else {
        print_problems(&verdict.problems);
        match (&verdict.plan, &verdict.tiles) {
            (Some(plan), _) => print!("{}", summary(plan, &verdict)),
            (None, Some(tiles)) => print!("{}", of_tiles(tiles, &verdict)),
            (None, None) => eprintln!("{}: {}", verdict.file, tally(&verdict)),
        }
        let mut separator = if verdict.plan.is_some() { "\n" } else { "" };
        if let Some(guarantee) = guarantee.filter(|_| arguments.report) {
            print!("{separator}{}", report::report(guarantee));
            print!("{}", inside::report(&verdict));
            separator = "\n";
        }
        if let Some(guarantee) = guarantee.filter(|_| arguments.sensitivity) {
            let found = guarantee.sensitivity();
            print!(
                "{separator}{}",
                report::sensitivity(guarantee, found.as_ref())
            );
        }
    }
    let Some(directory) = &arguments.evidence else {
        return exit_code(&verdict);
    };
    let written = evidence::write(
        &verdict,
        &arguments.file,
        directory,
        arguments.campaign.as_deref(),
        arguments.date.as_deref(),
    );
    match written {
        Ok(()) if !arguments.json => {
            let page = directory.join(evidence::PAGE);
            println!("\nEvidence: {} - open it in a browser", page.display());
        }
        Ok(()) => {}
        Err(report) => {
            eprintln!("{report:?}");
            // A refusal has an exit code of its own.
            if verdict.plan.is_some() || verdict.tiles.is_some() {
                return ExitCode::from(2);
            }
        }
    }
    exit_code(&verdict)
}

/// Prints problems to stderr, as its kind of terminal allows.
pub(crate) fn print_problems(problems: &[Problem]) {
    for problem in problems {
        eprintln!("{:?}", Report::new(problem.clone()));
    }
}

/// The numbers of problems in words: "2 errors, 1 warning".
pub(super) fn tally(verdict: &Verdict) -> String {
    let parts = [
        (Weight::Error, "error"),
        (Weight::Environment, "thing missing"),
        (Weight::Warning, "warning"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(weight, word)| (verdict.count(weight), word))
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| match (number, word) {
            (1, word) => format!("1 {word}"),
            (number, "thing missing") => format!("{number} things missing"),
            (number, word) => count(number, word),
        })
        .collect();
    parts.join(", ")
}

/// 0: fine; 1: errors; 2: not to be judged.
pub(crate) fn exit_code(verdict: &Verdict) -> ExitCode {
    ExitCode::from(if verdict.count(Weight::Error) > 0 {
        1
    } else if verdict.count(Weight::Environment) > 0 {
        2
    } else {
        0
    })
}

pub(crate) fn to_json(verdict: &Verdict) -> Value {
    let problem = |problem: &Problem| {
        let place = problem.place();
        json!({
            "code": problem.kind().name(),
            "severity": match problem.kind().weight() {
                Weight::Warning => "warning",
                Weight::Error => "error",
                Weight::Environment => "environment",
            },
            "message": problem.message(),
            "help": problem.cure(),
            "line": place.map(|(_, line, _)| line),
            "column": place.map(|(_, _, column)| column),
        })
    };
    let device = |device: &Device| {
        json!({
            "name": device.name,
            "address": device.guest.start,
            "size": device.guest.size(),
            "host_address": device.host,
            "interrupts": device.interrupts,
        })
    };
    let function = |plan: &Plan, function: &Function| {
        let sharers = pci::sharers(plan, verdict.machine.as_deref(), function);
        let sharers = sharers.iter();
        json!({
            "slot": function.slot,
            "id": function.model.map(|model| model.id().to_string()),
            "model": function.model.map(Model::name),
            "address": function.window.start,
            "size": function.window.size(),
            "interrupt": function.interrupt,
            "shared_with": sharers.map(|(slot, vm)| json!({ "slot": slot, "vm": vm })).collect::<Vec<_>>(),
            "resets_itself": function.model.map(Model::has_reset),
        })
    };
    let calls = |plan: &Plan| {
        let us = |time: Nanoseconds| time.0 as f64 / 1000.0;
        let bounds = calls::bounds(plan).into_iter();
        let object = |bound: calls::Bound| {
            let channel = &plan.channels[bound.channel];
            let [caller, server] = channel.ends.map(|(vm, _)| &plan.vms[vm].name);
            json!({
                "channel": channel.name,
                "caller": caller,
                "server": server,
                "device": channel.device.as_ref().map(|device| &device.compatible),
                "waits_max_us": us(bound.waits),
                "takes_max_us": us(bound.takes),
                "within_us": us(bound.within()),
            })
        };
        bounds.map(object).collect::<Vec<_>>()
    };
    let vms = verdict.plan.iter().flat_map(|plan| {
        plan.vms.iter().map(|vm| {
            json!({
                "name": vm.name,
                "memory": vm.memory.0,
                "host_address": vm.host,
                "onchip_memory": vm.onchip.map(|part| json!({
                    "address": part.guest.start,
                    "size": part.guest.size(),
                    "host_address": part.host.start,
                })),
                "cache_colours": vm.colours.map(|colours| json!({
                    "first": colours.first,
                    "last": colours.last(),
                    "of": 1 << colours.of,
                })),
                "entry": vm.entry,
                "vcpus": vm.vcpus.len(),
                "devices": vm.devices.iter().map(device).collect::<Vec<_>>(),
                "functions": vm.functions.iter().map(|own| function(plan, own)).collect::<Vec<_>>(),
            })
        })
    });
    let tiles = verdict.tiles.iter().flat_map(|system| {
        system
            .tiles
            .iter()
            .map(|tile| json!({ "name": tile.vm, "tile": tile.number }))
    });
    json!({
        "file": verdict.file,
        "fine": verdict.plan.is_some() || verdict.tiles.is_some(),
        "problems": verdict.problems.iter().map(problem).collect::<Vec<_>>(),
        "vms": vms.chain(tiles).collect::<Vec<_>>(),
        "calls": verdict.plan.iter().flat_map(calls).collect::<Vec<_>>(),
        "guarantee": verdict.guarantee.as_ref().map(report::to_json),
        "reloads": inside::reloads_json(verdict),
        "tasks": inside::tasks_json(verdict),
        "chains": inside::chains_json(verdict),
    })
}
