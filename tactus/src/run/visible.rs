//! Text of guests, made safe to look at: no character acts on the terminal or hides, reorders or imitates others.

use std::fmt::Write;

/// Whether a character is one of Unicode's format characters (general category Cf) or separators of lines and
/// paragraphs (Zl, Zp). Those that reverse the direction of text (UAX #9) could make a guest's line read as another
/// one.
fn is_format(c: char) -> bool {
    matches!(c,
            '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}')
}

/// The text without control characters, and with each format character as its name: `<U+202E>`.
pub fn visible(text: &str) -> String {
    named(text, None)
}

/// The text with each control character as U+FFFD, and each format character as its name.
pub fn marked(text: &str) -> String {
    named(text, Some(char::REPLACEMENT_CHARACTER))
}

fn named(text: &str, for_control: Option<char>) -> String {
    let mut named = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            named.extend(for_control);
        } else if is_format(c) {
            // Writing to a string does not fail.
            let _ = write!(named, "<U+{:04X}>", u32::from(c));
        } else {
            named.push(c);
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_named() {
        assert_eq!(
            visible("a\u{202e}b\u{200b}\u{feff}c"),
            "a<U+202E>b<U+200B><U+FEFF>c"
        );
        assert_eq!(visible("ä\u{7}é日本"), "äé日本");
        assert_eq!(marked("x\ry\u{2066}"), "x\u{fffd}y<U+2066>");
    }

    #[test]
    fn no_character_is_left_that_cannot_be_seen() {
        let all: String = ('\0'..=char::MAX).collect();
        let is_unseen = |c: char| c.is_control() || is_format(c);
        assert!(!visible(&all).chars().any(is_unseen));
        assert!(!marked(&all).chars().any(is_unseen));
    }
}
