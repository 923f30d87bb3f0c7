use super::*;
use crate::pnnx::fold::no_extents;

fn read(text: &str, compat: bool) -> Result<Expression, Vec<&'static str>> {
    let reading = Reading { arity: Some(3), compat, ..Reading::default() };
    let parsed = parse(text, FileId::default(), 0, reading);
    parsed.map(|(parsed, _)| parsed.expression).map_err(|found| found.iter().filter_map(|d| d.code.rule()).collect())
}

#[test]
fn mistakes_have_their_rules() {
    let cases = [
        ("", "E-EMPTY"),
        ("  ", "E-EMPTY"),
        ("add(@0,$)", "E-CHAR"),
        ("add(@0,@1", "E-EXPECT"),
        ("add(@0,)", "E-EXPECT"),
        ("[1,]", "E-EXPECT"),
        ("[1)", "E-EXPECT"),
        ("add(@0,@1]", "E-EXPECT"),
        ("None(1)", "E-TRAIL"),
        ("[1] 2", "E-TRAIL"),
        ("Add(@0,@1)", "E-OP"),
        ("select(@0,@1,@2)", "E-OP"),
        ("torch.int(1)", "E-OP"),
        ("foo", "E-OP"),
        ("size(@0,1,2)", "E-ARITY"),
        ("add()", "E-ARITY"),
        ("add(@3,@0)", "E-ARG"),
        ("%x", "E-PATTERN"),
        ("mul(@0,9223372036854775808)", "E-CHAR"),
    ];
    for (text, rule) in cases {
        assert_eq!(read(text, false).unwrap_err(), [rule], "{text}");
    }
    let several = read("add(sin(@0,@1),mul(@7,foo(%x)))", false).unwrap_err();
    assert_eq!(several, ["E-ARITY", "E-ARG", "E-OP", "E-PATTERN"]);
}

#[test]
fn careless_texts_are_read_by_arity() {
    let cases = [
        ("expm1,@0", "E-EXPECT", "expm1(@0)"),
        ("mul(expm1,@0),log1p,@1", "E-EXPECT", "mul(expm1(@0),log1p(@1))"),
        ("add(expm1,@0),mul(log1p,abs(@0)),2", "E-EXPECT", "add(expm1(@0),mul(log1p(abs(@0)),2))"),
        ("add(@0,nan.0)", "E-OP", "add(@0,nan)"),
        ("add(@0,,mul(@1,2))", "E-EXPECT", "add(@0,mul(@1,2))"),
        ("[expm1,@0,size(@1)]", "E-EXPECT", "[expm1(@0),size(@1)]"),
        ("add(size(@0),expm1,@1)", "E-EXPECT", "add(size(@0),expm1(@1))"),
        ("add(size(abs(@0),1),expm1,@1)", "E-EXPECT", "add(size(abs(@0),1),expm1(@1))"),
        ("mul,size,@0,1,@1", "E-EXPECT", "mul(size(@0,1),@1)"),
        ("max,[1,2],3", "E-EXPECT", "max([1,2],3)"),
        ("size,@0", "E-EXPECT", "size(@0)"),
    ];
    for (text, rule, wanted) in cases {
        assert_eq!(read(text, false).unwrap_err(), [rule], "{text}");
        assert_eq!(read(text, true).unwrap().canonical(), wanted, "{text}");
    }
    for (text, rules) in [
        ("add(@0)", vec!["E-ARITY"]),
        ("@0,@1", vec!["E-TRAIL"]),
        ("foo,@0", vec!["E-OP"]),
        ("add,@0,]", vec!["E-EXPECT"]),
        // Texts whose brackets do not belong together are damaged.
        ("add(@0,@1))", vec!["E-TRAIL"]),
        ("add(@0,@1", vec!["E-EXPECT"]),
        ("mul(expm1,@0),log1p,@1)", vec!["E-EXPECT"]),
        ("max([1,2,3)", vec!["E-EXPECT"]),
        ("mul(expm1,@0]", vec!["E-EXPECT"]),
    ] {
        assert_eq!(read(text, true).unwrap_err(), rules, "{text}");
    }
}

