//! Decoded code: blocks of instructions, each made into the [`Op`] that carries it out.
//!
//! A block begins where a jump leads and ends with the first instruction that may not be followed by the next one, at
//! the page's end, or at [`BLOCK_OPS`]. Blocks are found by physical address, so that all harts and address
//! spaces share them; they hold nothing that depends on the virtual address or the mode.
//!
//! A block never reaches over its page. An instruction that does is decoded again each time it executes.

use bumpalo::Bump;
use std::cell::Cell;
use std::collections::HashMap;
use std::ptr;

use crate::memory::{Memory, Place};
use crate::op::{Handler, Op};
use crate::timing::Registers;

/// Most instructions in a block. A power of two it need not be, but `Op::at` must hold twice as many.
pub const BLOCK_OPS: usize = 64;
/// Size of a page of code.
pub const PAGE: u64 = 4096;
/// How much decoded code is kept before all of it is dropped.
pub const CAPACITY: usize = 192 << 20;

/// A block's successor, once it is known.
pub type Link = Cell<*const Block>;

/// A block of decoded code. Behind it stand its ops, and for each of those the cycles that the block takes up to and
/// with it when nothing but the pipeline is counted.
#[repr(C)]
pub struct Block {
    /// Cycles of the whole block, without what is only known when it runs.
    pub cycles: u32,
    /// How many instructions; the ops are one more where the block ends without a jump.
    pub count: u16,
    /// How many halfwords the instructions take.
    pub halfwords: u16,
    /// How many lines of the instruction cache it lies in.
    pub lines: u32,
    /// Which line that is, where it is one ([`only_line`](crate::timing::Timing::only_line)).
    pub only_line: u64,
    /// Where the first is, physically.
    pub physical: u64,
    /// The registers that it uses; in fast mode none are told.
    pub registers: Registers,
    /// The bits of the only instruction, where those are not all at `physical`; else 0.
    pub bits: u32,
    ops_count: u32,
    /// The block that follows when the jump at the end is taken, if it is in the same page.
    pub taken: Link,
    /// The block that follows when it is not.
    pub next: Link,
}

impl Block {
    /// The first instruction's op.
    #[inline(always)]
    pub const fn ops(&self) -> *const Op {
        // Safety: blocks are only made by `Draft::write`, which places the ops there.
        unsafe { ptr::from_ref(self).add(1).cast::<Op>() }
    }

    /// Which op of this block `op` is.
    #[inline]
    pub fn index_of(&self, op: *const Op) -> usize {
        (op as usize - self.ops() as usize) / size_of::<Op>()
    }

    /// Cycles up to and with the instruction at `index`.
    pub fn cycles_until(&self, index: usize) -> u32 {
        assert!(index < self.count as usize, "an op beyond its block");
        // Safety: as many numbers as instructions stand behind the ops.
        unsafe {
            *self
                .ops()
                .add(self.ops_count as usize)
                .cast::<u16>()
                .add(index) as u32
        }
    }

    /// Cycles up to the instruction at `index`.
    pub fn cycles_before(&self, index: usize) -> u32 {
        if index == 0 {
            0
        } else {
            self.cycles_until(index - 1)
        }
    }

    /// Where the instruction behind that at `index` begins, in halfwords.
    pub fn halfwords_until(&self, index: usize) -> u64 {
        if index + 1 < self.count as usize {
            // Safety: within the ops.
            unsafe { u64::from((*self.ops().add(index + 1)).at) }
        } else {
            u64::from(self.halfwords)
        }
    }
}

/// A block during its construction.
#[derive(Default)]
pub struct Draft {
    /// The ops, the last one ending the block.
    pub ops: Vec<Op>,
    /// For each instruction the cycles up to and with it.
    pub cycles: Vec<u16>,
    /// How many halfwords the instructions take.
    pub halfwords: u16,
    /// How many lines of the instruction cache they lie in.
    pub lines: u32,
    /// Which line that is, where it is one.
    pub only_line: u64,
    /// Where the first is, physically.
    pub physical: u64,
    /// The registers that it uses; in fast mode none are told.
    pub registers: Registers,
    /// The bits of the only instruction, where those are not all at `physical`; else 0.
    pub bits: u32,
    /// The instructions as decoded, for what their pipeline takes.
    pub instructions: Vec<Option<crate::decode::Instruction>>,
}

