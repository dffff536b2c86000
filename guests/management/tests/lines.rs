//! Lines that are taken apart and put together again; and lines that are none.

use proptest::prelude::*;
use tactus_management::{
    Call, Encoded, ImageSignature, LINE_MAX, NotASignature, Refused, Report, Request, State,
    WRITE_MAX, crc32, decode, parse,
};

fn request(line: &str) -> Result<Request<'_>, Refused> {
    parse(line.as_bytes()).request
}

#[test]
fn requests_are_taken_apart() {
    for (line, expected) in [
        ("", Request::Nothing),
        ("  ", Request::Nothing),
        ("list", Request::List),
        ("status first", Request::Status("first")),
        ("stop first ", Request::Stop("first")),
        ("start first", Request::Start("first")),
        ("start first 0x8000_0000", Request::Nothing),
        (
            "start first 0x80000000",
            Request::StartAt("first", 0x8000_0000),
        ),
        ("restart first", Request::Restart("first")),
        ("load first", Request::Load("first", None)),
        ("console first", Request::Console("first", None)),
        ("console first 77", Request::Console("first", Some(77))),
    ] {
        if line.contains('_') {
            assert_eq!(request(line), Err(Refused::Number("the entry")), "{line}");
        } else {
            assert_eq!(request(line), Ok(expected), "{line}");
        }
    }
    let call = parse(b"#7a list");
    assert_eq!((call.tag, call.request), ("7a", Ok(Request::List)));
    let signature = ImageSignature::of([0xa5; 64]);
    let line = format!("load first {signature}");
    assert_eq!(request(&line), Ok(Request::Load("first", Some(signature))));
    let line = format!("write first 4096 {} YWJj", crc32(b"abc"));
    let expected = Request::Write {
        vm: "first",
        address: 4096,
        bytes: "YWJj",
    };
    assert_eq!(request(&line), Ok(expected));
}

#[test]
fn what_is_no_request_is_told_exactly() {
    for (line, expected) in [
        ("stopp first", Refused::Unknown),
        ("stop", Refused::Missing("the name of a VM")),
        ("stop first second", Refused::TooMany),
        ("list all", Refused::TooMany),
        ("start first here", Refused::Number("the entry")),
        ("start first +1", Refused::Number("the entry")),
        (
            "start first 0x1_0000_0000_0000_0000",
            Refused::Number("the entry"),
        ),
        ("console", Refused::Missing("the name of a VM")),
        ("console first all", Refused::Number("the position")),
        ("write first", Refused::Missing("the address")),
        ("write first x", Refused::Number("the address")),
        ("write first 0", Refused::Missing("the checksum")),
        ("write first 0 0", Refused::Missing("the text of the bytes")),
        ("write first 0 0 YWJ", Refused::Bytes),
        ("write first 0 0 YWJj", Refused::Checksum),
        ("load first YWJj", Refused::Signature(NotASignature)),
        ("load first YWJ", Refused::Signature(NotASignature)),
        ("# list", Refused::Tag),
        ("#123456789 list", Refused::Tag),
        ("list\t", Refused::NotText),
        ("l\u{e9}", Refused::NotText),
    ] {
        assert_eq!(request(line), Err(expected), "{line}");
    }
    let long = vec![b'a'; LINE_MAX + 1];
    assert_eq!(parse(&long).request, Err(Refused::TooLong));
    // What was refused is said under the tag that was asked for.
    let call = parse(b"#a fly");
    assert_eq!((call.tag, call.request), ("a", Err(Refused::Unknown)));
}

#[test]
fn the_longest_write_fits_a_line() {
    let bytes = [0xff; WRITE_MAX];
    let name = "n".repeat(16);
    let encoded = Encoded(&bytes).to_string();
    let line = format!(
        "#12345678 write {name} {:#x} {:#x} {encoded}",
        u64::MAX,
        crc32(&bytes)
    );
    assert!(line.len() <= LINE_MAX, "{}", line.len());
    assert!(parse(line.as_bytes()).request.is_ok());
    let more = Encoded(&[0; WRITE_MAX + 1]).to_string();
    let line = format!("write {name} 0 0 {more}");
    assert_eq!(request(&line), Err(Refused::Bytes));
}

#[test]
fn states_have_the_numbers_of_the_hypervisor() {
    assert_eq!(State::of_status(0), Some(State::Loading));
    assert_eq!(State::of_status(0x0d03), Some(State::Faulted));
    assert_eq!(State::of_status(4), Some(State::Held));
    assert_eq!(State::of_status(5), None);
}

proptest! {
    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..LINE_MAX + 10)) {
        let Call { request, .. } = parse(&bytes);
        if let Ok(request) = request {
            let again = request.to_string();
            prop_assert_eq!(parse(again.as_bytes()).request, Ok(request));
        }
    }

    #[test]
    fn any_text_is_no_report_or_comes_out(text in ".{0,200}") {
        if let Ok(report) = Report::parse(&text) {
            let again = report.to_string();
            prop_assert_eq!(Report::parse(&again), Ok(report));
        }
    }

    #[test]
    fn bytes_come_out_of_base64(bytes in prop::collection::vec(any::<u8>(), 0..WRITE_MAX)) {
        let text = Encoded(&bytes).to_string();
        let mut decoded = [0; WRITE_MAX];
        let length = decode(&text, &mut decoded).expect("it was encoded");
        prop_assert_eq!(&decoded[..length], &bytes[..]);
    }

    #[test]
    fn reports_come_out(figures in prop::array::uniform14(any::<u64>()), state in 0usize..5) {
        let [cause, time, hz, run_time, running, faults, restarts, ..] = figures;
        let [.., memory, memory_size, jobs, overruns, missed, late_max, interference_max] = figures;
        let report = Report {
            name: "first",
            state: State::ALL[state],
            cause, time, hz, run_time, running, faults, restarts,
            memory, memory_size, jobs, overruns, missed, late_max, interference_max,
        };
        let line = report.to_string();
        prop_assert_eq!(Report::parse(&line), Ok(report));
        prop_assert!(Report::parse(&line[..line.len() - 1]) != Ok(report));
    }
}
