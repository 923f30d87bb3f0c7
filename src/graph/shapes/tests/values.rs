//! Items of small tensors that are known while expanding, by each rule.

use super::super::items::{Item, Items};
use super::run_with;

/// The items of the output `y`: `2, S`, of scalars `2, 0.5 (scalars)`, of a range without end `0 + 1 i`; `-` if none is known.
fn items(inputs: &[(&str, &str)], call: &str) -> String {
    let graph = match run_with("extension tract_registry tract_core;", inputs, call) {
        Ok(graph) => graph,
        Err(codes) => return codes.join(" "),
    };
    let Some(Items { items, scalars, progression }) = graph.values.get(&graph.outputs[0]).map(|items| &**items) else {
        return "-".to_owned();
    };
    let text = |item: &Item| match item {
        Item::Dim(dim) => dim.text(),
        Item::Scalar(value) => value.to_string(),
    };
    match progression {
        Some((start, step)) => format!("{} + {step} i", start.text()),
        None => items.iter().map(text).collect::<Vec<_>>().join(", ") + if *scalars { " (scalars)" } else { "" },
    }
}

/// Cases with the shape `s` of one input `x`, and the same as scalars, `f`.
#[track_caller]
fn check(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (call, wanted) in cases {
        let text = format!("s = tract_core_shape_of(x); f = tract_core_cast(s, to = 'f32'); {call}");
        let found = items(&[("x", "[2,3,S,8]")], &text);
        if found != *wanted {
            wrong.push(format!("{call}: {found}, not {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sources() {
    check(&[
        ("y = tract_core_shape_of(x);", "2, 3, S, 8"),
        ("y = constant<integer>(shape = [3], value = [5]);", "5, 5, 5"),
        ("y = constant<integer>(shape = [3], value = [1, 2, 3]);", "1, 2, 3"),
        ("y = constant(shape = [2], value = [0.5]);", "0.5, 0.5 (scalars)"),
        ("y = constant<integer>(shape = [2,128], value = [1]);", &vec!["1"; 256].join(", ")),
        ("y = constant<integer>(shape = [257], value = [1]);", "-"),
        ("y = tract_core_range(0, 6, 2);", "0, 2, 4"),
        ("y = tract_core_range(0, 7, 3);", "0, 3, 6"),
        ("y = tract_core_range(5, -2, -2);", "5, 3, 1, -1"),
        ("y = tract_core_range(0, 256, 1);", &(0..256).map(|i| i.to_string()).collect::<Vec<_>>().join(", ")),
        ("y = tract_core_range(0, 257, 1);", "-"),
        ("y = tract_core_range(1, S, 2);", "1 + 2 i"),
    ]);
}

#[test]
fn layouts() {
    check(&[
        ("y = reshape(s, shape = [2,2]);", "2, 3, S, 8"),
        ("y = unsqueeze(s, axes = [0]);", "2, 3, S, 8"),
        // In documents of tract this range is empty; items of a tensor without items are not noted.
        ("y = slice(s, axes = [0], begin = [0], end = [0]);", "-"),
        ("y = slice(s, axes = [0], begin = [1], end = [3]);", "3, S"),
        ("y = slice(s, axes = [0], begin = [-3], end = [-1]);", "3, S"),
        ("y = slice(s, axes = [0], begin = [1], end = [0]);", "3, S, 8"),
        ("y = slice(s, axes = [0], begin = [0], end = [4], stride = [3]);", "2, 8"),
        ("y = slice(s, axes = [0], begin = [3], end = [0], stride = [-1]);", "-"),
        ("y = slice(reshape(s, shape = [2,2]), axes = [0], begin = [0], end = [1]);", "-"),
        ("y = slice(reshape(s, shape = [2,2]), axes = [1], begin = [0], end = [1]);", "-"),
        ("r = tract_core_range(1, S + 20, 2); y = slice(r, axes = [0], begin = [2], end = [5]);", "5, 7, 9"),
        ("r = tract_core_range(1, S + 20, 2); y = slice(r, axes = [0], begin = [2], end = [5], stride = [2]);", "-"),
        ("r = tract_core_range(1, S + 20, 2); y = slice(r, axes = [0], begin = [2], end = [0]);", "-"),
        ("r = tract_core_range(1, S, 2); y = add(r, 1);", "-"),
        ("y = concat([s, s], axis = 0);", "2, 3, S, 8, 2, 3, S, 8"),
        ("y = concat([constant(shape = [1], value = [0.5]), f], axis = 0);", "0.5, 2, 3, S, 8 (scalars)"),
        ("y = concat([s, tract_core_shape_of(vendor(x))], axis = 0);", "-"),
        ("z = unsqueeze(s, axes = [0]); y = concat([z, z], axis = 0);", "-"),
        ("z = unsqueeze(s, axes = [0]); y = concat([z, z], axis = 1);", "-"),
        ("n = squeeze(slice(s, axes = [0], begin = [2], end = [3]), axes = [0]); y = stack([n, n], axis = 0);", "S, S"),
        ("y = tract_core_gather(s, [3, 0, -2], axis = 0);", "8, 2, S"),
        ("y = tract_core_gather(f, [3, 1], axis = 0);", "8, 3 (scalars)"),
        ("y = tract_core_gather(s, 1, axis = 0);", "3"),
        ("y = tract_core_gather(s, s, axis = 0);", "-"),
        ("y = tract_core_gather(reshape(s, shape = [2,2]), [0], axis = 0);", "-"),
    ]);
}

#[test]
fn conversions() {
    check(&[
        ("y = tract_core_cast(s, to = 'f32');", "2, 3, S, 8 (scalars)"),
        ("y = tract_core_cast(s, to = 'BF16');", "2, 3, S, 8 (scalars)"),
        ("y = tract_core_cast(f, to = 'i64');", "2, 3, S, 8"),
        ("y = tract_core_cast(constant(shape = [3], value = [2.5, -2.5, 4.0]), to = 'i64');", "2, -2, 4"),
        ("y = tract_core_cast(constant(shape = [2], value = [2.5, 1.0]), to = 'f16');", "2.5, 1 (scalars)"),
        ("y = tract_core_cast(constant<integer>(shape = [3], value = [0, 7, -7]), to = 'bool');", "0, 1, 1"),
        ("y = tract_core_cast(add(s, 1), to = 'bool');", "1, 1, 1, 1"),
        ("y = tract_core_cast(sub(s, 2), to = 'bool');", "0, 1, ?, 1"),
    ]);
}

#[test]
fn items_of_one_argument() {
    check(&[
        ("y = neg(s);", "-2, -3, -S, -8"),
        ("y = neg(f);", "-2, -3, -S, -8 (scalars)"),
        ("y = neg(constant(shape = [2], value = [0.5, 1.0]));", "?, -1 (scalars)"),
        ("y = floor(constant(shape = [2], value = [2.5, -2.5]));", "2, -3 (scalars)"),
        ("y = ceil(constant(shape = [2], value = [2.5, -2.5]));", "3, -2 (scalars)"),
        ("y = round(constant(shape = [2], value = [2.5, 0.25]));", "3, 0 (scalars)"),
        ("y = floor(f);", "2, 3, S, 8 (scalars)"),
        ("y = abs(sub(s, 3));", "?, 0, ?, 5"),
        ("y = relu(f);", "2, 3, S, 8 (scalars)"),
        ("y = sqr(f);", "4, 9, S*S, 64 (scalars)"),
        ("y = sqrt(constant(shape = [2], value = [16.0, 6.25]));", "4, 2.5 (scalars)"),
        ("y = copy(s);", "2, 3, S, 8"),
    ]);
}

#[test]
fn items_of_two_arguments() {
    check(&[
        ("y = add(s, 1);", "3, 4, S+1, 9"),
        ("y = sub(10, s);", "8, 7, 10-S, 2"),
        ("y = mul(s, s);", "4, 9, S*S, 64"),
        ("y = add(f, 0.5);", "2.5, 3.5, ?, 8.5 (scalars)"),
        ("y = add(s, constant<integer>(shape = [1], value = [4]));", "6, 7, S+4, 12"),
        ("y = add(constant<integer>(shape = [1], value = [4]), s);", "6, 7, S+4, 12"),
        ("y = add(constant<integer>(shape = [4], value = [1, 2, 3, 4]), s);", "3, 5, S+3, 12"),
        ("y = add(constant<integer>(shape = [1,1], value = [4]), s);", "-"),
        ("y = div(s, 2);", "1, 1, S/2, 4"),
        ("y = div(s, 2.0);", "1, 1, S/2, 4"),
        ("y = div(neg(s), 2);", "-1, -1, -(S/2), -4"),
        ("y = div(f, 2.0);", "1, 1.5, ?, 4 (scalars)"),
        ("y = div(mul(f, 2.0), 2.0);", "2, 3, S, 8 (scalars)"),
        ("y = min(s, 3);", "2, 3, min(3,S), 3"),
        ("y = max(s, 3);", "3, 3, max(3,S), 8"),
        ("y = min(f, 2.5);", "2, 2.5, ?, 2.5 (scalars)"),
        ("y = max(f, 2.5);", "2.5, 3, ?, 8 (scalars)"),
    ]);
}

#[test]
fn choices() {
    check(&[
        ("y = lt(s, 3);", "1, 0, ?, 0"),
        ("y = le(s, 3);", "1, 1, ?, 0"),
        ("y = gt(s, 3);", "0, 0, ?, 1"),
        ("y = ge(s, 3);", "0, 1, ?, 1"),
        ("y = eq(s, 3);", "0, 1, ?, 0"),
        ("y = ne(s, 3);", "1, 0, ?, 1"),
        ("y = lt(f, 2.5);", "1, 0, ?, 0"),
        ("y = ge(s, 0);", "1, 1, ?, 1"),
        ("y = gt(add(s, 1), 0);", "1, 1, 1, 1"),
        ("y = select(lt(s, 3), s, 5);", "2, 5, ?, 5"),
        ("y = select(true, s, 5);", "2, 3, S, 8"),
        ("y = select(false, s, 5);", "5, 5, 5, 5"),
        ("y = select(lt(s, 3), s, s);", "2, 3, S, 8"),
        ("y = select(lt(f, 2.5), f, 0.5);", "2, 0.5, ?, 0.5 (scalars)"),
    ]);
}

#[test]
fn reductions() {
    check(&[
        ("y = sum_reduce(s, axes = [0]);", "S+13"),
        ("y = sum_reduce(s, axes = [0], normalize = true);", "-"),
        ("y = sum_reduce(s, axes = [0], normalize = false);", "S+13"),
        ("y = sum_reduce(reshape(s, shape = [2,2]), axes = [0]);", "-"),
        ("y = sum_reduce(s, axes = []);", "-"),
        ("y = tract_core_product_reduce(s, axes = [0]);", "48*S"),
        ("y = max_reduce(s, axes = [0]);", "max(8,S)"),
        ("y = min_reduce(s, axes = [0]);", "min(2,S)"),
        ("y = sum_reduce(constant(shape = [2], value = [4.0, 8.0]), axes = [0]);", "12 (scalars)"),
        ("y = sum_reduce(constant(shape = [2], value = [16777216.0, 0.0]), axes = [0]);", "16777216 (scalars)"),
        ("y = sum_reduce(constant(shape = [2], value = [16777216.0, 1.0]), axes = [0]);", "-"),
        ("y = sum_reduce(constant(shape = [2], value = [0.5, 1.0]), axes = [0]);", "-"),
        ("y = sum_reduce(f, axes = [0]);", "-"),
    ]);
}
