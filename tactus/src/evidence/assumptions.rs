//! What the figures rest on: the list of the book's page, which is the only place where it stands.

/// The page.
const PAGE: &str = include_str!("../../../docs/src/explanation/guaranteed-time.md");
/// Its last section.
const HEADING: &str = "\n## What it rests on\n";

/// The assumptions, one a text, without Markdown.
pub(super) fn all() -> Vec<String> {
    let section = PAGE.split_once(HEADING).map_or("", |(_, rest)| rest);
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut all: Vec<String> = Vec::new();
    for line in section.lines() {
        if let Some(text) = line.strip_prefix("* ") {
            all.push(text.to_owned());
        } else if let Some(last) = all.last_mut()
            && !line.trim().is_empty()
        {
            last.push(' ');
            last.push_str(line.trim());
        }
    }
    all.iter().map(|text| plain(text)).collect()
}

/// A text of Markdown without the targets of its links.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((shown, target)) = link.split_once("](") else {
            break;
        };
        let Some((_, after)) = target.split_once(')') else {
            break;
        };
        plain.push_str(before);
        plain.push_str(shown);
        rest = after;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_list_is_whole() {
        let all = all();
        let section = PAGE.split_once(HEADING).expect("the section").1;
        let section = section.split("\n## ").next().expect("its text");
        assert_eq!(all.len(), section.matches("\n* ").count());
        assert!(all.len() > 3);
        // Word for word, without the targets of links.
        let words =
            |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        let written: Vec<String> = section
            .split("\n* ")
            .skip(1)
            .flat_map(|text| words(&plain(&words(text).join(" "))))
            .collect();
        assert_eq!(words(&all.join(" ")), written);
        for text in &all {
            assert!(!text.contains("](") && text.ends_with('.'), "{text}");
        }
        assert_eq!(plain("a [b c](d.md#e) f"), "a b c f");
    }
}
