use proptest::prelude::*;

use super::{Table, assemble, disassemble, read_words};

/// Any word that the processor takes.
fn word() -> impl Strategy<Value = u32> {
    (0..Table::get().commands.len(), any::<u64>()).prop_map(|(index, random)| {
        let command = &Table::get().commands[index];
        let values: Vec<u32> = command
            .fields
            .iter()
            .enumerate()
            .map(|(n, field)| {
                let range = field.most - field.least + 1;
                field.least
                    + u32::try_from((random >> (20 * n)) % u64::from(range))
                        .expect("fits its range")
            })
            .collect();
        command.encode(&values)
    })
}

proptest! {
    #[test]
    fn what_is_disassembled_assembles_to_the_same(words in prop::collection::vec(word(), 0..=64)) {
        let text = disassemble(&words).expect("they are commands");
        prop_assert_eq!(assemble(&text).expect("what is read back").words, words, "{}", text);
    }

    #[test]
    fn any_text_is_assembled_or_refused_with_a_place(text in "([ -~\n]|loop 3 \\{\n|\\}\n|wait 5\n|a:\n){0,40}") {
        match assemble(&text) {
            Ok(program) => {
                prop_assert!(program.words.len() <= Table::get().program_words);
                prop_assert!(disassemble(&program.words).is_ok());
            }
            Err(error) => prop_assert!(error.span.offset() + error.span.len() <= text.len()),
        }
    }

    #[test]
    fn a_word_is_one_command_at_most(word in 0_u32..1 << 18) {
        if let Some((command, values)) = Table::get().decode(word) {
            prop_assert_eq!(command.encode(&values), word);
        }
        let table = Table::get();
        let fitting = table.commands.iter().filter(|command| {
            let covered: u32 = command.fields.iter().map(|f| ((1 << f.width) - 1) << f.low).sum();
            word & !covered == command.bits
        });
        prop_assert!(fitting.count() <= 1);
    }
}

#[test]
fn commands_become_their_words() {
    let text = "
pulse:              # two lines at once
    set 0 1
    wait 98
    clear 0
    write 0b110 0b010
    until 0x100
    loop 3 {
        read
        loop 255 {
            wait 65535
        }
    }
    end
again: repeat 1 pulse
";
    let program = assemble(text).expect("it is right");
    assert_eq!(
        program.words,
        [
            0x10303, 0x20061, 0x10100, 0x10602, 0x300ff, 0x04003, 0x02000, 0x050ff, 0x2fffe,
            0x07008, 0x06006, 0x00000, 0x07000
        ]
    );
    assert_eq!(program.labels["pulse"], 0);
    assert_eq!(program.labels["again"], 12);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let cases = [
        ("jump 3", 0..4, "there is no command `jump`"),
        ("  wait 0", 7..8, "this cannot be the cycles of `wait`"),
        ("until 65536", 6..11, "this cannot be the cycles of `until`"),
        (
            "wait 99999999999",
            5..16,
            "this cannot be the cycles of `wait`",
        ),
        ("wait", 0..4, "`wait` wants cycles"),
        ("end 1", 0..3, "`end` wants nothing behind it"),
        ("set", 0..3, "`set` wants the lines that it is for"),
        ("set 8", 4..5, "this is no line"),
        (
            "end\nwrite 1 256",
            12..15,
            "this cannot be the values of `write`",
        ),
        ("loop 0 {", 5..6, "a loop cannot have so many rounds"),
        ("loop 2 {\nread", 0..4, "this loop has no end"),
        (
            "loop 2 {\nloop 2 {\nloop 2 {",
            18..22,
            "loops are too deep within each other",
        ),
        ("}", 0..1, "no loop is open here"),
        ("loop 2 {\n} end", 11..14, "nothing comes behind `}`"),
        ("a:\na: end", 3..4, "there is a label `a` already"),
        ("repeat 0 b", 9..10, "there is no label `b`"),
        ("wait 12x", 5..8, "`12x` is neither a name nor a number"),
        ("write 0b12", 6..10, "`0b12` is neither a name nor a number"),
        ("wait é", 5..7, "`é` means nothing here"),
        ("7", 0..1, "a command begins with its name"),
    ];
    for (text, span, message) in cases {
        let error = assemble(text).expect_err(text);
        let found = error.span.offset()..error.span.offset() + error.span.len();
        assert_eq!((error.message.as_str(), found), (message, span), "{text}");
        assert!(!error.help.is_empty());
    }
    let long = "read\n".repeat(65);
    assert_eq!(
        assemble(&long).expect_err("too long").message,
        "the program memory has 64 words, and this one is beyond"
    );
}

#[test]
fn words_are_read_with_their_places() {
    assert_eq!(
        read_words("# pulse\n0x10303 # set\n\n0x0\n").expect("they are commands"),
        [0x10303, 0]
    );
    for (text, offset) in [
        ("0x0\nx", 4),
        ("10303", 0),
        ("0x8000", 0),
        ("0x40000", 0),
        ("0x+1", 0),
    ] {
        assert_eq!(
            read_words(text).expect_err(text).span.offset(),
            offset,
            "{text}"
        );
    }
    assert_eq!(disassemble(&[0, 1]), Err(1));
}

#[test]
fn the_corpus_is_assembled_or_refused() {
    crate::testing::each_file("fuzz/corpus/timed_io", |bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            crate::testing::try_timed_io(text);
        }
    });
}