impl Draft {
    /// Nothing, with room for a block.
    pub fn clear(&mut self) {
        self.ops.clear();
        self.cycles.clear();
        self.halfwords = 0;
        self.registers = Registers::default();
        self.bits = 0;
        self.instructions.clear();
    }

    fn layout(ops: usize, cycles: usize) -> std::alloc::Layout {
        let size = size_of::<Block>() + ops * size_of::<Op>() + cycles * size_of::<u16>();
        std::alloc::Layout::from_size_align(size, align_of::<Block>())
            .expect("a block's size is small")
    }

    /// Writes the block to `place`, which has the room and alignment of [`layout`](Self::layout).
    unsafe fn write(&self, place: *mut u8) -> *const Block {
        let block = Block {
            cycles: self.cycles.last().copied().unwrap_or(0).into(),
            count: self.cycles.len() as u16,
            halfwords: self.halfwords,
            lines: self.lines,
            only_line: self.only_line,
            physical: self.physical,
            registers: self.registers,
            bits: self.bits,
            ops_count: self.ops.len() as u32,
            taken: Cell::new(ptr::null()),
            next: Cell::new(ptr::null()),
        };
        let place = place.cast::<Block>();
        // Safety: the caller's.
        unsafe {
            place.write(block);
            let ops = place.add(1).cast::<Op>();
            ptr::copy_nonoverlapping(self.ops.as_ptr(), ops, self.ops.len());
            let cycles = ops.add(self.ops.len()).cast::<u16>();
            ptr::copy_nonoverlapping(self.cycles.as_ptr(), cycles, self.cycles.len());
        }
        place
    }
}

/// A block that is made to run once.
pub struct Scratch {
    place: Box<[u64]>,
}

impl Scratch {
    /// Room for the largest block.
    pub fn new() -> Self {
        let size = Draft::layout(BLOCK_OPS + 1, BLOCK_OPS + 1).size();
        Self {
            place: vec![0; size.div_ceil(8)].into(),
        }
    }

    /// Whether `block` is the one made here.
    pub fn holds(&self, block: *const Block) -> bool {
        ptr::eq(block.cast(), self.place.as_ptr())
    }

    /// Makes the block, in place of the one before.
    ///
    /// # Panics
    ///
    /// When the draft has more ops than a block may have.
    pub fn fill(&mut self, draft: &Draft) -> *const Block {
        assert!(
            draft.ops.len() <= BLOCK_OPS + 1 && draft.cycles.len() <= draft.ops.len(),
            "a block too long"
        );
        // Safety: the place has room for the longest block, and the alignment of a u64, which is a block's.
        unsafe { draft.write(self.place.as_mut_ptr().cast()) }
    }
}

/// The blocks of one page.
struct CodePage {
    /// Its number.
    number: usize,
    /// By halfword, the block that begins there.
    blocks: Box<[*const Block; (PAGE / 2) as usize]>,
    /// By 64 bytes, whether any block covers some of them.
    lines: u64,
}

/// All decoded code.
pub struct Code {
    arena: Bump,
    main: Place,
    onchip: Place,
    /// By the number of a page of memory: 1 + the place among `with_code`; 0: no code. Most are 0, which takes no
    /// memory of the host, and no time where boards are copied.
    pages: Vec<u32>,
    with_code: Vec<CodePage>,
    /// Changes whenever blocks are dropped: pointers to blocks from before are void.
    epoch: u64,
    /// Changes whenever a page gets its first block: from then on stores to it have to be seen.
    pages_epoch: u64,
    /// How many bytes of it are kept before all are dropped.
    pub capacity: usize,
    /// By address, the ops that look at probes first, and what carries them out.
    displaced: HashMap<usize, Handler>,
}

// Safety: the pointers lead into the arena, which moves along.
unsafe impl Send for Code {}

impl Code {
    /// No code yet, for this memory.
    pub fn new(memory: &Memory) -> Self {
        let (base, size) = (memory.base(), memory.size());
        Self {
            arena: Bump::new(),
            main: Place { base, size },
            onchip: memory.onchip().unwrap_or(Place { base: 0, size: 0 }),
            pages: vec![0; memory.page_count()],
            with_code: Vec::new(),
            epoch: 0,
            pages_epoch: 0,
            capacity: CAPACITY,
            displaced: HashMap::new(),
        }
    }

