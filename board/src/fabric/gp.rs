//! The general-purpose port: what software asks for, one request after the other, in order.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{GpInputs, GpOutputs};

/// A word read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Whether it is a write.
    pub write: bool,
    /// In bytes from the port's begin; a multiple of 4.
    pub address: u32,
    /// The data to write.
    pub data: u32,
    /// Which of its bytes.
    pub strobe: u8,
    /// The fabric's cycle in which it is there, behind the crossing.
    pub due: u64,
    /// Whether a hart waits for the answer.
    pub awaited: bool,
}

/// How a request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The request.
    pub request: Request,
    /// The word read. `None`: an error, or no answer in time.
    pub data: Option<u32>,
}

/// The master of the port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gp {
    queue: VecDeque<Request>,
    /// The first of the queue: since which cycle it is driven.
    since: Option<u64>,
    /// Which parts of it were taken.
    address_taken: bool,
    data_taken: bool,
    /// No hart waits for it any more, but it can't be taken back.
    abandoned: bool,
    /// Nothing gets through, in either direction.
    pub held: bool,
    /// So many answers to come are errors.
    pub spoilt: u32,
}

impl Gp {
    /// How many requests wait for an answer.
    pub fn waiting(&self) -> usize {
        self.queue.len() - usize::from(self.abandoned)
    }

    pub fn push(&mut self, request: Request) {
        self.queue.push_back(request);
    }

    /// The first cycle from `cycle` on in which there is something to do.
    pub fn due(&self, cycle: u64) -> u64 {
        match self.queue.front() {
            // What came through is over when the way is open again.
            Some(_) if self.abandoned && self.held && self.queue.len() == 1 => u64::MAX,
            Some(first) => first.due.max(cycle),
            None => u64::MAX,
        }
    }

    /// The inputs of the fabric in `cycle`.
    pub fn drive(&mut self, cycle: u64) -> GpInputs {
        let mut inputs = GpInputs::default();
        let Some(first) = self.queue.front().filter(|first| first.due <= cycle) else {
            return inputs;
        };
        self.since.get_or_insert(cycle);
        if self.held {
            return inputs;
        }
        if first.write {
            inputs.awvalid = u8::from(!self.address_taken);
            inputs.awaddr = first.address;
            inputs.wvalid = u8::from(!self.data_taken);
            inputs.wdata = first.data;
            inputs.wstrb = first.strobe;
            inputs.bready = u8::from(self.address_taken && self.data_taken);
        } else {
            inputs.arvalid = u8::from(!self.address_taken);
            inputs.araddr = first.address;
            inputs.rready = u8::from(self.address_taken);
        }
        inputs
    }

    /// What happened at the edge at the end of `cycle`: `outputs` and `inputs` were there in it. Gives the request that
    /// is over by it; one that got no answer in `timeout` cycles is.
    pub fn edge(
        &mut self,
        cycle: u64,
        outputs: &GpOutputs,
        inputs: &GpInputs,
        timeout: u64,
    ) -> Option<Answer> {
        let request = *self.queue.front()?;
        let since = self.since?;
        let both = |valid: u8, ready: u8| valid & ready != 0;
        let answered = both(outputs.bvalid, inputs.bready) || both(outputs.rvalid, inputs.rready);
        self.address_taken |=
            both(inputs.awvalid, outputs.awready) || both(inputs.arvalid, outputs.arready);
        self.data_taken |= both(inputs.wvalid, outputs.wready);
        if answered {
            let abandoned = self.abandoned;
            self.next();
            if abandoned {
                return None;
            }
            let response = if request.write {
                outputs.bresp
            } else {
                outputs.rresp
            };
            let spoilt = self.spoilt > 0;
            self.spoilt = self.spoilt.saturating_sub(1);
            let data = (response & 2 == 0 && !spoilt).then_some(outputs.rdata);
            return Some(Answer { request, data });
        }
        if self.abandoned {
            // Those behind it get no answer either.
            let late = self.queue.remove(1)?;
            return Some(Answer {
                request: late,
                data: None,
            });
        }
        if cycle - since + 1 < timeout {
            return None;
        }
        // What the fabric may have seen can't be taken back: only when it has answered it can there be others.
        if self.held && !self.address_taken && !self.data_taken {
            self.next();
        } else {
            self.abandoned = true;
        }
        Some(Answer {
            request,
            data: None,
        })
    }

    fn next(&mut self) {
        self.queue.pop_front();
        (self.since, self.address_taken, self.data_taken) = (None, false, false);
        self.abandoned = false;
    }

    /// Whether this is a state that a run can come to, with at most so many requests.
    pub fn is_sound(&self, most: usize) -> bool {
        self.queue.len() <= most
            && self.since.is_none_or(|since| since < 1 << 62)
            && self
                .queue
                .iter()
                .all(|request| request.due < 1 << 62 && request.address % 4 == 0)
            && (!self.queue.is_empty() || (self.since.is_none() && !self.abandoned))
    }
}
