//! `tactus ctl`: talks to a VM of a run that manages others, over its console at a socket.

pub mod http;
pub mod link;
pub(crate) mod page;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use tactus_management::{ImageSignature, Request};

use crate::artifacts::Artifacts;
use crate::cli::{CtlArguments, CtlCommand};
use crate::guest_image::GuestImage;
use crate::problem::io_reason;
use crate::run::visible::visible;
use link::{Failure, Link, Vm};
use page::Page;

/// What the process's exit codes mean; printed by `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  the manager refuses
  2  wrong usage, or no manager answers";

/// How often a console is read that is followed.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &CtlArguments) -> ExitCode {
    let link = Link::open(&arguments.socket);
    let done = link.and_then(|link| carry_out(link, &arguments.command));
    match done {
        Ok(text) => {
            // A closed stdout wants no text.
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("error: {}", visible(&failure.to_string()));
            match failure {
                Failure::Refused(_) => ExitCode::FAILURE,
                Failure::Late | Failure::Link(_) => ExitCode::from(2),
            }
        }
    }
}

/// What is printed then.
fn carry_out(mut link: Link, command: &CtlCommand) -> Result<String, Failure> {
    let request = match command {
        CtlCommand::List { json: true } => {
            let vms = link.list()?;
            return Ok(format!("{:#}\n", vms_json(&vms)));
        }
        CtlCommand::List { json: false } => {
            return Ok(table(&link.list()?));
        }
        CtlCommand::Load {
            vm,
            image,
            signature,
            hold,
        } => {
            let parsed = read_image(image).map_err(Failure::Link)?;
            let signature = signature.as_deref().map(read_signature).transpose();
            let signature = signature.map_err(Failure::Link)?;
            let progress = crate::run::show::progress("loading");
            let whole: usize = link::writes(&parsed).map(|(_, bytes)| bytes.len()).sum();
            let mut sent = 0;
            let loaded = link.load(vm, &parsed, signature, !hold, |bytes| {
                sent += bytes;
                progress.set_message(format!("loading {sent} of {whole} bytes"));
            });
            progress.finish_and_clear();
            loaded?;
            let what = if *hold { "held" } else { "started" };
            return Ok(format!(
                "VM {vm}: {} is loaded and {what}, entry {:#x}\n",
                parsed.format, parsed.entry
            ));
        }
        CtlCommand::Console { vm, follow } => {
            return show_console(&mut link, vm, *follow);
        }
        CtlCommand::Page { port } => {
            let page = Page::at(*port).map_err(Failure::Link)?;
            println!("{}", page.address());
            // A program that waits for the line gets it at once.
            let _ = std::io::stdout().flush();
            page.serve(link);
            return Ok(String::new());
        }
        CtlCommand::Status { vm } => Request::Status(vm),
        CtlCommand::Stop { vm } => Request::Stop(vm),
        CtlCommand::Start { vm } => Request::Start(vm),
        CtlCommand::Restart { vm } => Request::Restart(vm),
    };
    let vms = link.request(&request)?;
    Ok(if vms.is_empty() {
        String::new()
    } else {
        table(&vms)
    })
}