    /// A number that changes whenever blocks are dropped.
    #[inline]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// A number that changes whenever a page becomes one with code.
    #[inline]
    pub const fn pages_epoch(&self) -> u64 {
        self.pages_epoch
    }

    /// The number of a page; one that there is not, where there is no memory.
    #[inline]
    const fn index(&self, physical: u64) -> usize {
        let offset = physical.wrapping_sub(self.main.base);
        if offset < self.main.size {
            return (offset / PAGE) as usize;
        }
        let offset = physical.wrapping_sub(self.onchip.base);
        if offset < self.onchip.size {
            return ((self.main.size + offset) / PAGE) as usize;
        }
        usize::MAX
    }

    fn page(&self, physical: u64) -> Option<&CodePage> {
        let place = self.pages.get(self.index(physical))?.checked_sub(1)?;
        self.with_code.get(place as usize)
    }

    /// The block that begins at `physical`; null where there is none.
    #[inline]
    pub fn find(&self, physical: u64) -> *const Block {
        self.page(physical).map_or(ptr::null(), |page| {
            page.blocks[(physical % PAGE / 2) as usize]
        })
    }

    /// Whether any code was decoded in the page of `physical`.
    #[inline]
    pub fn in_page(&self, physical: u64) -> bool {
        self.page(physical).is_some()
    }

    /// Whether there is so much that it is time to drop all.
    pub fn is_full(&self) -> bool {
        self.arena.allocated_bytes() > self.capacity
    }

    /// Keeps a block. Its first byte has to be memory, and all of it in one page.
    pub fn enter(&mut self, draft: &Draft) -> *const Block {
        let layout = Draft::layout(draft.ops.len(), draft.cycles.len());
        let place = self.arena.alloc_layout(layout);
        // Safety: just allocated so.
        let block = unsafe { draft.write(place.as_ptr()) };
        let number = self.index(draft.physical);
        if self.pages[number] == 0 {
            self.pages_epoch += 1;
            self.with_code.push(CodePage {
                number,
                blocks: vec![ptr::null(); (PAGE / 2) as usize]
                    .try_into()
                    .expect("the length is right"),
                lines: 0,
            });
            self.pages[number] = self.with_code.len() as u32;
        }
        let page = &mut self.with_code[self.pages[number] as usize - 1];
        page.blocks[(draft.physical % PAGE / 2) as usize] = block;
        page.lines |= lines(draft.physical, 2 * u64::from(draft.halfwords));
        block
    }

    /// Drops the blocks of a page that `length` bytes at `physical` were written to, if they hit any. Says whether they
    /// did.
    pub fn written(&mut self, physical: u64, length: u64) -> bool {
        let is_hit = |page: &CodePage| page.lines & lines(physical, length) != 0;
        let Some(number) = self
            .page(physical)
            .filter(|page| is_hit(page))
            .map(|page| page.number)
        else {
            return false;
        };
        let place = std::mem::take(&mut self.pages[number]) as usize - 1;
        self.with_code.swap_remove(place);
        // The last one is in its place now.
        if let Some(moved) = self.with_code.get(place) {
            self.pages[moved.number] = place as u32 + 1;
        }
        self.epoch += 1;
        true
    }

    /// Lets `op`, which does not run now, be carried out by `handler` first.
    pub fn displace(&mut self, op: *mut Op, handler: Handler) {
        // Safety: an op of a block that was made just now, or that does not run.
        let own = unsafe { std::mem::replace(&mut (*op).handler, handler) };
        self.displaced.insert(op as usize, own);
    }

    /// The handler of its own of an op that another one was put before.
    pub fn displaced(&self, op: *const Op) -> Handler {
        self.displaced[&(op as usize)]
    }

    /// Drops all. No pointer to a block may be in use.
    pub fn clear(&mut self) {
        self.arena.reset();
        self.displaced.clear();
        for page in self.with_code.drain(..) {
            self.pages[page.number] = 0;
        }
        self.epoch += 1;
        self.pages_epoch += 1;
    }
}

/// The 64-byte lines of its page that `length` bytes (at least 1) at `physical` touch.
fn lines(physical: u64, length: u64) -> u64 {
    let first = physical % PAGE / 64;
    let last = (physical % PAGE + length - 1).min(PAGE - 1) / 64;
    (u64::MAX >> (63 - last)) & (u64::MAX << first)
}
