//! Tests of attributes that are tensors, and so unknown while expanding: no document is refused because of
//! them, and what is inferred holds for all values.

use super::super::ROLES;
use super::{X, run};
use crate::dictionary::{self, Vocabulary};
use crate::graph::{Extent, Shape};

/// The inputs other than `x`, the operations that are called in the same way, the results and tensor arguments
/// of a call, and the attributes, each with two values.
type Row = (Inputs, &'static [&'static str], (&'static str, &'static str), &'static [Attribute]);
type Inputs = &'static [(&'static str, &'static str)];
type Attribute = (&'static str, [&'static str; 2]);

const PADDING: Attribute = ("padding", ["[(1,1), (1,2)]", "[(0,0), (3,1)]"]);
const STRIDE: Attribute = ("stride", ["[2,2]", "[2,1]"]);
const DILATION: Attribute = ("dilation", ["[1,1]", "[2,1]"]);
const GROUPS: Attribute = ("groups", ["1", "1"]);
const OUTPUT_SHAPE: Attribute = ("output_shape", ["[1,3,15,15]", "[1,3,15,15]"]);
const AXES: Attribute = ("axes", ["[0,2]", "[3]"]);
const WINDOW: [Attribute; 4] = [
    ("size", ["[1,1,2,2]", "[1,2,2,2]"]),
    ("padding", ["[(0,0), (0,1), (1,1), (0,1)]", "[(0,0), (1,1), (0,0), (0,0)]"]),
    ("stride", ["[1,2,2,2]", "[1,1,2,1]"]),
    ("dilation", ["[1,1,1,1]", "[1,1,2,1]"]),
];
const POOL: &[Attribute] = &WINDOW;
const SIZE: &[Attribute] = &[("size", ["[1,1,2,2]", "[1,3,1,1]"])];
const FACTOR: &[Attribute] = &[("factor", ["[2,2]", "[4,2]"])];
const ROI: Inputs = &[("r", "[5,4]"), ("i", "[5]")];
const ROI_SIZE: Attribute = ("output_size", ["[2,3]", "[3,1]"]);
const SCALED: &[&str] = &["nearest_downsample", "area_downsample", "nearest_upsample", "multilinear_upsample"];
const NORMALIZED: &[&str] = &[
    "local_response_normalization",
    "local_mean_normalization",
    "local_variance_normalization",
    "local_contrast_normalization",
];
const REDUCED: &[&str] = &["sum_reduce", "max_reduce", "min_reduce", "argmax_reduce", "argmin_reduce", "mean_reduce"];

