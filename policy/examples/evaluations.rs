//! Evaluations of a hart's demand that a decision takes, over random sets of reservations:
//! `cargo run --release -p tactus-policy --example evaluations`.
//!
//! Utilisations by UUniFast (Bini and Buttazzo, Real-Time Systems 30, 2005), periods log-uniform from 1 to 1000 ms,
//! deadlines uniform between budget and period, all in ticks of 10 ns.

use tactus_abi::blob::Overheads;
use tactus_policy::demand::{EVALUATIONS, Load, Member, Test, Verdict};
use tactus_policy::reservation::{Kind, Reservation};

/// xorshift64*: the same sets every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Within `[0, 1)`.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[derive(Clone, Copy)]
struct Case {
    count: usize,
    utilisation: f64,
    /// Deadlines are at least this fraction of the way from budget to period.
    deadline: f64,
    servers: f64,
    overheads: Overheads,
}

fn load(case: Case, random: &mut Random) -> Option<Load> {
    let mut load = Load::new(&case.overheads);
    let mut left = case.utilisation;
    for i in 0..case.count {
        let rest = (case.count - i - 1) as f64;
        let next = if rest > 0.0 {
            left * random.unit().powf(1.0 / rest)
        } else {
            0.0
        };
        let period = (1e5 * 1000_f64.powf(random.unit())) as u64;
        let budget = (((left - next) * period as f64) as u64).clamp(1, period);
        left = next;
        let way = case.deadline + (1.0 - case.deadline) * random.unit();
        let least = budget + case.overheads.job;
        let deadline = least + ((period.saturating_sub(least)) as f64 * way) as u64;
        let reservation = Reservation::new(period, budget, deadline.min(period))?;
        let kind = if random.unit() < case.servers {
            Kind::Server
        } else {
            Kind::Periodic
        };
        load.add(Member::new(reservation, kind, case.overheads.job)?);
    }
    Some(load)
}

fn main() {
    let sets: usize = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(2000);
    let none = Overheads::default();
    let some = Overheads {
        job: 400,
        blocking: 1000,
        service_period: 100_000,
        service: 600,
        release: 0,
    };
    println!(
        "   n    U    D>=  servers overheads |  fits  late  over  unknown | quick   p50   p90   p99   max"
    );
    let mut random = Random(1);
    for (name, overheads) in [("none", none), ("some", some)] {
        for servers in [0.0, 0.3, 1.0] {
            for count in [8, 32] {
                for deadline in [0.0, 0.5, 0.9] {
                    for utilisation in [0.5, 0.7, 0.8, 0.9, 0.95, 0.99] {
                        let case = Case {
                            count,
                            utilisation,
                            deadline,
                            servers,
                            overheads,
                        };
                        let mut verdicts = [0; 4];
                        let mut looks = Vec::new();
                        let mut refused = Vec::new();
                        for _ in 0..sets {
                            let Some(load) = load(case, &mut random) else {
                                continue;
                            };
                            let mut test = Test::new();
                            let verdict = loop {
                                match test.step(&load) {
                                    Verdict::Pending => {}
                                    verdict => break verdict,
                                }
                            };
                            verdicts[match verdict {
                                Verdict::Fits => 0,
                                Verdict::DemandExceeded => 1,
                                Verdict::Overloaded => 2,
                                _ => 3,
                            }] += 1;
                            if verdict == Verdict::Fits {
                                looks.push(test.evaluations);
                            } else {
                                refused.push(test.evaluations);
                            }
                        }
                        looks.sort_unstable();
                        refused.sort_unstable();
                        let at = |looks: &[u32], part: f64| {
                            looks
                                .get(((looks.len() as f64 - 1.0) * part) as usize)
                                .copied()
                                .unwrap_or(0)
                        };
                        let quick = looks.iter().filter(|n| **n == 1).count();
                        println!(
                            "{count:4} {utilisation:5.2} {deadline:5.1} {servers:6.1}  {name:>8}  | {:5} {:5} {:5} {:7}  | {quick:5} {:5} {:5} {:5} {:5} | {:5} {:5} {:5} {:5}",
                            verdicts[0],
                            verdicts[1],
                            verdicts[2],
                            verdicts[3],
                            at(&looks, 0.5),
                            at(&looks, 0.9),
                            at(&looks, 0.99),
                            at(&looks, 1.0),
                            at(&refused, 0.5),
                            at(&refused, 0.9),
                            at(&refused, 0.99),
                            at(&refused, 1.0)
                        );
                    }
                }
            }
        }
    }
    println!("limit: {EVALUATIONS}");
}
