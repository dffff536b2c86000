//! What holds for any bytes as a line.

use tactus_management::{LINE_MAX, Report, Request, Text, WRITE_MAX, decode, parse};

/// Takes bytes as a request, as a report and as base64: what is taken says the same when it is written again.
///
/// # Panics
/// That does not hold.
pub fn feed(bytes: &[u8]) {
    let call = parse(bytes);
    if let Ok(request) = call.request {
        assert!(bytes.len() <= LINE_MAX);
        assert_eq!(parse(request.to_string().as_bytes()).request, Ok(request));
        if let Request::Write { bytes, .. } = request {
            let mut decoded = [0; WRITE_MAX];
            assert!(decode(bytes, &mut decoded).is_some());
        }
    }
    let Ok(text) = core::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(report) = Report::parse(text) {
        assert_eq!(Report::parse(&report.to_string()), Ok(report));
    }
    if let Some(text) = Text::parse(text) {
        assert_eq!(Text::parse(&text.to_string()), Some(text));
    }
    let mut decoded = [0; WRITE_MAX];
    if let Some(length) = decode(text, &mut decoded) {
        let again = tactus_management::Encoded(&decoded[..length]).to_string();
        assert_eq!(again, text);
    }
}
