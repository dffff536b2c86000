//! A system's description with fewer VMs, for the search for the smallest one that still shows something.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

/// The VMs' names.
pub fn vms(document: &DocumentMut) -> Vec<String> {
    let vms = document.get("vm").and_then(Item::as_array_of_tables);
    let name = |vm: &Table| Some(vm.get("name")?.as_str()?.to_owned());
    vms.into_iter()
        .flat_map(ArrayOfTables::iter)
        .filter_map(name)
        .collect()
}

/// Takes a VM out, with all that names it: channels, and the chains of these.
pub fn remove_vm(document: &mut DocumentMut, name: &str) {
    let mut gone = vec![name.to_owned()];
    // What names the VM goes, and what names that, as chains do with channels.
    for key in ["vm", "channel", "chain"] {
        let entries = document.get_mut(key);
        let Some(entries) = entries.and_then(Item::as_array_of_tables_mut) else {
            continue;
        };
        entries.retain(|entry| {
            let own = entry.get("name").and_then(Item::as_str).unwrap_or_default();
            let goes = match key {
                "vm" => own == name,
                _ => entry.iter().any(|(_, item)| mentions(item, &gone)),
            };
            if goes && !own.is_empty() {
                gone.push(own.to_owned());
            }
            !goes
        });
    }
}

/// Whether a text of an entry is one of the names, or has one as a word.
fn mentions(item: &Item, names: &[String]) -> bool {
    let is_name = |text: &str| {
        let mut words = text.split(|c: char| !(c.is_alphanumeric() || "-_".contains(c)));
        words.any(|word| names.iter().any(|name| name == word))
    };
    match item {
        Item::Value(value) => match value.as_array() {
            Some(array) => array.iter().filter_map(|value| value.as_str()).any(is_name),
            None => value.as_str().is_some_and(is_name),
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vm_goes_with_its_channels_and_their_chains() {
        let text = "\
[system]
harts = 1

[[vm]]
name = \"a\"

[[vm]]
name = \"b\"

[[vm]]
name = \"c\"

[[channel]]
name = \"a-b\"
between = [\"a\", \"b\"]

[[channel]]
name = \"b-c\"
between = [\"b\", \"c\"]

[[chain]]
name = \"x\"
through = [\"a\", \"a-b\", \"b\"]
";
        let mut document: DocumentMut = text.parse().expect("it is TOML");
        assert_eq!(vms(&document), ["a", "b", "c"]);
        remove_vm(&mut document, "a");
        assert_eq!(vms(&document), ["b", "c"]);
        let left = document.to_string();
        assert!(left.contains("\"b-c\"") && !left.contains("a-b"), "{left}");
        assert!(!left.contains("chain"), "{left}");
    }
}
