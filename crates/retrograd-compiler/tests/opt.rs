//! Rewrites keep every bit and do what they say.

use retrograd_compiler::eval::run;
use retrograd_compiler::ir::{Array, Attrs, Builder, DType, ForOp, FuncId, Function, IfOp, Inst, Op, Program, Row, Type, UnwindOp, Value};
use retrograd_compiler::ops;
use retrograd_compiler::opt::{dead_code, live_insts};

/// Scalar f64.
fn real() -> Type {
    Type::f64([])
}

/// Scalar i64.
fn int() -> Type {
    Type::scalar(DType::I64)
}

fn row(b: &Builder, row: &'static Row, args: &[Value]) -> Value {
    b.row(row, Attrs::none(), args)
}

/// A function from a closure over its parameters.
fn function(name: &str, params: &[Type], build: impl FnOnce(&Builder, &[Value]) -> Vec<Value>) -> Function {
    let b = Builder::new(name);
    let params = b.params(params.iter().cloned());
    let results = build(&b, &params);
    b.finish(results)
}

/// A Program whose functions are added by the closure, which returns the entry.
fn program(build: impl FnOnce(&mut Program) -> Function) -> Program {
    let mut program = Program::new(function("main", &[], |_, _| vec![]));
    let entry = build(&mut program);
    program.functions[0] = entry;
    program
}

/// Types of the results of a loop.
fn push_for(b: &Builder, p: &Program, op: ForOp, args: &[Value]) -> Vec<Value> {
    let types = p.function(op.body).result_types();
    let types = types.iter().enumerate().map(|(k, ty)| if k < op.carries { ty.clone() } else { ty.stream(op.bound) }).collect();
    b.push(Op::For(op), args.to_vec(), types)
}

fn push_unwind(b: &Builder, p: &Program, op: UnwindOp, args: &[Value]) -> Vec<Value> {
    let types = p.function(op.bwd).result_types();
    let emitted = |k: usize| k >= op.adjoints + op.running;
    let types = types.iter().enumerate().map(|(k, ty)| if emitted(k) { ty.stream(op.bound) } else { ty.clone() }).collect();
    b.push(Op::Unwind(op), args.to_vec(), types)
}

/// The only instruction of that name in the entry.
fn only<'p>(program: &'p Program, name: &str) -> &'p Inst {
    let found: Vec<&Inst> = program.main().insts.iter().filter(|inst| inst.op.name() == name).collect();
    assert_eq!(found.len(), 1, "one `{name}` in {:?}", names(program.main()));
    found[0]
}

fn for_of(inst: &Inst) -> &ForOp {
    let Op::For(op) = &inst.op else { panic!("a for") };
    op
}

fn unwind_of(inst: &Inst) -> &UnwindOp {
    let Op::Unwind(op) = &inst.op else { panic!("an unwind") };
    op
}

/// The ops of a function, in order.
fn names(function: &Function) -> Vec<&'static str> {
    function.insts.iter().map(|inst| inst.op.name()).collect()
}

