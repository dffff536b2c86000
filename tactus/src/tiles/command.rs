//! `tactus run` of a system of tiles.

use std::io::Write;

use miette::{IntoDiagnostic, miette};
use tactus_board::time::Femtoseconds;

use super::{Limits, System};
use crate::artifacts::Artifacts;
use crate::boot;
use crate::cli::{Platform, RunArguments};
use crate::plan::Tiles;
use crate::report;
use crate::report::page::About;
use crate::run;
use crate::run::heartbeat::Heartbeat;
use crate::run::session::Stop;
use crate::run::show::{self, Show};

/// Runs what was checked.
pub(crate) fn run(arguments: &RunArguments, checked: &Tiles) -> miette::Result<u8> {
    let wanted = &arguments.board;
    let own = ["--waves", "--pins", "--frames", "--picture"];
    let other = wanted.given().filter(|option| !own.contains(option));
    let console = arguments.console.as_ref().map(|_| "--console");
    let script = arguments.script.given();
    let other = other.or(console).or(arguments.programs()).or(script);
    if let Some(option) = other {
        return Err(miette!(
            help = "leave it out",
            "{option} is for systems with the hypervisor, and this one is of tiles"
        ));
    }
    if arguments.platform == Some(Platform::Qemu) {
        return Err(miette!(
            help = "say --platform board",
            "the system is one of tiles, and QEMU has none"
        ));
    }
    let files = wanted.ends();
    let model = Artifacts::chosen().model(&checked.design)?;
    let mut system = System::of(checked, model);
    system.ends = files.watched(Some(&checked.design))?;
    system.waves = boot::waves(wanted.waves.as_ref(), &wanted.waves_file);
    let names: Vec<String> = system.tiles.iter().map(|tile| tile.name.clone()).collect();
    let until = |name: &String| {
        let place = names.iter().position(|known| known == name);
        place.ok_or_else(|| crate::run::Error::NoSuchVm {
            name: name.clone(),
            known: names.join(", "),
        })
    };
    let stop = Stop::default();
    let cycles = arguments.limit.map_or(u64::MAX, |limit| {
        super::clock().cycle_from(Femtoseconds(limit.0.saturating_mul(1_000_000)))
    });
    let limits = Limits {
        host_limit: arguments.host_limit,
        until: arguments.until.as_ref().map(until).transpose()?,
        stop: stop.clone(),
        ..Limits::cycles(cycles)
    };
    let interrupt = stop.clone();
    ctrlc::set_handler(move || interrupt.interrupt()).into_diagnostic()?;
    let progress = show::progress("running");
    let heartbeat = Heartbeat::new(progress.clone(), Some(limits.now.clone()));
    let mut show =
        Show::new(&names, arguments.shown(), progress.clone(), stop).with_heartbeat(heartbeat);
    let outcome = super::run(&system, &limits, &mut show);
    progress.finish_and_clear();
    let outcome = outcome.map_err(|error| miette!("{error}"))?;
    files.write(&outcome.ends, system.ends.pins, super::clock())?;
    let (flits, hash) = (outcome.flits, outcome.trace_hash);
    let late = outcome.late(&system);
    let requests = outcome.requests.len();
    let outcome = outcome.into_session();
    let file = arguments.file.display().to_string();
    if let Some(path) = &arguments.junit {
        run::write_junit(path, &outcome, &file)?;
    }
    if arguments.json {
        run::print_json(&outcome, &file);
        return Ok(outcome.exit_code());
    }
    let mut text = format!("\n{}", report::summary(&outcome));
    text.push('\n');
    if checked.policies.is_some() {
        text += &format!(
            "{} to the I/O hypervisor, {} of them later than `tactus check` says; ",
            crate::problem::count(requests, "request"),
            late.len(),
        );
    }
    text += &format!(
        "{} on the mesh; trace hash {hash:016x}\n",
        crate::problem::count(flits as usize, "flit"),
    );
    for (request, bound) in late {
        let tile = request.tile;
        text += &format!(
            "  tile {tile} waited for {} cycles at cycle {}, and {bound} is the bound\n",
            request.waited(),
            request.asked
        );
    }
    if let Some(directory) = &arguments.report {
        let about = About {
            platform: Some("board manycore".to_owned()),
            trace_hash: Some(hash),
            ..About::of(&arguments.file)
        };
        let written = report::write(&outcome, &about, directory).into_diagnostic()?;
        text += &report::where_to_look(&outcome, &written);
    }
    // A closed stdout wants no summary; the verdict stands.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(outcome.exit_code())
}
