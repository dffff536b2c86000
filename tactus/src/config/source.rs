//! Where in which file a value stands.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use miette::{MietteError, NamedSource, SourceCode, SourceSpan, SpanContents};

/// Bytes of a file, from the first to past the last.
pub type Span = Range<usize>;

/// A configuration file's name and text, shared by all that point into it.
#[derive(Clone, Debug)]
pub struct Source {
    file: Arc<NamedSource<String>>,
}

impl Source {
    /// A file, named as its messages shall name it.
    pub fn new(name: impl AsRef<str>, text: String) -> Self {
        Self {
            file: Arc::new(NamedSource::new(name, text)),
        }
    }

    /// The file of that path, named by it.
    ///
    /// # Errors
    /// It cannot be read or is not UTF-8.
    pub fn read(path: &Path) -> std::io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        Ok(Self::new(path.to_string_lossy(), text))
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        self.file.name()
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        self.file.inner()
    }

    /// Line and column of a byte of the file, both counted from 1, the column in characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let before = self.text().get(..offset).unwrap_or(self.text());
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

impl SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        self.file
            .read_span(span, context_lines_before, context_lines_after)
    }
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}
