//! Tests of expressions on symbols.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::Dim;

fn dim(text: &str) -> Dim {
    Dim::of_text(text)
}

#[test]
fn equal_expressions_are_equal() {
    for (a, b) in [
        ("S + S", "2*S"),
        ("(S+1)*(S-1)", "S*S-1"),
        ("(2*S+3)/2", "S+1"),
        ("(4*S+6)/4", "(2*S+3)/2 + 0*T"),
        ("(S/2)/3", "S/6"),
        ("S*T/T", "S"),
        ("(2*S*T+4*T)/(S+2)", "2*T"),
        ("min(S, S+1)", "S"),
        ("max(min(T,4), 0)", "min(4,T)"),
        ("min(S, min(T, 4))", "min(min(4, S), T)"),
        ("min(1, min(2, S))", "min(S, 1)"),
        ("max(S, max(S+T, 3))", "max(3, S+T)"),
        ("(S+3)/4*4-(S+3)/4*4", "0"),
        ("broadcast(S, 1)", "S"),
        ("broadcast(S, 4)", "4"),
        ("(1-S)/2*2", "(S-1)/-2*2"),
        ("(6*S-4*T)/4", "(3*S-2*T)/2"),
        ("(S-1)/(S-1)", "1"),
        ("-S/2", "0-S/2"),
    ] {
        assert_eq!(dim(a), dim(b), "{a} and {b}");
        assert_ne!(dim(a), Dim::Unknown, "{a}");
    }
    assert_eq!(dim("S-1").over(dim("2")).plus(dim("1")), dim("(S+1)/2"));
    assert_ne!(dim("S"), dim("T"));
    assert_eq!(dim("S +"), Dim::Unknown);
    assert_eq!(dim("S/0"), Dim::Unknown);
}

#[test]
fn texts_are_read_back() {
    for text in [
        "S",
        "2*S+1",
        "(S+3)/4",
        "S*T+S",
        "2*(S/2)",
        "min(4,S)",
        "S-1",
        "10-S",
        "(S+T)/(T+1)",
        "broadcast(S,T)",
        "(S-1)/2",
        "S-S/2",
        "S/(T-1)",
        "floordiv(min(S-1,T),2)",
    ] {
        assert_eq!(dim(text).text(), text);
    }
    // Rounding down does not differ from `/` where the dividend is not negative.
    assert_eq!(dim("S-3").over(dim("2")).text(), "(S+1)/2-2");
    assert!(!dim("floordiv(min(S-1,T),2)").is_plain());
    assert_eq!((dim("3").text(), Dim::Unknown.text()), ("3".to_string(), "?".to_string()));
    assert!(dim("(S+3)/4").is_plain() && !dim("1+min(S,4)").is_plain());
}

#[test]
fn names_that_are_no_words_have_brackets_in_expressions() {
    let odd = Dim::symbol("2*M+1");
    assert_eq!(odd.text(), "2*M+1");
    assert_eq!(odd.clone().times(dim("3*M")).text(), "3*(2*M+1)*M");
    assert_eq!(dim("S").minus(odd.clone()).text(), "S-(2*M+1)");
    assert_eq!(odd.clone().plus(dim("1")).over(dim("2")).text(), "((2*M+1)+1)/2");
    assert_eq!(odd.times(dim("3*M")).spelled_out(), dim("6*M*M+3*M"));
    assert_eq!(Dim::symbol("the batch").spelled_out(), Dim::symbol("the batch"));
}

#[test]
fn what_holds_for_all_values_is_known() {
    assert_eq!(dim("S+1").compare(&dim("S")), Some(Ordering::Greater));
    assert_eq!(dim("S").compare(&dim("S+T+1")), Some(Ordering::Less));
    assert_eq!(dim("S").compare(&dim("T")), None);
    assert_eq!(dim("S").unify(dim("S+1")), None);
    assert_eq!(dim("S+2").broadcast(dim("S+3")), None);
    assert_eq!(dim("S+T+3").broadcast(dim("2")), None);
    assert_ne!(dim("S").broadcast(dim("S+1")), None);
    assert_eq!(dim("S").unify(dim("4")), Some(Dim::Int(4)));
    assert_eq!(dim("S*4").exactly_over(dim("4")), dim("S"));
    assert_eq!(dim("S").exactly_over(dim("4")), Dim::Unknown);
    assert_eq!(dim("S").over_up(Dim::Int(2)), dim("(S+1)/2"));
}

/// Large expressions become unknown, since they would take too long: sums of nested quotients double with each step.
#[test]
fn large_expressions_are_unknown() {
    let doubled = |of: Dim| of.clone().over(Dim::Int(3)).times(of.plus(Dim::symbol("T")).over(Dim::symbol("U")));
    let mut dim = Dim::symbol("S");
    let steps = std::iter::repeat_with(|| {
        dim = doubled(dim.clone());
        dim.clone()
    });
    let steps: Vec<Dim> = steps.take(64).collect();
    assert_ne!(steps[2], Dim::Unknown);
    assert_eq!(steps[63], Dim::Unknown);
    assert_eq!(Dim::symbol(&"S".repeat(1000)), Dim::Unknown);
    let (sum, _) = (0..1000).fold((Dim::Int(0), 0), |(sum, i), _| (sum.plus(Dim::symbol(&format!("S{i}"))), i + 1));
    assert_eq!(sum, Dim::Unknown);
}

