//! Boards of tiles, and software into those.

use super::{BootError, Options, load, plain};
use crate::board::BuildError;
use crate::fabric::{Fabric, TilePort};
use crate::memory::NoMemory;
use crate::profile::{DeviceKind, Profile};
use crate::tiles::{ARGUMENTS, Tiles};
use crate::time::Clock;

/// The board of a profile with tiles: as many of them, or as it says, around a fabric. Each has the profile's memory
/// and devices. `options.quantum` is for how many cycles a tile runs ahead.
///
/// # Errors
///
/// When the profile has no such board, or the design no ports for tiles.
pub fn tiles(
    profile: &Profile,
    options: &Options,
    fabric: Box<dyn Fabric>,
) -> Result<Tiles, BuildError> {
    let place = profile.device(DeviceKind::Fabric);
    let (Some(place), Some(described), true) = (place, &profile.fabric, profile.tiles) else {
        return Err(BuildError::Tiles(false));
    };
    if !fabric.has_tiles() {
        return Err(BuildError::NoTilePorts(fabric.name().to_owned()));
    }
    let number = options.harts.unwrap_or(profile.harts.default as usize);
    if number > profile.harts.max as usize {
        return Err(BuildError::ProfileHarts {
            wanted: number,
            max: profile.harts.max as usize,
        });
    }
    let clock = Clock::from_hertz(profile.clock_hz);
    let mut of_one = profile.clone();
    let mut tiles = Vec::new();
    for tile in 0..number {
        of_one.harts.first_id = tile as u64;
        let options = Options {
            harts: Some(1),
            ..options.clone()
        };
        let (mut board, console) = plain(&of_one, &options, Vec::new())?;
        let port = TilePort::new(clock, described.writes as usize, described.timeout);
        board.attach_tile_port(place.address, place.size, port)?;
        tiles.push((board, console));
    }
    let quantum = options.quantum.unwrap_or(profile.fast_quantum);
    Ok(Tiles::new(tiles, fabric, clock, quantum))
}

impl Tiles {
    /// Gives a tile software: an ELF file, which starts in M-mode with the tile's number in a0, and in a1 the address
    /// of what it is told, with a zero byte behind.
    ///
    /// # Errors
    ///
    /// When it is no such file, or does not fit beside `arguments` into the tile's memory.
    ///
    /// # Panics
    ///
    /// When there is no such tile.
    pub fn start(
        &mut self,
        tile: usize,
        software: &[u8],
        arguments: &str,
    ) -> Result<(), BootError> {
        let board = self.board_mut(tile);
        let (base, size) = (board.memory().base(), board.memory().size());
        let entry = load(board, "tile's software", software, base)?;
        let at = base + size - ARGUMENTS;
        let mut bytes = arguments.as_bytes().to_vec();
        bytes.push(0);
        if bytes.len() as u64 > ARGUMENTS {
            return Err(BootError::Room {
                what: "tile's arguments",
                reason: NoMemory {
                    address: at,
                    length: bytes.len(),
                },
            });
        }
        board.write(at, &bytes).map_err(|reason| BootError::Room {
            what: "tile's arguments",
            reason,
        })?;
        board.set_pc(0, entry);
        board.set_x(0, 10, tile as u64);
        board.set_x(0, 11, at);
        self.begin(tile);
        Ok(())
    }
}
