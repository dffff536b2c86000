//! temp
use crate::ready::Handle;
use crate::reservation::{Kind, Reservation};
use tactus_abi::blob::Overheads;
use tactus_abi::hypercall::Refusal;
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub reservation: Reservation,
    pub kind: Kind,
}
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub handle: Handle,
    pub vm: usize,
    pub task: Task,
    pub harts: u64,
}
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    pub hart: usize,
    pub moved: Option<(Handle, usize)>,
}
pub enum Step {
    More,
    Done(Result<Decision, Refusal>),
}
pub struct Trial {
    hart: usize,
}
pub struct Ledger<const HARTS: usize, const VCPUS: usize> {
    harts: u64,
    at: [(u8, u64); VCPUS],
}
impl<const HARTS: usize, const VCPUS: usize> Ledger<HARTS, VCPUS> {
    pub const fn new() -> Self {
        Self {
            harts: 0,
            at: [(0, 0); VCPUS],
        }
    }
    pub fn configure(&mut self, _o: Overheads, _r: u32, _h: usize) {}
    pub fn open_hart(&mut self, hart: usize) {
        self.harts |= 1 << hart;
    }
    pub fn set_share(&mut self, _vm: usize, _share: u32) {}
    pub fn enter(&mut self, r: &Request, hart: usize) {
        self.at[usize::from(r.handle)] = (
            hart as u8,
            (r.task.reservation.budget << 20) / r.task.reservation.period,
        );
    }
    pub fn begin(&self, r: &Request) -> Result<Trial, Refusal> {
        for h in 0..HARTS {
            if self.harts & r.harts >> h & 1 != 0 {
                let mut u = (r.task.reservation.budget << 20) / r.task.reservation.period;
                for (i, e) in self.at.iter().enumerate() {
                    if usize::from(e.0) == h && i != usize::from(r.handle) {
                        u += e.1;
                    }
                }
                if u < 1 << 20 {
                    return Ok(Trial { hart: h });
                }
            }
        }
        Err(Refusal::Utilisation)
    }
    pub fn step(&self, t: &mut Trial) -> Step {
        Step::Done(Ok(Decision {
            hart: t.hart,
            moved: None,
        }))
    }
    pub fn commit(&mut self, r: &Request, d: Decision) {
        self.enter(r, d.hart);
    }
    pub fn leave(&mut self, h: Handle, _until: u64) {
        self.at[usize::from(h)] = (0, 0);
    }
}
