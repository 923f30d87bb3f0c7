//! Canonical printing.
