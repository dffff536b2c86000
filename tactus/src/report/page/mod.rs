//! A report as one HTML page that needs nothing else: no network, no other file.
//!
//! The page is a fixed program (`web/`) and the data (`container`) that it shows. The data stand in the page in base64,
//! so that no text of a guest is ever part of its HTML or of its program; the program shows texts as texts only. A
//! policy in the page (Content-Security-Policy) admits the page's own two scripts and its style by their hashes, and no
//! connection of any kind.

use std::fmt::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Error;
use super::provenance::Commit;
use super::table::Table;
use crate::check::kind_text;
use crate::config::Class;
use crate::plan;

pub use container::Container;

pub mod bench;
mod container;
pub(super) mod run;

#[cfg(test)]
mod tests;

/// The page's file in a report's directory.
pub const PAGE: &str = "report.html";
/// The file that the page is made of.
pub const DATA: &str = "page.data";
/// The page that compares two reports, in the first one's directory.
pub const COMPARISON: &str = "comparison.html";

/// Bounds of what a page shows, beside those of what a run keeps. What exceeds one is left out, and the page says so.
pub mod bound {
    /// Samples in their order, of all quantities together; their distributions have all.
    pub const SAMPLES: usize = 2 << 20;
    /// Bytes of the lines of all consoles: the last ones.
    pub const TEXT: usize = 4 << 20;
    /// Bytes of a line.
    pub const LINE: usize = 4096;
    /// Bytes of a record.
    pub const RECORD: usize = 240;
    /// Records of each run of an experiment.
    pub const RECORDS: usize = 2000;
    /// Beginnings and ends of VMs.
    pub const LIFE: usize = 10_000;
    /// Changes of the fabric's pins: the last ones.
    pub const PINS: usize = 1 << 18;
    /// Bytes of the system's file.
    pub const CONFIGURATION: usize = 1 << 20;
}

/// The parts of the page, in their order. The scripts are one program in the end.
const STYLES: [&str; 2] = [
    include_str!("web/vendor/uPlot.min.css"),
    include_str!("web/page.css"),
];
const LIBRARY: &str = include_str!("web/vendor/uPlot.iife.min.js");
const PROGRAM: [&str; 7] = [
    include_str!("web/base.js"),
    include_str!("web/charts.js"),
    include_str!("web/timeline.js"),
    include_str!("web/console.js"),
    include_str!("web/sections.js"),
    include_str!("web/bench.js"),
    include_str!("web/main.js"),
];
const FRAME: &str = include_str!("web/page.html");

/// What is known of a run from elsewhere than the run.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The system's file.
    pub system: String,
    /// What it says.
    pub configuration: Option<String>,
    /// The command that made the report.
    pub command: Option<String>,
    /// The commit that made it.
    pub commit: Option<Commit>,
    /// The VMs, in the system's order.
    pub vms: Vec<AboutVm>,
    /// What it ran on, where that is neither QEMU nor a board of harts.
    pub platform: Option<String>,
    /// The trace hash of such a run.
    pub trace_hash: Option<u64>,
}

/// What the system's file says of a VM.
#[derive(Clone, Debug)]
pub struct AboutVm {
    /// Whether it has real-time vCPUs.
    pub class: String,
    /// Its memory.
    pub memory: String,
    /// Its vCPUs.
    pub vcpus: Vec<String>,
    /// The deadline of its jobs, where all of them have the same, in ticks of the `time` CSR.
    pub deadline_ticks: Option<u64>,
}

impl About {
    /// What is known of a system by its file, as this process was told to run it.
    pub fn of(file: &Path) -> Self {
        let configuration = std::fs::read_to_string(file).ok();
        Self {
            system: file.display().to_string(),
            configuration: configuration.map(|text| cut(&text, bound::CONFIGURATION).to_owned()),
            command: Some(command_line()),
            commit: Commit::find(),
            ..Self::default()
        }
    }

    /// The same, with what the system's plan says of its VMs.
    pub fn planned(mut self, plan: Option<&plan::Plan>) -> Self {
        if let Some(plan) = plan {
            self.vms = plan.vms.iter().map(AboutVm::of).collect();
        }
        self
    }
}

