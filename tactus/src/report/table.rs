//! Tables, as text for the terminal and as Markdown.

use std::fmt::Write;

/// A table: columns of text stand to the left, columns of figures to the right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// The columns' names.
    pub head: Vec<String>,
    /// Its rows; each has as many cells as the head.
    pub rows: Vec<Vec<String>>,
    /// The columns that hold text, by number.
    pub text_columns: Vec<usize>,
}

impl Table {
    /// An empty table; its first column is text.
    pub fn new<const N: usize>(title: impl Into<String>, head: [&str; N]) -> Self {
        Self {
            title: title.into(),
            head: head.map(str::to_owned).to_vec(),
            rows: Vec::new(),
            text_columns: vec![0],
        }
    }

    /// The same, with these columns, by number, being text.
    pub fn text_columns<const N: usize>(mut self, columns: [usize; N]) -> Self {
        self.text_columns = columns.to_vec();
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.head.len()];
        for row in std::iter::once(&self.head).chain(&self.rows) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        widths
    }

    /// For the terminal: the title, the head, the rows, each with its line ending.
    pub fn text(&self) -> String {
        let widths = self.widths();
        let mut text = format!("{}\n", self.title);
        for row in std::iter::once(&self.head).chain(&self.rows) {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if column == 0 { "  " } else { "   " };
                let pad = width - cell.chars().count();
                if self.text_columns.contains(&column) {
                    let _ = write!(line, "{gap}{cell}{:pad$}", "");
                } else {
                    let _ = write!(line, "{gap}{:pad$}{cell}", "");
                }
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }

    /// As Markdown: a heading of the second level and a table, the pipes lined up.
    pub fn markdown(&self) -> String {
        let escaped = |cells: &[String]| -> Vec<String> {
            cells
                .iter()
                .map(|cell| escaped_for_markdown(cell))
                .collect()
        };
        let table = Self {
            head: escaped(&self.head),
            rows: self.rows.iter().map(|row| escaped(row)).collect(),
            ..self.clone()
        };
        let widths: Vec<usize> = table.widths().iter().map(|width| (*width).max(3)).collect();
        let mut text = format!("## {}\n\n", self.title);
        let line = |row: &[String]| -> String {
            let mut line = String::from("|");
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let pad = width - cell.chars().count();
                let _ = if self.text_columns.contains(&column) {
                    write!(line, " {cell}{:pad$} |", "")
                } else {
                    write!(line, " {:pad$}{cell} |", "")
                };
            }
            line
        };
        let _ = writeln!(text, "{}", line(&table.head));
        text.push('|');
        for (column, width) in widths.iter().enumerate() {
            let dashes = "-".repeat(width + 1);
            let _ = if self.text_columns.contains(&column) {
                write!(text, "{dashes}-|")
            } else {
                write!(text, "{dashes}:|")
            };
        }
        text.push('\n');
        for row in &table.rows {
            let _ = writeln!(text, "{}", line(row));
        }
        text
    }
}

/// Text as a cell of a Markdown table, in which no character is markup (CommonMark 0.31, section 2.4; `|` by GitHub's
/// tables). An underscore within a word emphasises nothing and stays.
fn escaped_for_markdown(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |index: Option<usize>| {
        index
            .and_then(|index| chars.get(index))
            .is_some_and(|c| c.is_alphanumeric())
    };
    let mut escaped = String::new();
    for (index, &c) in chars.iter().enumerate() {
        let acts = match c {
            '_' => !(is_word(index.checked_sub(1)) && is_word(Some(index + 1))),
            '\\' | '|' | '`' | '*' | '<' | '[' | ']' | '&' | '~' | '$' => true,
            _ => false,
        };
        if acts {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("latency (µs)", ["phase", "max"]);
        table.row(["idle".to_owned(), "1.5".to_owned()]);
        table.row(["a|b".to_owned(), "1,000".to_owned()]);
        table
    }

    #[test]
    fn text_is_aligned() {
        assert_eq!(
            table().text(),
            "latency (µs)\n  phase     max\n  idle      1.5\n  a|b     1,000\n"
        );
    }

    #[test]
    fn markdown_is_a_table() {
        assert_eq!(
            table().markdown(),
            "## latency (µs)\n\n\
             | phase |   max |\n\
             |-------|------:|\n\
             | idle  |   1.5 |\n\
             | a\\|b  | 1,000 |\n"
        );
    }

    #[test]
    fn markdown_shows_what_a_guest_wrote() {
        for (text, escaped) in [
            ("release_latency_max", "release_latency_max"),
            ("_a_ b_", "\\_a\\_ b\\_"),
            ("<img src=x>", "\\<img src=x>"),
            (
                "[x](https://a.example) `y` **z**",
                "\\[x\\](https://a.example) \\`y\\` \\*\\*z\\*\\*",
            ),
            (
                "a\\|b &lt; $1$ ~~c~~",
                "a\\\\\\|b \\&lt; \\$1\\$ \\~\\~c\\~\\~",
            ),
        ] {
            assert_eq!(escaped_for_markdown(text), escaped);
        }
    }
}
