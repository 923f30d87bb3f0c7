//! Whether numbers are those that are wanted. Unit tests of the library use this file, too.

/// Whether two numbers are equal, both are NaN, or both are finite and at most so far apart. A distance that grows with the
/// numbers is infinite where one of them is, and would allow any other.
pub fn near(found: f64, wanted: f64, most: f64) -> bool {
    let finite = found.is_finite() && wanted.is_finite();
    found == wanted || found.is_nan() && wanted.is_nan() || finite && (found - wanted).abs() <= most
}

/// Whether lists have as many numbers, each at most so far from the wanted one, relative to its magnitude if that is above 1.
pub fn all_near(found: &[f64], wanted: &[f64], most: f64) -> bool {
    let near = |(found, wanted): (&f64, &f64)| near(*found, *wanted, most * wanted.abs().max(1.0));
    found.len() == wanted.len() && found.iter().zip(wanted).all(near)
}
