//! Tensors in any layout: buffers, evaluation, and layouts of graphs in the command.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::layouts::{arrays, known, laid_out, order};
use nnef_flatten::eval::{Evaluator, Limits};
use nnef_flatten::tensor::{
    ArrayShape, Buffer, DType, Data, ElementType, Ignoring, Layout, PaddingValue, Shape, Tensor,
};
use nnef_flatten::{Graph, Options, expand, parse};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

fn array(text: &str) -> ArrayShape {
    text.parse::<Shape>().unwrap_or_else(|error| panic!("{text}: {error}")).array().unwrap().clone()
}

fn graph(body: &str) -> Graph {
    let text = format!("version 1.0; graph G(x, w) -> (y, z) {{ {body} }}");
    let parsed = parse("test", text, &Options::default());
    expand(&parsed.document, &Options::default()).unwrap_or_else(|errors| panic!("{errors}")).graph
}

/// A graph with operations of several families, on tensors of ranks 2 to 4.
fn network() -> Graph {
    graph(
        "x = external(shape = [1, 2, 5, 5]); w = external(shape = [3, 2, 3, 3]);
         c = conv(x, w, 0.5, padding = [], stride = [2, 2], dilation = [1, 1]);
         p = max_pool(c, size = [1, 1, 2, 2], border = 'ignore', padding = [], stride = [], dilation = []);
         t = transpose(p, axes = [0, 2, 3, 1]);
         f = reshape(t, shape = [9, 3]);
         m = matmul(f, transpose(f, axes = [1, 0]));
         s = softmax(m, axes = [1]);
         y = select(s > 0.1, s, 0.0 - s);
         z = concat([argmax_reduce(s, axes = [0]), argmax_reduce(s, axes = [0])], axis = 0);",
    )
}

fn inputs() -> Vec<(String, Tensor)> {
    let items = |count: usize, step: f64| (0..count).map(|i| (i as f64 * step).sin()).collect();
    vec![
        ("x".to_owned(), Tensor::scalars(&[1, 2, 5, 5], items(50, 0.7)).unwrap()),
        ("w".to_owned(), Tensor::scalars(&[3, 2, 3, 3], items(54, 1.3)).unwrap()),
    ]
}