/// Numbers that tell rewrites apart: zeros of both signs, infinities, NaN, and tame ones.
const AWKWARD: [f64; 8] = [0.0, -0.0, 1.0, -1.5, 0.3, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// Inputs of every kind: number `seed` of them.
fn input(ty: &Type, seed: usize) -> Array {
    let n = ty.elements();
    match ty.dtype {
        DType::F64 => Array::f64(
            ty.shape.clone(),
            (0..n).map(|k| if seed < 3 { (k + seed) as f64 * 0.37 - 0.5 } else { AWKWARD[(k + seed) % 8] }).collect(),
        ),
        DType::I64 => Array::int([2, 0, 1][seed % 3]),
        DType::Bool => Array::bool(seed.is_multiple_of(2)),
        DType::F32 | DType::I32 => panic!("not in these tests"),
    }
}

/// The same errors and the same bits from both Programs, on tame and awkward inputs, and the same types.
fn same_meaning(before: &Program, after: &Program) {
    assert_eq!(before.main().param_types(), after.main().param_types());
    assert_eq!(before.main().result_types(), after.main().result_types());
    for seed in 0..12 {
        let inputs: Vec<Array> = before.main().param_types().iter().map(|ty| input(ty, seed)).collect();
        match (run(before, &inputs), run(after, &inputs)) {
            (Ok(before), Ok(after)) => {
                assert!(before.iter().zip(&after).all(|(x, y)| x.same_bits(y)), "on {inputs:?}: {before:?} became {after:?}")
            }
            (before, after) => assert_eq!(before, after, "on {inputs:?}"),
        }
    }
}

/// A pass applied, with its meaning checked.
fn check(pass: fn(&Program) -> Program, before: &Program) -> Program {
    let after = pass(before);
    same_meaning(before, &after);
    after
}

mod dead {
    use super::*;

    /// for n, (x, y, z), (k, unused), {c0' = c0 * k, c1' = c1 + c0, c2' = c2 + c1}.
    fn chain(read: usize) -> Program {
        program(|p| {
            let body = p.add(function("step", &[int(), real(), real(), real(), real(), real()], |b, v| {
                vec![b.mul(v[1], v[4]), b.add(v[2], v[1]), b.add(v[3], v[2])]
            }));
            function("main", &[int(), real(), real()], |b, v| {
                let op = ForOp { body, carries: 3, invariants: 2, bound: 0 };
                let unused = row(b, &ops::EXP, &[v[2]]);
                let carries = push_for(b, p, op, &[v[0], v[1], v[1], v[1], v[2], unused]);
                vec![carries[read]]
            })
        })
    }

    #[test]
    fn carries_that_no_live_result_needs_go() {
        for read in 0..3 {
            let after = check(dead_code, &chain(read));
            assert_eq!(names(after.main()), ["for"]);
            let inst = only(&after, "for");
            assert_eq!(for_of(inst), &ForOp { body: FuncId(1), carries: read + 1, invariants: 1, bound: 0 });
            assert_eq!((inst.args.len(), inst.results.len()), (read + 3, read + 1));
            assert_eq!(after.functions[1].insts.len(), read + 1);
        }
    }

    #[test]
    fn a_carry_that_only_feeds_itself_goes_with_its_loop() {
        let before = program(|p| {
            let body = p.add(function("step", &[int(), real()], |b, v| vec![b.mul(v[1], v[1])]));
            function("main", &[int(), real()], |b, v| {
                push_for(b, p, ForOp { body, carries: 1, invariants: 0, bound: 0 }, v);
                vec![v[1]]
            })
        });
        let after = check(dead_code, &before);
        assert!(after.main().insts.is_empty());
        assert_eq!(after.functions.len(), 1);
    }
}

/// Random Programs with nested control flow: every pass keeps every bit.
mod random {
    use super::*;
    use retrograd_compiler::opt::{PASSES, simplify};

    /// A small deterministic source of choices (Knuth's MMIX generator).
    struct Choices(u64);

    impl Choices {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) as usize) % n
        }
    }

    fn types() -> [Type; 2] {
        [real(), Type::f64([3])]
    }

    fn some_types(c: &mut Choices, most: usize) -> Vec<Type> {
        (0..c.below(most + 1)).map(|_| types()[c.below(2)].clone()).collect()
    }

    /// Values to choose from; `linear` ones are cotangents, which only meet each other by `add` and coefficients by `mul`.
    struct Pool {
        values: Vec<Value>,
        linear: Vec<Value>,
        ints: Vec<Value>,
    }

    impl Pool {
        fn value(&mut self, c: &mut Choices, b: &Builder, ty: &Type) -> Value {
            let fitting: Vec<Value> = self.values.iter().copied().filter(|v| b.ty(*v) == *ty).collect();
            if fitting.is_empty() || c.below(6) == 0 {
                return b.full(ty, [0.0, 1.0, -0.0, 0.5, -1.0][c.below(5)]);
            }
            fitting[c.below(fitting.len())]
        }

        fn linear(&mut self, c: &mut Choices, b: &Builder, ty: &Type) -> Value {
            let fitting: Vec<Value> = self.linear.iter().copied().filter(|v| b.ty(*v) == *ty).collect();
            if fitting.is_empty() {
                return b.zeros(ty);
            }
            fitting[c.below(fitting.len())]
        }

        fn int(&mut self, c: &mut Choices, b: &Builder) -> Value {
            let known = self.ints.len();
            if c.below(known + 2) < known { self.ints[c.below(known)] } else { b.int(c.below(3) as i64) }
        }
    }

    /// A function of these parameters and results; `linear` says which of them are cotangents.
    fn random_function(
        c: &mut Choices,
        p: &mut Program,
        name: &str,
        params: &[(Type, bool)],
        results: &[(Type, bool)],
        depth: usize,
    ) -> FuncId {
        let function = {
            let b = Builder::new(name);
            let mut pool = Pool { values: vec![], linear: vec![], ints: vec![] };
            for (ty, linear) in params {
                let value = b.param(ty.clone());
                match (ty.dtype, linear) {
                    (DType::I64, _) => pool.ints.push(value),
                    (_, true) => pool.linear.push(value),
                    (_, false) => pool.values.push(value),
                }
            }
            for _ in 0..2 + c.below(7) {
                random_inst(c, p, &b, &mut pool, depth);
            }
            let mut choose = |(ty, linear): &(Type, bool)| if *linear { pool.linear(c, &b, ty) } else { pool.value(c, &b, ty) };
            let results = results.iter().map(&mut choose).collect();
            b.finish(results)
        };
        p.add(function)
    }

    fn random_inst(c: &mut Choices, p: &mut Program, b: &Builder, pool: &mut Pool, depth: usize) {
        let ty = types()[c.below(2)].clone();
        let window = Attrs::none().ints("sizes", [1]).ints("step", [1]);
        match c.below(if depth == 0 { 9 } else { 14 }) {
            0..=2 => {
                let (x, y) = (pool.value(c, b, &ty), pool.value(c, b, &ty));
                let op = [&ops::ADD, &ops::MUL, &ops::SUB, &ops::DIV][c.below(4)];
                pool.values.push(row(b, op, &[x, y]));
            }
            3 => {
                let x = pool.value(c, b, &ty);
                pool.values.push(row(b, [&ops::NEG, &ops::SIN, &ops::EXP][c.below(3)], &[x]));
            }
            4 => {
                let (base, i) = (pool.value(c, b, &Type::f64([3])), pool.int(c, b));
                let one = b.row(&ops::DYNAMIC_SLICE, window, &[base, i]);
                pool.values.push(b.row(&ops::RESHAPE, Attrs::none().ints("shape", []), &[one]));
            }
            5 => {
                let (base, x, i) = (pool.value(c, b, &Type::f64([3])), pool.value(c, b, &real()), pool.int(c, b));
                let one = b.row(&ops::RESHAPE, Attrs::none().ints("shape", [1]), &[x]);
                pool.values.push(b.row(&ops::UPDATE, Attrs::none().ints("step", [1]), &[base, one, i]));
            }
            6 => {
                let x = pool.value(c, b, &Type::f64([3]));
                pool.values.push(b.row(&ops::SUM, Attrs::none().ints("axes", [0]), &[x]));
                let x = pool.value(c, b, &real());
                pool.values.push(b.broadcast(x, &[3], &[]));
            }
            7 => {
                let i = pool.int(c, b);
                pool.values.push(b.convert(i, DType::F64));
            }
            8 => {
                let (x, k, y) = (pool.linear(c, b, &ty), pool.value(c, b, &ty), pool.linear(c, b, &ty));
                let scaled = b.mul(k, x);
                pool.linear.push(if c.below(2) == 0 { scaled } else { b.add(scaled, y) });
            }
            9 => random_if(c, p, b, pool, depth - 1),
            10 | 11 => random_for(c, p, b, pool, depth - 1),
            _ => random_unwind(c, p, b, pool, depth - 1),
        }
    }

    fn random_if(c: &mut Choices, p: &mut Program, b: &Builder, pool: &mut Pool, depth: usize) {
        let (params, results) = (flat(some_types(c, 3)), flat(some_types(c, 3)));
        let [then_body, else_body] = ["then", "else"].map(|name| random_function(c, p, name, &params, &results, depth));
        let else_body = if c.below(4) == 0 { then_body } else { else_body };
        let (x, y) = (pool.value(c, b, &real()), pool.value(c, b, &real()));
        let mut args = vec![row(b, &ops::LT, &[x, y])];
        args.extend(params.iter().map(|(ty, _)| pool.value(c, b, ty)));
        let types = results.iter().map(|(ty, _)| ty.clone()).collect();
        pool.values.extend(b.push(Op::If(IfOp { then_body, else_body }), args, types));
    }

    fn flat(types: Vec<Type>) -> Vec<(Type, bool)> {
        types.into_iter().map(|ty| (ty, false)).collect()
    }

    fn cotangents(types: &[Type]) -> Vec<(Type, bool)> {
        types.iter().map(|ty| (ty.clone(), true)).collect()
    }

    fn streams(types: &[Type]) -> Vec<Type> {
        types.iter().map(|ty| ty.stream(3)).collect()
    }

    /// Rows are scalars, so that streams are vectors of the pool.
    fn rows(c: &mut Choices) -> Vec<Type> {
        vec![real(); c.below(3)]
    }

    fn random_for(c: &mut Choices, p: &mut Program, b: &Builder, pool: &mut Pool, depth: usize) {
        let (carries, inv, xs, ys) = (some_types(c, 3), some_types(c, 3), rows(c), rows(c));
        let params = flat([vec![int()], carries.clone(), inv.clone(), xs.clone()].concat());
        let body = random_function(c, p, "step", &params, &flat([carries.clone(), ys].concat()), depth);
        let args: Vec<Type> = [carries.clone(), inv.clone(), streams(&xs)].concat();
        let mut args: Vec<Value> = args.iter().map(|ty| pool.value(c, b, ty)).collect();
        args.insert(0, pool.int(c, b));
        let op = ForOp { body, carries: carries.len(), invariants: inv.len(), bound: 3 };
        for value in push_for(b, p, op, &args) {
            pool.values.push(value);
        }
        // The adjoint of the same loop shares its body.
        if p.function(body).results.len() == carries.len() {
            let forward = (params, carries, inv, xs);
            unwind_over(c, p, b, pool, depth, body, forward, Some(&args));
        }
    }

    type Forward = (Vec<(Type, bool)>, Vec<Type>, Vec<Type>, Vec<Type>);

    fn random_unwind(c: &mut Choices, p: &mut Program, b: &Builder, pool: &mut Pool, depth: usize) {
        let (carries, inv, xs) = (some_types(c, 3), some_types(c, 3), rows(c));
        let params = flat([vec![int()], carries.clone(), inv.clone(), xs.clone()].concat());
        let body = random_function(c, p, "walk", &params, &flat(carries.clone()), depth);
        unwind_over(c, p, b, pool, depth, body, (params, carries, inv, xs), None);
    }

    #[allow(clippy::too_many_arguments, reason = "a test's generator")]
    fn unwind_over(
        c: &mut Choices,
        p: &mut Program,
        b: &Builder,
        pool: &mut Pool,
        depth: usize,
        body: FuncId,
        (params, carries, inv, xs): Forward,
        start: Option<&[Value]>,
    ) {
        let (a, g, r, h) = (some_types(c, 2), rows(c), some_types(c, 2), rows(c));
        let bwd_params = [params, cotangents(&a), cotangents(&g), cotangents(&r)].concat();
        let bwd_results = [cotangents(&a), cotangents(&r), cotangents(&h)].concat();
        let bwd = random_function(c, p, "back", &bwd_params, &bwd_results, depth);
        let mut args = match start {
            Some(args) => args.to_vec(),
            None => {
                let n = pool.int(c, b);
                let types: Vec<Type> = [carries.clone(), inv.clone(), streams(&xs)].concat();
                std::iter::once(n).chain(types.iter().map(|ty| pool.value(c, b, ty))).collect()
            }
        };
        args.extend([a.clone(), streams(&g), r.clone()].concat().iter().map(|ty| pool.linear(c, b, ty)));
        let op = UnwindOp {
            body,
            bwd,
            carries: carries.len(),
            invariants: inv.len(),
            streams: xs.len(),
            adjoints: a.len(),
            emitted: g.len(),
            running: r.len(),
            bound: 3,
        };
        pool.linear.extend(push_unwind(b, p, op, &args));
    }

    fn random_program(seed: u64) -> Program {
        let c = &mut Choices(seed);
        let mut p = Program { functions: vec![], entry: FuncId(0) };
        let v = Type::f64([3]);
        let params = [(int(), false), (real(), false), (v.clone(), false), (real(), true), (v.clone(), true)];
        let results = [(real(), false), (v.clone(), false), (v.clone(), false), (real(), true), (v, true)];
        p.entry = random_function(c, &mut p, "main", &params, &results, 2);
        p
    }

    /// Values without a fault stay, to the bit; a fault may only go, with the dead code that met it.
    fn same_values(before: &Program, after: &Program, what: &str) -> usize {
        let mut compared = 0;
        for seed in 0..6 {
            let inputs: Vec<Array> = before.main().param_types().iter().map(|ty| input(ty, seed)).collect();
            let Ok(expected) = run(before, &inputs) else { continue };
            let found = run(after, &inputs).unwrap_or_else(|error| panic!("{what}: a fault that was not there: {error}"));
            assert!(expected.iter().zip(&found).all(|(x, y)| x.same_bits(y)), "{what}: on {inputs:?}: {expected:?} became {found:?}");
            compared += 1;
        }
        compared
    }

    #[test]
    fn every_pass_keeps_every_bit() {
        let (mut compared, mut before_insts, mut after_insts) = (0, 0, 0);
        for seed in 0..600 {
            let before = random_program(seed);
            for (name, pass) in PASSES {
                same_values(&before, &pass(&before), &format!("{name}, seed {seed}"));
            }
            let after = simplify(&before);
            compared += same_values(&before, &after, &format!("simplify, seed {seed}"));
            let size = |p: &Program| p.functions.iter().map(|f| f.insts.len()).sum::<usize>();
            (before_insts, after_insts) = (before_insts + size(&before), after_insts + size(&after));
            assert_eq!(format!("{:?}", shape(&simplify(&after))), format!("{:?}", shape(&after)), "seed {seed}: simplify is idempotent");
        }
        assert!(compared > 2000, "too many Programs fault: {compared}");
        assert!(after_insts * 2 < before_insts, "{before_insts} instructions became {after_insts}");
    }

    fn shape(p: &Program) -> Vec<Vec<&'static str>> {
        p.functions.iter().map(names).collect()
    }
}