const ROWS: &[Row] = &[
    (&[], &["constant"], ("y", "value = [0.0]"), &[("shape", ["[2,3]", "[5]"])]),
    (&[("w", "[3,4,3,3]")], &["conv"], ("y", "x, w"), &[PADDING, STRIDE, DILATION, GROUPS]),
    (&[("w", "[4,3,3,3]")], &["deconv"], ("y", "x, w"), &[PADDING, STRIDE, DILATION, GROUPS]),
    (&[("w", "[4,3,3,3]")], &["deconv"], ("y", "x, w"), &[OUTPUT_SHAPE, ("stride", ["[2,2]", "[2,2]"]), GROUPS]),
    (
        &[("p", "[4,1,3,3]"), ("q", "[6,4,1,1]")],
        &["separable_conv"],
        ("y", "x, p, q"),
        &[PADDING, STRIDE, DILATION, GROUPS],
    ),
    (
        &[("p", "[6,1,3,3]"), ("q", "[4,6,1,1]")],
        &["separable_deconv"],
        ("y", "x, p, q"),
        &[PADDING, STRIDE, DILATION, GROUPS],
    ),
    (
        &[("p", "[6,1,3,3]"), ("q", "[4,6,1,1]")],
        &["separable_deconv"],
        ("y", "x, p, q"),
        &[("output_shape", ["[1,6,15,15]", "[1,6,16,16]"]), ("stride", ["[2,2]", "[2,2]"])],
    ),
    (&[], &["box", "argmax_pool", "max_pool", "avg_pool", "rms_pool", "debox"], ("y", "x"), POOL),
    (&[], &["max_pool_with_index"], ("y, j", "x"), POOL),
    (
        &[],
        &["debox"],
        ("y", "x"),
        &[WINDOW[0], ("stride", ["[1,1,2,2]", "[1,1,2,2]"]), ("output_shape", ["[1,4,15,16]", "[1,4,16,15]"])],
    ),
    (&[("i", "[1,4,4,4]")], &["sample"], ("y", "x, i"), &[SIZE_OF_SAMPLE, ("stride", ["[1,1,2,2]", "[1,1,2,2]"])]),
    (&[("i", "[S,S,S,S]")], &["sample"], ("y", "x, i"), POOL),
    (&[("i", X)], &["desample"], ("y", "x, i"), POOL),
    (
        &[("i", X)],
        &["desample"],
        ("y", "x, i"),
        &[SIZE_OF_SAMPLE, ("stride", ["[1,1,2,2]", "[1,1,2,2]"]), ("output_shape", ["[1,4,15,16]", "[1,4,16,15]"])],
    ),
    (&[], SCALED, ("y", "x"), FACTOR),
    (&[], NORMALIZED, ("y", "x"), SIZE),
    (&[], REDUCED, ("y", "x"), &[AXES]),
    (&[("l", X)], &["any_reduce", "all_reduce"], ("y", "l"), &[AXES]),
    (&[], &["moments"], ("y, v", "x"), &[AXES]),
    (&[], &["softmax", "l1_normalization", "l2_normalization"], ("y", "x"), &[AXES]),
    (
        &[],
        &["reshape"],
        ("y", "x"),
        &[("shape", ["[2,-1]", "[4,2,4]"]), ("axis_start", ["1", "1"]), ("axis_count", ["2", "2"])],
    ),
    (&[], &["reshape"], ("y", "x"), &[("shape", ["[2,-1]", "[256]"])]),
    (&[("z", "[1,2,1]")], &["squeeze"], ("y", "z"), &[("axes", ["[0]", "[0,2]"])]),
    (&[], &["unsqueeze"], ("y", "x"), &[("axes", ["[0,3]", "[2]"])]),
    (&[], &["transpose"], ("y", "x"), &[("axes", ["[0,2,3,1]", "[1,0]"])]),
    (&[], &["split"], ("[y, z]", "x"), &[("axis", ["1", "2"]), ("ratios", ["[1,3]", "[1,1]"])]),
    (&[], &["concat", "stack"], ("y", "[x, x]"), &[("axis", ["1", "2"])]),
    (&[("z", "[2,2,2]")], &["unstack"], ("[y, v]", "z"), &[("axis", ["1", "0"])]),
    (
        &[],
        &["slice"],
        ("y", "x"),
        &[
            ("axes", ["[2,3]", "[3,1]"]),
            ("begin", ["[1,0]", "[0,2]"]),
            ("end", ["[3,0]", "[4,3]"]),
            ("stride", ["[1,2]", "[2,1]"]),
        ],
    ),
    (&[], &["pad"], ("y", "x"), &[("padding", ["[(0,0), (0,0), (1,2), (3,0)]", "[(1,0), (0,0), (0,0), (0,0)]"])]),
    (&[], &["tile"], ("y", "x"), &[("repeats", ["[2,1,1,3]", "[1,1,2,1]"])]),
    (&[("i", "[3,2]")], &["gather"], ("y", "x, i"), &[("axis", ["1", "3"])]),
    (ROI, &["avg_roi_pool", "max_roi_pool", "roi_resample"], ("y", "x, r, i"), &[ROI_SIZE]),
    (ROI, &["avg_roi_align", "max_roi_align"], ("y", "x, r, i"), &[ROI_SIZE, ("sampling_rate", ["[2,2]", "[1,3]"])]),
    (&[("z", X)], &["matmul"], ("y", "x, z"), &[("transposeA", ["true", "false"]), ("transposeB", ["false", "true"])]),
    (
        &[("z", "[1,4,5,8]")],
        &["matmul"],
        ("y", "x, z"),
        &[("transposeA", ["false", "true"]), ("transposeB", ["true", "true"])],
    ),
    (&[], &["copy_n"], ("[y, z]", "x"), &[("times", ["2", "2"])]),
];
const SIZE_OF_SAMPLE: Attribute = ("size", ["[1,1,2,2]", "[1,1,1,1]"]);

/// The shape of `y`, given some inputs.
fn shape(inputs: Inputs, call: &str) -> Result<Option<Shape>, Vec<String>> {
    let common = [("x", X), ("i_any", "[2]"), ("l_any", "[]")];
    let graph = run(&[&common, inputs].concat(), call)?;
    Ok(graph.shape(graph.outputs[0]).cloned())
}

/// Whether everything that is inferred holds for a shape.
fn holds(stated: Option<&Shape>, shape: &Shape) -> bool {
    let fits = |(stated, extent): (&Extent, &Extent)| stated.known().is_none() || stated == extent;
    let all = |stated: &Shape| stated.rank() == shape.rank() && stated.extents().iter().zip(shape.extents()).all(fits);
    stated.is_none_or(all)
}

fn spelled(operation: &str, (results, tensors): (&str, &str), attributes: &[(&str, String)]) -> String {
    let attributes: Vec<String> = attributes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("{results} = {operation}({tensors}, {});", attributes.join(", "))
}

/// The value with its first integer replaced by a tensor, if it is an array.
fn opened(value: &str) -> Option<String> {
    let start = value.starts_with('[').then(|| value.find(|c: char| c == '-' || c.is_ascii_digit()))??;
    let end = start + 1 + value[start + 1..].find(|c: char| !c.is_ascii_digit())?;
    Some(format!("{}i_any{}", &value[..start], &value[end..]))
}

