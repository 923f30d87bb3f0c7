use super::super::{Ast, Marks};
use super::*;

fn span(start: u32, end: u32) -> Span {
    Span { start, end }
}

/// Every kind of node is decoded as it was encoded, at any text position and length.
#[test]
fn nodes_come_out_as_they_went_in() {
    let mut ast = Ast::default();
    let [a, b, c] = [7, 8, 9].map(|name| ast.push(Expr::Name(Name::new(name)), span(1, 2)));
    let list = ListRange { start: 3, len: 70_000 };
    let mut exprs = vec![
        Expr::Error,
        Expr::Int(i64::MIN),
        Expr::Int(-1),
        Expr::Scalar(-0.1),
        Expr::Logical(true),
        Expr::Logical(false),
        Expr::String(Name::new(4_000_000)),
        Expr::Array(list),
        Expr::IntArray(list),
        Expr::ScalarArray(list),
        Expr::Numbers(NumbersId(5)),
        Expr::Tuple(list),
        Expr::Select { condition: a, yes: b, no: c },
        Expr::Index { base: c, index: a },
        Expr::Comprehension(ComprehensionId(6)),
        Expr::Loop(LoopId(7)),
    ];
    exprs.extend(UNARY.iter().map(|row| Expr::Unary { op: row.op, operand: b }));
    exprs.extend(BINARY.iter().map(|row| Expr::Binary { op: row.op, lhs: c, rhs: b, at: 77 }));
    exprs.extend(BUILTINS.iter().map(|row| Expr::Builtin { function: row.op, argument: a }));
    for (begin, end) in [(None, None), (Some(a), None), (None, Some(b)), (Some(c), Some(a))] {
        exprs.push(Expr::Slice { base: b, begin, end });
    }
    let spans = [span(0, 0), span(5, 900), span(3, 3 + LONG - 1), span(4, 4 + LONG), span(0, u32::MAX)];
    let places: Vec<Span> = spans.into_iter().cycle().take(exprs.len()).collect();
    let ids: Vec<ExprId> = exprs.iter().zip(&places).map(|(expr, span)| ast.push(*expr, *span)).collect();
    for ((id, expr), place) in ids.into_iter().zip(exprs).zip(places) {
        assert_eq!((ast.expr(id), ast.span(id)), (expr, place));
    }
}

/// Calls with few and many arguments, by position and by name, with long names and type arguments.
#[test]
fn calls_come_out_as_they_went_in() {
    let mut ast = Ast::default();
    let values: Vec<ExprId> = (0..70_000).map(|i| ast.push(Expr::Int(i), span(0, 1))).collect();
    let ident = |name: usize, len: u32| Ident { name: Name::new(name), span: span(10, 10 + len) };
    let by_name = |i: usize| Arg { name: (!i.is_multiple_of(3)).then(|| ident(i, 3)), value: values[i] };
    let by_position = |i: usize| Arg { name: None, value: values[i] };
    let generic = Some((Primitive::Integer, span(13, 20)));
    let mut calls = Vec::new();
    for count in [0, 1, 2, 5, shape::COUNT as usize, shape::COUNT as usize + 1, 70_000] {
        for (len, generic) in [(3, None), (shape::NAME, generic), (shape::NAME + 1, generic), (1 << 20, None)] {
            for args in [(0..count).map(by_name).collect::<Vec<Arg>>(), (0..count).map(by_position).collect()] {
                let name = ident(count, len);
                let id = ast.push_call(name, generic, &args, 90_000_000);
                assert_eq!(ast.span(id), span(10, 90_000_000));
                calls.push((id, name, generic, args));
            }
        }
    }
    for (id, name, generic, args) in calls {
        let Expr::Call(id) = ast.expr(id) else { panic!("no call") };
        let call = ast.call(id);
        assert_eq!((call.name, call.generic), (name, generic));
        assert!(ast.arguments(&call).iter().eq(args.iter().copied()));
        let is_named = args.iter().any(|arg| arg.name.is_some());
        let values: Vec<ExprId> = args.iter().filter(|_| !is_named).map(|arg| arg.value).collect();
        assert!(ast.arguments(&call).by_position() == values);
    }
}

/// Truncating removes the nodes after the marks, and nodes added later are decoded correctly.
#[test]
fn nodes_are_taken_back() {
    let mut ast = Ast::default();
    let first = ast.push(Expr::Int(1), span(0, LONG));
    let (marks, before) = (Marks::of(&ast), ast.clone());
    let long = ast.push(Expr::Int(2), span(0, LONG + 1));
    ast.push(Expr::Binary { op: BinaryOp::Add, lhs: first, rhs: long, at: 3 }, span(0, LONG + 2));
    marks.rewind(&mut ast);
    assert_eq!(ast, before);
    let again = ast.push(Expr::Int(3), span(2, LONG + 7));
    assert_eq!((ast.span(first), ast.span(again)), (span(0, LONG), span(2, LONG + 7)));
}
