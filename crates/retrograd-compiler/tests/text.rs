//! The text form over the whole op table, and what the verifier says to Programs that no text gives.

use retrograd_compiler::ir::{
    self, Array, Attr, Attrs, Builder, DType, ErrorKind, ForOp, FuncId, Function, IfOp, Inst, Linearity, Op, Pos,
    Program, Type, UnwindOp, Value,
};
use retrograd_compiler::ops;

#[test]
fn every_sample_of_every_row_prints_and_parses() {
    for row in ops::rows() {
        for sample in (row.samples)(row) {
            let builder = Builder::new("main");
            let params = builder.params(sample.args.iter().map(|(ty, _)| ty.clone()));
            let result = builder.op(row, sample.attrs.clone(), &params);
            let program = Program::new(builder.finish(vec![result]));
            let text = program.to_string();
            let again = ops::parse(&text, "row.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
            ir::verify(&again).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(again.to_string(), text);
            let Op::Def(_, attrs) = &again.main().insts[0].op else { panic!("a row is read as a row:\n{text}") };
            assert_eq!(attrs, &sample.attrs, "{text}");
            assert_eq!(again.main().types, program.main().types, "{text}");
        }
    }
}

#[test]
fn literals_read_back_to_the_same_bits() {
    let bits = [
        0,
        1,
        1 << 63,
        f64::NAN.to_bits(),
        f64::NAN.to_bits() | 1,
        0x7ff0_0000_0000_0001,
        u64::MAX,
        0.1f64.to_bits(),
        f64::MAX.to_bits(),
    ];
    let array = Array::f64([3, 3], bits.map(f64::from_bits).to_vec());
    let again: Array = array.to_string().parse().expect("a printed literal parses");
    assert!(again.same_bits(&array), "{array}");
}

#[test]
fn names_are_made_readable_and_unique() {
    let text = "fn a(%0: i64) {\n  for %0 {body=b}\n  for %0 {body=c}\n  return\n}\nfn b(%0: i64) {\n  return\n}\nfn \
                c(%0: i64) {\n  return\n}\n";
    let mut program = ops::parse(text, "names.rg").expect("it parses");
    for (function, name) in program.functions.iter_mut().zip(["<lambda>", "1 step", "1 step"]) {
        function.name = name.into();
    }
    let text = program.to_string();
    assert!(text.contains("fn _lambda_(") && text.contains("fn _1_step(") && text.contains("fn _1_step.1("), "{text}");
    assert_eq!(ops::parse(&text, "names.rg").expect("it parses").to_string(), text);
}

#[test]
fn values_are_numbered_in_order_of_definition() {
    let (x, y) = (Value(5), Value(2));
    let inst = inst(Op::Def(&ops::NEG, Attrs::none()), &[x], &[y]);
    let program = Program::new(Function {
        name: "main".into(),
        params: vec![x],
        insts: vec![inst],
        results: vec![y],
        types: scalars(6),
    });
    assert_eq!(ir::verify(&program), Ok(()));
    assert_eq!(program.to_string(), "fn main(%0: f64) -> f64 {\n  %1: f64 = neg %0\n  return %1\n}\n");
    assert_eq!(program.main().to_string(), program.to_string());
}

fn scalars(count: usize) -> Vec<Type> {
    vec![Type::f64([]); count]
}

fn inst(op: Op, args: &[Value], results: &[Value]) -> Inst {
    Inst { op, args: args.to_vec(), results: results.to_vec(), pos: Pos::new("model.py", 3) }
}

fn neg() -> Op {
    Op::Def(&ops::NEG, Attrs::none())
}

/// The error of a Program; it can also be printed.
fn refused(program: &Program) -> String {
    assert!(!program.to_string().contains("panic"));
    ir::verify(program).expect_err("the verifier refuses it").to_string()
}

/// A function of one f64 parameter `%0` with these instructions.
fn refused_insts(insts: Vec<Inst>, results: &[Value], types: Vec<Type>) -> String {
    refused(&Program::new(Function {
        name: "main".into(),
        params: vec![Value(0)],
        insts,
        results: results.to_vec(),
        types,
    }))
}

#[test]
fn definitions_are_checked() {
    let [a, b, c] = [Value(0), Value(1), Value(9)];
    let cases = [
        (
            vec![inst(neg(), &[b], &[b])],
            vec![],
            "model.py:3: invalid program: `neg` in `main` reads %1, which is not defined before it",
        ),
        (
            vec![inst(neg(), &[c], &[b])],
            vec![],
            "model.py:3: invalid program: `neg` in `main` reads %9, which is not defined before it",
        ),
        (vec![inst(neg(), &[a], &[a])], vec![], "model.py:3: invalid program: %0 in `main` is defined twice"),
        (vec![inst(neg(), &[a], &[c])], vec![], "model.py:3: invalid program: %9 in `main` has no type"),
        (vec![], vec![b], "invalid program: `main` returns %1, which is not defined"),
    ];
    for (insts, results, expected) in cases {
        assert_eq!(refused_insts(insts, &results, scalars(2)), expected);
    }
}

#[test]
fn attributes_are_checked_before_shape_rules_read_them() {
    let wrong = Attrs::none().with("axes", Attr::DType(DType::F64));
    let sum = inst(Op::Def(&ops::SUM, wrong), &[Value(0)], &[Value(1)]);
    let expected =
        "model.py:3: invalid program: %1 in `main`: `sum` needs a list of integers that are not negative as `axes`";
    assert_eq!(refused_insts(vec![sum], &[], scalars(2)), expected);

    let extra = inst(Op::Def(&ops::NEG, Attrs::none().ints("axes", [0])), &[Value(0)], &[Value(1)]);
    let expected = "model.py:3: invalid program: %1 in `main`: `neg` has the attributes [], found [axes]";
    assert_eq!(refused_insts(vec![extra], &[], scalars(2)), expected);
}

#[test]
fn types_that_overflow_are_refused() {
    for shape in [vec![1 << 40, 1 << 40], vec![1 << 62], vec![usize::MAX, usize::MAX, 0]] {
        let ty = Type::f64(shape);
        assert_eq!(ty.checked_elements(), None);
        let error = refused_insts(vec![], &[], vec![ty.clone()]);
        assert_eq!(error, format!("shape error: %0 in `main`: {ty} has more elements than memory can hold"));
    }
}

#[test]
fn bodies_exist_and_groups_fit() {
    let [a, b] = [Value(0), Value(1)];
    let missing = inst(Op::If(IfOp { then_body: FuncId(0), else_body: FuncId(7) }), &[a], &[b]);
    assert_eq!(
        refused_insts(vec![missing], &[], scalars(2)),
        "model.py:3: invalid program: `if` in `main` runs function 7 of 1"
    );

    let mut program = Program::new(Builder::new("main").finish(vec![]));
    program.entry = FuncId(3);
    assert_eq!(refused(&program), "invalid program: the entry is function 3 of 1");

    let body = Builder::new("body").finish(vec![]);
    let huge = usize::MAX;
    let unwind = UnwindOp {
        body: FuncId(1),
        bwd: FuncId(1),
        carries: huge,
        invariants: huge,
        streams: 0,
        adjoints: huge,
        emitted: 0,
        running: 1,
        bound: 0,
        linearity: Linearity::Linear,
    };
    let counted = ForOp { body: FuncId(1), carries: huge, invariants: huge, bound: 0 };
    let branch = IfOp { then_body: FuncId(1), else_body: FuncId(1) };
    for (op, args, expected) in [
        (
            Op::Unwind(unwind),
            vec![a],
            "%1 in `main`: `unwind` has groups of 18446744073709551615 arguments, found 1 and 1 results",
        ),
        (
            Op::For(counted.clone()),
            vec![a],
            "%1 in `main`: `for` has a count, 18446744073709551615 carries and 18446744073709551615 invariants, found \
             1 arguments and 1 results",
        ),
        (
            Op::For(ForOp { carries: 0, invariants: 0, ..counted }),
            vec![],
            "%1 in `main`: `for` has a count, 0 carries and 0 invariants, found 0 arguments and 1 results",
        ),
        (Op::If(branch), vec![], "%1 in `main`: `if` needs a predicate"),
    ] {
        let main = Function {
            name: "main".into(),
            params: vec![a],
            insts: vec![inst(op, &args, &[b])],
            results: vec![],
            types: scalars(2),
        };
        let program = Program { functions: vec![main, body.clone()], entry: FuncId(0) };
        assert_eq!(refused(&program), format!("model.py:3: invalid program: {expected}"));
    }
}

#[test]
fn nesting_has_a_limit() {
    let chain = |depth: usize| {
        let link = |k: usize| match k == depth {
            true => format!("fn f{k}(%0: i64) {{\n  return\n}}\n"),
            false => format!("fn f{k}(%0: i64) {{\n  for %0 {{body=f{}}}\n  return\n}}\n", k + 1),
        };
        let program = ops::parse(&(0..=depth).map(link).collect::<String>(), "deep.rg").expect("it parses");
        assert_eq!(ops::parse(&program.to_string(), "deep.rg").expect("it parses").functions.len(), depth + 1);
        ir::verify(&program)
    };
    assert_eq!(chain(ir::MAX_NESTING), Ok(()));
    let error = chain(10_000).expect_err("it is too deep");
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "deep.rg:2: unsupported: control flow in `f0` nests 10000 deep; at most 64 is supported"
    );
}

#[test]
fn linearity_says_which_results_depend_on_the_seeds() {
    let text = "fn main(%0: f64, %1: f64) -> f64, f64 {\n  %2: f64 = mul %0, %1\n  %3: f64 = constant {value=0.0}\n  \
                return %2, %3\n}";
    let program = ops::parse(text, "linear.rg").expect("it parses");
    assert_eq!(ir::linear_in(&program, program.entry, &[false, true]), Ok(vec![true, false]));
    assert!(ir::linear_in(&program, program.entry, &[true, true]).is_err());
    assert!(ir::linear_in(&program, program.entry, &[false, false]).is_err());
}