/// Prints what a VM has written, and what it writes from then on if one `follows`.
fn show_console(link: &mut Link, vm: &str, follows: bool) -> Result<String, Failure> {
    let mut next = None;
    let mut rest = Vec::new();
    loop {
        for text in link.console(vm, next)? {
            if next.is_some_and(|next| next != text.position) {
                rest.extend_from_slice(b"\n[what was written here is no longer kept]\n");
            }
            rest.extend_from_slice(text.bytes());
            next = Some(text.position + text.bytes().len() as u64);
        }
        // In whole lines, so that no character is taken apart.
        let end = match rest.iter().rposition(|byte| *byte == b'\n') {
            Some(end) if follows => end + 1,
            _ if follows => 0,
            _ => rest.len(),
        };
        let lines: Vec<u8> = rest.drain(..end).collect();
        let text = String::from_utf8_lossy(&lines);
        let shown: String = text.split_inclusive('\n').map(shown).collect();
        if !follows {
            return Ok(shown);
        }
        let mut stdout = std::io::stdout();
        if stdout
            .write_all(shown.as_bytes())
            .and_then(|()| stdout.flush())
            .is_err()
        {
            // What read it has ended.
            return Ok(String::new());
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// A line without what acts on a terminal.
fn shown(line: &str) -> String {
    match line.strip_suffix('\n') {
        Some(line) => visible(line.trim_end_matches('\r')) + "\n",
        None => visible(line),
    }
}

/// Reads an image: a file, or `@` and an artifact's name.
pub(crate) fn read_image(name: &str) -> Result<GuestImage, String> {
    let path = match name.strip_prefix('@') {
        Some(artifact) => {
            let file = Artifacts::chosen().file(artifact);
            file.map_err(|missing| format!("{}: {}", missing.reason, missing.cure))?
        }
        None => Path::new(name).to_owned(),
    };
    let bytes = std::fs::read(&path);
    let bytes = bytes.map_err(|error| format!("{name} cannot be read: {}", io_reason(&error)))?;
    GuestImage::parse(&bytes).map_err(|unfit| format!("{name} {unfit}; {}", unfit.cure(&path)))
}

/// Reads a signature's file.
fn read_signature(path: &Path) -> Result<ImageSignature, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("{shown} cannot be read: {}", io_reason(&error)))?;
    ImageSignature::parse(text.trim_ascii())
        .map_err(|reason| format!("{shown}: {reason}, as `tactus sign` prints it"))
}

/// Ticks as seconds.
fn seconds(vm: &Vm, ticks: u64) -> f64 {
    ticks as f64 / vm.report.hz.max(1) as f64
}

/// What is told of VMs, for people.
fn table(vms: &[Vm]) -> String {
    let heading = [
        "VM",
        "state",
        "ran",
        "faults",
        "restarts",
        "jobs",
        "missed",
        "latest",
        "longest wait",
    ];
    let mut rows = vec![heading.map(str::to_owned)];
    for vm in vms {
        let report = &vm.report;
        let of_jobs = |text: String| match report.jobs {
            0 => "-".to_owned(),
            _ => text,
        };
        let microseconds = |ticks| format!("{:.1} us", seconds(vm, ticks) * 1e6);
        rows.push([
            visible(&vm.name),
            report.state.name().to_owned(),
            format!("{:.3} s", seconds(vm, report.run_time)),
            report.faults.to_string(),
            report.restarts.to_string(),
            of_jobs(report.jobs.to_string()),
            of_jobs(report.missed.to_string()),
            of_jobs(microseconds(report.late_max)),
            of_jobs(microseconds(report.interference_max)),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..heading.len()).filter_map(width).collect();
    let mut text = String::new();
    for row in &rows {
        for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // Names to the left, figures to the right.
            text += &match index {
                0 => format!("{cell:<width$}"),
                1 => format!("  {cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            };
        }
        text.push('\n');
    }
    text
}

/// What is told of VMs, for programs.
fn vms_json(vms: &[Vm]) -> Value {
    let vms = vms.iter().map(|vm| {
        let report = &vm.report;
        json!({
            "name": vm.name,
            "state": report.state.name(),
            "cause": report.cause,
            "time_s": seconds(vm, report.time),
            "run_time_s": seconds(vm, report.run_time),
            "running": report.running,
            "faults": report.faults,
            "restarts": report.restarts,
            "memory": report.memory,
            "memory_size": report.memory_size,
            "jobs": report.jobs,
            "overruns": report.overruns,
            "missed": report.missed,
            "late_max_us": seconds(vm, report.late_max) * 1e6,
            "interference_max_us": seconds(vm, report.interference_max) * 1e6,
        })
    });
    Value::Array(vms.collect())
}