/// Layouts of arrays of a rank, whatever their sizes.
fn layouts(rank: usize) -> impl Strategy<Value = Layout> {
    laid_out(vec![2; rank]).prop_map(|array| {
        let layout = array.layout().clone();
        let sizes: Vec<u64> =
            layout.padding().map_or(Vec::new(), |(sizes, _)| sizes.iter().map(|size| size + 8).collect());
        if sizes.is_empty() { layout } else { layout.with_padding(&sizes, PaddingValue::Unknown) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn buffers_hold_elements_where_the_walk_says(
        shape in arrays(),
        dtype in select(vec![DType::Float64, DType::Int64, DType::Bool, DType::Float32, DType::Int32]),
    ) {
        let sizes: Vec<usize> = known(&shape).iter().map(|size| *size as usize).collect();
        let count = sizes.iter().product::<usize>();
        let data = match dtype {
            DType::Float64 => Data::Float64((1..=count).map(|i| i as f64).collect()),
            DType::Float32 => Data::Float32((1..=count).map(|i| i as f32).collect()),
            DType::Int64 => Data::Int64((1..=count as i64).collect()),
            DType::Int32 => Data::Int32((1..=count as i32).collect()),
            _ => Data::Bool((0..count).map(|i| i % 3 == 0).collect()),
        };
        let tensor = Tensor::new(&sizes, data).unwrap();
        let buffer = tensor.laid_out(shape.layout().clone()).unwrap();
        for (place, element) in shape.memory_walk().unwrap().iter().enumerate() {
            let wanted = element.map_or(0.0, |element| tensor.data().float(element as usize));
            prop_assert_eq!(buffer.data().float(place), wanted, "{} at {}", shape, place);
        }
        let again = Buffer::new(buffer.shape().clone(), buffer.data().clone()).unwrap();
        prop_assert_eq!(again.into_tensor(), tensor.clone());
        prop_assert_eq!(buffer.to_tensor(), tensor);
    }

    #[test]
    fn primitives_make_buffers(
        shape in arrays(),
        value in select(vec![PaddingValue::One, PaddingValue::Zero, PaddingValue::Unknown]),
    ) {
        prop_assume!(shape.elements().unwrap() > 0);
        let layout = shape.layout().clone();
        let layout = match layout.padding().map(|(sizes, _)| sizes.to_vec()) {
            Some(sizes) => layout.with_padding(&sizes, value),
            None => layout,
        };
        let sizes: Vec<usize> = known(&shape).iter().map(|size| *size as usize).collect();
        let items = (0..shape.elements().unwrap()).map(|item| item as f64 + 2.0).collect();
        let input = Tensor::scalars(&sizes, items).unwrap();
        let graph = Graph::memory_of(&shape.with_layout(layout.clone()).unwrap()).unwrap();
        let made = Evaluator::default().run(&graph, &[("x".to_owned(), input.clone())], &BTreeMap::new()).unwrap();
        let buffer = input.laid_out(layout).unwrap();
        prop_assert_eq!(made.outputs[0].1.data(), buffer.data());
    }

    #[test]
    fn results_do_not_depend_on_layouts(
        (one, two, four, named) in (layouts(1), layouts(2), layouts(4), layouts(2))
    ) {
        let mut graph = network();
        let evaluate = |graph: &Graph| Evaluator::default().run(graph, &inputs(), &BTreeMap::new()).unwrap().outputs;
        let plain = evaluate(&graph);
        graph.lay_out(Some("m"), &named).unwrap();
        for layout in [one, two, four] {
            // Sizes that are too small for some tensor are refused, and nothing is changed.
            let _ = graph.lay_out(None, &layout);
        }
        prop_assert_eq!(evaluate(&graph), plain);
    }

    #[test]
    fn steps_between_dense_arrays_are_bitcasts(
        (a, b) in select(vec![
            (vec![2u64, 3, 4], vec![6u64, 4]), (vec![12], vec![3, 1, 4]), (vec![2, 2, 3], vec![3, 2, 2]), (vec![], vec![1]),
        ]).prop_flat_map(|(a, b)| {
            let plain = |sizes: Vec<u64>| order(sizes.len()).prop_map(move |order| {
                let array = ArrayShape::new(ElementType::from(DType::Float32), &sizes);
                array.with_layout(Layout::new(&order).unwrap()).unwrap()
            });
            (plain(a), plain(b))
        })
    ) {
        let mut at = a.clone();
        for (order, to) in a.bitcast_steps(&b).unwrap().unwrap() {
            let free = match order {
                Some(order) => at.transpose_is_bitcast(&to, &order),
                None => at.reshape_is_bitcast(&to),
            };
            prop_assert!(free.unwrap(), "{} {}", at, to);
            at = to;
        }
        prop_assert_eq!(at, b);
    }
}

#[test]
fn memory_of_layouts_counts_against_the_limits() {
    let mut graph = network();
    graph.lay_out(Some("t"), &"{3,2,1,0:T(1048576)}".parse().unwrap()).unwrap();
    let mut limits = Limits::default();
    limits.max_items = 1 << 19;
    let error = Evaluator::with_limits(limits).run(&graph, &inputs(), &BTreeMap::new()).unwrap_err();
    assert!(error.message.contains("exceed the limit"), "{}", error.message);
}

#[test]
fn layouts_that_fit_no_tensor_are_refused() {
    let mut graph = network();
    let layout: Layout = "{1,0}".parse().unwrap();
    for (name, layout, message) in [
        ("x", layout.clone(), "not a permutation"),
        ("nothing", layout.clone(), "no tensor `nothing`"),
        ("m", layout.with_padding(&[9, 8], PaddingValue::Zero), "cannot be padded to 8"),
    ] {
        let error = graph.lay_out(Some(name), &layout).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    for (text, code) in [("{1,0", "E1501"), ("{0,0}", "E1504"), ("x{0}", "E1501"), ("{0}{0}", "E1501"), ("", "E1501")] {
        let found = text.parse::<Layout>().unwrap_err();
        assert_eq!(found.iter().map(|found| found.code.as_str()).collect::<Vec<_>>(), [code], "{text}");
    }
}

/// Facts of the unit tests of XLA.
#[test]
fn functions_agree_with_those_of_xla() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/tables/layout");
    let text = std::fs::read_to_string(folder.join("layout_bitcast_shape_util_tests.json")).unwrap();
    let rows: Value = serde_json::from_str(&text).unwrap();
    for row in rows.as_array().unwrap() {
        let shape = array(row["shape"].as_str().unwrap());
        let to = || known(&array(row["to"].as_str().unwrap()));
        let number = row["dim"].as_i64().unwrap_or(0);
        let found = match row["fn"].as_str().unwrap() {
            "MoveDimToMajor" => {
                let layout = shape.layout().clone().with_major(number as usize);
                Value::from(shape.with_layout(layout).unwrap().to_string())
            }
            "DeleteDimensions" => {
                let dims: Vec<i64> = row["dims"].as_array().unwrap().iter().map(|dim| dim.as_i64().unwrap()).collect();
                Value::from(shape.without_dimensions(&dims).unwrap().to_string())
            }
            "MakeShapeWithDescendingLayoutAndSamePhysicalLayout" => shape.with_descending_layout().to_string().into(),
            "AlignLayouts" => shape.align_layout(&to()).unwrap().map(|to| to.to_string()).into(),
            "DimensionsUnmodifiedByReshape" => {
                serde_json::to_value(shape.unmodified_dimensions(&to()).unwrap()).unwrap()
            }
            "InsertedOrDeleted1SizedDimensions" => shape.inserted_or_deleted_ones(&to()).unwrap().is_some().into(),
            "GetDimension" => shape.dimension(number).unwrap().size().into(),
            "HasDegenerateDimensions" => shape.has_degenerate_dimensions().into(),
            "PermuteDimensions" => continue,
            other => panic!("{other} is not compared"),
        };
        assert_eq!(found, row["result"], "{row}");
    }
}

#[test]
fn comparisons_leave_out_what_they_are_told() {
    use Ignoring::*;
    let shape = |text: &str| text.parse::<Shape>().unwrap();
    for (a, b, ignoring) in [
        ("f32[2,3]", "s32[2,3]", &[Element][..]),
        ("f32[2,3]", "bf16[2,3]", &[Precision]),
        ("f32[2,3]", "f32[4,5]", &[Sizes]),
        ("f32[2,<=3]", "f32[2,3]", &[Dynamic]),
        ("f32[2,3]{0,1}", "f32[2,3]{1,0:T(2)}", &[Layout]),
        ("f32[2,3]{0,1:T(2)L(8)}", "f32[2,3]{0,1}", &[Tiles]),
        ("s4[8]{0:E(4)}", "s4[8]{0}", &[ElementBits]),
        ("s4[8]{0:L(4)}", "s4[8]{0}", &[TailAlignment]),
        ("s4[8]{0:SC(0:4)}", "s4[8]{0}", &[Splits]),
        ("f32[8]{0:S(1)}", "f32[8]", &[MemorySpace]),
        ("b(f32[8])", "f32[8]", &[Buffers]),
        ("(f32[8]{0:E(8)S(1)}, s8[])", "(f64[8]{0}, s8[])", &[Precision, MemorySpace, ElementBits]),
    ] {
        let (a, b) = (shape(a), shape(b));
        assert!(a.equals(&b, ignoring) && b.equals(&a, ignoring), "{a} {b}");
        for i in 0..ignoring.len() {
            let fewer = [&ignoring[..i], &ignoring[i + 1..]].concat();
            assert!(!a.equals(&b, &fewer) && !b.equals(&a, &fewer), "{a} {b} {fewer:?}");
        }
    }
    assert!(!shape("f32[2]").equals(&shape("s32[2]"), &[Precision]));
    assert!(!shape("f32[2]").equals(&shape("f32[2,1]"), &[Sizes, Layout]));
}

#[test]
fn dimensions_are_found_from_both_ends() {
    let shape = array("f32[2,3,4]{0,2,1}");
    let layout = shape.layout();
    assert_eq!((layout.minor(0), layout.minor(2), layout.major(0), layout.major(3)), (Some(0), Some(1), Some(1), None));
    assert_eq!(shape.strides().unwrap(), Some(vec![1, 8, 2]));
    assert_eq!(array("f32[2,3]{1,0:T(2)}").strides().unwrap(), None);
    let padded = shape.with_layout(Layout::row_major(3).with_padding(&[2, 5, 4], PaddingValue::Zero)).unwrap();
    assert_eq!((padded.strides().unwrap(), padded.byte_strides().unwrap()), (Some(vec![20, 4, 1]), None));
    assert_eq!(array("f32[10]{0:SC(0:3,5)}").largest_part(-1).unwrap(), Some(5));
    assert_eq!(array("f32[10]").largest_part(0).unwrap(), Some(10));
    assert_eq!(array("f32[?]").largest_part(0).unwrap(), None);
}

#[cfg(feature = "cli")]
mod calls {
    use std::process::Output;

    use serde_json::Value;

    const DOCUMENT: &str = "version 1.0;
graph G(x) -> (y)
{
    x = external(shape = [2, 3]);
    t = transpose(x, axes = [1, 0]);
    y = relu(t);
}
";

    fn run(args: &[&str]) -> Output {
        crate::common::command::feed(args, DOCUMENT)
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn objects_and_pages_have_layouts() {
        let output = run(&["--to", "json", "--layout", "{1,0}", "--layout", "x={0,1:T(2,4)}", "-"]);
        let graph: Value = serde_json::from_slice(&output.stdout).unwrap();
        let x = &graph["tensors"]["x"];
        assert_eq!(
            (&x["layout"], &x["byte_size_of"], &x["array_size_bytes"]),
            (&"{0,1:T(2,4)}".into(), &24.into(), &64.into())
        );
        assert_eq!(graph["tensors"]["y"]["layout"], "{1,0}");
        let plain = run(&["--to", "json", "-"]);
        assert!(!text(&plain.stdout).contains("layout"));
        let page = text(&run(&["--to", "html", "--layout", "x={0,1:T(2,4)}", "-"]).stdout);
        let data = "[\"x\",\"scalar\",\"2×3\",{\"layout\":\"{0,1:T(2,4)}\",\"elements\":24,\"bytes\":64,\"dims\":[2,3],\
            \"line\":8,\"row\":4,\"walk\":[0,3,null,null,1,4,null,null,2,5,null,null,null,null,null,null]}]";
        assert!(page.contains(data), "{page}");
    }

    #[test]
    fn statistics_count_with_layouts() {
        let stats = |args: &[&str]| {
            let output = run(&[args, &["--drop-bitcasts", "--stats", "--message-format", "json", "-"]].concat());
            let errors = text(&output.stderr);
            let line = errors.lines().find(|line| line.contains("\"stats\"")).unwrap_or_else(|| panic!("{errors}"));
            serde_json::from_str::<Value>(line).unwrap()["stats"].clone()
        };
        assert_eq!(stats(&[])["bytes_moved"], serde_json::json!({ "before": 24, "after": 24 }));
        // The transpose of a matrix in row-major order is the same memory in column-major order.
        let free = stats(&["--layout", "t={0,1}"]);
        assert_eq!(free["bytes_moved"], serde_json::json!({ "before": 0, "after": 0 }));
        let tiled = stats(&["--layout", "{1,0:T(8,128)}"]);
        assert_eq!(
            tiled["layouts"],
            serde_json::json!({ "tensors": 3, "unknown": 0, "bytes": 12288, "wasted": 12216 })
        );
    }

    #[test]
    fn wrong_layouts_are_refused() {
        for (layout, code, column) in [
            ("x={0,1", "E1501", 7),
            ("x={0,0}", "E1504", 4),
            ("nothing={0,1}", "E1511", 1),
            ("x={0}", "E1511", 1),
            ("{0:T()}", "E1505", 5),
        ] {
            for args in [&["--to", "json", "--layout", layout, "-"][..], &["run", "--layout", layout, "-"]] {
                let output = run(&[args, &["--message-format", "json"]].concat());
                assert_eq!(output.status.code(), Some(1), "{layout}");
                let errors = text(&output.stderr);
                let told: Value = serde_json::from_str(errors.lines().next().unwrap()).unwrap();
                assert_eq!((&told["code"], &told["column"]), (&code.into(), &column.into()), "{layout} {told}");
            }
        }
        assert_eq!(run(&["--layout", "{1,0}", "-"]).status.code(), Some(2));
        assert_eq!(run(&["run", "--from", "loops", "--layout", "{1,0}", "-"]).status.code(), Some(2));
    }

    #[test]
    fn evaluations_store_tensors_in_layouts() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = folder.path().join("inputs.json");
        std::fs::write(&inputs, r#"{"x": [[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]}"#).unwrap();
        let inputs = inputs.to_str().unwrap();
        let plain = run(&["run", "--inputs", inputs, "-"]);
        let tiled =
            run(&["run", "--inputs", inputs, "--layout", "{0,1:T(2,2)}", "--layout", "t={1,0:T(*,4)L(64)}", "-"]);
        assert_eq!(plain.status.code(), Some(0));
        assert_eq!(text(&tiled.stdout), text(&plain.stdout));
        let verified = run(&["--verify", "--layout", "{0,1:T(2,2)}", "-"]);
        assert!(text(&verified.stderr).contains("verified: 6 items"), "{}", text(&verified.stderr));
    }
}
