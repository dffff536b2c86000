//! How a sweep's runs are made: what `tactus run` takes as options, said for all runs or as levels of a factor.

use std::path::Path;

use tactus_board::board::{MemoryModel, Pace};
use toml::Value;

use crate::config::Nanoseconds;
use crate::run::machine::SEED;

/// The most virtual time that a run has.
const LIMIT_MAX: Nanoseconds = Nanoseconds(18_000_000_000_000);
/// The most cycles of a quantum.
const QUANTUM_MAX: i64 = 1_000_000;

/// Options of a run, by the names that `tactus run` has for them.
pub const NAMES: [&str; 8] = [
    "profile",
    "pace",
    "timed_from",
    "quantum",
    "memory_model",
    "until",
    "limit",
    "seed",
];

/// The options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The board's profile: its name, or its file; without, that of the system's platform.
    pub profile: Option<String>,
    /// What time passes.
    pub pace: Pace,
    /// From which event on it is timed.
    pub timed_from: Option<String>,
    /// Cycles that a hart runs before another one.
    pub quantum: Option<u64>,
    /// How harts see each other's loads and stores.
    pub memory_model: MemoryModel,
    /// The VM that a run ends with.
    pub until: Option<String>,
    /// The virtual time that a run ends at.
    pub limit: Option<Nanoseconds>,
    /// What everything random is made of, in the first run.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            profile: None,
            pace: Pace::Fast,
            timed_from: None,
            quantum: None,
            memory_model: MemoryModel::default(),
            until: None,
            limit: None,
            seed: SEED,
        }
    }
}

impl Settings {
    /// Sets the option of a name, one of [`NAMES`]. Files are relative to `directory`.
    ///
    /// # Errors
    /// What the option wants.
    pub fn set(&mut self, name: &str, value: &Value, directory: &Path) -> Result<(), &'static str> {
        let text = value.as_str();
        let number = value.as_integer();
        match name {
            "profile" => {
                let profile = text.ok_or("the name of a profile, or the path of its file")?;
                self.profile = Some(if profile.contains(['/', '.']) {
                    let path = directory.join(profile);
                    // A file is told from a name by its path.
                    match path.to_string_lossy() {
                        path if path.contains('/') => path.into_owned(),
                        path => format!("./{path}"),
                    }
                } else {
                    profile.to_owned()
                });
            }
            "pace" => {
                self.pace = match text {
                    Some("fast") => Pace::Fast,
                    Some("timed") => Pace::Timed,
                    _ => return Err("\"fast\" or \"timed\""),
                };
            }
            "timed_from" => {
                const FORMS: &str = "phase:NAME, symbol:SYMBOL, symbol:VM/SYMBOL or cycle:NUMBER";
                let marker = text.filter(|text| text.contains(':')).ok_or(FORMS)?;
                self.timed_from = Some(marker.to_owned());
            }
            "quantum" => {
                let quantum = number.filter(|number| (1..=QUANTUM_MAX).contains(number));
                let quantum = quantum.ok_or("1 to 1,000,000 cycles")?;
                self.quantum = Some(quantum.unsigned_abs());
            }
            "memory_model" => {
                self.memory_model = match text {
                    Some("sequential") => MemoryModel::Sequential,
                    Some("weak") => MemoryModel::Weak,
                    _ => return Err("\"sequential\" or \"weak\""),
                };
            }
            "until" => {
                let vm = text.filter(|text| !text.is_empty());
                self.until = Some(vm.ok_or("the name of a VM")?.to_owned());
            }
            "limit" => {
                let time = text.and_then(Nanoseconds::from_text);
                let time = time.filter(|time| *time <= LIMIT_MAX);
                self.limit = Some(time.ok_or("a time such as \"250ms\", 18000s at most")?);
            }
            "seed" => {
                let seed = number.and_then(|number| u64::try_from(number).ok());
                self.seed = seed.ok_or("a whole number that is not negative")?;
            }
            _ => return Err("nothing: there is no such option"),
        }
        Ok(())
    }

    /// Whether they can be together.
    ///
    /// # Errors
    /// What is wrong, and what to do about it.
    pub fn check(&self) -> Result<(), (String, String)> {
        if self.pace == Pace::Timed && self.timed_from.is_some() {
            let message = "`pace = \"timed\"` is from reset on, and `timed_from` from later on";
            return Err((message.to_owned(), "leave one of them out".to_owned()));
        }
        Ok(())
    }

    /// What the settings are, but for the seed, as a text: the same for the same.
    pub fn text(&self) -> String {
        let Self {
            profile: _,
            pace,
            timed_from,
            quantum,
            memory_model,
            until,
            limit,
            seed: _,
        } = self;
        format!(
            "pace {pace:?}\ntimed_from {timed_from:?}\nquantum {quantum:?}\nmemory_model {memory_model:?}\n\
             until {until:?}\nlimit {limit:?}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_says_what_it_wants() {
        for name in NAMES {
            let mut settings = Settings::default();
            let wrong = settings.set(name, &Value::Boolean(true), Path::new(""));
            assert!(wrong.is_err_and(|wants| !wants.contains("no such option")));
            assert_eq!(settings, Settings::default(), "{name}");
        }
    }

    #[test]
    fn profiles_are_names_or_files_beside_the_sweep() {
        let profile = |name: &str, directory: &str| {
            let mut settings = Settings::default();
            let name = Value::String(name.to_owned());
            let set = settings.set("profile", &name, Path::new(directory));
            set.expect("it is a profile");
            settings.profile.expect("it is set")
        };
        assert_eq!(profile("soc", "a"), "soc");
        assert_eq!(profile("mine.toml", "a"), "a/mine.toml");
        assert_eq!(profile("mine.toml", ""), "./mine.toml");
    }
}
