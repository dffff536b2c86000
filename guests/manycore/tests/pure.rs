//! Tests pure functions of the C side on the host: the server's selection of clients, and the limits of a tile's area.

// Links the library that `build.rs` compiles for the host.
use tactus_guest_manycore as _;

const CLIENTS: u32 = 16;
const NO_CLIENT: u32 = CLIENTS;
const SECTOR: u32 = 4096;

/// `struct turns` of `io/turns.h`.
#[repr(C)]
#[derive(Default)]
struct Turns {
    fifo: bool,
    waiting: u32,
    last: u32,
    order: [u8; CLIENTS as usize],
    first: u32,
    end: u32,
}

/// `struct area` of `io/area.h`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Area {
    sector: u32,
    sectors: u32,
    x: u16,
    y: u16,
    width: u16,
    height: u16,
    mac: [u8; 6],
}

unsafe extern "C" {
    fn turns_init(turns: *mut Turns, fifo: bool);
    fn turns_arrive(turns: *mut Turns, client: u32) -> bool;
    fn turns_next(turns: *mut Turns) -> u32;
    fn area_of_tile(tile: u32) -> Area;
    fn area_flash(area: *const Area, address: u32, length: usize, place: *mut u32) -> bool;
    fn area_row(
        area: *const Area,
        x: u32,
        y: u32,
        length: usize,
        device_x: *mut u32,
        device_y: *mut u32,
    ) -> usize;
    fn area_receives(area: *const Area, destination: *const u8) -> bool;
}

impl Turns {
    fn new(fifo: bool) -> Self {
        let mut turns = Self::default();
        // SAFETY: the call writes all of it.
        unsafe { turns_init(&raw mut turns, fifo) };
        turns
    }

    fn arrive(&mut self, client: u32) -> bool {
        // SAFETY: the client's number is in range.
        unsafe { turns_arrive(self, client) }
    }

    fn next(&mut self) -> u32 {
        // SAFETY: initialized by turns_init.
        unsafe { turns_next(self) }
    }
}

impl Area {
    fn of(tile: u32) -> Self {
        // SAFETY: the argument is a plain number.
        unsafe { area_of_tile(tile) }
    }

    fn flash(&self, address: u32, length: usize) -> Option<u32> {
        let mut place = 0;
        // SAFETY: both objects live during the call.
        unsafe { area_flash(self, address, length, &raw mut place) }.then_some(place)
    }

    fn row(&self, x: u32, y: u32, length: usize) -> (usize, u32, u32) {
        let (mut device_x, mut device_y) = (0, 0);
        // SAFETY: all objects live during the call.
        let part = unsafe { area_row(self, x, y, length, &raw mut device_x, &raw mut device_y) };
        (part, device_x, device_y)
    }

    fn receives(&self, destination: [u8; 6]) -> bool {
        // SAFETY: both objects live during the call.
        unsafe { area_receives(self, destination.as_ptr()) }
    }
}

/// Pseudorandom numbers (xorshift): the same ones each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as u32 % bound
    }
}

#[test]
fn turns_are_those_of_a_model() {
    for fifo in [true, false] {
        let mut random = Random(0x5eed);
        let mut turns = Turns::new(fifo);
        let mut model: Vec<u32> = Vec::new();
        let mut last = CLIENTS - 1;
        for _ in 0..100_000 {
            if random.below(2) == 0 {
                let client = random.below(CLIENTS);
                let new = !model.contains(&client);
                assert_eq!(turns.arrive(client), new);
                if new {
                    model.push(client);
                }
            } else {
                let expected = if fifo {
                    model.first().copied()
                } else {
                    let after = |client: &&u32| (**client + CLIENTS - last - 1) % CLIENTS;
                    model.iter().min_by_key(after).copied()
                };
                assert_eq!(turns.next(), expected.unwrap_or(NO_CLIENT));
                if let Some(client) = expected {
                    model.retain(|other| *other != client);
                    last = client;
                }
            }
        }
    }
}

#[test]
fn round_robin_lets_each_other_client_go_once_before_one() {
    let mut turns = Turns::new(false);
    for client in 0..CLIENTS {
        assert!(turns.arrive(client));
    }
    for round in 0..10 {
        for client in 0..CLIENTS {
            assert_eq!(turns.next(), client, "round {round}");
            assert!(turns.arrive(client));
        }
    }
}

#[test]
fn areas_of_flash_do_not_meet_and_are_not_left() {
    for tile in 0..CLIENTS {
        let area = Area::of(tile);
        let begin = 4 * tile * SECTOR;
        assert_eq!(area.flash(0, 0), Some(begin));
        assert_eq!(area.flash(0, 4 * SECTOR as usize), Some(begin));
        assert_eq!(area.flash(4 * SECTOR - 1, 1), Some(begin + 4 * SECTOR - 1));
        assert_eq!(area.flash(4 * SECTOR - 1, 2), None);
        assert_eq!(area.flash(4 * SECTOR, 1), None);
        assert_eq!(area.flash(u32::MAX, 2), None);
        assert_eq!(area.flash(1, usize::MAX), None);
    }
}

#[test]
fn rows_are_cut_at_the_window() {
    let area = Area::of(6);
    assert_eq!(area.row(0, 0, 10), (10, 160, 60));
    assert_eq!(area.row(75, 59, 10), (5, 235, 119));
    assert_eq!(area.row(80, 0, 10).0, 0);
    assert_eq!(area.row(0, 60, 10).0, 0);
    assert_eq!(area.row(u32::MAX, 0, 10).0, 0);
    assert_eq!(area.row(0, u32::MAX, 10).0, 0);
}

#[test]
fn a_tile_has_frames_that_are_sent_to_it_or_to_all() {
    let area = Area::of(5);
    assert!(area.receives([2, 0, 0, 0, 0, 5]));
    assert!(area.receives([0xff; 6]));
    assert!(!area.receives([2, 0, 0, 0, 0, 6]));
    assert!(!area.receives([0xff, 0xff, 0xff, 0xff, 0xff, 5]));
}