#[test]
fn chains_need_no_stack() {
    let depth = 50_000;
    let cases = [
        ["neg(".repeat(depth), "@0".into(), ")".repeat(depth)].concat(),
        ["add(".repeat(depth), "@0".into(), ",1)".repeat(depth)].concat(),
        ["add(1,".repeat(depth), "@0".into(), ")".repeat(depth)].concat(),
        ["[".repeat(depth), "]".repeat(depth)].concat(),
    ];
    for text in cases {
        let expression = read(&text, false).unwrap();
        assert_eq!(expression.canonical(), text);
        assert_eq!(expression.folded(&no_extents).canonical(), text);
        assert_eq!(expression.operations(), depth);
        assert_eq!(expression.classes().1, depth);
        assert!(expression.infix().len() > depth);
    }
    for (text, rule) in [
        ("(", "E-EXPECT"),
        ("neg(", "E-EXPECT"),
        ("[", "E-EXPECT"),
        ("add(@0,", "E-EXPECT"),
        ("@", "E-CHAR"),
        ("%", "E-CHAR"),
        ("-", "E-CHAR"),
    ] {
        let found = read(&text.repeat(depth), false).unwrap_err();
        assert!(!found.is_empty() && found.iter().all(|found| *found == rule), "{text}: {found:?}");
    }
}

#[test]
fn infix_has_the_brackets_that_are_needed() {
    let cases = [
        ("mul(add(@0,@1),@2)", "(@0 + @1) * @2"),
        ("sub(@0,sub(@1,@2))", "@0 - (@1 - @2)"),
        ("sub(sub(@0,@1),@2)", "@0 - @1 - @2"),
        ("pow(pow(@0,2),neg(@1))", "(@0 ** 2) ** (-@1)"),
        ("pow(@0,pow(@1,2))", "@0 ** @1 ** 2"),
        ("neg(pow(@0,2))", "-@0 ** 2"),
        ("pow(neg(@0),2)", "(-@0) ** 2"),
        ("add(@0,-1.5)", "@0 + (-1.5)"),
        ("sqrt(div(@0,@1))", "sqrt(@0 / @1)"),
        ("[max(@0,1),floor_divide(@0,2)]", "[max(@0, 1), @0 // 2]"),
        ("neg(neg(@0))", "--@0"),
    ];
    for (text, wanted) in cases {
        assert_eq!(read(text, false).unwrap().infix(), wanted, "{text}");
    }
}

#[test]
fn folding_keeps_what_has_no_result() {
    let cases = [
        ("add(@0,add(1,2))", "add(@0,3)"),
        ("add(mul(2,3),mul(@0,add(1,1.5)))", "add(6,mul(@0,2.5))"),
        ("floor_divide(1,0)", "floor_divide(1,0)"),
        ("remainder(@0,fmod(1,0))", "remainder(@0,fmod(1,0))"),
        ("add(9223372036854775807,1)", "add(9223372036854775807,1)"),
        ("square(50000)", "2500000000"),
        ("pow(2,-1)", "0.5"),
        ("max(1.5,2)", "2.0"),
        ("max(nan,2)", "nan"),
        ("floor(inf)", "inf"),
        ("int(inf)", "int(inf)"),
        ("trunc(-2.5)", "-2"),
        ("torch.bool(0.0)", "False"),
        ("torch.float(2)", "2.0"),
        ("int(True)", "1"),
        ("xor(True,False)", "True"),
        ("lshift(1,63)", "lshift(1,63)"),
        ("rshift(-8,100)", "-1"),
        ("log(-1)", "nan"),
        ("add(None,1)", "add(None,1)"),
        ("mul(2j,2)", "mul(0.0+2.0j,2)"),
        ("[add(1,1),@0]", "[2,@0]"),
        ("size(@0,0)", "size(@0,0)"),
        ("neg(-9223372036854775808)", "neg(-9223372036854775808)"),
        ("fmod(-9223372036854775808,-1)", "0"),
    ];
    for (text, wanted) in cases {
        assert_eq!(read(text, false).unwrap().folded(&no_extents).canonical(), wanted, "{text}");
    }
    let extents = |number: u64| (number == 0).then(|| vec![Some(2), None, Some(5)]);
    let folded = |text: &str| read(text, false).unwrap().folded(&extents).canonical();
    assert_eq!(folded("mul(size(@0,-1),size(@0,0))"), "10");
    assert_eq!(folded("add(size(@0,1),size(@1,0))"), "add(size(@0,1),size(@1,0))");
}
