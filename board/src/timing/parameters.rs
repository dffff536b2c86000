//! Cost parameters of a profile: the tables under `[board.timing]`.
//!
//! All times are in cycles of the harts' clock. Ranges are checked as the file is read.

use serde::{Deserialize, Deserializer};

use crate::quantity::{between, bytes};

/// Most harts that the models provide for.
pub const MAX_HARTS: usize = 16;
/// Most entries of a store buffer.
pub const MAX_STORES: usize = 16;

/// All costs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// Branch prediction. Without it all branches cost what the pipeline charges them.
    pub predictor: Option<Predictor>,
    /// Translation look-aside buffers. Without them translation costs nothing.
    pub tlb: Option<Tlb>,
    /// The caches. Without them every load and store goes to memory, and fetching costs nothing.
    pub caches: Option<Caches>,
    /// The store buffer. Without it the hart waits for every store.
    pub store_buffer: Option<StoreBuffer>,
    /// Prefetches by software. Without it they do nothing.
    pub prefetch: Option<Prefetch>,
    /// Memory on the chip. Without it there is none.
    pub onchip: Option<Onchip>,
    /// Main memory.
    pub memory: Memory,
    /// Accesses to devices that no region names.
    pub device: Access,
    /// Ranges of addresses whose accesses have costs of their own.
    #[serde(default, rename = "region", deserialize_with = "regions")]
    pub regions: Vec<Region>,
}

/// An in-order pipeline. Each figure but `issue`, `trap` and those of instructions that issue alone is a latency:
/// from the issue of an instruction to that of one that uses its result, 1 when it can follow in the next cycle.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Instructions issued in a cycle: 1 or 2.
    #[serde(deserialize_with = "between::<_, _, 1, 2>")]
    pub issue: u32,
    /// Integer operations other than those below.
    #[serde(deserialize_with = "between::<_, _, 1, 64>")]
    pub alu: u32,
    /// Loads that hit the L1 cache.
    #[serde(deserialize_with = "between::<_, _, 1, 64>")]
    pub load: u32,
    /// Multiplications; the multiplier is pipelined.
    #[serde(deserialize_with = "between::<_, _, 1, 64>")]
    pub multiply: u32,
    /// Divisions and remainders of 64 bits; the divider is busy all the while.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub divide: u32,
    /// The same of 32 bits.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub divide_word: u32,
    /// Floating-point addition and subtraction; pipelined.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub float_add: u32,
    /// Floating-point multiplication; pipelined.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub float_multiply: u32,
    /// Fused multiply-add; pipelined.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub float_fused: u32,
    /// Floating-point conversions, comparisons, moves, minimum, maximum, sign injection; pipelined.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub float_move: u32,
    /// Single-precision division; the unit is busy all the while.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub float_divide_single: u32,
    /// Double-precision division.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub float_divide_double: u32,
    /// Single-precision square root.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub float_root_single: u32,
    /// Double-precision square root.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub float_root_double: u32,
    /// CSR instructions. They issue alone, when all before have their results; so do all that follow.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub csr: u32,
    /// `fence` and `fence.tso`, less the wait for stores.
    #[serde(deserialize_with = "between::<_, _, 1, 1024>")]
    pub fence: u32,
    /// `fence.i`, less the wait for stores and the fetches that it brings about.
    #[serde(deserialize_with = "between::<_, _, 1, 1024>")]
    pub fence_i: u32,
    /// `sfence.vma`, `hfence.vvma`, `hfence.gvma`.
    #[serde(deserialize_with = "between::<_, _, 1, 1024>")]
    pub translation_fence: u32,
    /// Atomics (with `lr` and `sc`), less what their line takes.
    #[serde(deserialize_with = "between::<_, _, 1, 256>")]
    pub atomic: u32,
    /// `mret` and `sret`, to the first instruction there.
    #[serde(deserialize_with = "between::<_, _, 1, 1024>")]
    pub trap_return: u32,
    /// A trap: from the instruction it is taken at (or the interrupt) to the first of the handler.
    #[serde(deserialize_with = "between::<_, _, 0, 1024>")]
    pub trap: u32,
}

