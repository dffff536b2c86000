//! The host that measures: time on it, how busy others keep it, and keeping it busy on purpose.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Whose CPU time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// That of child processes, once they have ended; only one may run at a time.
    Children,
    /// That of the calling thread.
    Thread,
}

/// Measures how long something takes.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    whose: Whose,
    begin: Instant,
    cpu: Option<Duration>,
}

/// How long something took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostTime {
    /// On the wall's clock.
    pub wall: Duration,
    /// CPU time, which is the same on a quiet host and hardly longer on a busy one; where the kernel does not
    /// say, the wall's clock.
    pub cpu: Duration,
}

impl Stopwatch {
    /// Begins now.
    pub fn start(whose: Whose) -> Self {
        Self {
            whose,
            begin: Instant::now(),
            cpu: cpu_time(whose),
        }
    }

    /// Time on the wall's clock so far.
    pub fn wall(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Time so far. `wall` is what the wall's clock showed at the end, which may be before a child was reaped.
    pub fn read(&self, wall: Duration) -> HostTime {
        let cpu = self
            .cpu
            .zip(cpu_time(self.whose))
            .and_then(|(begin, end)| end.checked_sub(begin));
        HostTime {
            wall,
            cpu: cpu.filter(|cpu| !cpu.is_zero()).unwrap_or(wall),
        }
    }
}

fn cpu_time(whose: Whose) -> Option<Duration> {
    match whose {
        Whose::Children => {
            let stat = fs::read_to_string("/proc/self/stat").ok()?;
            let [_, _, user, system] = cpu_fields(&stat)?;
            let hertz = rustix::param::clock_ticks_per_second();
            Some(Duration::from_secs_f64(
                (user + system) as f64 / hertz as f64,
            ))
        }
        Whose::Thread => Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).ok(),
    }
}

/// utime, stime, cutime and cstime from `/proc/self/stat` (proc(5)), in ticks.
fn cpu_fields(stat: &str) -> Option<[u64; 4]> {
    // The name, in parentheses, may hold anything; 11 fields lie between it and these.
    let fields = numbers(stat.rsplit_once(')')?.1);
    fields.get(11..15)?.try_into().ok()
}

/// CPU time of the host, in the kernel's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CpuTime {
    /// That passed on all CPUs.
    passed: u64,
    /// Of it, with something to do.
    busy: u64,
    /// Of that, for this process and its children that have ended.
    own: u64,
}

impl CpuTime {
    /// Up to now; `None` where the kernel does not say.
    fn now() -> Option<Self> {
        let all = fs::read_to_string("/proc/stat").ok()?;
        let own = fs::read_to_string("/proc/self/stat").ok()?;
        Self::parse(&all, &own)
    }

    /// From the texts of `/proc/stat` and `/proc/self/stat` (proc(5)).
    fn parse(all: &str, own: &str) -> Option<Self> {
        let all: Vec<u64> = numbers(all.lines().next()?.strip_prefix("cpu ")?);
        // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already.
        let [user, nice, system, idle, iowait, irq, softirq, steal] = *all.first_chunk()?;
        let busy = user + nice + system + irq + softirq + steal;
        Some(Self {
            passed: busy + idle + iowait,
            busy,
            own: cpu_fields(own)?.iter().sum(),
        })
    }
}

fn numbers(text: &str) -> Vec<u64> {
    // Some fields are negative; none of those that are used.
    text.split_whitespace()
        .map(|word| word.parse().unwrap_or(0))
        .collect()
}

/// Watches how busy others keep the host.
#[derive(Clone, Copy, Debug)]
pub struct Watch(Option<CpuTime>);

impl Watch {
    /// Begins to watch.
    pub fn begin() -> Self {
        Self(CpuTime::now())
    }

    /// CPUs that others have used since, on average; `None` where the kernel does not say.
    pub fn others(self) -> Option<f64> {
        let (begin, end) = (self.0?, CpuTime::now()?);
        let cpus = thread::available_parallelism().map_or(1, |n| n.get());
        let passed = (end.passed - begin.passed) as f64 / cpus as f64;
        let busy = (end.busy - begin.busy) as f64;
        let own = (end.own - begin.own) as f64;
        (passed > 0.0).then_some(((busy - own) / passed).max(0.0))
    }
}

/// Keeps CPUs of the host busy until it is dropped.
#[derive(Debug)]
pub struct Load {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// With so many threads that do nothing but compete.
    pub fn start(threads: usize) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let spin = |over: Arc<AtomicBool>| {
            move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        };
        let threads = (0..threads)
            .map(|_| thread::spawn(spin(Arc::clone(&over))))
            .collect();
        Self { over, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It cannot have panicked.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read() {
        let all = "cpu  100 20 30 4000 50 6 7 8 9 0\ncpu0 1 2 3 4\n";
        let own = "42 (a) b) R 1 2 3 -1 5 6 7 8 9 10 11 12 13 14 20 0 1\n";
        assert_eq!(
            CpuTime::parse(all, own),
            Some(CpuTime {
                passed: 4221,
                busy: 171,
                own: 11 + 12 + 13 + 14,
            })
        );
        assert_eq!(CpuTime::parse("cpu 1 2", own), None);
        assert_eq!(CpuTime::parse(all, "42 (a) R 1"), None);
    }

    #[test]
    fn cpu_time_of_a_waiting_thread_stands_still() {
        let watch = Stopwatch::start(Whose::Thread);
        thread::sleep(Duration::from_millis(50));
        let time = watch.read(watch.wall());
        assert!(time.wall >= Duration::from_millis(50));
        assert!(time.cpu < time.wall, "{time:?}");
    }

    #[test]
    fn load_ends_when_dropped() {
        let load = Load::start(2);
        let over = Arc::clone(&load.over);
        drop(load);
        assert!(over.load(Ordering::Relaxed));
        assert_eq!(Arc::strong_count(&over), 1, "the threads are gone");
    }
}
