//! A network that breaks each rule.

use super::{read, run_with, text, told};
use crate::Options;
use crate::diagnostics::{Code, Severity};

/// The broken rule, the layers, the outputs.
const BROKEN: &[(&str, &str, &str)] = &[
    (
        "E-NOLIMIT",
        r#"{"op": "recurrence", "loop": "L", "name": "s", "initial": "z", "next": "s1"}, {"op": "neg", "name": "s1", "inputs": ["s"]}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "s"}"#,
        r#""y""#,
    ),
    ("E-TWOLIMITS", r#"LIMIT, LIMIT, ROW, CAT"#, r#""y""#),
    (
        "E-TWOLIMITS",
        r#"WHILE, WHILE, {"op": "recurrence", "loop": "L", "name": "c", "initial": "yes", "next": "no"}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "c"}"#,
        r#""y""#,
    ),
    ("E-COUNTTYPE", r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "half"}, ROW, CAT"#, r#""y""#),
    ("E-COUNTTYPE", r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "v"}, ROW, CAT"#, r#""y""#),
    (
        "E-COUNTINSIDE",
        r#"{"op": "recurrence", "loop": "L", "name": "i", "initial": "zero", "next": "i"}, {"op": "add", "name": "c", "inputs": ["i", "n"]}, {"op": "trip_limit", "loop": "L", "kind": "count", "input": "c"}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "i"}"#,
        r#""y""#,
    ),
    (
        "E-WHILETYPE",
        r#"{"op": "recurrence", "loop": "L", "name": "c", "initial": "zero", "next": "one"}, WHILE, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "c"}"#,
        r#""y""#,
    ),
    (
        "E-WHILEBOUNDARY",
        r#"{"op": "iterator", "loop": "L", "name": "e", "input": "v"}, {"op": "greater", "name": "c", "inputs": ["e", "f0"]}, WHILE, {"op": "neg", "name": "m", "inputs": ["e"]}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "m", "length": "n"}"#,
        r#""y""#,
    ),
    (
        "E-WHILEBOUNDARY",
        r#"{"op": "recurrence", "loop": "L", "name": "s", "initial": "f0", "next": "t"}, {"op": "trip_limit", "loop": "I", "kind": "count", "input": "n"}, {"op": "recurrence", "loop": "I", "name": "u", "initial": "s", "next": "u1"}, {"op": "add", "name": "u1", "inputs": ["u", "f1"]}, {"op": "loop_output", "loop": "I", "name": "t", "kind": "last_value", "input": "u"}, {"op": "less", "name": "c", "inputs": ["t", "a"]}, WHILE, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "s"}"#,
        r#""y""#,
    ),
    (
        "E-ITERINSIDE",
        r#"LIMIT, ROW, {"op": "iterator", "loop": "L", "name": "e", "input": "r"}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "e", "length": "n"}"#,
        r#""y""#,
    ),
    ("E-ITERRANK", r#"LIMIT, {"op": "iterator", "loop": "L", "name": "r", "input": "a"}, CAT"#, r#""y""#),
    ("E-ITERAXIS", r#"LIMIT, {"op": "iterator", "loop": "L", "name": "r", "input": "x", "axis": 2}, CAT"#, r#""y""#),
    ("E-ITERAXIS", r#"LIMIT, {"op": "iterator", "loop": "L", "name": "r", "input": "x", "axis": -1}, CAT"#, r#""y""#),
    (
        "E-REVNOCOUNT",
        r#"{"op": "recurrence", "loop": "L", "name": "c", "initial": "yes", "next": "no"}, WHILE, {"op": "iterator", "loop": "L", "name": "r", "input": "x", "reverse": true}, CAT"#,
        r#""y""#,
    ),
    (
        "E-ITEROOB",
        r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "len"}, ROW, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "length": "len"}"#,
        r#""y""#,
    ),
    (
        "E-ITEROOB",
        r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "len"}, {"op": "iterator", "loop": "L", "name": "r", "input": "x", "reverse": true}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "length": "len"}"#,
        r#""y""#,
    ),
    (
        "E-RECONE",
        r#"LIMIT, {"op": "recurrence", "loop": "L", "name": "s", "initial": "z", "next": null}, LAST"#,
        r#""y""#,
    ),
    ("E-RECONE", r#"LIMIT, {"op": "recurrence", "loop": "L", "name": "s", "next": "z"}, LAST"#, r#""y""#),
    (
        "E-RECINIT",
        r#"LIMIT, ROW, {"op": "recurrence", "loop": "L", "name": "s", "initial": "r", "next": "z"}, LAST"#,
        r#""y""#,
    ),
    (
        "E-RECSHAPE",
        r#"LIMIT, {"op": "recurrence", "loop": "L", "name": "s", "initial": "z", "next": "f0"}, LAST"#,
        r#""y""#,
    ),
    (
        "E-RECSHAPE",
        r#"LIMIT, {"op": "recurrence", "loop": "L", "name": "s", "initial": "v", "next": "s1"}, {"op": "concat", "name": "s1", "inputs": ["s", "v"], "axis": 0}, LAST"#,
        r#""y""#,
    ),
    (
        "E-RECTYPE",
        r#"LIMIT, {"op": "recurrence", "loop": "L", "name": "s", "initial": "one", "next": "f0"}, LAST"#,
        r#""y""#,
    ),
    (
        "E-LASTNOTREC",
        r#"LIMIT, ROW, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "r"}"#,
        r#""y""#,
    ),
    (
        "E-LASTNOTREC",
        r#"LIMIT, {"op": "recurrence", "loop": "L", "name": "s", "initial": "z", "next": "z"}, LAST, {"op": "trip_limit", "loop": "M", "kind": "count", "input": "n"}, {"op": "loop_output", "loop": "M", "name": "w", "kind": "last_value", "input": "v"}"#,
        r#""y", "w""#,
    ),
    (
        "E-LASTLEN",
        r#"LIMIT, {"op": "recurrence", "loop": "L", "name": "s", "initial": "z", "next": "z"}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "s", "length": "n"}"#,
        r#""y""#,
    ),
    ("E-CATOUTSIDE", r#"LIMIT, {"op": "neg", "name": "r", "inputs": ["x"]}, CAT"#, r#""y""#),
    (
        "E-CATNOLEN",
        r#"LIMIT, ROW, {"op": "loop_output", "loop": "L", "name": "y", "kind": "reverse", "input": "r"}"#,
        r#""y""#,
    ),
    (
        "E-CATLENTYPE",
        r#"LIMIT, ROW, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "length": "half"}"#,
        r#""y""#,
    ),
    (
        "E-CATLENINSIDE",
        r#"LIMIT, ROW, {"op": "recurrence", "loop": "L", "name": "i", "initial": "n", "next": "i"}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "length": "i"}"#,
        r#""y""#,
    ),
    (
        "E-CATAXIS",
        r#"LIMIT, ROW, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "axis": 2, "length": "n"}"#,
        r#""y""#,
    ),
    (
        "E-CATAXIS",
        r#"LIMIT, ROW, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "axis": -1, "length": "n"}"#,
        r#""y""#,
    ),
    (
        "E-CATSHORT",
        r#"LIMIT, ROW, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "length": "two"}"#,
        r#""y""#,
    ),
    (
        "E-CATSHAPE",
        r#"LIMIT, {"op": "recurrence", "loop": "L", "name": "i", "initial": "one", "next": "i1"}, {"op": "add", "name": "i1", "inputs": ["i", "one"]}, {"op": "trip_limit", "loop": "I", "kind": "count", "input": "i"}, {"op": "recurrence", "loop": "I", "name": "s", "initial": "f0", "next": "s1"}, {"op": "add", "name": "s1", "inputs": ["s", "f1"]}, {"op": "loop_output", "loop": "I", "name": "r", "kind": "concatenate", "input": "s1", "length": "i"}, CAT"#,
        r#""y""#,
    ),
    ("E-OUTINSIDE", r#"LIMIT, ROW, CAT"#, r#""y", "r""#),
    (
        "E-NEST",
        r#"LIMIT, {"op": "trip_limit", "loop": "B", "kind": "count", "input": "n"}, ROW, {"op": "recurrence", "loop": "B", "name": "b", "initial": "z", "next": "b1"}, {"op": "add", "name": "b1", "inputs": ["b", "r"]}, {"op": "recurrence", "loop": "L", "name": "s", "initial": "z", "next": "s1"}, {"op": "add", "name": "s1", "inputs": ["s", "b"]}, LAST"#,
        r#""y""#,
    ),
    (
        "E-NEST",
        r#"LIMIT, {"op": "trip_limit", "loop": "B", "kind": "count", "input": "n"}, ROW, {"op": "iterator", "loop": "B", "name": "q", "input": "x"}, {"op": "trip_limit", "loop": "C", "kind": "count", "input": "n"}, {"op": "recurrence", "loop": "C", "name": "c", "initial": "r", "next": "q"}, {"op": "loop_output", "loop": "C", "name": "w", "kind": "last_value", "input": "c"}, {"op": "neg", "name": "y", "inputs": ["v"]}"#,
        r#""y""#,
    ),
    (
        "E-CYCLE",
        r#"{"op": "add", "name": "y", "inputs": ["w", "v"]}, {"op": "neg", "name": "w", "inputs": ["y"]}"#,
        r#""y""#,
    ),
    (
        "E-CYCLE",
        r#"LIMIT, {"op": "recurrence", "loop": "L", "name": "s", "initial": "z", "next": "y"}, LAST"#,
        r#""y""#,
    ),
    (
        "E-CYCLE",
        r#"LIMIT, {"op": "iterator", "loop": "L", "name": "r", "input": "w"}, CAT, {"op": "trip_limit", "loop": "M", "kind": "count", "input": "n"}, {"op": "iterator", "loop": "M", "name": "q", "input": "y"}, {"op": "loop_output", "loop": "M", "name": "w", "kind": "concatenate", "input": "q", "length": "n"}"#,
        r#""y""#,
    ),
    ("E-DUP", r#"{"op": "neg", "name": "y", "inputs": ["v"]}, {"op": "abs", "name": "y", "inputs": ["v"]}"#, r#""y""#),
    ("E-DUP", r#"{"op": "neg", "name": "v", "inputs": ["x"]}"#, r#""v""#),
    ("E-UNDEF", r#"{"op": "neg", "name": "y", "inputs": ["vv"]}"#, r#""y""#),
    ("E-UNDEF", r#"{"op": "neg", "name": "y", "inputs": ["v"]}"#, r#""y", "w""#),
    (
        "E-NONTERM",
        r#"{"op": "recurrence", "loop": "L", "name": "c", "initial": "yes", "next": "c"}, WHILE, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "c"}"#,
        r#""y""#,
    ),
];

/// The rules that only `--strict` enforces.
const STRICT: &[(&str, &str, &str)] = &[
    (
        "E-WHILEREC",
        r#"{"op": "trip_limit", "loop": "O", "kind": "count", "input": "n"}, {"op": "recurrence", "loop": "O", "name": "i", "initial": "zero", "next": "i1"}, {"op": "add", "name": "i1", "inputs": ["i", "one"]}, {"op": "recurrence", "loop": "L", "name": "j", "initial": "zero", "next": "j1"}, {"op": "add", "name": "j1", "inputs": ["j", "one"]}, {"op": "less", "name": "c", "inputs": ["j", "i1"]}, WHILE, {"op": "loop_output", "loop": "L", "name": "t", "kind": "last_value", "input": "j"}, {"op": "loop_output", "loop": "O", "name": "y", "kind": "concatenate", "input": "t", "length": "n"}"#,
        r#""y""#,
    ),
    (
        "E-CATLENTYPE",
        r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "k"}, ROW, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "length": "k"}"#,
        r#""y""#,
    ),
];

/// Layers that many examples have.
const COMMON: &[(&str, &str)] = &[
    ("LIMIT", r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "n"}"#),
    ("WHILE", r#"{"op": "trip_limit", "loop": "L", "kind": "while", "input": "c"}"#),
    ("ROW", r#"{"op": "iterator", "loop": "L", "name": "r", "input": "x"}"#),
    ("CAT", r#"{"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "length": "n"}"#),
    ("LAST", r#"{"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "s"}"#),
];

fn written(layers: &str, outputs: &str) -> String {
    text(&COMMON.iter().fold(layers.to_owned(), |layers, (word, layer)| layers.replace(word, layer)), outputs)
}

/// Findings that always accompany another rule.
const COMPANIONS: &[(&str, &str)] = &[("E-WHILEBOUNDARY", "E-WHILEREC")];

#[test]
fn every_rule_is_enforced_and_told_alone() {
    let mut wrong = String::new();
    for (rule, layers, outputs) in BROKEN {
        let text = written(layers, outputs);
        let Err(found) = run_with(&text, &Options { max_trips: Some(1000), ..Options::default() }) else {
            wrong += &format!("{rule} is not enforced\n");
            continue;
        };
        let told: Vec<_> = found.iter().filter(|d| d.is_error()).map(|d| d.code.rule()).collect();
        let allowed = |other: &Option<&str>| {
            *other == Some(*rule) || COMPANIONS.iter().any(|(own, with)| own == rule && *other == Some(*with))
        };
        if !told.contains(&Some(*rule)) || !told.iter().all(allowed) {
            wrong += &format!("{rule}: {}\n", super::told(&found));
        }
        assert!(found.iter().all(|d| d.at.span.end > 0 || !d.is_error()), "{rule} has no place");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_only_tensorrt_demands_is_a_warning() {
    for (rule, layers, outputs) in STRICT {
        let text = written(layers, outputs);
        let found = run_with(&text, &Options::default()).unwrap_or_else(|found| panic!("{rule}: {}", told(&found)));
        assert!(found.diagnostics.iter().any(|d| d.code.rule() == Some(rule)), "{rule}");
        let Err(found) = run_with(&text, &Options { strict: true, ..Options::default() }) else { panic!("{rule}") };
        assert!(found.iter().any(|d| d.is_error() && d.code.rule() == Some(rule)), "{rule}");
    }
}

#[test]
fn every_code_of_a_rule_has_an_example() {
    let broken = |code: &Code| {
        let rule = code.rule();
        let table = if code.severity(false) == Severity::Error { BROKEN } else { STRICT };
        table.iter().any(|(of, ..)| rule == Some(*of))
    };
    // Rules of PNNX expressions have similar names.
    let of_loops =
        |code: &&Code| code.as_str().starts_with("E09") && code.rule().is_some_and(|rule| rule.starts_with("E-"));
    for code in Code::ALL.iter().filter(of_loops) {
        assert!(broken(code), "{}", code.as_str());
    }
}

#[test]
fn independent_mistakes_are_told_in_one_run() {
    let layers =
        r#"ROW, {"op": "neg", "name": "q", "inputs": ["nope"]}, {"op": "frob", "name": "f", "inputs": []}, CAT"#;
    let (sources, net, mut found) = read(&written(layers, r#""y""#), false);
    found.extend(net.unwrap().check(false));
    let rules: Vec<_> = found.iter().map(|d| d.code.as_str()).collect();
    assert!(["E0920", "E0930", "E0974"].iter().all(|code| rules.contains(code)), "{rules:?}");
    assert!(found.iter().all(|d| sources.start(d.at).line > 1));
}