/// How the direction of a branch is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// By the branch's own past.
    Bimodal,
    /// By that of the last branches, mixed with the address.
    Gshare,
}

/// Which branches use the target buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BufferHolds {
    /// Indirect jumps and calls alone; targets of direct ones are always known in time.
    Indirect,
    /// Direct ones too.
    All,
}

/// Branch prediction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, try_from = "PredictorTable")]
pub struct Predictor {
    /// How directions are predicted.
    pub direction: Direction,
    /// Two-bit counters: a power of two.
    pub counters: u32,
    /// Branches that `gshare` remembers.
    pub history_bits: u32,
    /// Entries of the branch target buffer.
    pub targets: u32,
    /// Its ways; the number of sets is a power of two. Round-robin replacement.
    pub target_ways: u32,
    /// Who uses it.
    pub target_buffer: BufferHolds,
    /// Entries of the return-address stack.
    pub return_stack: u32,
    /// Cost of a wrong direction or target.
    pub mispredict: u32,
    /// Cost of a direct branch rightly predicted as taken whose target the buffer did not have.
    pub redirect: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PredictorTable {
    direction: Direction,
    #[serde(deserialize_with = "between::<_, _, 1, 1_048_576>")]
    counters: u32,
    #[serde(default, deserialize_with = "between::<_, _, 0, 20>")]
    history_bits: u32,
    #[serde(deserialize_with = "between::<_, _, 1, 65_536>")]
    targets: u32,
    #[serde(deserialize_with = "between::<_, _, 1, 16>")]
    target_ways: u32,
    target_buffer: BufferHolds,
    #[serde(deserialize_with = "between::<_, _, 0, 256>")]
    return_stack: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 256>")]
    mispredict: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 256>")]
    redirect: u32,
}

impl TryFrom<PredictorTable> for Predictor {
    type Error = String;

    fn try_from(table: PredictorTable) -> Result<Self, String> {
        power_of_two("counters", table.counters)?;
        sets("targets", table.targets, "target_ways", table.target_ways)?;
        if table.direction == Direction::Gshare && table.history_bits == 0 {
            return Err("`direction` is gshare, so `history_bits` must be 1 to 20".to_owned());
        }
        if table.direction == Direction::Bimodal && table.history_bits != 0 {
            return Err("`direction` is bimodal, which has no use for `history_bits`".to_owned());
        }
        Ok(Self {
            direction: table.direction,
            counters: table.counters,
            history_bits: table.history_bits,
            targets: table.targets,
            target_ways: table.target_ways,
            target_buffer: table.target_buffer,
            return_stack: table.return_stack,
            mispredict: table.mispredict,
            redirect: table.redirect,
        })
    }
}

/// Translation look-aside buffers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tlb {
    /// Entries of that of fetches; fully associative.
    #[serde(deserialize_with = "between::<_, _, 1, 1024>")]
    pub fetch_entries: u32,
    /// Entries of that of loads and stores; fully associative.
    #[serde(deserialize_with = "between::<_, _, 1, 1024>")]
    pub data_entries: u32,
    /// The larger one behind both.
    pub second: Option<SecondTlb>,
    /// Where walks look for page table entries first.
    pub walks: Walks,
}

/// The level-2 TLB.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, try_from = "SecondTlbTable")]
pub struct SecondTlb {
    /// Entries.
    pub entries: u32,
    /// Ways; the number of sets is a power of two.
    pub ways: u32,
    /// The cost of a look-up, hit or miss.
    pub latency: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecondTlbTable {
    #[serde(deserialize_with = "between::<_, _, 1, 65_536>")]
    entries: u32,
    #[serde(deserialize_with = "between::<_, _, 1, 1024>")]
    ways: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 256>")]
    latency: u32,
}

impl TryFrom<SecondTlbTable> for SecondTlb {
    type Error = String;

    fn try_from(table: SecondTlbTable) -> Result<Self, String> {
        sets("entries", table.entries, "ways", table.ways)?;
        Ok(Self {
            entries: table.entries,
            ways: table.ways,
            latency: table.latency,
        })
    }
}

/// Where walks look for page table entries first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Walks {
    /// In the L1 data cache, as loads do.
    #[serde(rename = "l1d")]
    Level1,
    /// In the L2 cache.
    #[serde(rename = "l2")]
    Level2,
}

