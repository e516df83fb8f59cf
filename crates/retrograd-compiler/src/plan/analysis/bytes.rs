//! Bytes in words.

/// Bytes as people say them: `1.2 MB`, with kB = 1000.
pub fn bytes_in_words(bytes: u64) -> String {
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => {
            let number = format!("{:.2}", bytes as f64 / *size as f64);
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        None => format!("{bytes} bytes"),
    }
}

/// Bytes in words, and to the byte where words round.
pub(in crate::plan) fn exactly(bytes: u64) -> String {
    if bytes < 1000 { bytes_in_words(bytes) } else { format!("{} ({bytes} bytes)", bytes_in_words(bytes)) }
}
