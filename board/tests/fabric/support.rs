//! Boards with a fabric, and programs for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex};

use tactus_board::board::{Board, Pace};
use tactus_board::bus::BadState;
use tactus_board::fabric::{Fabric, GpInputs, GpOutputs, Inputs, Model, Outputs, TILES};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};

use crate::assembler::{Program, T0, T1};

pub const MEMORY: u32 = 0x8000_0000;
/// The address of the programs' results.
pub const RESULTS: u32 = 0x8010_0000;
pub const GP: u32 = 0x4000_0000;
pub const PORT: u32 = 0x4010_0000;
pub const MCAUSE: u32 = 0x342;

/// The file of a design's model, which is compiled first if necessary.
fn model_file(design: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(root.join("fabric/flow.py"))
        .args(["model", design])
        .output()
        .expect("the fabric's flow; `make setup` installs what it needs");
    // A panic here poisons the lock, so that all tests that wait for a model fail as well.
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .expect("a path")
        .trim()
        .into()
}

pub fn model(design: &'static str) -> Box<dyn Fabric> {
    static FILES: LazyLock<Mutex<BTreeMap<&str, PathBuf>>> = LazyLock::new(Mutex::default);
    let mut files = FILES.lock().expect("no panic while it is held");
    let file = files.entry(design).or_insert_with(|| model_file(design));
    Box::new(Model::load(file).expect("a model"))
}

/// Two fabrics that must have equal outputs in each cycle.
pub struct Compared(pub Box<dyn Fabric>, pub Box<dyn Fabric>);

impl Compared {
    fn compare(&self, cycles: u64) {
        // The values of invalid outputs do not count.
        let said = |fabric: &dyn Fabric| {
            let mut outputs = *fabric.outputs();
            if outputs.gp_rvalid == 0 {
                (outputs.gp_rdata, outputs.gp_rresp) = (0, 0);
            }
            if outputs.gp_bvalid == 0 {
                outputs.gp_bresp = 0;
            }
            outputs
        };
        let (one, other) = (said(self.0.as_ref()), said(self.1.as_ref()));
        assert_eq!(one, other, "after {cycles} more");
    }
}

impl Fabric for Compared {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn outputs(&self) -> &Outputs {
        self.0.outputs()
    }

    fn cycle(&mut self, inputs: &Inputs, picoseconds: u64) {
        self.0.cycle(inputs, picoseconds);
        self.1.cycle(inputs, picoseconds);
        self.compare(1);
    }

    fn skip(&mut self, cycles: u64) {
        self.0.skip(cycles);
        self.1.skip(cycles);
        self.compare(cycles);
    }

    fn lose_power(&mut self, seed: u64, cycles: u64) {
        self.0.lose_power(seed, cycles);
        self.1.lose_power(seed, cycles);
        self.compare(cycles);
    }

    fn save(&self) -> Vec<u8> {
        self.0.save()
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), BadState> {
        Err(BadState("two are not restored".to_owned()))
    }

    fn begin_waves(&mut self, file: &Path, period: u64) -> Result<(), String> {
        self.0.begin_waves(file, period)
    }
}

/// An observer of a fabric's ports in each cycle.
pub trait Look: Send {
    fn look(&mut self, inputs: &Inputs, outputs: &Outputs);

    /// Observes the tiles' inputs of a cycle and the ports' outputs before it; called before [`look`](Self::look).
    fn look_at_tiles(&mut self, tiles: &[GpInputs; TILES], before: &[GpOutputs; TILES]) {
        let _ = (tiles, before);
    }
}

/// A fabric that is never quiet, with an observer.
pub struct Watched<T>(pub Box<dyn Fabric>, pub Arc<Mutex<T>>);

impl<T: Look> Fabric for Watched<T> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn outputs(&self) -> &Outputs {
        self.0.outputs()
    }

    fn cycle(&mut self, inputs: &Inputs, picoseconds: u64) {
        self.0.cycle(inputs, picoseconds);
        let mut seen = self.1.lock().expect("no panic while it is held");
        seen.look(inputs, self.0.outputs());
    }

    fn has_tiles(&self) -> bool {
        self.0.has_tiles()
    }

    fn tile_outputs(&self) -> &[GpOutputs; TILES] {
        self.0.tile_outputs()
    }

    fn cycle_with_tiles(&mut self, inputs: &Inputs, tiles: &[GpInputs; TILES], picoseconds: u64) {
        let before = *self.0.tile_outputs();
        self.0.cycle_with_tiles(inputs, tiles, picoseconds);
        let mut seen = self.1.lock().expect("no panic while it is held");
        seen.look_at_tiles(tiles, &before);
        seen.look(inputs, self.0.outputs());
    }

    fn skip(&mut self, _: u64) {
        unreachable!("the design is never quiet");
    }

    fn lose_power(&mut self, seed: u64, cycles: u64) {
        self.0.lose_power(seed, cycles);
    }

    fn save(&self) -> Vec<u8> {
        self.0.save()
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), BadState> {
        Err(BadState("what was seen is not restored".to_owned()))
    }

    fn begin_waves(&mut self, file: &Path, period: u64) -> Result<(), String> {
        self.0.begin_waves(file, period)
    }
}

/// A board of the profile `soc` with this fabric, on which all harts run the program.
pub fn board(
    fabric: Option<Box<dyn Fabric>>,
    harts: usize,
    pace: Pace,
    program: &Program,
) -> Board {
    board_with(fabric, harts, pace, program, |_| {})
}

/// The same with a changed profile.
pub fn board_with(
    fabric: Option<Box<dyn Fabric>>,
    harts: usize,
    pace: Pace,
    program: &Program,
    change: impl FnOnce(&mut Profile),
) -> Board {
    let mut profile = Profile::named("soc").expect("a profile");
    change(&mut profile);
    let options = Options {
        harts: Some(harts),
        memory: Some(4 << 20),
        ..Options::default()
    };
    let (mut board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
    if let Some(fabric) = fabric {
        setup::load_fabric(&mut board, &profile, fabric).expect("a fabric");
    }
    board
        .write(MEMORY.into(), &program.bytes())
        .expect("memory");
    (0..harts).for_each(|hart| board.set_pc(hart, MEMORY.into()));
    board.set_pace(pace);
    board
}

/// Appends instructions that power the board off.
pub fn power_off(program: &mut Program) {
    program.li(T0, 0x10_0000);
    program.li(T1, 0x5555);
    program.sw(T1, 0, T0);
    let here = program.here();
    program.j(here);
}

/// A doubleword of the results.
pub fn result(board: &Board, index: u32) -> u64 {
    let mut bytes = [0; 8];
    board
        .memory()
        .read(u64::from(RESULTS + 8 * index), &mut bytes)
        .expect("memory");
    u64::from_le_bytes(bytes)
}

/// Pseudo-random numbers (Vigna's splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % limit
    }
}
