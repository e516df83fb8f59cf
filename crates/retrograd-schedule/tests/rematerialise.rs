//! What runs again of straight-line code, against tables of reference numbers (`testdata/schedules/README.md`).

use retrograd_schedule::optimal::chain::Chain;
use retrograd_schedule::optimal::rematerialise::{Code, Item};

const CHAIN: &str = include_str!("../../../testdata/schedules/chain.txt");
const ROTOR_CHAIN: &str = include_str!("../../../testdata/schedules/rotor_chain.txt");
const DAG: &str = include_str!("../../../testdata/schedules/dag.txt");

fn numbers(words: &str) -> Vec<usize> {
    words.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

/// What is impossible is a dash.
fn optional(word: &str) -> Option<u64> {
    (word != "-").then(|| word.parse().expect("a number"))
}

/// The parts `name=numbers` of a line, in order.
fn parts(line: &str) -> Vec<Vec<usize>> {
    line.split('=').skip(1).map(|part| numbers(part.trim_end_matches(|c: char| c.is_ascii_alphabetic()))).collect()
}

fn columns(line: &str) -> Vec<Option<u64>> {
    line.split(' ').map(optional).collect()
}

#[test]
fn chains_whose_records_are_all_that_a_reversal_reads_equal_the_table() {
    let (mut chain, mut compared) = (Chain::default(), 0);
    for line in CHAIN.lines() {
        if line.starts_with("chain ") {
            let [state, tape, work] = &parts(line)[..] else { panic!("three parts: {line}") };
            // What is held while a later stage is reached is the input of the first.
            let hold: Vec<Vec<usize>> = state.iter().map(|state| vec![*state; work.len()]).collect();
            let (none, work) = (vec![0; work.len()], work.iter().map(|work| *work as u64).collect());
            let (recording, reversing, waiting) = (none.clone(), none.clone(), none);
            chain = Chain { work, record: tape.clone(), recording, reversing, waiting, going: hold.clone(), hold };
            continue;
        }
        let [Some(units), least] = columns(line)[..] else { panic!("two columns: {line}") };
        let found = chain.table(units as usize).work(0, chain.work.len() - 1, units as usize);
        assert_eq!(found, least, "{chain:?}, {units} units");
        compared += 1;
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn chains_that_also_read_their_inputs_equal_the_table() {
    let (mut chain, mut reversals, mut compared) = (Chain::default(), 0, 0);
    for line in ROTOR_CHAIN.lines() {
        if line.starts_with("chain ") {
            let [a, abar, delta, uf, ub, of, ob] = &parts(line)[..] else { panic!("seven parts: {line}") };
            let count = uf.len();
            // Stage k of the paper is number k - 1.
            let advance =
                |s: usize, t: usize| (s + 1..t).map(|j| a[j] + a[j + 1] + of[j]).fold(a[s + 1] + of[s], usize::max);
            let square = |of: &dyn Fn(usize, usize) -> usize| {
                (0..count).map(|s| (0..count).map(|t| of(s, t)).collect()).collect()
            };
            chain = Chain {
                work: uf.iter().map(|work| *work as u64).collect(),
                record: abar.clone(),
                recording: (0..count).map(|s| abar[s] + of[s]).collect(),
                reversing: (0..count).map(|s| delta[s + 1] + abar[s] + delta[s] + ob[s]).collect(),
                waiting: delta[1..].to_vec(),
                hold: square(&|_, t| a[t]),
                going: square(&advance),
            };
            reversals = ub.iter().sum::<usize>() as u64;
            continue;
        }
        let [Some(units), least, best] = columns(line)[..] else { panic!("three columns: {line}") };
        let found =
            chain.table(units as usize).work(0, chain.work.len() - 1, units as usize).map(|work| work + reversals);
        assert_eq!(found, least, "{chain:?}, {units} units");
        assert!(best.is_none() || found.is_none_or(|found| found >= best.unwrap_or(0)));
        compared += 1;
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn the_search_finds_the_least_work_of_short_code() {
    let (mut code, mut compared, mut tight) = (Code::default(), 0, 0);
    for line in DAG.lines() {
        if let Some(items) = line.strip_prefix("code ") {
            let values: Vec<Vec<usize>> = items.split(';').map(numbers).collect();
            let item = |(k, value): (usize, &Vec<usize>)| Item {
                work: value[1] as u64,
                args: value[2..].to_vec(),
                results: vec![k],
                again: true,
            };
            code = Code {
                bytes: values.iter().map(|value| value[0] as u64).collect(),
                items: values.iter().enumerate().map(item).collect(),
                ends: vec![values.len() - 1],
            };
            continue;
        }
        let [Some(limit), best, checkmate, staged] = columns(line)[..] else { panic!("four columns: {line}") };
        let found = code.search(limit, 1_000_000);
        let work = found.as_ref().map(|order| code.work(order));
        assert!(found.as_ref().is_none_or(|order| code.peak(order) <= limit), "{found:?} of {code:?} in {limit}");
        // The table's search may also change the order of first runs, which matters at the tightest limits alone.
        for other in [checkmate, staged].into_iter().flatten() {
            assert!(work.is_some_and(|work| work <= other), "{work:?} of {code:?} in {limit}, expected {other}");
        }
        assert!(work.is_none_or(|work| best.is_some_and(|best| work >= best)));
        tight += usize::from(work != best);
        compared += 1;
    }
    assert_eq!((compared, tight), (203, 0));
}