/// Generates the text of an expression.
fn texts() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![Just("S".to_string()), Just("T".to_string()), (0i64..9).prop_map(|i| i.to_string())];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        let by = prop_oneof![-5i64..0, 1i64..6];
        prop_oneof![
            pair.clone().prop_map(|(a, b)| format!("({a}-{b})")),
            pair.clone().prop_map(|(a, b)| format!("({a}+{b})")),
            pair.clone().prop_map(|(a, b)| format!("({a}*{b})")),
            pair.clone().prop_map(|(a, b)| format!("min({a},{b})")),
            pair.prop_map(|(a, b)| format!("max({a},{b})")),
            (inner.clone(), by).prop_map(|(a, by)| format!("({a}/{by})")),
            (inner, 1i64..6).prop_map(|(a, by)| format!("floordiv({a},{by})")),
        ]
    })
}

/// The value of an expression, given the values of `S` and `T`.
fn value(text: &str, s: i64, t: i64) -> i64 {
    dim(&text.replace('S', &s.to_string()).replace('T', &t.to_string())).known().unwrap_or(i64::MIN)
}

proptest! {
    #[test]
    fn the_normal_form_means_the_same(text in texts(), s in 0i64..20, t in 0i64..20) {
        let of = dim(&text);
        prop_assume!(of != Dim::Unknown);
        prop_assert_eq!(value(&of.text(), s, t), value(&text, s, t), "{} as {}", text, of.text());
        prop_assert_eq!(&dim(&of.text()), &of, "{} as {}", text, of.text());
        #[cfg(feature = "eval")]
        prop_assert_eq!(of.value(&|name| Some(if name == "S" { s } else { t })), Some(value(&text, s, t)));
    }
}

#[test]
fn bounds_hold_for_all_values() {
    let seen = [const { std::cell::Cell::new(0) }; 2];
    let see = |what: usize| seen[what].set(seen[what].get() + 1);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::default());
    let done = runner.run(&(texts(), texts(), 0i64..20, 0i64..20), |(a, b, s, t)| {
        let (of, than) = (dim(&a), dim(&b));
        prop_assume!(of != Dim::Unknown && than != Dim::Unknown);
        let [x, y] = [&a, &b].map(|text| value(text, s, t));
        if let Some(order) = of.compare(&than) {
            see(0);
            prop_assert_eq!(order, x.cmp(&y), "{} and {}", a, b);
        }
        if of.clone().broadcast(than.clone()).is_none() {
            prop_assert!(x != y && x != 1 && y != 1, "{} and {}", a, b);
        }
        for (chosen, wanted) in [(of.clone().min(than.clone()), x.min(y)), (of.max(than), x.max(y))] {
            if chosen != Dim::Unknown {
                see(1);
                prop_assert_eq!(value(&chosen.text(), s, t), wanted, "{}, {}, {}", a, b, chosen.text());
            }
        }
        Ok(())
    });
    done.unwrap();
    let seen = seen.map(|count| count.get());
    assert!(seen[0] > 5 && seen[1] > 50, "{seen:?}");
}

#[cfg(feature = "eval")]
#[test]
fn quotients_are_rounded_as_they_are_read() {
    let values = |text: &str| [0, 1, 2, 7].map(|s| dim(text).value(&|_| Some(s)));
    assert_eq!(values("(S-7)/2"), [-3, -3, -2, 0].map(Some));
    assert_eq!(values("floordiv(S-7,2)"), [-4, -3, -3, 0].map(Some));
    assert_eq!(values("7/(S-9)"), [0, 0, -1, -3].map(Some));
    let below = Dim::Int(7).over(dim("S-9"));
    assert_eq!([0, 1, 2, 7].map(|s| below.value(&|_| Some(s))), [-1, -1, -1, -4].map(Some));
}

#[cfg(feature = "eval")]
#[test]
fn values_of_symbols_follow_from_those_of_expressions() {
    let solved = |text: &str, value| dim(text).solved(value).map(|(symbol, value)| (symbol.to_string(), value));
    assert_eq!(solved("2*S+1", 7), Some(("S".to_string(), 3)));
    assert_eq!((solved("2*S", 7), solved("S+T", 7), solved("S/2", 3)), (None, None, None));
    assert_eq!(dim("min(S,T)+S*T").value(&|name| Some(if name == "S" { 2 } else { 5 })), Some(12));
}

#[test]
fn symbols_are_replaced_by_other_numbers() {
    let given = |symbol: &str| match symbol {
        "S" => Some(Dim::of_text("2*P+1")),
        "T" => Some(Dim::Int(3)),
        _ => None,
    };
    let replaced = |text: &str| Dim::of_text(text).substituted(&given).text();
    assert_eq!(replaced("S*T"), Dim::of_text("6*P+3").text());
    assert_eq!(replaced("T/2+min(T,7)"), "4");
    assert_eq!(replaced("broadcast(T,1)"), "3");
    assert_eq!(replaced("U-S"), Dim::of_text("U-2*P-1").text());
    assert_eq!(replaced("5"), "5");
}
