use std::sync::Arc;
use std::time::Instant;

use retrograd_compiler::fuse::fuse;
use retrograd_compiler::ir::{Program, verify};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Request, plan};
use retrograd_compiler::{diff, ops, opt};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Counted,
    Static,
    While,
    Branch,
    Triangle,
}

fn nest(levels: &[Kind], state: &str) -> Program {
    let mut text = format!("fn main(%x: {state}, %t: {state}, %n: i64) -> {state} {{\n");
    let open = |k: usize| match levels[k] {
        Kind::Counted => format!("  %z{k}: {state} = for %n carries(%y) invariants(%t, %n) {{body=level{k}}}\n"),
        Kind::Triangle => format!("  %z{k}: {state} = for {} carries(%y) invariants(%t, %n) {{body=level{k}}}\n", if k == 0 { "%n" } else { "%i" }),
        Kind::Static => format!("  %c{k}: i64 = constant {{value=6}}\n  %z{k}: {state} = for %c{k} carries(%y) invariants(%t, %n) {{body=level{k}}}\n"),
        Kind::While => format!("  %o{k}: i64 = constant {{value=0}}\n  %z{k}: {state}, %m{k}: i64, %trips{k}: i64 = while carries(%y, %o{k}) invariants(%t, %n) {{cond=cond{k}, body=level{k}}}\n"),
        Kind::Branch => format!("  %zero{k}: i64 = constant {{value=2}}\n  %p{k}: bool = lt %n, %zero{k}\n  %z{k}: {state} = if %p{k} args(%y, %t, %n) {{then=level{k}, else=other{k}}}\n"),
    };
    text += &format!("  %y: {state} = mul %x, %t\n{}  return %z0\n}}\n", open(0));
    for k in 0..levels.len() {
        match levels[k] {
            Kind::Counted | Kind::Static | Kind::Triangle => text += &format!("fn level{k}(%i: i64, %x: {state}, %t: {state}, %n: i64) -> {state} {{\n"),
            Kind::While => {
                text += &format!("fn cond{k}(%x: {state}, %j: i64, %t: {state}, %n: i64) -> bool {{\n  %p: bool = lt %j, %n\n  return %p\n}}\n");
                text += &format!("fn level{k}(%x: {state}, %j: i64, %t: {state}, %n: i64) -> {state}, i64 {{\n");
            }
            Kind::Branch => {
                text += &format!("fn other{k}(%x: {state}, %t: {state}, %n: i64) -> {state} {{\n  %y: {state} = cos %x\n  return %y\n}}\n");
                text += &format!("fn level{k}(%x: {state}, %t: {state}, %n: i64) -> {state} {{\n");
            }
        }
        text += &format!("  %s: {state} = sin %x\n  %y: {state} = mul %s, %t\n");
        let inner = if k + 1 < levels.len() {
            text += &open(k + 1);
            format!("%z{}", k + 1)
        } else {
            "%y".into()
        };
        text += &format!("  %r: {state} = sin {inner}\n  %e: {state} = mul %r, %x\n");
        match levels[k] {
            Kind::While => text += "  %one: i64 = constant {value=1}\n  %jj: i64 = add %j, %one\n  return %e, %jj\n}\n",
            _ => text += "  return %e\n}\n",
        }
    }
    let program = ops::parse(&text, "nest.rg").unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&program).unwrap();
    program
}

fn size(program: &Program) -> [usize; 2] {
    [program.functions.len(), program.functions.iter().map(|f| f.insts.len()).sum()]
}

#[test]
fn probe() {
    let get = |name: &str| std::env::var(name).ok();
    let depths: Vec<usize> = get("DEPTHS").unwrap_or("1,2,3,4".into()).split(',').map(|d| d.parse().unwrap()).collect();
    let kinds: Vec<Kind> = get("KINDS").unwrap_or("c".into()).chars().map(|c| match c {
        'c' => Kind::Counted, 's' => Kind::Static, 'w' => Kind::While, 'b' => Kind::Branch, 't' => Kind::Triangle, _ => panic!() }).collect();
    let order = get("ORDER").unwrap_or("1".into());
    let budget = get("BUDGET").and_then(|b| b.parse().ok());
    for depth in depths {
        let levels: Vec<Kind> = (0..depth).map(|k| kinds[k % kinds.len()]).collect();
        let program = nest(&levels, &get("STATE").unwrap_or("f64[10]".into()));
        let clock = Instant::now();
        let mut marks = vec![];
        let mut mark = |name: &str| marks.push(format!("{name} {:.3}", clock.elapsed().as_secs_f64()));
        let program = opt::unroll(&program);
        mark("unroll");
        let mut gradient = diff::vjp(&program, &[0, 1], &[0]).unwrap();
        mark("vjp");
        if order == "2" { 
            gradient = opt::simplify(&gradient);
            mark("simplify");
            let sz = size(&gradient);
            eprintln!("first {sz:?}");
            gradient = diff::jvp(&gradient, &[0, 1], &[1, 2]).unwrap();
            mark("jvp");
        }
        let raw = size(&gradient);
        let frozen = opt::freeze(&gradient);
        mark("freeze");
        let sizes = size(&frozen);
        eprintln!("{depth} {raw:?} {sizes:?} {marks:?}");
        let mut mark = |name: &str| marks.push(format!("{name} {:.3}", clock.elapsed().as_secs_f64()));
        let plan = match plan(&frozen, &Request { budget, ..Request::by(Arc::new(Auto)) }) { Ok(plan) => plan, Err(e) => { eprintln!("{e}"); continue } };
        mark("plan");
        let fused = fuse(&plan);
        mark("fuse");
        eprintln!("{depth} {:?} nests {} peak {} work {} parts {} {marks:?}", plan.effort, plan.placed.types.len(), plan.bytes_peak, plan.decision.work, fused.kernel.parts.len());
    }
}

#[test]
fn scan() {
    let get = |name: &str| std::env::var(name).ok().map(|t| t.parse::<u64>().unwrap());
    let (from, to) = (get("FROM").unwrap_or(1), get("TO").unwrap_or(1));
    let only = std::env::var("STRATEGY").unwrap_or("auto".into());
    let (mut tried, mut bad) = (0, 0);
    for seed in from..to {
        let case = retrograd_testing::programs::Case::random(seed);
        let trial = retrograd_testing::laws::Trial::new(case);
        let Ok(Some(gradient)) = trial.gradient() else { continue };
        let program = opt::freeze(&gradient.program);
        if !program.functions.iter().flat_map(|f| &f.insts).any(|i| matches!(&i.op, retrograd_compiler::ir::Op::Unwind(_))) { continue }
        tried += 1;
        let clock = Instant::now();
        for strategy in retrograd_testing::laws::strategies() {
            if only != "all" && strategy.name() != only { continue }
            if let Err(error) = retrograd_testing::promises::check_budgets(&program, &strategy, 1) {
                bad += 1;
                eprintln!("{seed} {strategy:?} {:.1}s: {error}", clock.elapsed().as_secs_f64());
            }
        }
        if clock.elapsed().as_secs_f64() > 3.0 { eprintln!("{seed} took {:.1}", clock.elapsed().as_secs_f64()); }
    }
    eprintln!("{bad} of {tried}");
}
