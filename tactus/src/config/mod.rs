//! `system.toml`: read, typed, with the place of every value in the file.