/// Checks an operation of a row: each of its attributes becomes a tensor in turn. Adds the errors to `wrong`.
fn check(inputs: Inputs, operation: &str, call: (&str, &str), attributes: &[Attribute], wrong: &mut Vec<String>) {
    for (at, (_, values)) in attributes.iter().enumerate() {
        let shape = |value: &str| {
            let value_of = |i: usize, first: &'static str| if i == at { value.to_string() } else { first.to_string() };
            let given: Vec<(&str, String)> =
                attributes.iter().enumerate().map(|(i, (name, values))| (*name, value_of(i, values[0]))).collect();
            let text = spelled(operation, call, &given);
            let found = self::shape(inputs, &text);
            (text, found)
        };
        // The shape for each accepted value must agree with what is inferred for all values.
        let known: Vec<Shape> = values.iter().filter_map(|value| shape(value).1.ok().flatten()).collect();
        if known.is_empty() {
            wrong.push(format!("{operation}: no shape with {}", attributes[at].0));
        }
        let tensor = if matches!(values[0], "true" | "false") { "l_any" } else { "i_any" };
        let open = opened(values[0]);
        for (value, known) in [(Some(tensor), &known[..]), (open.as_deref(), &known[..known.len().min(1)])] {
            let Some((text, stated)) = value.map(shape) else { continue };
            match stated {
                Ok(stated) if known.iter().all(|shape| holds(stated.as_ref(), shape)) => {}
                stated => wrong.push(format!("{text}: {stated:?}, but {known:?}")),
            }
        }
    }
}

#[test]
fn nothing_is_refused_or_stated_about_attributes_that_are_tensors() {
    let mut wrong = Vec::new();
    for (inputs, operations, call, attributes) in ROWS {
        operations.iter().for_each(|operation| check(inputs, operation, *call, attributes, &mut wrong));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_does_not_depend_on_an_attribute_is_stated() {
    let cases = [
        ("y = tile(x, repeats = i_any);", "[?, ?, ?, ?]"),
        ("y = tile(x, repeats = [i_any, 1, 1, 2]);", "[?, 4, 8, 16]"),
        ("y = reshape(x, shape = i_any);", "?"),
        ("y = reshape(x, shape = [i_any, 4]);", "[64, 4]"),
        ("y = slice(x, axes = [2], begin = i_any, end = [3]);", "[1, 4, ?, 8]"),
        ("y = slice(x, axes = i_any, begin = [1], end = [3]);", "[?, ?, ?, ?]"),
        ("y = unsqueeze(x, axes = i_any);", "?"),
        ("y = unsqueeze(x, axes = [i_any]);", "[?, ?, ?, ?, ?]"),
        ("y = sum_reduce(x, axes = i_any);", "[1, ?, ?, ?]"),
        ("y = sum_reduce(x, axes = [2, i_any]);", "[1, ?, 1, ?]"),
        ("y = nearest_upsample(x, factor = i_any);", "[1, 4, ?, ?]"),
        ("y = nearest_upsample(x, factor = [2, i_any]);", "[1, 4, 16, ?]"),
        ("y = concat([x, x], axis = i_any);", "[?, ?, ?, ?]"),
        ("y = stack([x, x], axis = i_any);", "[?, ?, ?, ?, ?]"),
        ("[y, z] = split(x, axis = 1, ratios = i_any);", "[1, ?, 8, 8]"),
        ("y = max_pool(x, size = i_any);", "[1, 4, 8, 8]"),
        ("y = max_pool(x, size = i_any, padding = [(0,0),(0,0),(0,0),(0,0)]);", "[?, ?, ?, ?]"),
        ("y = gather(x, i_any, axis = i_any);", "[?, ?, ?, ?]"),
        ("y = softmax(x, axes = i_any);", "[1, 4, 8, 8]"),
        ("y = leaky_relu(x, alpha = i_any);", "[1, 4, 8, 8]"),
        ("y = leaky_relu(0.5, alpha = i_any);", "[]"),
    ];
    let mut wrong = Vec::new();
    for (call, wanted) in cases {
        let stated = shape(&[], call).map(|stated| stated.map_or("?".to_string(), |shape| format!("{shape:?}")));
        if stated.as_deref().ok() != Some(wanted) {
            wrong.push(format!("{call}: {stated:?}, not {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_attribute_that_rules_read_is_in_the_table() {
    let text = include_str!("../../../library/std/nnef-1.0.nnef");
    let mut count = 0;
    for declaration in text.split("\nfragment ").skip(1) {
        let (name, rest) = declaration.split_at(declaration.find(['(', '<']).unwrap_or(0));
        let params = rest.split("->").next().unwrap_or(rest);
        let read = ROLES.iter().filter(|names| {
            let is_there =
                |name: &&str| params.split([',', '(']).any(|param| param.trim().starts_with(&format!("{name}:")));
            names.iter().any(is_there)
        });
        let has_rule = dictionary::find(Vocabulary::Standard, name.trim()).is_some();
        // `external` and `variable` have the rule of `constant`.
        for names in read.filter(|_| has_rule && !matches!(name.trim(), "external" | "variable")) {
            let rows = ROWS.iter().filter(|row| row.1.contains(&name.trim()));
            let tested = rows.flat_map(|row| row.3).any(|(attribute, _)| names.contains(attribute));
            assert!(tested, "{names:?} of {name}");
            count += 1;
        }
    }
    assert!(count > 80, "only {count} attributes");
}
