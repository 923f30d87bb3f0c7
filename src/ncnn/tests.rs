#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::io::Write;
use std::sync::Arc;

use super::model::{NcnnModel, ParameterValue};
use super::weights::{NcnnWeights, WeightFile};
use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::eval::Variables;
use crate::onnx::contents::DiskFile;
use crate::source::FileId;
use crate::tensor::Tensor;

const TEXT: &str = "7767517\n4 5\n\
    Input         in   0 1 a 0=4 1=4 2=2\n\
    Convolution   conv 1 1 a b 0=3 1=1 5=1 6=6 9=2 -23310=1,0.1 30=3,4,4,3 31=1\n\
    Split         s    1 2 b c d\n\
    Foo.Bar       f    2 1 c d 7 0=1,2 1=x,y 2=\"p q\" 3=-1.5e-3 4=3, 17=1\n";

fn codes(text: &str) -> Vec<Code> {
    match NcnnModel::read(text, FileId::default(), false) {
        Ok((_, found)) | Err(found) => found.iter().map(|found| found.code).collect(),
    }
}

fn graph(text: &str, weights: Option<&[u8]>) -> Result<(String, NcnnWeights), Diagnostics> {
    let file = weights.map(|bytes| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        WeightFile::new(DiskFile::new(Arc::new(file), "net.bin").unwrap())
    });
    let (model, _) = NcnnModel::read(text, FileId::default(), false)?;
    let (graph, weights, _) = model.graph(FileId::default(), file, &Options::default())?;
    let mut written = Vec::new();
    graph.write_nnef(&mut written).unwrap();
    Ok((String::from_utf8(written).unwrap(), weights))
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn layers_become_operations() {
    let (text, weights) = graph(TEXT, None).unwrap();
    assert!(!weights.has_file());
    let body = text.split_once("{\n").unwrap().1;
    assert_eq!(
        body,
        "    a = external(shape = [2, 4, 4]);
    conv_weight_data = variable(shape = [3, 2, 1, 1], label = 'conv.weight_data');
    conv_bias_data = variable(shape = [3], label = 'conv.bias_data');
    b = ncnn_Convolution(input = a, weight_data = conv_weight_data, bias_data = conv_bias_data, num_output = 3, \
        kernel_w = 1, bias_term = 1, weight_data_size = 6, activation_type = 2, activation_params = [0.1], \
        top_shapes = [3, 4, 4, 3], featmask = 1);
    (c, d) = ncnn_Split(input = b);
    v_7 = ncnn_Foo_Bar(input = c, input1 = d, param_0 = [1, 2], param_1 = 'x,y', param_2 = 'p q', \
        param_3 = -0.0015, param_4 = [3], param_17 = 1);
}
"
    );
    assert_eq!(graph(TEXT, None).unwrap().0, text);
}

#[test]
fn parameters_are_read_as_ncnn_reads_them() {
    use ParameterValue::{Integer, Integers, Scalar, Scalars, Text};
    for (word, number, value) in [
        ("0=-1", 0, Integer(-1)),
        ("31=1.0", 31, Scalar(1.0)),
        ("1=1e2", 1, Scalar(100.0)),
        ("-23300=0", 0, Integers(vec![])),
        ("-23331=2,1,2", 31, Integers(vec![1, 2])),
        ("2=1.0,2", 2, Scalars(vec![1.0, 2.0])),
        ("2=a\"b", 2, Text("a\"b".into())),
        ("2=\"-1,*(0h,2)\"", 2, Text("-1,*(0h,2)".into())),
    ] {
        let text = format!("7767517\n1 1\nX x 0 1 a {word}\n");
        let (model, found) = NcnnModel::read(&text, FileId::default(), true).unwrap();
        let read = &model.layers[0].parameters[0];
        assert!(found.is_empty() && (read.number, &read.value) == (number, &value), "{word}: {read:?}");
    }
}

#[test]
fn malformed_texts_are_refused() {
    for (from, to, code) in [
        ("7767517", "7767518", Code::NcnnSyntax),
        ("4 5\n", "4\n", Code::NcnnSyntax),
        ("4 5\n", "4 -5\n", Code::NcnnSyntax),
        ("4 5\n", "5 5\n", Code::NcnnCount),
        ("conv 1 1 a b", "conv x 1 a b", Code::NcnnSyntax),
        ("conv 1 1 a b", "conv 99999999999 1 a b", Code::NcnnSyntax),
        ("conv 1 1 a b", "conv 1 2 a b", Code::NcnnSyntax),
        ("conv 1 1 a b", "conv 1 1 z b", Code::NcnnBlob),
        ("conv 1 1 a b", "conv 1 1 a a", Code::NcnnBlob),
        ("conv 1 1 a b 0=3", "conv", Code::NcnnSyntax),
        ("6=6", "6", Code::NcnnSyntax),
        ("6=6", "x=6", Code::NcnnSyntax),
        ("6=6", "32=6", Code::NcnnSyntax),
        ("6=6", "-1=6", Code::NcnnSyntax),
        ("6=6", "-23332=1,6", Code::NcnnSyntax),
        ("6=6", "-9223372036854775808=1,6", Code::NcnnSyntax),
        ("6=6", "6=6 6=6", Code::NcnnSyntax),
        ("6=6", "6=", Code::NcnnSyntax),
        ("6=6", "6=99999999999", Code::NcnnSyntax),
        ("6=6", "6=1e999", Code::NcnnSyntax),
        ("6=6", "6=1,,2", Code::NcnnSyntax),
        ("-23310=1,0.1", "-23310=2,0.1", Code::NcnnSyntax),
        ("\"p q\"", "\"p q", Code::NcnnSyntax),
    ] {
        let text = TEXT.replace(from, to);
        assert_ne!(text, TEXT, "{from}");
        assert_eq!(codes(&text).first(), Some(&code), "{to}");
    }
    assert_eq!(codes(""), [Code::NcnnSyntax]);
    for at in 0..TEXT.len() {
        codes(&TEXT[..at]);
    }
}

