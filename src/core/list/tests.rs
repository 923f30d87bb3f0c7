use super::*;
use crate::core::budget::Budget;

fn ints(list: &List) -> Vec<i64> {
    list.to_values().iter().map(|value| value.as_int().unwrap()).collect()
}

#[test]
fn windows_do_not_see_what_others_append() {
    let meter = Rc::new(Meter::default());
    let a = List::from_ints([1, 2], Some(&meter));
    let b = a.concat(&List::from_ints([3], Some(&meter)), &meter);
    let c = a.concat(&List::from_ints([4], Some(&meter)), &meter);
    let d = List::from_ints([0], Some(&meter)).concat(&b, &meter);
    assert_eq!(ints(&a), [1, 2]);
    assert_eq!(ints(&b), [1, 2, 3]);
    assert_eq!(ints(&c), [1, 2, 4]);
    assert_eq!(ints(&d), [0, 1, 2, 3]);
    assert_eq!(ints(&d.slice(1, 3)), [1, 2]);
    assert_eq!(ints(&a.concat(&a, &meter)), [1, 2, 1, 2]);
}

#[test]
fn both_ends_grow_in_place() {
    let meter = Rc::new(Meter::default());
    let mut list = List::from_ints([], Some(&meter));
    for i in 0..10_000 {
        let item = List::from_ints([i], Some(&meter));
        list = if i % 2 == 0 { list.concat(&item, &meter) } else { item.concat(&list, &meter) };
    }
    assert_eq!(list.len(), 10_000);
    assert_eq!(list.get(0).and_then(|v| v.as_int()), Some(9_999));
    // One buffer contains all items: 8 bytes for each.
    assert!(meter.live() <= 80_016 + HEADER, "{}", meter.live());
    drop(list);
    assert_eq!(meter.live(), 0);
}

#[test]
fn literals_never_grow() {
    let meter = Rc::new(Meter::default());
    let literal = List::from_ints([1], None);
    let longer = literal.concat(&List::from_ints([2], None), &meter);
    assert_eq!(ints(&longer), [1, 2]);
    assert_eq!(literal.buffer.cells.borrow().len(), 1);
}

#[test]
fn text_is_indexed_by_characters() {
    let meter = Rc::new(Meter::default());
    let text = List::from_text("né", None).concat(&List::from_text("ab", None), &meter);
    assert_eq!(text.text(), "néab");
    assert_eq!(text.len(), 4);
    assert_eq!(text.slice(1, 3).text(), "éa");
    assert_eq!(text.repeat(2, &meter).text(), "néabnéab");
    let literal = List::of_literal(&crate::graph::Value::String("né!".into())).expect("a list");
    assert_eq!((literal.len(), literal.slice(1, 2).text()), (3, "é".to_owned()));
}

#[test]
fn literal_text_is_shared_where_it_is_all_of_it() {
    let meter = Rc::new(Meter::default());
    let literal = List::from_text("label", None);
    assert!(Arc::ptr_eq(&literal.to_shared_text(), &literal.to_shared_text()));
    assert_eq!(&*literal.slice(1, 3).to_shared_text(), "ab");
    let counted = |text: &str| List::from_text(text, Some(&meter));
    for other in [&counted("x"), &counted("é"), &List::from_text("é", None), &literal.slice(0, 1)] {
        let other_text = other.text();
        assert_eq!(literal.concat(other, &meter).text(), format!("label{other_text}"));
        assert_eq!(other.concat(&literal, &meter).text(), format!("{other_text}label"));
        assert_eq!(other.concat(&literal.slice(1, 3), &meter).text(), format!("{other_text}ab"));
    }
    assert_eq!(literal.repeat(2, &meter).text(), "labellabel");
    assert!(matches!(literal.get(4), Some(Value::String(last)) if last.text() == "l"));
    assert_eq!(literal.text(), "label");
}

#[test]
fn deep_nesting_drops_without_recursion() {
    let meter = Rc::new(Meter::default());
    let mut list = List::from_values(vec![], Some(&meter));
    for _ in 0..200_000 {
        list = List::from_values(vec![Value::Array(list)], Some(&meter));
    }
    drop(list);
    assert_eq!(meter.live(), 0);
}

