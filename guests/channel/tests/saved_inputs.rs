//! Runs the fuzz target's saved inputs, without a fuzzer.
#![cfg(not(loom))]

mod hostile;

#[test]
fn saved_inputs_do_no_harm() {
    let corpus =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/channel_ring");
    let entries = std::fs::read_dir(&corpus).expect("the corpus is there");
    let mut tried = 0;
    for entry in entries {
        let path = entry.expect("a directory entry").path();
        hostile::feed(&std::fs::read(&path).expect("a readable file"));
        tried += 1;
    }
    assert!(tried > 0, "{} is empty", corpus.display());
}
