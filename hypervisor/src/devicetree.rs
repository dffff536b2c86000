//! Reads a flattened devicetree (Devicetree Specification 0.4, chapter 5) from its first token to its last.
//!
//! Of a library's ways of asking, the hypervisor needs none; and it must not stop without a word when what the firmware
//! hands over is damaged.

/// First word of a devicetree.
const MAGIC: u32 = 0xd00d_feed;
/// Version of the format, unchanged since 2007.
const VERSION: u32 = 17;

const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROPERTY: u32 = 3;
const NOP: u32 = 4;
const END: u32 = 9;

/// Bytes of a devicetree that are enough to tell its [`size`].
pub const PREFIX: usize = 8;

/// A step through the tree. Names are without their terminating zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A node of this name begins: below the one that has begun last and not ended.
    Begin(&'a [u8]),
    /// A property of that node: name and value.
    Property(&'a [u8], &'a [u8]),
    /// That node ends.
    End,
    /// The tree ends.
    Finish,
}

/// The rest of a devicetree.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    tree: &'a [u8],
    /// Offset of the next token.
    at: usize,
    /// Offset of the properties' names.
    names: usize,
}

/// Bytes of the devicetree that begins with this; `None`: none does.
pub fn size(prefix: &[u8; PREFIX]) -> Option<usize> {
    (word(prefix, 0)? == MAGIC)
        .then(|| word(prefix, 4))?
        .map(|size| size as usize)
}

impl<'a> Tokens<'a> {
    /// All of a devicetree; `None`: these bytes are none, or of another version.
    pub fn new(tree: &'a [u8]) -> Option<Self> {
        let field = |offset| word(tree, offset);
        if field(0)? != MAGIC || field(20)? != VERSION {
            return None;
        }
        Some(Self {
            tree,
            at: field(8)? as usize,
            names: field(12)? as usize,
        })
    }

    /// The next token; `None`: the tree is damaged here.
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator's `None` is no failure"
    )]
    pub fn next(&mut self) -> Option<Token<'a>> {
        // Goes forward with each step.
        loop {
            return Some(match self.word()? {
                BEGIN_NODE => {
                    let name = string(self.tree, self.at)?;
                    self.skip(name.len() + 1);
                    Token::Begin(name)
                }
                END_NODE => Token::End,
                PROPERTY => {
                    let length = self.word()? as usize;
                    let name = self.names + self.word()? as usize;
                    let value = self.tree.get(self.at..)?.get(..length)?;
                    self.skip(length);
                    Token::Property(string(self.tree, name)?, value)
                }
                NOP => continue,
                END => Token::Finish,
                _ => return None,
            });
        }
    }

    fn word(&mut self) -> Option<u32> {
        let word = word(self.tree, self.at)?;
        self.at += 4;
        Some(word)
    }

    /// Passes over so many bytes and to the next token.
    fn skip(&mut self, bytes: usize) {
        self.at += bytes.next_multiple_of(4);
    }
}

#[inline(never)]
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[inline(never)]
fn string(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    rest.get(..rest.iter().position(|&byte| byte == 0)?)
}