impl AboutVm {
    fn of(vm: &plan::Vm) -> Self {
        let real_time = vm.vcpus.iter().any(|vcpu| vcpu.class == Class::Rt);
        let mut deadlines: Vec<u64> = vm
            .vcpus
            .iter()
            .filter_map(|vcpu| Some(vcpu.reservation?.deadline))
            .collect();
        deadlines.dedup();
        Self {
            class: if real_time {
                "real time"
            } else {
                "best effort"
            }
            .to_owned(),
            memory: vm.memory.to_string(),
            vcpus: vm.vcpus.iter().map(vcpu).collect(),
            deadline_ticks: match deadlines[..] {
                [deadline] => Some(deadline),
                _ => None,
            },
        }
    }
}

fn vcpu(vcpu: &plan::Vcpu) -> String {
    let harts: Vec<String> = vcpu.harts.iter().map(u32::to_string).collect();
    let mut text = format!("hart {}", harts.join(", "));
    if let Some(priority) = vcpu.priority {
        text += &format!(", priority {priority}");
    }
    if let Some(of) = vcpu.reservation {
        let (period, budget, deadline) = (of.period, of.budget, of.deadline);
        let kind = kind_text(vcpu.kind);
        text += &format!(", {kind}, {budget} of {period} ticks, deadline {deadline}");
    }
    text
}

/// A word as a shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// This process's command line.
fn command_line() -> String {
    let arguments = std::env::args().skip(1).map(|word| quoted(&word));
    let words: Vec<String> = std::iter::once("tactus".to_owned())
        .chain(arguments)
        .collect();
    words.join(" ")
}

/// The start of a text, at most so many bytes.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn table_json(table: &Table) -> Value {
    json!({
        "title": table.title,
        "head": table.head,
        "rows": table.rows,
        "text_columns": table.text_columns,
    })
}

/// The page of one report, or of two side by side.
pub fn html(reports: &[&Container]) -> String {
    let style = STYLES.concat();
    let program = format!("(() => {{\n'use strict';\n{}}})();\n", PROGRAM.concat());
    let policy = format!(
        "default-src 'none'; script-src '{}' '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(LIBRARY),
        hash(&program),
        hash(&style),
    );
    let data: Vec<String> = reports
        .iter()
        .map(|report| {
            let data = STANDARD.encode(report.bytes());
            format!("<script type=\"application/gzip\" class=\"data\">{data}</script>\n")
        })
        .collect();
    let data = data.concat();
    let parts = [
        ("policy", policy.as_str()),
        ("style", &style),
        ("library", LIBRARY),
        ("program", &program),
        ("data", &data),
    ];
    fill(FRAME, &parts)
}

/// A frame with its parts, by name, in place of its marks: `%%name%%`. The frame is cut at its marks first: nothing
/// that is put in is ever searched.
pub(crate) fn fill(frame: &str, parts: &[(&str, &str)]) -> String {
    let mut pieces = frame.split("%%");
    let mut page = pieces.next().unwrap_or_default().to_owned();
    while let (Some(mark), Some(rest)) = (pieces.next(), pieces.next()) {
        let part = parts.iter().find(|(name, _)| *name == mark);
        page += part.map_or("", |(_, text)| text);
        page += rest;
    }
    page
}

/// Writes the page of one report, or of two.
///
/// # Errors
/// The file cannot be written.
pub fn write(reports: &[&Container], path: &Path) -> Result<(), Error> {
    super::write_file(path, html(reports).as_bytes())
}

/// A text as HTML. What is invisible, or would turn the reading direction, is shown by its number.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::new();
    for c in text.chars() {
        match c {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            '\'' => html += "&#39;",
            '\n' | '\t' => html.push(c),
            '\r' => {}
            _ if is_invisible(c) => {
                // Writing to a string does not fail.
                let _ = write!(html, "[U+{:04X}]", u32::from(c));
            }
            _ => html.push(c),
        }
    }
    html
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A script or a style as the policy names it.
pub(crate) fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