/// The caches: all physically addressed, all with lines of the same size.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, try_from = "CachesTable")]
pub struct Caches {
    /// Each hart's for instructions; not kept coherent with stores (Volume I, 20191213, chapter 3: `fence.i`).
    pub l1i: Cache,
    /// Each hart's for data: write-back, write-allocate.
    pub l1d: Cache,
    /// All harts' together; it has every line that an L1 cache has.
    pub l2: Cache,
    /// From an L1 miss to the line from the L2 cache. What memory takes comes on top.
    pub l2_latency: u32,
    /// On top when another L1 data cache has the line dirty and must give it.
    pub intervention: u32,
    /// On top when another L1 data cache has the line for itself, but clean.
    pub snoop: u32,
    /// On top when copies in other L1 data caches must be invalidated.
    pub invalidation: u32,
    /// From a store to a shared line to its being the hart's own.
    pub upgrade: u32,
    /// Prefetching by the L2 cache: of the line behind one that is fetched as instructions. Without it there is none.
    pub next_line: Option<Prefetch>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CachesTable {
    l1i: Cache,
    l1d: Cache,
    l2: Cache,
    #[serde(deserialize_with = "between::<_, _, 0, 4096>")]
    l2_latency: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 4096>")]
    intervention: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 4096>")]
    snoop: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 4096>")]
    invalidation: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 4096>")]
    upgrade: u32,
    next_line: Option<Prefetch>,
}

impl TryFrom<CachesTable> for Caches {
    type Error = String;

    fn try_from(table: CachesTable) -> Result<Self, String> {
        let [l1i, l1d, l2] = [table.l1i.line, table.l1d.line, table.l2.line];
        if l1i != l2 || l1d != l2 {
            return Err(format!(
                "all caches must have the same `line`, not {l1i}, {l1d} and {l2} bytes"
            ));
        }
        Ok(Self {
            l1i: table.l1i,
            l1d: table.l1d,
            l2: table.l2,
            l2_latency: table.l2_latency,
            intervention: table.intervention,
            snoop: table.snoop,
            invalidation: table.invalidation,
            upgrade: table.upgrade,
            next_line: table.next_line,
        })
    }
}

/// Which line makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// Any of the set, by a generator that the seed starts.
    Random,
    /// The least recently used of the set.
    Lru,
}

/// Shape of a cache.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, try_from = "CacheTable")]
pub struct Cache {
    /// Bytes in all.
    pub size: u64,
    /// Lines in a set.
    pub ways: u32,
    /// Bytes of a line: a power of two.
    pub line: u64,
    /// Which line makes room.
    pub replacement: Replacement,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheTable {
    #[serde(deserialize_with = "bytes")]
    size: u64,
    #[serde(deserialize_with = "between::<_, _, 1, 64>")]
    ways: u32,
    #[serde(deserialize_with = "between::<_, _, 16, 256>")]
    line: u64,
    replacement: Replacement,
}

impl TryFrom<CacheTable> for Cache {
    type Error = String;

    fn try_from(table: CacheTable) -> Result<Self, String> {
        if !table.line.is_power_of_two() {
            return Err(format!("`line` must be a power of two, not {}", table.line));
        }
        if table.size > 64 << 20 {
            return Err(format!(
                "`size` must be at most 64 MiB, not {} bytes",
                table.size
            ));
        }
        let set = table.line * u64::from(table.ways);
        if !table.size.is_multiple_of(set) || !(table.size / set).is_power_of_two() {
            return Err(format!(
                "`size` must be a power of two times `ways` times `line`: {} bytes are not in {} ways of {}",
                table.size, table.ways, table.line
            ));
        }
        Ok(Self {
            size: table.size,
            ways: table.ways,
            line: table.line,
            replacement: table.replacement,
        })
    }
}

impl Cache {
    /// Number of sets: a power of two.
    #[must_use]
    pub const fn sets(&self) -> u64 {
        self.size / self.line / self.ways as u64
    }
}

/// The store buffer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, try_from = "StoreBufferTable")]
pub struct StoreBuffer {
    /// Stores that it holds: those to lines that the hart's L1 cache does not own, and posted writes to devices.
    pub entries: u8,
    /// How many of them are under way at the same time.
    pub outstanding: u8,
    /// Whether a load is served from a store to its line; else it waits until the store is done.
    pub forward: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreBufferTable {
    #[serde(deserialize_with = "between::<_, _, 1, 16>")]
    entries: u8,
    #[serde(deserialize_with = "between::<_, _, 1, 16>")]
    outstanding: u8,
    forward: bool,
}

impl TryFrom<StoreBufferTable> for StoreBuffer {
    type Error = String;

