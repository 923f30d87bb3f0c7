//! The versions of the format that were released with versions of the standard operator set.

/// The versions of the operator set from which on the version of the format is another one.
const FORMATS: &[(i64, i64)] =
    &[(1, 3), (9, 4), (10, 5), (11, 6), (12, 7), (15, 8), (19, 9), (21, 10), (23, 11), (24, 12), (25, 13), (28, 14)];

/// The version of the format (`ir_version`) that was released with a version of the operator set.
pub(crate) fn format_of(version: i64) -> i64 {
    FORMATS.iter().rev().find(|row| row.0 <= version).map_or(0, |row| row.1)
}
