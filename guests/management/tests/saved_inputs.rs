//! Runs the fuzz target's saved inputs, without a fuzzer.

mod any;

#[test]
fn saved_inputs_are_refused_or_come_out() {
    let corpus =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/manager_lines");
    let entries = std::fs::read_dir(&corpus).expect("the corpus is there");
    let mut tried = 0;
    for entry in entries {
        let path = entry.expect("a directory entry").path();
        any::feed(&std::fs::read(&path).expect("a readable file"));
        tried += 1;
    }
    assert!(tried > 0, "{} is empty", corpus.display());
}