    fn try_from(table: StoreBufferTable) -> Result<Self, String> {
        if table.outstanding > table.entries {
            return Err(format!(
                "`outstanding` must be at most `entries`, not {} of {}",
                table.outstanding, table.entries
            ));
        }
        Ok(Self {
            entries: table.entries,
            outstanding: table.outstanding,
            forward: table.forward,
        })
    }
}

/// Prefetches.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefetch {
    /// How many lines are on their way at the same time. A prefetch of one more waits for the first of them if it is
    /// software's, and is not made if it is the L2 cache's.
    #[serde(deserialize_with = "between::<_, _, 1, 16>")]
    pub outstanding: u8,
}

/// Memory on the chip, which the L1 caches hold lines of, but not the L2 cache.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Onchip {
    /// Its first address: of the profile's `[onchip]`.
    #[serde(skip)]
    pub address: u64,
    /// Its bytes: of the same.
    #[serde(skip)]
    pub size: u64,
    /// From an L1 miss to the line.
    #[serde(deserialize_with = "between::<_, _, 0, 4096>")]
    pub latency: u32,
}

/// Main memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Memory {
    /// `[board.timing.memory.fixed]`: the same time for every access.
    Fixed(Fixed),
    /// `[board.timing.memory.open-row]`: DRAM whose rows stay open.
    OpenRow(OpenRow),
}

impl Memory {
    /// Cycles of the channel that an access takes.
    #[must_use]
    pub const fn transfer(&self) -> u32 {
        match self {
            Self::Fixed(fixed) => fixed.transfer,
            Self::OpenRow(row) => row.transfer,
        }
    }
}

/// Memory that always takes the same time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// From the request to the data.
    #[serde(deserialize_with = "between::<_, _, 0, 65_536>")]
    pub latency: u32,
    /// How long an access keeps the shared bus from others. 0: there is no contention.
    #[serde(deserialize_with = "between::<_, _, 0, 65_536>")]
    pub transfer: u32,
}

/// DRAM with open rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, try_from = "OpenRowTable")]
pub struct OpenRow {
    /// Banks: a power of two. Successive rows are in successive banks.
    pub banks: u32,
    /// Bytes of a row over all chips: a power of two.
    pub row_bytes: u32,
    /// The latency of every access: interconnect and controller, both ways.
    pub controller: u32,
    /// On top when the row is open.
    pub row_hit: u32,
    /// On top when no row of the bank is.
    pub row_closed: u32,
    /// On top when another row of the bank is.
    pub row_conflict: u32,
    /// How long a bank takes no other request.
    pub bank_busy: u32,
    /// How long the channel takes no other request. 0: it has room for all.
    pub transfer: u32,
    /// From one refresh to the next. 0: there are none.
    pub refresh_interval: u32,
    /// How long a refresh takes; it closes all rows.
    pub refresh_cycles: u32,
    /// Writes that the controller keeps until it has no reads to serve. 0: each is carried out at once.
    pub write_queue: u32,
    /// How long there must be no request before it carries them out.
    pub write_idle: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenRowTable {
    #[serde(deserialize_with = "between::<_, _, 1, 1024>")]
    banks: u32,
    #[serde(deserialize_with = "between::<_, _, 256, 1_048_576>")]
    row_bytes: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 65_536>")]
    controller: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 65_536>")]
    row_hit: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 65_536>")]
    row_closed: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 65_536>")]
    row_conflict: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 65_536>")]
    bank_busy: u32,
    #[serde(deserialize_with = "between::<_, _, 0, 65_536>")]
    transfer: u32,
    #[serde(default, deserialize_with = "between::<_, _, 0, 1_000_000_000>")]
    refresh_interval: u32,
    #[serde(default, deserialize_with = "between::<_, _, 0, 65_536>")]
    refresh_cycles: u32,
    #[serde(default, deserialize_with = "between::<_, _, 0, 256>")]
    write_queue: u32,
    #[serde(default, deserialize_with = "between::<_, _, 0, 65_536>")]
    write_idle: u32,
}

impl TryFrom<OpenRowTable> for OpenRow {
    type Error = String;

