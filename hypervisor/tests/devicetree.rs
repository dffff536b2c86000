//! The devicetree reader on trees that another library has written, complete and damaged.

use proptest::prelude::*;
use tactus_hypervisor::devicetree::{PREFIX, Token, Tokens, size};

fn tree() -> Vec<u8> {
    let mut fdt = vm_fdt::FdtWriter::new().expect("a writer");
    let root = fdt.begin_node("").expect("a node");
    fdt.property_u32("#address-cells", 2).expect("a property");
    let cpus = fdt.begin_node("cpus").expect("a node");
    fdt.property_string("riscv,isa", "rv64gch")
        .expect("a property");
    fdt.property_null("empty").expect("a property");
    fdt.end_node(cpus).expect("the node");
    fdt.end_node(root).expect("the node");
    fdt.finish().expect("a tree")
}

/// All tokens up to the last. `None`: the tree is damaged.
fn read(tree: &[u8]) -> Option<Vec<Token<'_>>> {
    let mut tokens = Tokens::new(tree)?;
    let mut all = Vec::new();
    loop {
        let token = tokens.next()?;
        all.push(token);
        if token == Token::Finish {
            return Some(all);
        }
    }
}

#[test]
fn gives_nodes_and_properties_in_order() {
    let tree = tree();
    let expected = [
        Token::Begin(b""),
        Token::Property(b"#address-cells", &[0, 0, 0, 2]),
        Token::Begin(b"cpus"),
        Token::Property(b"riscv,isa", b"rv64gch\0"),
        Token::Property(b"empty", b""),
        Token::End,
        Token::End,
        Token::Finish,
    ];
    assert_eq!(read(&tree).as_deref(), Some(&expected[..]));
}

#[test]
fn tells_a_trees_size_from_its_first_bytes() {
    let tree = tree();
    assert_eq!(
        size(tree.first_chunk().expect("a header")),
        Some(tree.len())
    );
    assert_eq!(size(&[0; PREFIX]), None);
}

#[test]
fn refuses_what_is_no_tree_or_of_another_version() {
    assert!(Tokens::new(&[]).is_none());
    for (offset, what) in [(0, "magic"), (23, "version")] {
        let mut tree = tree();
        tree[offset] ^= 1;
        assert!(Tokens::new(&tree).is_none(), "{what}");
    }
}

#[test]
fn finds_no_end_in_a_tree_cut_off() {
    let tree = tree();
    // The block of names is the last one.
    for length in 0..tree.len() - 1 {
        assert_eq!(read(&tree[..length]), None, "{length} bytes");
    }
}

#[test]
fn survives_what_fuzzing_has_found() {
    let corpus =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/firmware_devicetree");
    let mut whole = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus is there") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a file");
        whole += usize::from(read(&bytes).is_some());
    }
    assert!(whole > 0, "some are whole trees");
}

proptest! {
    #[test]
    fn survives_any_damage(at in 0usize..1000, bytes in prop::collection::vec(any::<u8>(), 1..8)) {
        let mut tree = tree();
        for (i, byte) in bytes.iter().enumerate() {
            let at = (at + i) % tree.len();
            tree[at] = *byte;
        }
        let _ = read(&tree);
    }
}
