//! The arithmetic of F and D against the specification's statements, an exact model, and SoftFloat.

mod conversions;
mod exact;
mod host;
mod model;
mod operands;
mod rules;
mod threads;