    fn try_from(table: OpenRowTable) -> Result<Self, String> {
        power_of_two("banks", table.banks)?;
        power_of_two("row_bytes", table.row_bytes)?;
        if (table.refresh_interval == 0) != (table.refresh_cycles == 0) {
            return Err(
                "`refresh_interval` and `refresh_cycles` must both be given or both be 0"
                    .to_owned(),
            );
        }
        if table.refresh_interval != 0 && table.refresh_cycles >= table.refresh_interval {
            return Err(format!(
                "`refresh_cycles` must be less than `refresh_interval`, not {} of {}",
                table.refresh_cycles, table.refresh_interval
            ));
        }
        Ok(Self {
            banks: table.banks,
            row_bytes: table.row_bytes,
            controller: table.controller,
            row_hit: table.row_hit,
            row_closed: table.row_closed,
            row_conflict: table.row_conflict,
            bank_busy: table.bank_busy,
            transfer: table.transfer,
            refresh_interval: table.refresh_interval,
            refresh_cycles: table.refresh_cycles,
            write_queue: table.write_queue,
            write_idle: table.write_idle,
        })
    }
}

/// The cost of uncached accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// From a load to its data; the hart waits.
    #[serde(deserialize_with = "between::<_, _, 0, 1_000_000>")]
    pub read: u32,
    /// Until a store has reached the device.
    #[serde(deserialize_with = "between::<_, _, 0, 1_000_000>")]
    pub write: u32,
    /// Whether stores go through the store buffer; else the hart waits for them.
    pub posted: bool,
    /// What the hart itself takes for a store that goes through the store buffer. Regions alone say it.
    #[serde(skip)]
    pub handover: u32,
}

/// A range of addresses with costs of its own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Its name in the profile.
    pub name: String,
    /// Its first address.
    pub address: u64,
    /// Its bytes.
    #[serde(deserialize_with = "bytes")]
    pub size: u64,
    /// From a load to its data; the hart waits.
    #[serde(deserialize_with = "between::<_, _, 0, 1_000_000>")]
    pub read: u32,
    /// Until a store has reached the device.
    #[serde(deserialize_with = "between::<_, _, 0, 1_000_000>")]
    pub write: u32,
    /// Whether stores go through the store buffer; else the hart waits for them.
    pub posted: bool,
    /// What the hart itself takes for a store that goes through the store buffer.
    #[serde(default, deserialize_with = "between::<_, _, 0, 4096>")]
    pub handover: u32,
}

/// Regions by address, none of which overlap.
fn regions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Region>, D::Error> {
    let mut regions = Vec::<Region>::deserialize(deserializer)?;
    regions.sort_by_key(|region| region.address);
    for region in &regions {
        if region.address.checked_add(region.size).is_none() {
            return Err(serde::de::Error::custom(format!(
                "region `{}` ends beyond 2^64",
                region.name
            )));
        }
    }
    for pair in regions.windows(2) {
        if pair[0].address + pair[0].size > pair[1].address {
            return Err(serde::de::Error::custom(format!(
                "regions `{}` and `{}` overlap at {:#x}",
                pair[0].name, pair[1].name, pair[1].address
            )));
        }
    }
    Ok(regions)
}

fn power_of_two(name: &str, value: u32) -> Result<(), String> {
    if value.is_power_of_two() {
        Ok(())
    } else {
        Err(format!("`{name}` must be a power of two, not {value}"))
    }
}

fn sets(name: &str, entries: u32, ways_name: &str, ways: u32) -> Result<(), String> {
    if entries.is_multiple_of(ways) && (entries / ways).is_power_of_two() {
        Ok(())
    } else {
        Err(format!(
            "`{name}` must be a power of two times `{ways_name}`: {entries} are not in {ways} ways"
        ))
    }
}
