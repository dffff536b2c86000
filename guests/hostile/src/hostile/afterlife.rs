//! Restarts itself in the middle of an accelerator's computation, again and again, and checks each time that the last
//! life's computation does not write into this life's memory.

use tactus_guest::{abi::map, accelerator::Computation, accelerator::VirtualDevice, power, time};

use super::progress::Progress;

/// The hardware task, `qam16`.
const TASK: u8 = 2;
/// Offsets in its memory of the input of a modulation by 16 symbols, and of its result: zeros as well have one that is
/// not zero.
const INPUT: u32 = 3 << 20;
const OUTPUT: u32 = 0;
/// Length of the input; the result, below the guest's image, is 8 times as long. It takes longer to compute than the
/// guest takes to restart.
const LENGTH: u32 = 256 << 10;
const RESULT: usize = 8 * LENGTH as usize;
/// How long each life watches its memory, in microseconds.
const WATCHED_US: u64 = 500;
/// The steps in which restarts are spread over a computation, in microseconds.
const STEP_US: u64 = 331;

/// Restarts `lives` times.
pub fn attack(progress: Progress, lives: u64) {
    let ticks = |microseconds| microseconds * time::hz() / 1_000_000;
    let begin = time::now();
    loop {
        if let Some((address, value)) = written() {
            progress.breach(format_args!(
                "memory at {address:#x} holds {value:#x} from a computation of the last life"
            ));
        }
        if time::now() - begin >= ticks(WATCHED_US) {
            break;
        }
    }
    let Some(life) = progress.next(lives) else {
        return;
    };
    let device = VirtualDevice::find(TASK).expect("it has a device for it");
    device.start(&Computation {
        input: INPUT,
        length: LENGTH,
        output: OUTPUT,
        parameter: 0,
    });
    // The request may wait, run or be over when this life ends.
    let begin = time::now();
    while time::now() - begin < ticks(life * STEP_US) {}
    progress.ends();
    power::restart();
}

/// A word of the result's memory that is not zero, which it is in a new life until something writes it.
fn written() -> Option<(usize, u64)> {
    let first = map::RAM_BASE as usize + OUTPUT as usize;
    let words = (first..first + RESULT).step_by(4096);
    words
        // SAFETY: free memory of the guest.
        .map(|address| (address, unsafe { (address as *const u64).read_volatile() }))
        .find(|&(_, value)| value != 0)
}
