#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod rows;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use super::table;
use crate::eval::Evaluator;
use crate::ncnn::model::NcnnModel;
use crate::ncnn::weights::{NcnnWeights, WeightFile};
use crate::onnx::contents::DiskFile;
use crate::source::FileId;
use crate::tensor::Tensor;
use crate::tests::all_near;
use crate::{Graph, Lower, Options};

fn lowered(layers: &str, weights: &[f32]) -> (Graph, NcnnWeights, String) {
    let blobs: usize = layers.lines().map(|line| line.split(' ').nth(3).unwrap().parse::<usize>().unwrap()).sum();
    let text = format!("7767517\n{} {blobs}\n{layers}\n", layers.lines().count());
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&weights.iter().flat_map(|weight| weight.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    let file = WeightFile::new(DiskFile::new(Arc::new(file), "net.bin").unwrap());
    let (model, _) = NcnnModel::read(&text, FileId::default(), true).unwrap();
    let options = Options::default().with(|options| options.lower = Lower::All);
    let (graph, weights, found) = model.graph(FileId::default(), Some(file), &options).unwrap();
    let told = found.iter().map(|found| found.message.clone()).collect::<Vec<_>>().join("\n");
    (graph, weights, told)
}

/// The first output of a network for an input with the items 1, 2, 3 and so on.
fn computed(layers: &str, weights: &[f32], shape: &[usize]) -> (Vec<usize>, Vec<f64>) {
    let (graph, weights, told) = lowered(layers, weights);
    assert_eq!(told, "", "{layers}");
    let items = (1..=shape.iter().product::<usize>()).map(|item| item as f64).collect();
    let inputs = [("a".to_owned(), Tensor::scalars(shape, items).unwrap())];
    let none = BTreeMap::new();
    let outputs = match weights.has_file() {
        true => Evaluator::default().run(&graph, &inputs, &weights),
        false => Evaluator::default().run(&graph, &inputs, &none),
    };
    let (_, output) = &outputs.unwrap().outputs[0];
    (output.shape().to_vec(), output.to_scalars())
}

#[test]
fn layers_compute_what_ncnn_documents() {
    const IMAGE: &str = "Input in 0 1 a 0=3 1=2 2=1";
    const MATRIX: &str = "Input in 0 1 a 0=3 1=2";
    let tag = 0.0;
    for (input, layer, weights, shape, wanted) in [
        (
            IMAGE,
            "Convolution l 1 1 a b 0=1 1=1 5=1 6=1 9=2 -23310=1,0.5",
            &[tag, 1.0, -4.0][..],
            &[1, 2, 3][..],
            &[-1.5, -1.0, -0.5, 0.0, 1.0, 2.0][..],
        ),
        (IMAGE, "Convolution l 1 1 a b 0=1 1=2 3=2 4=-233 6=4", &[tag, 1.0, 1.0, 1.0, 1.0], &[1, 1, 2], &[12.0, 9.0]),
        (
            IMAGE,
            "Deconvolution l 1 1 a b 0=1 1=1 11=2 3=1 13=2 6=2",
            &[tag, 1.0, -1.0],
            &[1, 4, 3],
            &[1., 2., 3., -1., -2., -3., 4., 5., 6., -4., -5., -6.],
        ),
        (IMAGE, "Pooling l 1 1 a b 0=1 1=2 2=2", &[], &[1, 1, 2], &[3.0, 4.5]),
        (IMAGE, "Pooling l 1 1 a b 0=1 1=2 2=2 6=1", &[], &[1, 1, 2], &[3.0, 2.25]),
        (IMAGE, "Pooling l 1 1 a b 0=0 4=1", &[], &[1], &[6.0]),
        (MATRIX, "Scale l 1 1 a b 0=2 1=1", &[2.0, -1.0, 0.5, 1.0], &[2, 3], &[2.5, 4.5, 6.5, -3.0, -4.0, -5.0]),
        (MATRIX, "InnerProduct l 1 1 a b 0=1 2=3", &[tag, 1.0, 0.0, -1.0], &[2, 1], &[-2.0, -2.0]),
        (MATRIX, "BinaryOp l 1 1 a b 0=7 1=1 2=1.0", &[], &[2, 3], &[0.0, -1.0, -2.0, -3.0, -4.0, -5.0]),
        (
            MATRIX,
            "MemoryData m 0 1 v 0=2\nBinaryOp l 2 1 a v b 0=2",
            &[10.0, 100.0],
            &[2, 3],
            &[10.0, 20.0, 30.0, 400.0, 500.0, 600.0],
        ),
        (
            MATRIX,
            "MemoryData m 0 1 v 0=3\nBinaryOp l 2 1 a v b 0=1",
            &[1.0, 1.0, 2.0],
            &[2, 3],
            &[0.0, 1.0, 1.0, 3.0, 4.0, 4.0],
        ),
        (MATRIX, "Diag l 1 1 a b 0=1", &[], &[2], &[2.0, 6.0]),
        // The last column in the first part; the second part lies behind the plane.
        (
            IMAGE,
            "MemoryData m 0 1 r 0=4\nROIPooling l 2 1 a r b 0=2 1=1 2=0.5",
            &[4.0, 0.0, 10.0, 1.0],
            &[1, 1, 2],
            &[6.0, 0.0],
        ),
        // Each part has a channel of its own; the second one lies behind the plane, and has no items.
        (
            "Input in 0 1 a 0=3 1=1 2=2",
            "MemoryData m 0 1 r 0=4\nPSROIPooling l 2 1 a r b 0=2 1=1 2=0.5 3=1",
            &[1.5, 0.0, 9.0, 0.0],
            &[1, 1, 2],
            &[2.5, 0.0],
        ),
        // Channels have scales and biases of their own.
        (MATRIX, "Dequantize l 1 1 a b 0=2 1=1", &[0.5, 2.0, 1.0], &[2, 3], &[1.5, 2.0, 2.5, 9.0, 11.0, 13.0]),
        // Halves are rounded away from 0, behind the activation.
        (
            MATRIX,
            "Requantize l 1 1 a b 0=1 1=2 2=2 3=1",
            &[0.5, 1.0, 100.0, -1.0, -2.5],
            &[2, 3],
            &[0.0, 0.0, 1.0, 0.0, 0.0, 50.0],
        ),
        (
            MATRIX,
            "MemoryData m 0 1 v 0=2 1=1\nCopyTo l 2 1 a v b 0=1 1=1",
            &[7.0, 8.0],
            &[2, 3],
            &[1., 2., 3., 4., 7., 8.],
        ),
        (IMAGE, "StatisticsPooling l 1 1 a b 0=1", &[], &[2], &[3.5, 1.707_825_127_659_933]),
        (IMAGE, "MVN l 1 1 a b", &[], &[1, 2, 3], &[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]),
        // Halves are rounded away from 0.
        (MATRIX, "Quantize l 1 1 a b 0=1", &[0.25], &[2, 3], &[0.0, 1.0, 1.0, 1.0, 1.0, 2.0]),
        // A vector has the first of several scales.
        (
            MATRIX,
            "Flatten f 1 1 a v\nQuantize l 1 1 v b 0=6",
            &[2.0, 9.0, 9.0, 9.0, 9.0, 9.0],
            &[6],
            &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0],
        ),
        (
            MATRIX,
            "Quantize q 1 1 a c 0=1\nInnerProduct l 1 1 c b 0=1 2=3 8=1",
            &[2.0, tag, 1.0, 1.0, 1.0, 127.0, 2.0],
            &[2, 1],
            &[6.0, 15.0],
        ),
        (
            IMAGE,
            "Convolution l 1 1 a b 0=1 1=1 5=1 6=1 8=1",
            &[tag, 0.5, 1.0, 254.0, 2.0],
            &[1, 2, 3],
            &[1.5, 2.0, 2.5, 3.0, 3.5, 4.0],
        ),
        (
            // The second one reads the integers of the first one, 2 for each unit.
            IMAGE,
            "Convolution k 1 1 a c 0=1 1=1 6=1 8=101\nConvolution l 1 1 c b 0=1 1=1 6=1 8=1",
            &[tag, 0.5, 254.0, 2.0, 4.0, tag, 0.5, 254.0, 4.0],
            &[1, 2, 3],
            &[0.25, 0.5, 0.75, 1.0, 1.25, 1.5],
        ),
        (MATRIX, "Permute l 1 1 a b 0=1", &[], &[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
        (MATRIX, "Reshape l 1 1 a b 0=0 1=-1 2=1", &[], &[1, 2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        (MATRIX, "Slice l 1 2 a b c -23300=2,-233,-233 1=-1", &[], &[2, 1], &[1.0, 4.0]),
        (MATRIX, "Reduction l 1 1 a b 0=8 1=0 -23303=1,0 5=1", &[], &[3], &[17f64.sqrt(), 29f64.sqrt(), 45f64.sqrt()]),
        (MATRIX, "Crop l 1 1 a b -23309=1,-2 -23310=1,-233 -23311=1,1", &[], &[2, 2], &[2.0, 3.0, 5.0, 6.0]),
        (
            MATRIX,
            "Gemm l 1 1 a b 3=1 5=1 6=1 7=0 8=1 9=3 10=4 1=2.0",
            &[tag, 1.0, 1.0, 1.0, tag, 0.5],
            &[2, 1],
            &[7.0, 16.0],
        ),
    ] {
        let extents: &[usize] = match input {
            IMAGE => &[1, 2, 3],
            MATRIX => &[2, 3],
            _ => &[2, 1, 3],
        };
        let (found, items) = computed(&format!("{input}\n{layer}"), weights, extents);
        assert!(found == shape && all_near(&items, wanted, 1e-6), "{layer}: {found:?} {items:?}");
    }
}

/// The items are 1 + column + 6 * row, so that the mean of samples is what is in the middle of the region.
#[test]
fn regions_are_sampled_around_their_middle() {
    for (settings, wanted) in [("4=0 5=0", 12.5), ("3=2 4=0 5=1", 12.5), ("4=1 5=0", 9.0), ("3=2 4=1 5=1", 9.0)] {
        let regions = format!("MemoryData m 0 1 r 0=4\nROIAlign l 2 1 a r b 0=1 1=1 2=1.0 {settings}");
        let layers = format!("Input in 0 1 a 0=6 1=6 2=1\n{regions}");
        let (shape, items) = computed(&layers, &[1.5, 0.5, 3.5, 2.5], &[1, 6, 6]);
        assert!(shape == [1, 1, 1] && all_near(&items, &[wanted], 1e-6), "{settings}: {shape:?} {items:?}");
    }
}

#[test]
fn caches_of_attention_are_heads_or_columns() {
    // Queries, keys and values are the items themselves.
    let unit = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    let zeros = [0.0; 7];
    let weights = |keys: [f32; 4], values: [f32; 4], queries: &[f32; 7]| {
        let own = [&queries[..], &unit, &unit, &unit].concat();
        [&keys[..], &values, &own].concat()
    };
    let keys = [0.0, 0.5, 0.25, -0.25];
    // The values, weighed by the exponentials of the products of query and keys.
    let head = |query: f64, keys: [f64; 3], values: [f64; 3]| {
        let weights = keys.map(|key| (query * key).exp());
        weights.iter().zip(values).map(|(weight, value)| weight * value).sum::<f64>() / weights.iter().sum::<f64>()
    };
    let weighed = [head(1.0, [0.0, 0.5, 1.0], [10.0, 20.0, 1.0]), head(2.0, [0.25, -0.25, 2.0], [30.0, 40.0, 2.0])];
    let layer = "MultiHeadAttention l 3 3 a k v b c d 0=2 1=2 2=4 7=1";
    // Two items, of two heads with one column each.
    for (sizes, cache) in [("0=1 1=2 2=2", [10.0, 20.0, 30.0, 40.0]), ("0=2 1=2", [10.0, 20.0, 30.0, 40.0])] {
        let caches = format!("MemoryData k 0 1 k {sizes}\nMemoryData v 0 1 v {sizes}");
        let layers = format!("Input in 0 1 a 0=2 1=1\n{caches}\n{layer}");
        // Queries of 0 see all values alike.
        let (shape, items) = computed(&layers, &weights(cache, cache, &zeros), &[1, 2]);
        let wanted = [(10.0 + 20.0 + 1.0) / 3.0, (30.0 + 40.0 + 2.0) / 3.0];
        assert!(shape == [1, 2] && all_near(&items, &wanted, 1e-9), "{sizes}: {items:?}");
        let (shape, items) = computed(&layers, &weights(keys, cache, &unit), &[1, 2]);
        assert!(shape == [1, 2] && all_near(&items, &weighed, 1e-6), "{sizes}: {items:?}");
    }
}

#[test]
fn boxes_of_places_follow_from_extents() {
    let layer = "PriorBox l 1 1 a b -23300=1,2.0 -23302=1,4.0 7=0 8=1 9=4 10=2 11=2.0 12=1.0 13=0.5 5=0.3";
    let mut wanted = Vec::new();
    for row in 0..2 {
        for column in 0..3 {
            let (x, y) = (2.0 * f64::from(column) + 1.0, f64::from(row) + 0.5);
            for (wide, high) in [(2.0, 2.0), (4.0, 1.0)] {
                let corners =
                    [(x - wide / 2.0) / 4.0, (y - high / 2.0) / 2.0, (x + wide / 2.0) / 4.0, (y + high / 2.0) / 2.0];
                wanted.extend(corners.map(|corner| f64::clamp(corner, 0.0, 1.0)));
            }
        }
    }
    wanted.extend([0.1, 0.1, 0.3, 0.2].iter().cycle().take(48));
    let (shape, items) = computed(&format!("Input in 0 1 a 0=3 1=2 2=1\n{layer}"), &[], &[1, 2, 3]);
    assert_eq!((shape, items), (vec![2, 48], wanted));
}

#[test]
fn what_has_no_counterpart_is_named() {
    for (layer, named) in [
        ("Mine l 1 1 a b", "kind"),
        ("Convolution l 1 1 a b 0=1 1=1 19=1", "dynamic_weight"),
        ("Convolution l 1 1 a b 0=1 1=1 6=1 18=0.5", "pad_value"),
        ("Convolution l 1 1 a b 0=1 1=1 6=1 17=3", "parameter 17"),
        ("Convolution l 1 1 a b 0=1 1=1 6=1 9=7", "activation_type"),
        ("BinaryOp l 1 1 a b 0=17 1=1 2=2.0", "op_type"),
        ("Softmax l 1 1 a b 0=1", "fixbug0"),
        ("Softmax l 1 1 a b 0=3 1=1", "axis"),
        ("Reduction l 1 1 a b 0=6", "operation"),
        ("Reshape l 1 1 a b 6=\"x(0w,2)\"", "shape_expr"),
        ("Reshape l 1 1 a b 0=5", "operands"),
        ("Padding l 1 1 a b 0=-1", "top"),
        ("Interp l 1 1 a b 0=2 5=1", "dynamic_target_size"),
        ("Cast l 1 1 a b 0=1 1=2", "type_to"),
        ("ArgMax l 1 1 a b", "no rule"),
        ("Yolov3DetectionOutput l 1 1 a b", "how many boxes"),
        ("PriorBox l 1 1 a b -23300=1,2.0 9=-233", "image_width"),
        ("Quantize q 1 1 a c 0=1\nTanH l 1 1 c b", "integers of 8 bits"),
        ("TanH t 1 1 a c\nDequantize l 1 1 c b", "integers of 32 bits"),
        ("MemoryData m 0 1 r 0=4\nPSROIPooling l 2 1 a r b 0=2 1=1 3=2", "output_dim"),
    ] {
        let layers = format!("Input in 0 1 a 0=3 1=2 2=1\n{layer}");
        let weights: &[f32] = match () {
            () if layer.contains("6=1 ") => &[0.0, 1.0],
            () if layer.contains("uantize") => &[1.0],
            () if layer.contains("MemoryData") => &[1.0; 4],
            () => &[],
        };
        let (graph, _, told) = lowered(&layers, weights);
        assert!(told.contains(named), "{layer}: {told}");
        let names: Vec<&str> = graph.operations.iter().map(|operation| graph.operation_name(operation)).collect();
        assert!(names.last().is_some_and(|name| name.starts_with("ncnn_")), "{layer}: {names:?}");
    }
}

#[test]
fn layers_that_follow_each_other_share_the_axis_of_the_batch() {
    let layers = "Input in 0 1 a 0=3 1=2 2=1\nConvolution c 1 1 a b 0=1 1=1 6=1\nReLU r 1 1 b c 0=0.5\nPooling p 1 1 c d 1=2\nSplit s 1 2 d e f";
    let (graph, _, _) = lowered(layers, &[0.0, 2.0]);
    let mut text = Vec::new();
    graph.write_nnef(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let names: Vec<&str> = graph.operations.iter().map(|operation| graph.operation_name(operation)).collect();
    assert_eq!(
        names,
        ["external", "variable", "unsqueeze", "conv", "leaky_relu", "max_pool", "squeeze", "copy"],
        "{text}"
    );
    assert!(text.contains("-> (e, f)") && text.contains("b = conv(") && text.contains("c = leaky_relu(b"), "{text}");
}

#[test]
fn rules_are_those_of_the_table_of_layers_and_of_the_page() {
    let page = include_str!("../../../docs/ncnn.md");
    let listed = page.lines().find(|line| line.starts_with("| `AbsVal`")).unwrap();
    let listed: Vec<&str> = listed.split(' ').filter_map(|word| word.strip_prefix('`')?.strip_suffix('`')).collect();
    let mut kinds: Vec<&str> = table().flat_map(|(kinds, _)| *kinds).copied().collect();
    assert!(kinds.iter().all(|kind| crate::ncnn::layer_table::row(kind).is_some()), "{kinds:?}");
    kinds.sort_unstable();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, kinds);
}
