//! Text of guests, made safe to look at: no character acts on the terminal or hides, reorders or imitates others.

/// Whether a character has no shape of its own: a control character, or one of Unicode's format characters (general category
/// Cf), among them those that reverse the direction of text (UAX #9), which could make a guest's line read as another one.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
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

/// The text with each control character left out, and each format character as its name: `<U+202E>`.
pub fn visible(text: &str) -> String {
    named(text, |_| String::new())
}

/// The text with each control character as U+FFFD, and each format character as its name.
pub fn marked(text: &str) -> String {
    named(text, |_| '\u{fffd}'.to_string())
}

fn named(text: &str, control: impl Fn(char) -> String) -> String {
    text.chars()
        .map(|c| match c {
            c if c.is_control() => control(c),
            c if is_unseen(c) => format!("<U+{:04X}>", u32::from(c)),
            c => c.to_string(),
        })
        .collect()
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
        assert!(!visible(&all).chars().any(is_unseen));
        assert!(!marked(&all).chars().any(is_unseen));
    }
}
