//! A list of warm lines, as `tactus warm` writes it, with the place of every value in the file.

use toml::de::DeTable;

use super::parse::syntax_problems;
use super::reader::{Key, Reader, Table};
use super::source::{At, Source, Span};
use super::unit::Address;
use crate::problem::Problem;

const FILE: &[Key] = &[("image", "\"0123...\""), ("line", "32"), ("range", "")];
const RANGE: &[Key] = &[("first", "0x8020_0000"), ("lines", "4"), ("code", "true")];

/// The cache lines that a vCPU uses soon after its timer has woken it.
#[derive(Clone, Debug)]
pub struct WarmList {
    /// The file.
    pub source: Source,
    /// [`GuestImage::digest`](crate::guest_image::GuestImage::digest) of the image that it was made from.
    pub image: Option<At<String>>,
    /// Bytes of a line.
    pub line: Option<At<u32>>,
    /// Adjacent lines, those that are used first before the others.
    pub ranges: Vec<WarmRange>,
}

/// `[[range]]`: adjacent lines.
#[derive(Clone, Debug)]
pub struct WarmRange {
    /// Where the table begins.
    pub span: Span,
    /// Guest-physical address of the first one.
    pub first: Option<At<Address>>,
    /// How many.
    pub lines: Option<At<u32>>,
    /// Whether they hold instructions.
    pub code: Option<At<bool>>,
}

impl WarmList {
    /// Reads a list. What is wrong with single values is returned beside the rest.
    ///
    /// # Errors
    /// The text is not TOML.
    pub fn parse(source: Source) -> Result<(Self, Vec<Problem>), Vec<Problem>> {
        let (document, errors) = DeTable::parse_recoverable(source.text());
        if !errors.is_empty() {
            return Err(syntax_problems(&source, &errors));
        }
        let mut reader = Reader::new(source.clone());
        let root = Table::new("the list", document.span(), document.get_ref(), FILE);
        let image = root.required(&mut reader, "image");
        let line = root.required(&mut reader, "line");
        let ranges = root.tables(&mut reader, ("range", "range"), "range", RANGE);
        let ranges = ranges.into_iter().map(|table| {
            let range = WarmRange {
                span: table.span(),
                first: table.required(&mut reader, "first"),
                lines: table.required(&mut reader, "lines"),
                code: table.required(&mut reader, "code"),
            };
            table.finish(&mut reader);
            range
        });
        let ranges = ranges.collect();
        root.finish(&mut reader);
        let (problems, _) = reader.finish();
        let list = Self {
            source: source.clone(),
            image,
            line,
            ranges,
        };
        Ok((list, problems))
    }
}
