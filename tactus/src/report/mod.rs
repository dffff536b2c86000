//! What a run produced, for people and for programs.
