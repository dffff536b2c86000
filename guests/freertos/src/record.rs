//! Record lines with many values (`tactus_abi::record`), cut into lines of bounded length.

use core::ffi::{CStr, c_char};
use core::fmt::{self, Write};

use tactus_abi::record::PREFIX;

/// Characters in a line at most, line end not counted.
pub const LINE_MAX: usize = 200;

/// A line under construction.
struct Line {
    text: [u8; LINE_MAX],
    size: usize,
}

impl Line {
    const fn new() -> Self {
        Self {
            text: [0; LINE_MAX],
            size: 0,
        }
    }

    fn text(&self) -> &str {
        // Only whole strings are ever appended.
        core::str::from_utf8(&self.text[..self.size]).unwrap_or("")
    }
}

impl Write for Line {
    /// Appends the whole text, or nothing and returns an error.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.size + text.len();
        let place = self.text.get_mut(self.size..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.size = end;
        Ok(())
    }
}

/// Passes `values` on as `samples` records, in order, each a line of at most [`LINE_MAX`] characters without its end.
/// Without values there are no lines. The error: not even one value fits beside these names.
pub fn samples(
    name: &str,
    phase: &str,
    unit: &str,
    values: &[u32],
    mut emit: impl FnMut(&str),
) -> Result<(), fmt::Error> {
    let mut head = Line::new();
    write!(
        head,
        "{PREFIX}samples name={name} phase={phase} unit={unit} values="
    )?;
    let mut rest = values;
    while let Some((first, more)) = rest.split_first() {
        let mut line = Line::new();
        line.write_str(head.text())?;
        write!(line, "{first}")?;
        rest = more;
        while let Some((next, more)) = rest.split_first() {
            let before = line.size;
            if write!(line, ",{next}").is_err() {
                line.size = before;
                break;
            }
            rest = more;
        }
        emit(line.text());
    }
    Ok(())
}

unsafe extern "C" {
    /// `console.h`.
    #[cfg(target_os = "none")]
    fn console_write(text: *const c_char, size: usize);
}

/// For the C side (`record.h`): prints samples on the console.
///
/// # Safety
///
/// The names are zero-terminated; `values` points to `count` numbers, or `count` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn record_samples(
    name: *const c_char,
    phase: *const c_char,
    unit: *const c_char,
    values: *const u32,
    count: usize,
) -> bool {
    // SAFETY: ensured by the caller.
    let [name, phase, unit] =
        [name, phase, unit].map(|text| unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?"));
    let values = if count == 0 {
        &[]
    } else {
        // SAFETY: ensured by the caller.
        unsafe { core::slice::from_raw_parts(values, count) }
    };
    samples(name, phase, unit, values, print).is_ok()
}

/// Writes a line and its end to the console at once, so that lines of other tasks do not interleave.
fn print(line: &str) {
    const END: &[u8] = b"\r\n";
    let mut text = [0; LINE_MAX + END.len()];
    text[..line.len()].copy_from_slice(line.as_bytes());
    text[line.len()..][..END.len()].copy_from_slice(END);
    #[cfg(target_os = "none")]
    // SAFETY: the text is valid for that length; the callee does not keep it.
    unsafe {
        console_write(text.as_ptr().cast(), line.len() + END.len());
    }
}

#[cfg(test)]
mod tests {
    use std::string::{String, ToString};
    use std::vec::Vec;

    use super::*;

    fn lines(values: &[u32]) -> Vec<String> {
        let mut lines = Vec::new();
        samples("latency", "idle", "ns", values, |line| {
            lines.push(line.to_string());
        })
        .expect("fits");
        lines
    }

    #[test]
    fn lines_are_full_but_not_longer_and_lose_nothing() {
        let values: Vec<u32> = (0..1000).map(|i| i * i * 37 % 100_003).collect();
        let lines = lines(&values);
        let mut seen: Vec<u32> = Vec::new();
        for (i, line) in lines.iter().enumerate() {
            assert!(line.len() <= LINE_MAX, "{line}");
            // Another value of up to six digits with its comma would not have fitted.
            assert!(
                i + 1 == lines.len() || line.len() + 7 > LINE_MAX,
                "{line} could hold more"
            );
            let (head, tail) = line.split_once("values=").expect("values");
            assert_eq!(head, "@tactus samples name=latency phase=idle unit=ns ");
            seen.extend(tail.split(',').map(|v| v.parse::<u32>().expect("a number")));
        }
        assert_eq!(seen, values);
    }

    #[test]
    fn no_values_no_lines() {
        assert!(lines(&[]).is_empty());
    }

    #[test]
    fn extreme_values_fit() {
        assert_eq!(
            lines(&[u32::MAX, 0]),
            ["@tactus samples name=latency phase=idle unit=ns values=4294967295,0"]
        );
    }

    #[test]
    fn a_name_that_leaves_no_room_is_refused() {
        let name = "n".repeat(LINE_MAX);
        let mut lines = 0;
        assert!(samples(&name, "idle", "ns", &[1], |_| lines += 1).is_err());
        assert_eq!(lines, 0);
    }
}
