//! The lines of consoles on one screen, and what is typed there.

use proptest::prelude::*;
use tactus_virtio::lines::{COMMAND, LINE_MAX, Line, NAME_MAX, Name, Typed, Typing};

/// What a console's text is shown as.
fn shown(name: &str, bytes: &[u8]) -> String {
    let name = Name::new(name).expect("it is a name");
    let (mut line, mut screen) = (Line::new(), String::new());
    for byte in bytes {
        if line.push(*byte) {
            line.show(name, &mut screen).expect("there is room");
        }
    }
    if !line.is_empty() {
        line.show(name, &mut screen).expect("there is room");
    }
    screen
}

#[test]
fn a_line_has_its_console_in_front() {
    assert_eq!(
        shown("left", b"one\ntwo\r\n\nthree"),
        "left: one\nleft: two\nleft: \nleft: three\n"
    );
    assert_eq!(
        shown("b-2", "caf\u{e9} \u{20ac}\n".as_bytes()),
        "b-2: caf\u{e9} \u{20ac}\n"
    );
}

/// No console writes what a terminal would act on, or where another one's line would begin.
#[test]
fn nothing_acts_on_a_terminal() {
    for (bytes, wanted) in [
        (&b"mine\rright: forged\n"[..], "left: mineright: forged\n"),
        (b"a\x1b[1A\x1b[2Kb\n", "left: ab\n"),
        (b"a\x1b]0;title\x07b\x1b]0;title\x1b\\c\n", "left: abc\n"),
        (b"a\x1bP1$r\x1b\\b\x1b(0c\x1bcd\n", "left: abcd\n"),
        (b"a\x08\x08\x7f\x00\x0b\x0cb\tc\n", "left: ab c\n"),
        // Control characters of 8 bits, as they are and in UTF-8.
        (b"a\x9b2Jb\n", "left: a\u{fffd}2Jb\n"),
        ("a\u{9b}2Jb\n".as_bytes(), "left: a2Jb\n"),
        (
            "a\u{202e}b\u{2066}c\u{2028}d\u{85}e\n".as_bytes(),
            "left: abcde\n",
        ),
        // A sequence without an end takes no further line.
        (b"\x1b]0;\nb\n", "left: \nleft: b\n"),
    ] {
        assert_eq!(shown("left", bytes), wanted, "{bytes:x?}");
    }
}

#[test]
fn a_long_line_is_several() {
    let text = "x".repeat(LINE_MAX);
    assert_eq!(
        shown("a", format!("{text}\ny\n").as_bytes()),
        format!("a: {text}\na: y\n")
    );
    assert_eq!(
        shown("a", format!("{text}y\n").as_bytes()),
        format!("a: {text}\na: y\n")
    );
    // A character is in one of them as a whole.
    for (before, behind) in [(1, 1), (2, 2), (3, 3)] {
        let text = "x".repeat(LINE_MAX - before);
        let bytes = format!("{text}\u{1f600}{}\n", "y".repeat(behind));
        assert_eq!(
            shown("a", bytes.as_bytes()),
            format!("a: {text}\na: \u{1f600}{}\n", "y".repeat(behind))
        );
    }
    // Bytes that are no characters are not kept for ever.
    let bytes = [vec![0xf0; 3 * LINE_MAX], b"z\n".to_vec()].concat();
    assert_eq!(
        shown("a", &bytes)
            .matches(char::REPLACEMENT_CHARACTER)
            .count(),
        3 * LINE_MAX
    );
}

/// A prompt is shown before its line ends; the end of that line then is no other line.
#[test]
fn the_rest_of_a_line_is_a_line() {
    let name = Name::new("a").expect("it is a name");
    let (mut line, mut screen) = (Line::new(), String::new());
    let push = |bytes: &[u8], screen: &mut String, line: &mut Line| {
        for byte in bytes {
            if line.push(*byte) {
                line.show(name, screen).expect("there is room");
            }
        }
    };
    push(b"~ # ", &mut screen, &mut line);
    line.show(name, &mut screen).expect("there is room");
    push(b"\nnext\n\n", &mut screen, &mut line);
    assert_eq!(screen, "a: ~ # \na: next\na: \n");
}

#[test]
fn names_are_words() {
    for good in ["a", "0", "left", "VM-2_b", &"x".repeat(NAME_MAX)] {
        assert_eq!(Name::new(good).expect(good).to_string(), good);
    }
    for bad in [
        "",
        "-",
        "--",
        "_a",
        "a b",
        "a:",
        "\u{e9}",
        "a\n",
        &"x".repeat(NAME_MAX + 1),
    ] {
        assert_eq!(Name::new(bad), None, "{bad:?}");
    }
}

#[test]
fn one_console_gets_what_is_typed() {
    let mut typing = Typing::default();
    let mut push = |byte| typing.push(byte, 3);
    assert_eq!(push(b'a'), Typed::Byte(0, b'a'));
    assert_eq!(
        [push(COMMAND), push(b'2')],
        [Typed::Nothing, Typed::Selected(2)]
    );
    assert_eq!(push(b'1'), Typed::Byte(2, b'1'));
    // There is none of that number.
    assert_eq!(
        [push(COMMAND), push(b'3')],
        [Typed::Nothing, Typed::Nothing]
    );
    assert_eq!(
        [push(COMMAND), push(b'x')],
        [Typed::Nothing, Typed::Nothing]
    );
    assert_eq!(
        [push(COMMAND), push(COMMAND)],
        [Typed::Nothing, Typed::Byte(2, COMMAND)]
    );
    assert_eq!(push(b'\n'), Typed::Byte(2, b'\n'));
}

proptest! {
    /// Whatever a console writes: its lines have its name in front, no line is longer than it may be, and nothing but a
    /// line's end is a control character.
    #[test]
    fn a_line_says_whose_it_is(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(&b"\n\r\x1b[]left: right: \xc2\x9b\xe2\x80\xae"[..])], 0..1000),
    ) {
        let screen = shown("left", &bytes);
        let lines: Vec<&str> = screen.split_terminator('\n').collect();
        prop_assert!(screen.is_empty() || screen.ends_with('\n'));
        for line in &lines {
            let text = line.strip_prefix("left: ");
            prop_assert!(text.is_some(), "{line:?}");
            let count = text.map_or(0, |text| text.chars().count());
            prop_assert!(count <= LINE_MAX, "{count}");
            let acts = |char: char| char.is_control() || ('\u{202a}'..='\u{202e}').contains(&char);
            prop_assert!(!line.chars().any(acts));
        }
        let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
        let full = bytes.len().div_ceil(LINE_MAX - 3);
        prop_assert!(lines.len() <= ends + full);
    }

    /// Text is shown as it is, in lines.
    #[test]
    fn text_is_shown(text in prop::collection::vec("[ -~\u{a1}-\u{ff}\u{4e00}-\u{4fff}]{0,60}", 0..20)) {
        let all: String = text.iter().map(|line| format!("{line}\r\n")).collect();
        let wanted: String = text.iter().map(|line| format!("a: {line}\n")).collect();
        prop_assert_eq!(shown("a", all.as_bytes()), wanted);
    }
}
