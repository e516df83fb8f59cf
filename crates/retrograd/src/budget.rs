//! Budgets: bytes, as a number or in words.

use std::fmt;
use std::str::FromStr;

use retrograd_compiler::ir::{Error, ErrorKind, Pos};

/// A number of bytes.
///
/// Decimal units are powers of 1000, binary units powers of 1024. Display is exact and reads back.
///
/// ```
/// use retrograd::Budget;
/// let budget: Budget = "1.2 MB".parse()?;
/// assert_eq!(budget.bytes(), 1_200_000);
/// assert_eq!("16 MiB".parse::<Budget>()?.bytes(), 16 << 20);
/// assert_eq!(budget.to_string(), "1.2 MB");
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Budget(u64);

/// Units and their bytes; the decimal ones in the order in which Display tries them.
const UNITS: [(&str, u64); 8] = [
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

impl Budget {
    /// A number of bytes.
    pub fn new(bytes: u64) -> Budget {
        Budget(bytes)
    }

    /// The bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for Budget {
    type Err = Error;

    fn from_str(text: &str) -> Result<Budget, Error> {
        read(text).map_err(|reason| {
            let message = format!(
                "the budget `{text}` {reason}; write bytes, or a number and a unit such as \"1.2 MB\" or \"16 MiB\""
            );
            Error::new(ErrorKind::Argument, Pos::unknown(), message)
        })
    }
}

fn read(text: &str) -> Result<Budget, String> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err("is negative".into());
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = (text[..end].replace('_', ""), text[end..].trim());
    if number.is_empty() {
        let word = unit.to_ascii_lowercase();
        let infinite = word.starts_with("inf") || word.starts_with("nan");
        return Err(if infinite { "is not finite".into() } else { "does not start with a number".into() });
    }
    let bytes = match unit {
        "" | "B" | "byte" | "bytes" => 1,
        // Capitals matter in no unit that we know, so that "640KB" and "16mib" are understood.
        unit => UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, bytes)| *bytes).ok_or_else(
            || {
                let known: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
                format!("has the unknown unit `{unit}` (known are B, {})", known.join(", "))
            },
        )?,
    };
    scaled(&number, bytes).map(Budget)
}

/// A decimal number times a unit, in integers so that no byte is lost; a fraction of a byte is dropped.
fn scaled(number: &str, unit: u64) -> Result<u64, String> {
    let too_large = || "is more than 2^64 bytes".to_owned();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return Err(format!("has `{number}`, which is not a number"));
    }
    let digits = |text: &str| if text.is_empty() { Ok(0) } else { text.parse::<u128>().map_err(|_| too_large()) };
    // Beyond 18 places a fraction of even a TiB is less than a byte.
    let fraction = &fraction[..fraction.len().min(18)];
    let scale = 10_u128.pow(u32::try_from(fraction.len()).expect("at most 18"));
    let part = digits(fraction)? * u128::from(unit) / scale;
    let total =
        digits(whole)?.checked_mul(u128::from(unit)).and_then(|bytes| bytes.checked_add(part)).ok_or_else(too_large)?;
    u64::try_from(total).map_err(|_| too_large())
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((name, unit)) = UNITS[..4].iter().find(|(_, unit)| self.0 >= *unit) else {
            return write!(f, "{} bytes", self.0);
        };
        let places = unit.ilog10() as usize;
        let fraction = format!("{:0places$}", self.0 % unit);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        write!(f, "{}{point}{fraction} {name}", self.0 / unit)
    }
}

/// What can be given as a budget: bytes as an integer, a [`Budget`], or words such as `"1.2 MB"`.
pub trait IntoBudget {
    /// The budget, or why it is none.
    fn into_budget(self) -> Result<Budget, Error>;
}

impl IntoBudget for Budget {
    fn into_budget(self) -> Result<Budget, Error> {
        Ok(self)
    }
}

impl IntoBudget for u64 {
    fn into_budget(self) -> Result<Budget, Error> {
        Ok(Budget(self))
    }
}

impl IntoBudget for &str {
    fn into_budget(self) -> Result<Budget, Error> {
        self.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, bytes: u64) {
        assert_eq!(text.parse::<Budget>(), Ok(Budget(bytes)), "{text}");
    }

    fn refused(text: &str, reason: &str) {
        let error = text.parse::<Budget>().expect_err(text);
        assert!(error.message.contains(reason), "{text}: {}", error.message);
    }

    #[test]
    fn budgets_are_read_exactly() {
        check("0", 0);
        check(" 1_000 ", 1000);
        check("640kB", 640_000);
        check("640 KB", 640_000);
        check("1.2 MB", 1_200_000);
        check(".5 KiB", 512);
        check("16 MiB", 16 << 20);
        check("0.1 GB", 100_000_000);
        check("1.9 B", 1);
        check("18446744073709551615", u64::MAX);
    }

    #[test]
    fn mistakes_are_named() {
        refused("-1 MB", "is negative");
        refused("inf", "is not finite");
        refused("NaN", "is not finite");
        refused("12 parsecs", "unknown unit `parsecs`");
        refused("much", "does not start with a number");
        refused("", "does not start with a number");
        refused("1.2.3 MB", "not a number");
        refused("99999999 TB", "more than 2^64");
        refused("1e3", "unknown unit `e3`");
    }

    #[test]
    fn display_reads_back() {
        for bytes in [0, 999, 1000, 1001, 1_200_000, 1_234_567, 16 << 20, u64::MAX] {
            check(&Budget(bytes).to_string(), bytes);
        }
        assert_eq!(Budget(640_000).to_string(), "640 kB");
        assert_eq!(Budget(1_000_001).to_string(), "1.000001 MB");
    }
}
