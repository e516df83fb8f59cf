//! What memory the machine can spare.

/// Bytes that a run can have without anybody else's memory being taken: what the system says is available, or what is
/// left to a container. None where the system does not say.
///
/// ```
/// assert!(retrograd::pipeline::spare_bytes().is_none_or(|bytes| bytes > 0));
/// ```
pub fn spare_bytes() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let available = read("/proc/meminfo").and_then(|text| available(&text));
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let contained = number("/sys/fs/cgroup/memory.max").zip(number("/sys/fs/cgroup/memory.current"));
    let left = contained.map(|(most, now)| most.saturating_sub(now));
    available.into_iter().chain(left).min()
}

/// The line `MemAvailable:  123 kB`, which counts in 1024 bytes.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_to_the_byte() {
        assert_eq!(available("MemTotal:  8 kB\nMemAvailable:     12 kB\nBuffers: 1 kB\n"), Some(12 * 1024));
        assert_eq!(available("MemTotal: 8 kB\n"), None);
    }
}