#[test]
fn what_does_not_fit_its_layer_is_refused() {
    for (from, to, code) in [
        ("0=4 1=4 2=2", "", Code::OpenExtent),
        ("0=4 1=4 2=2", "0=-4", Code::NcnnSyntax),
        ("0=4 1=4 2=2", "0=4.5", Code::NcnnSyntax),
        ("0 1 a 0=4", "0 2 a e 0=4", Code::NcnnSyntax),
        ("6=6", "6=7", Code::NcnnWeights),
        ("6=6", "6=0", Code::NcnnWeights),
        ("6=6", "6=0.5", Code::NcnnWeights),
        ("0=3 1=1", "0=0 1=1", Code::NcnnWeights),
        ("Convolution   conv 1 1 a b 0=3", "Gemm conv 1 1 a b 18=400", Code::NcnnWeights),
    ] {
        let text = TEXT.replace(from, to).replace("4 5\n", if to.contains(" e ") { "4 6\n" } else { "4 5\n" });
        assert_ne!(text, TEXT, "{from}");
        let found = graph(&text, None).unwrap_err();
        assert_eq!(found.iter().next().map(|found| found.code), Some(code), "{to}");
    }
}

#[test]
fn weights_are_stored_in_four_ways() {
    let text = "7767517\n2 2\nInput in 0 1 a 0=2\nInnerProduct fc 1 1 a b 0=2 1=1 2=6\n";
    let bias = floats(&[0.5, -0.5]);
    let table: Vec<f32> = (0..256u16).map(f32::from).collect();
    let halves = [0x3c00u16, 0xc000, 0x0001, 0x7c00, 0, 0x3800].iter().flat_map(|half| half.to_le_bytes()).collect();
    for (tag, stored, wanted) in [
        (0u32, floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        (0x0002_C056, floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        (0x0130_6B47, halves, [1.0, -2.0, 2f64.powi(-24), f64::INFINITY, 0.0, 0.5]),
        (0x000D_4B38, vec![1, 255, 128, 127, 0, 5, 0, 0], [1.0, -1.0, -128.0, 127.0, 0.0, 5.0]),
        (1, [floats(&table), vec![9, 0, 255, 1, 2, 3, 0, 0]].concat(), [9.0, 0.0, 255.0, 1.0, 2.0, 3.0]),
    ] {
        let bytes = [tag.to_le_bytes().to_vec(), stored, bias.clone()].concat();
        let (written, weights) = graph(text, Some(&bytes)).unwrap();
        let load = |label: &str| weights.load(label, &[], None).unwrap().unwrap();
        assert_eq!(load("fc.weight_data").to_scalars(), wanted, "{tag:x}");
        assert_eq!(load("fc.bias_data"), Tensor::scalars(&[2], vec![0.5, -0.5]).unwrap(), "{tag:x}");
        assert_eq!(written.contains("variable<integer>"), tag == 0x000D_4B38, "{written}");
        // A file that ends too early, or too late, is that of another network.
        for length in 0..bytes.len() {
            let found = graph(text, Some(&bytes[..length])).unwrap_err();
            assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), [Code::NcnnWeights], "{length}");
        }
        let longer = [bytes.clone(), vec![0; 4]].concat();
        let found = graph(text, Some(&longer)).unwrap_err();
        assert_eq!(found.iter().next().map(|found| found.code), Some(Code::NcnnWeights));
    }
}

#[test]
fn stored_tensors_are_variables() {
    let text = "7767517\n2 2\nMemoryData m 0 1 a 0=2 1=3\nReLU r 1 1 a b\n";
    let bytes = floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (written, weights) = graph(text, Some(&bytes)).unwrap();
    assert!(written.contains("a = variable(shape = [3, 2], label = 'm.data');"), "{written}");
    assert!(written.contains("b = ncnn_ReLU(input = a);"), "{written}");
    assert_eq!(weights.bytes("m.data"), Some(24));
    let text = text.replace("0=2 1=3", "0=2 1=3 21=0");
    let found = graph(&text, Some(&bytes)).unwrap_err();
    assert_eq!(found.iter().next().map(|found| found.code), Some(Code::NcnnWeights));
    assert!(graph(&text, Some(&[vec![0; 4], bytes].concat())).is_ok());
}

#[test]
fn unknown_layers_are_named_if_weights_are_missing() {
    let text = "7767517\n3 3\nInput in 0 1 a 0=2\nMine m 1 1 a b 0=2\nBias x 1 1 b c 0=1\n";
    assert!(graph(text, Some(&floats(&[1.0]))).is_ok());
    for bytes in [floats(&[1.0, 2.0]), vec![]] {
        let found = graph(text, Some(&bytes)).unwrap_err();
        assert!(found.to_string().contains("Mine"), "{found}");
    }
}
