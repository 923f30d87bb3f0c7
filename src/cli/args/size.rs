//! Numbers of bytes as people write them.

/// The units: a letter stands for a power of 1024, as with an `i`; with `B` alone it is a power of 1000.
const UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kib", 1 << 10),
    ("kb", 1_000),
    ("m", 1 << 20),
    ("mib", 1 << 20),
    ("mb", 1_000_000),
    ("g", 1 << 30),
    ("gib", 1 << 30),
    ("gb", 1_000_000_000),
    ("t", 1 << 40),
    ("tib", 1 << 40),
    ("tb", 1_000_000_000_000),
];

/// Reads a number of bytes: `805306368`, `10M`, `512KiB`, `1.5GB`.
///
/// # Errors
///
/// The text has another form, or the number is too large.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let form = || format!("`{text}` is not a size, as in 805306368, 10M, 512KiB or 1.5GB");
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim_start().to_ascii_lowercase();
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(form)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u64 = whole.parse().map_err(|_| form())?;
    // More digits change nothing: they are less than a byte.
    let part: String = part.chars().take(15).collect();
    let scale = 10u128.pow(part.len() as u32);
    let part: u128 = part.parse().map_err(|_| form())?;
    let bytes = u128::from(whole) * u128::from(*unit) + part * u128::from(*unit) / scale;
    u64::try_from(bytes).map_err(|_| format!("`{text}` is more than 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("0", 0),
            ("805306368", 805_306_368),
            ("10M", 10 << 20),
            ("10m", 10 << 20),
            ("512KiB", 512 << 10),
            ("1 GiB", 1 << 30),
            ("1.5GB", 1_500_000_000),
            ("2t", 2 << 40),
            ("7b", 7),
            ("0.0000000000000000001T", 0),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "M", "1.M", ".5M", "-1", "1e9", "1.2.3G", "10X", "1KiBs", "18446744073709551616", "99999999T"]
        {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