fn literal(value: graph::Value) -> List {
    List::of_literal(&value).expect("a list")
}

#[test]
fn literals_of_any_values_are_lists_as_others() {
    let meter = Rc::new(Meter::default());
    let pair = |i| graph::Value::Tuple([graph::Value::Int(i), graph::Value::Int(i + 1)].into());
    let fixed = literal(graph::Value::Array([pair(1), pair(2), pair(3)].into()));
    let plain = List::from_values(fixed.to_values(), Some(&meter));
    let all = |list: &List| {
        let items: Vec<String> =
            list.to_values().iter().map(|item| format!("{:?}", item.freeze(&Budget::unlimited()).ok())).collect();
        format!("{items:?} {}", list.weight_of(2))
    };
    // The other list is made from the items of the literal.
    let items: Vec<_> = fixed.to_values().iter().map(|item| item.freeze(&Budget::unlimited()).ok()).collect();
    assert_eq!(items, [pair(1), pair(2), pair(3)].map(Some));
    assert_eq!(all(&fixed), all(&plain));
    assert_eq!(all(&fixed.slice(1, 3)), all(&plain.slice(1, 3)));
    assert_eq!(all(&fixed.concat(&plain, &meter)), all(&plain.concat(&plain, &meter)));
    assert_eq!(all(&plain.concat(&fixed.slice(0, 1), &meter)), all(&plain.concat(&plain.slice(0, 1), &meter)));
    assert_eq!(all(&fixed.repeat(2, &meter)), all(&plain.repeat(2, &meter)));
    let shared = |list: &List| list.literal_values();
    assert!(shared(&plain).is_none());
    assert!(shared(&fixed).is_some_and(|items| shared(&fixed).is_some_and(|other| Arc::ptr_eq(&items, &other))));
    assert_eq!(shared(&fixed.slice(1, 2)).as_deref(), Some(&[pair(2)][..]));
}

#[test]
fn literals_count_in_the_graph_as_other_lists() {
    let numbers = |items: &[i64]| graph::Value::Integers(items.into());
    let pair = graph::Value::Tuple([graph::Value::Int(1), numbers(&[5, 6, 7])].into());
    let fixed = literal(graph::Value::Array([numbers(&[1, 2, 3]), pair, graph::Value::String("ab".into())].into()));
    let plain = List::from_values(fixed.to_values(), None);
    assert!(fixed.literal_values().is_some() && plain.literal_values().is_none());
    let kept = |list: List| {
        let budget = Budget::unlimited();
        Value::Array(list).freeze(&budget).ok();
        budget.meter.live()
    };
    assert_eq!(kept(fixed), kept(plain));
}

#[test]
fn literals_of_numbers_are_lists_as_others() {
    let meter = Rc::new(Meter::default());
    let (fixed, plain) = (literal(graph::Value::Integers([1, 2, 3].into())), List::from_ints([1, 2, 3], None));
    let others = || {
        [
            List::from_ints([7], Some(&meter)),
            List::from_values(vec![Value::Scalar(7.5)], Some(&meter)),
            literal(graph::Value::Scalars([0.5].into())),
        ]
    };
    let all = |list: &List| format!("{:?} {}", list.packed(), list.weight_of(2));
    for other in others() {
        for (begin, end) in [(0, 3), (1, 2), (1, 1)] {
            let (a, b) = (fixed.slice(begin, end), plain.slice(begin, end));
            assert_eq!(all(&a), all(&b));
            assert_eq!(all(&a.concat(&other, &meter)), all(&b.concat(&other, &meter)));
            assert_eq!(all(&other.concat(&a, &meter)), all(&other.concat(&b, &meter)));
            assert_eq!(all(&a.concat(&a, &meter)), all(&b.concat(&b, &meter)));
            assert_eq!(all(&a.repeat(3, &meter)), all(&b.repeat(3, &meter)));
        }
    }
    let (Some(graph::Value::Integers(a)), Some(graph::Value::Integers(b))) = (fixed.packed(), fixed.packed()) else {
        panic!("packed integers");
    };
    assert!(Arc::ptr_eq(&a, &b));
}
