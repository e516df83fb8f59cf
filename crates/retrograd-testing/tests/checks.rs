//! Checks.
use retrograd_testing::laws::{self, LAWS, Law};

#[test]
fn dev() {
    let law: Vec<Law> = LAWS.iter().filter(|law| law.name.starts_with("of checks")).map(|law| Law { small: 1, large: 1, ..*law }).collect();
    let get = |name: &str, default: u64| std::env::var(name).ok().and_then(|x| x.parse().ok()).unwrap_or(default);
    let (seed, count) = (get("SEED", 1), get("COUNT", 500));
    let tallies = laws::check(&law, seed..seed + count, get("TRIES", 2000)).unwrap_or_else(|report| panic!("{report}"));
    eprintln!("{tallies:?}");
}
