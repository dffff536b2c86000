//! Generates the tables of twiddles: exp(-2πik/N) with 16 fractional bits, in the order of their use.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::path::PathBuf;

/// A twiddle, as `docs/src/reference/hardware-tasks.md` rounds it.
fn twiddle(k: usize, circle: usize) -> String {
    let angle = -TAU * k as f64 / circle as f64;
    let part = |value: f64| (65_536.0 * value + 0.5).floor() as i32;
    let (cosine, sine) = (part(angle.cos()), part(angle.sin()));
    format!("[{cosine}, {sine}]")
}

fn table(text: &mut String, name: &str, kind: &str, entries: impl Iterator<Item = String>) {
    let entries: Vec<String> = entries.collect();
    let (count, entries) = (entries.len(), entries.join(", "));
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "static {name}: [{kind}; {count}] = [{entries}];");
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut text = String::new();
    // For each pair of butterflies: the twiddles of the second, the third and the fourth quarter.
    for points in [256, 64, 16] {
        let each = |n: usize| {
            let all = [2, 1, 3].map(|by| twiddle(n * by, points));
            format!("[{}]", all.join(", "))
        };
        let name = format!("TURNS_{points}");
        table(&mut text, &name, "[Complex; 3]", (0..points / 4).map(each));
    }
    // For a single butterfly, and for the end of a transform.
    for (name, points) in [("TURNS_512", 512), ("TURNS_1024", 1024)] {
        let all = (0..points / 2).map(|k| twiddle(k, points));
        table(&mut text, name, "Complex", all);
    }
    let folder = std::env::var_os("OUT_DIR").map(PathBuf::from);
    let written = folder.map(|folder| std::fs::write(folder.join("turns.rs"), text));
    assert!(
        matches!(written, Some(Ok(()))),
        "the tables cannot be written"
    );
}
