//! Records: lines that the `tactus` tool moves from the console to its report ([`tactus_abi::record`]).

use core::fmt::{self, Display, Write};

use tactus_abi::record::PREFIX;

use crate::println;

/// One figure. A later one of the same name replaces it.
pub fn metric(name: impl Display, value: impl Display, unit: &str) {
    println!("{PREFIX}metric name={name} value={value} unit={unit}");
}

/// [`metric`], of the name `name` followed by `suffix`.
pub fn metric_with_suffix(name: &str, suffix: &str, value: impl Display, unit: &str) {
    println!("{PREFIX}metric name={name}{suffix} value={value} unit={unit}");
}

/// Raw samples, appended to those of the same name and phase.
pub fn samples<T: Display>(
    name: &str,
    phase: &str,
    unit: &str,
    values: impl IntoIterator<Item = T>,
) {
    println!(
        "{PREFIX}samples name={name} phase={phase} unit={unit} values={}",
        Commas(core::cell::RefCell::new(values.into_iter()))
    );
}

/// A marker in time.
pub fn phase(name: &str) {
    println!("{PREFIX}phase name={name}");
}

/// The verdict of a self-checking guest: passed.
pub fn pass(name: &str) {
    println!("{PREFIX}pass name={name}");
}

/// The verdict of a self-checking guest: failed. White space in the reason becomes `_`.
pub fn fail(name: &str, reason: impl Display) {
    println!("{PREFIX}fail name={name} reason={}", Word(reason));
}

/// Reports that this program fails, and ends the VM.
pub fn give_up(reason: &str) -> ! {
    fail(crate::start::program(), reason);
    crate::power::off_failed()
}

/// Text as one field of a record: without white space.
struct Word<T>(T);

impl<T: Display> Display for Word<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Joined<'a, 'b>(&'a mut fmt::Formatter<'b>);
        impl Write for Joined<'_, '_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                for char in text.chars() {
                    let char = if char.is_whitespace() { '_' } else { char };
                    self.0.write_char(char)?;
                }
                Ok(())
            }
        }
        write!(Joined(f), "{}", self.0)
    }
}

/// Values separated by commas, formatted without a buffer.
struct Commas<I>(core::cell::RefCell<I>);

impl<T: Display, I: Iterator<Item = T>> Display for Commas<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, value) in (&mut *self.0.borrow_mut()).enumerate() {
            if i != 0 {
                f.write_char(',')?;
            }
            value.fmt(f)?;
        }
        Ok(())
    }
}
