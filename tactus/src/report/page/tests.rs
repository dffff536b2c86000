//! The page's frame, and that a guest's text is never part of its HTML or its program.

use std::time::Duration;

use super::*;
use crate::run::console::{Carriage, Source, framed};
use crate::run::journal::Journal;
use crate::run::machine::End;
use crate::run::session::{Ending, Outcome};

fn outcome(vm: &str, text: &str) -> Outcome {
    let line = framed(&[
        (Source::Log, "boot version=0.1.0 harts=1 vms=1 time=100\n"),
        (Source::Vm(0), text),
        (
            Source::Log,
            "off vm=rt reason=shutdown code=0 time=200\nend time=220\n",
        ),
    ]);
    let journal = Journal::replay(&[vm], 10_000_000, Carriage::Framed { vms: 1 }, &line);
    Outcome::without_hypervisor(journal, Ending::Machine(End::Off), Duration::ZERO)
}

#[test]
fn the_frame_has_every_part_once() {
    let marks: Vec<&str> = FRAME.split("%%").skip(1).step_by(2).collect();
    assert_eq!(marks, ["policy", "style", "data", "library", "program"]);
}

#[test]
fn no_part_of_the_page_ends_its_element() {
    for part in PROGRAM.iter().chain([&LIBRARY]) {
        assert!(!part.contains("</script") && !part.contains("<!--"));
    }
    for part in STYLES {
        assert!(!part.contains("</style"));
    }
    // Nothing is asked from elsewhere, and no text becomes HTML.
    for part in PROGRAM {
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "http:",
            "https:",
            "fetch(",
        ] {
            assert!(!part.contains(word), "{word}");
        }
    }
}

#[test]
fn a_guests_text_is_only_in_the_data() {
    let hostile = "</script><script>alert(1)</script>";
    let text = format!(
        "{hostile}\n@tactus metric name={hostile} value=1 unit=us\n@tactus fail name=x reason={hostile}\n"
    );
    let about = About {
        system: hostile.to_owned(),
        configuration: Some(hostile.to_owned()),
        ..About::default()
    };
    let content = run::content(&outcome(hostile, &text), &about);
    let page = html(&[&content]);
    assert!(!page.contains("alert(1)"), "the page has a guest's text");
    let harmless = html(&[&run::content(&outcome("rt", "hello\n"), &About::default())]);
    let outside = |page: &str| {
        let (before, rest) = page.split_once("class=\"data\">").expect("there are data");
        let (data, after) = rest.split_once('<').expect("they have an end");
        let base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
        assert!(data.chars().all(base64));
        (before.to_owned(), after.to_owned())
    };
    assert_eq!(outside(&page), outside(&harmless));
    let json = content.json().expect("it is whole");
    assert_eq!(json["vms"][0]["name"], hostile);
}

#[test]
fn equal_runs_have_equal_pages_and_long_lines_are_cut() {
    let long = "x".repeat(bound::LINE + 7);
    let text = format!(
        "{long}\n@tactus samples name=l phase=p unit=ticks values={}1\n",
        "1,".repeat(400)
    );
    let of = |text: &str| run::content(&outcome("rt", text), &About::default());
    let (first, second) = (of(&text), of(&text));
    assert_eq!(first.bytes(), second.bytes());
    let json = first.json().expect("it is whole");
    assert_eq!(json["lines"]["dropped"], 0);
    assert_eq!(
        json["quantities"][0]["phases"][0]["summary"]["samples"],
        401
    );
    assert_eq!(json["quantities"][0]["phases"][0]["order"]["count"], 401);
    // Fewer bytes than the text: both lines are cut.
    assert!(json["lines"]["texts"]["length"].as_u64() < Some(text.len() as u64));
}

#[test]
fn only_the_last_of_very_many_lines_are_on_the_page() {
    let text = format!("{}\n", "y".repeat(1000)).repeat(5000);
    let content = run::content(&outcome("rt", &text), &About::default());
    let json = content.json().expect("it is whole");
    assert!(json["lines"]["dropped"].as_u64() > Some(0));
    assert!(json["lines"]["texts"]["length"].as_u64() <= Some(bound::TEXT as u64));
}

#[test]
fn a_stated_deadline_is_shown_in_the_unit_of_the_samples() {
    let text = "@tactus samples name=l phase=p unit=ticks values=30,40\n@tactus deadline name=l value=1 unit=ms\n";
    let content = run::content(&outcome("rt", text), &About::default());
    let json = content.json().expect("it is whole");
    let quantity = &json["quantities"][0];
    assert_eq!(quantity["unit"], "µs");
    assert_eq!(quantity["deadline"]["value"], 1000.0);
}
