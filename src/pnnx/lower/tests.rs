#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, BTreeSet};

mod layers;

use super::{KINDS, table};
use crate::diagnostics::Code;
use crate::dictionary;
use crate::eval::Evaluator;
use crate::graph::{Graph, Shape};
use crate::pnnx::model::PnnxModel;
use crate::source::FileId;
use crate::tensor::Tensor;
use crate::tests::all_near;
use crate::{Lower, Options};

mod complex;
mod families;
mod places;

#[test]
fn the_documentation_has_all_operators() {
    let page = include_str!("../../../docs/pnnx.md").lines().filter(|line| line.starts_with("| `"));
    let listed: BTreeSet<&str> = page.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    let functions = dictionary::all().filter(|row| row.function().is_some());
    let functions = functions.flat_map(|row| row.torch.split_ascii_whitespace());
    let rows = table().chain(crate::pnnx::lower::complex::ON_COMPLEX);
    for kind in rows.flat_map(|(kinds, _)| *kinds).copied().chain(functions) {
        assert!(listed.contains(kind), "docs/pnnx.md lacks {kind}");
    }
}

/// A file with inputs of the given shapes and types, and one operator with all of them as operands.
fn file(shapes: &[&str], kind: &str, params: &str) -> String {
    let count = shapes.len();
    let mut text = format!("7767517\n{} {}\n", count + 2, count + 1);
    for (i, shape) in shapes.iter().enumerate() {
        text += &format!("pnnx.Input in{i} 0 1 {i} #{i}={shape}\n");
    }
    let names: Vec<String> = (0..count).map(|i| i.to_string()).collect();
    text + &format!("{kind} op {count} 1 {} {count} {params}\npnnx.Output out 1 0 {count}\n", names.join(" "))
}

/// The graph, and whether an operator is passed through.
fn lowered(text: &str) -> (Graph, bool) {
    let (graph, message) = told(text);
    (graph, message.is_some())
}

/// The graph, and why an operator is passed through.
fn told(text: &str) -> (Graph, Option<String>) {
    let model = PnnxModel::read(text, FileId::default(), true).unwrap_or_else(|found| panic!("{text}{found}")).0;
    let options = Options::default().with(|options| options.lower = Lower::All);
    let (graph, _, found) = model.graph(FileId::default(), &options).unwrap_or_else(|found| panic!("{text}{found}"));
    let passed = found.iter().find(|found| found.code == Code::PnnxPassed).map(|found| found.message.clone());
    (graph, passed)
}

#[test]
fn copied_kinds_are_those_of_the_rules() {
    assert!(KINDS.iter().eq(table().map(|(kinds, _)| kinds)));
}

fn examples() -> impl Iterator<Item = &'static Example> {
    EXAMPLES.iter().chain(families::EXAMPLES).chain(complex::EXAMPLES).chain(places::EXAMPLES)
}

/// The shapes of operands, the kind and the parameters of an operator.
type Example = (&'static [&'static str], &'static str, &'static str);

/// An operator of each rule with the settings that its rule reads: the shapes of operands, the kind, the parameters.
/// Numbers that may be fractions are written with a point.
const EXAMPLES: &[Example] = &[
    (&["(4)f32"], "F.relu", ""),
    (&["(4)f32"], "F.sigmoid", ""),
    (&["(4)f32"], "F.tanh", ""),
    (&["(4)f32"], "F.silu", ""),
    (&["(4)f32"], "F.mish", ""),
    (&["(4)f32"], "F.softsign", ""),
    (&["(4)f32"], "F.logsigmoid", ""),
    (&["(4)f32"], "F.hardsigmoid", ""),
    (&["(4)f32"], "F.hardswish", ""),
    (&["(4)f32"], "F.relu6", ""),
    (&["(4)f32"], "F.tanhshrink", ""),
    (&["(4)f32"], "F.selu", ""),
    (&["(4)f32"], "F.celu", "alpha=1.0"),
    (&["(4)f32"], "F.threshold", "threshold=1.0 value=2.0"),
    (&["(4)f32"], "F.hardshrink", "lambd=0.5"),
    (&["(4)f32"], "F.softshrink", "lambd=0.5"),
    (&["(4)f32"], "F.softplus", "beta=1.0 threshold=20.0"),
    (&["(4)f32"], "F.gelu", "approximate=tanh"),
    (&["(4)f32"], "torch.erf", ""),
    (&["(4)f32"], "F.rrelu", "lower=0.125 upper=0.5"),
    (&["(4)f32"], "F.leaky_relu", "negative_slope=0.01"),
    (&["(4)f32"], "F.elu", "alpha=1.0"),
    (&["(4)f32"], "F.hardtanh", "min_val=-1.0 max_val=1.0"),
    (&["(4)f32"], "torch.clamp", "min=-1.0 max=1.0"),
    (&["(1,2)f32"], "nn.PReLU", "num_parameters=2 @weight=(2)f32"),
    (&["(4)f32"], "F.glu", "dim=0"),
    (&["(4)f32"], "F.dropout", "training=False"),
    (&["(4)f32"], "torch.eq", "other=1.0"),
    (&["(4)f32"], "torch.ne", "other=1.0"),
    (&["(4)f32"], "torch.lt", "other=1.0"),
    (&["(4)f32"], "torch.le", "other=1.0"),
    (&["(4)f32"], "torch.gt", "other=1.0"),
    (&["(4)f32"], "torch.ge", "other=1.0"),
    (&["(4)bool", "(4)f32", "(4)f32"], "torch.where", "$condition=0 $input=1 $other=2"),
    (&["(1,3)f32"], "nn.Linear", "bias=False in_features=3 out_features=2 @weight=(2,3)f32"),
    (&["(1,3)f32", "(3,2)f32"], "torch.mm", "$input=0 $mat2=1"),
    (&["(2)f32", "(1,3)f32", "(3,2)f32"], "torch.addmm", "$input=0 $mat1=1 $mat2=2 alpha=2.0 beta=3.0"),
    (&["(2)i64"], "nn.Embedding", "num_embeddings=5 embedding_dim=3 @weight=(5,3)f32"),
    (
        &["(1,2,4)f32", "(1,3,4)f32", "(1,3,4)f32"],
        "F.scaled_dot_product_attention",
        "$query=0 $key=1 $value=2 dropout_p=0.0 is_causal=False enable_gqa=False scale=0.5",
    ),
    (
        &["(3,1,4)f32"],
        "nn.MultiheadAttention",
        "add_bias_kv=False add_zero_attn=False batch_first=False bias=False embed_dim=4 kdim=4 num_heads=2 vdim=4 \
            @in_proj_weight=(12,4)f32 @out_proj.weight=(4,4)f32",
    ),
    (&["(2,3)f32", "(3,4)f32"], "torch.einsum", "equation=ij,jk->ik"),
    (
        &["(3,1,2)f32"],
        "nn.LSTM",
        "batch_first=False bias=False bidirectional=False hidden_size=2 input_size=2 num_layers=1 proj_size=0 \
            @weight_ih_l0=(8,2)f32 @weight_hh_l0=(8,2)f32",
    ),
    (
        &["(3,1,2)f32"],
        "nn.GRU",
        "batch_first=False bias=False bidirectional=False hidden_size=2 input_size=2 num_layers=1 \
            @weight_ih_l0=(6,2)f32 @weight_hh_l0=(6,2)f32",
    ),
    (
        &["(3,1,2)f32"],
        "nn.RNN",
        "batch_first=False bias=False bidirectional=False hidden_size=2 input_size=2 nonlinearity=relu num_layers=1 \
            @weight_ih_l0=(2,2)f32 @weight_hh_l0=(2,2)f32",
    ),
    (
        &["(1,4,5,5)f32"],
        "nn.Conv2d",
        "bias=False dilation=(1,1) groups=2 in_channels=4 kernel_size=(3,3) out_channels=4 padding=(1,1) \
            padding_mode=zeros stride=(1,1) @weight=(4,2,3,3)f32",
    ),
    (
        &["(1,4,5)f32"],
        "nn.ConvTranspose1d",
        "bias=False dilation=(1) groups=2 in_channels=4 kernel_size=(3) out_channels=2 padding=(1) output_padding=(0) \
            stride=(2) @weight=(4,1,3)f32",
    ),
    (
        &["(1,4,5,5)f32"],
        "F.max_pool2d",
        "kernel_size=(2,2) stride=(2,2) padding=(1,1) dilation=(1,1) ceil_mode=True return_indices=False",
    ),
    (
        &["(1,4,5,5)f32"],
        "F.avg_pool2d",
        "kernel_size=(2,2) stride=(2,2) padding=(1,1) ceil_mode=False count_include_pad=True",
    ),
    (&["(1,4,5,5)f32"], "F.lp_pool2d", "kernel_size=(2,2) stride=(2,2) norm_type=2.0 ceil_mode=True"),
    (&["(1,4,5,5)f32"], "F.unfold", "kernel_size=(2,2) stride=(1,1) padding=(0,0) dilation=(1,1)"),
    (
        &["(1,2,4,4)f32", "(1,16,3,3)f32"],
        "torchvision.ops.DeformConv2d",
        "bias=False dilation=(1,1) groups=2 in_channels=2 kernel_size=(2,2) out_channels=2 padding=(0,0) stride=(1,1) \
            @weight=(2,1,2,2)f32",
    ),
    (&["(1,8,9)f32"], "F.fold", "output_size=(4,4) kernel_size=(2,2) stride=(1,1) padding=(0,0) dilation=(1,1)"),
    (&["(2,2,3)f32"], "F.affine_grid", "size=(2,1,3,4) align_corners=True"),
    (&["(1,4,4,4)f32"], "F.adaptive_avg_pool2d", "output_size=(2,1)"),
    (&["(1,4,4,4)f32"], "F.adaptive_max_pool2d", "output_size=(2,1) return_indices=False"),
    (
        &["(1,2,3)f32"],
        "nn.BatchNorm1d",
        "num_features=2 eps=0.1 affine=False track_running_stats=True @running_mean=(2)f32 @running_var=(2)f32",
    ),
    (&["(1,2,3)f32"], "nn.LayerNorm", "normalized_shape=(2,3) eps=0.1 elementwise_affine=False"),
    (&["(1,2,3)f32"], "nn.RMSNorm", "normalized_shape=(2,3) eps=0.1 elementwise_affine=False"),
    (&["(1,4,3)f32"], "nn.GroupNorm", "num_groups=2 num_channels=4 eps=0.1 affine=False"),
    (&["(1,4,3)f32"], "nn.InstanceNorm1d", "num_features=4 eps=0.1 affine=False track_running_stats=False"),
    (&["(1,4,3)f32"], "F.instance_norm", "eps=0.1 use_input_stats=True"),
    (&["(1,4,3)f32"], "F.local_response_norm", "size=3 alpha=0.1 beta=0.5 k=1.0"),
    (&["(2,3)f32"], "F.softmax", "dim=1"),
    (&["(2,3)f32"], "F.softmin", "dim=1"),
    (&["(1,2,3,3)f32"], "nn.Softmax2d", ""),
    (&["(2,3)f32"], "F.log_softmax", "dim=1"),
    (&["(2,3)f32"], "torch.sum", "dim=(1) keepdim=False"),
    (&["(2,3)f32"], "torch.mean", "dim=(1) keepdim=False"),
    (&["(2,3)f32"], "torch.amax", "dim=(1) keepdim=False"),
    (&["(2,3)f32"], "torch.amin", "dim=(1) keepdim=False"),
    (&["(2,3)f32"], "torch.max", "dim=1 keepdim=False"),
    (&["(2,3)f32"], "torch.min", "dim=1 keepdim=False"),
    (&["(2,3)f32"], "torch.var", "dim=(1) keepdim=False unbiased=True"),
    (&["(2,3)f32"], "torch.std", "dim=(1) keepdim=False correction=0.5"),
    (&["(2,3)f32"], "torch.logsumexp", "dim=(1) keepdim=False"),
    (&["(2,3)f32"], "torch.transpose", "dim0=0 dim1=1"),
    (&["(2,3)f32"], "torch.permute", "dims=(1,0)"),
    (&["(2,3)f32"], "torch.t", ""),
    (&["(2,3)f32"], "Tensor.reshape", "shape=(3,2)"),
    (&["(2,3)f32"], "torch.flatten", "start_dim=0 end_dim=1"),
    (&["(2,1)f32"], "torch.squeeze", "dim=1"),
    (&["(2,3)f32"], "torch.unsqueeze", "dim=1"),
    (&["(2)f32", "(2)f32"], "torch.cat", "dim=0"),
    (&["(2)f32", "(2)f32"], "torch.stack", "dim=0"),
    (&["(2)f32"], "torch.chunk", "chunks=1 dim=0"),
    (&["(2)f32"], "torch.logical_not", ""),
    (&["(2)f32"], "torch.split", "split_size_or_sections=2 dim=0"),
    (&["(2)f32"], "torch.split", "split_size_or_sections=(2) dim=0"),
    (&["(2)f32"], "torch.tensor_split", "sections=1 dim=0"),
    (&["(2)f32"], "torch.tensor_split", "indices=() dim=0"),
    (&["(1)f32"], "torch.unbind", "dim=0"),
    (&["(2,3)f32"], "Tensor.select", "dim=1 index=2"),
    (&["(2,3)f32"], "Tensor.slice", "dim=1 start=0 end=2 step=1"),
    (
        &["(2,3)f32"],
        "Tensor.slice",
        "dims=(0,1) starts=(0,None) ends=(2,3) steps=(1,1) selects=(2147483647,2147483647)",
    ),
    (&["(2,1)f32"], "Tensor.expand", "sizes=(-1,3)"),
    (&["(2,1)f32"], "Tensor.repeat", "sizes=(1,3)"),
    (&["(2,3)f32"], "F.pad", "pad=(1,0) mode=constant value=0.5"),
    (&["(1,2,3)f32"], "nn.ConstantPad1d", "padding=(1,0) value=0.5"),
    (&["(1,2,3)f32"], "nn.CircularPad1d", "padding=(1,0)"),
    (&["(1,2,3)f32"], "nn.ReflectionPad1d", "padding=(1,0)"),
    (&["(1,2,3)f32"], "nn.ReplicationPad1d", "padding=(1,0)"),
    (&["(1,2,3,3)f32"], "F.interpolate", "size=(6,6) mode=bilinear align_corners=True antialias=False"),
    (&["(1,2,3,3)f32"], "F.interpolate", "scale_factor=(2.0,2.0) mode=nearest"),
    (&["(1,4,3,3)f32"], "F.pixel_shuffle", "upscale_factor=2"),
    (&["(1,4,4,4)f32"], "F.pixel_unshuffle", "downscale_factor=2"),
    (&["(1,4,4,4)f32"], "F.channel_shuffle", "groups=2"),
];

/// What is wrong as the value of a setting.
fn wrong_values(kind: &str, value: &str) -> Vec<&'static str> {
    let mut wrong = vec!["zz", "(1,zz)", "(1,2", "nan", "1+2j", "99999999999999999999"];
    let shaped =
        ["Tensor.repeat", "Tensor.expand", "torch.as_strided", "torch.full", "Tensor.new_zeros", "Tensor.new_ones"];
    if !shaped.contains(&kind) {
        wrong.push("(1,2,3,4,5,6,7,8,9)");
    }
    if !["True", "False"].contains(&value) {
        wrong.extend(["True", "(False)", "inf"]);
    }
    if !value.contains('.') {
        wrong.extend(["1.5", "(1.5)", "(1.5,1.5)"]);
    }
    // Padding is by any number.
    if value.contains('.') && ["F.pad", "nn.ConstantPad1d"].contains(&kind) {
        wrong.retain(|wrong| !["nan", "inf"].contains(wrong));
    }
    wrong
}

/// A setting that has another type, or that nothing reads, is named, and never replaced by a default.
#[test]
fn settings_of_a_wrong_kind_are_named() {
    let is_example = |kinds: &[&str]| examples().any(|(_, kind, _)| kinds.contains(kind));
    let rows = table().chain(crate::pnnx::lower::complex::ON_COMPLEX);
    let missing: Vec<_> = rows.filter(|(kinds, _)| !is_example(kinds)).map(|(kinds, _)| kinds).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for (shapes, kind, params) in examples() {
        let message = |params: &str| told(&file(shapes, kind, params)).1;
        assert_eq!(message(params), None, "{kind} {params}");
        for (more, refused) in [("zz=None", false), ("inplace=True", false), ("zz=1", true), ("zz=word", true)] {
            let found = message(&format!("{params} {more}"));
            assert_eq!(found.is_some_and(|found| found.contains("`zz`")), refused, "{kind} {params} {more}");
        }
        for param in params.split_ascii_whitespace().filter(|param| !param.starts_with(['@', '$'])) {
            let (key, value) = param.split_once('=').unwrap();
            for wrong in wrong_values(kind, value) {
                let params = params.replace(param, &format!("{key}={wrong}"));
                let found = message(&params).unwrap_or_else(|| panic!("{kind} {params}"));
                assert!(found.contains(&format!("`{key}` is `{wrong}`")), "{kind} {params}: {found}");
            }
        }
    }
}

/// Settings of the right type that contradict the data or have no counterpart.
#[test]
fn settings_without_a_counterpart_are_named() {
    let cases: &[(&[&str], &str, &str, &str)] = &[
        (&["(1,3)f32"], "nn.Linear", "bias=True @weight=(2,3)f32", "bias"),
        (&["(1,3)f32"], "nn.Linear", "bias=False @weight=(2,3)f32 @bias=(2)f32", "bias"),
        (&["(1,3)f32"], "nn.Linear", "in_features=4 @weight=(2,3)f32", "in_features"),
        (&["(1,2,3)f32"], "nn.LayerNorm", "normalized_shape=(4)", "normalized_shape"),
        (&["(1,2,3)f32"], "nn.LayerNorm", "normalized_shape=(3) elementwise_affine=True", "elementwise_affine"),
        (&["(1,2,5)f32"], "nn.Conv1d", "groups=0 @weight=(2,2,3)f32", "groups"),
        (&["(1,2,5)f32"], "nn.Conv1d", "stride=(0) @weight=(2,2,3)f32", "stride"),
        (&["(1,2,5)f32"], "nn.Conv1d", "kernel_size=(5) @weight=(2,2,3)f32", "kernel_size"),
        (&["(1,2,5)f32"], "nn.Conv1d", "padding_mode=zz padding=(1) @weight=(2,2,3)f32", "padding_mode"),
        (&["(1,2,5)f32"], "nn.Conv1d", "padding=full @weight=(2,2,3)f32", "padding"),
        (&["(1,2,5)f32"], "F.max_pool1d", "stride=(1)", "kernel_size"),
        (&["(1,2,5)f32"], "F.interpolate", "size=(10,10)", "size"),
        (&["(1,2,5)f32"], "F.interpolate", "size=(10) scale_factor=2.0", "scale_factor"),
        (&["(1,2,5)f32"], "F.interpolate", "size=(10) mode=nearest align_corners=True", "align_corners"),
        (&["(1,2,5)f32"], "F.dropout", "p=0.5 training=True", "training"),
        (&["(5)f32"], "torch.clamp", "min=2.0 max=1.0", "max"),
        (&["(5)f32"], "torch.clamp", "", "min"),
        (&["(5)f32"], "F.pad", "pad=(1) mode=constant", "pad"),
        (&["(1,5)f32"], "F.pad", "pad=(1,1) mode=reflect value=1.0", "value"),
        (&["(5)f32"], "torch.sum", "dim=(0,0)", "dim"),
        (&["(5)f32"], "torch.sum", "dim=0 dim=0", "dim"),
        (&["(5)f32"], "torch.sum", "dim=0 dtype=torch.float64", "dtype"),
        (&["(5)f32"], "torch.squeeze", "dim=()", "dim"),
        (&["(5)f32"], "torch.norm", "p=nuc", "p"),
        (&["(5)f32"], "torch.tensor_split", "sections=1000000000000", "sections"),
        (&["(5)f32"], "torch.tensor_split", "indices=(-9223372036854775808)", "indices"),
        (
            &["(5)f32"],
            "torch.split",
            "split_size_or_sections=(9223372036854775807,9223372036854775807)",
            "split_size_or_sections",
        ),
        (&["(5)f32"], "Tensor.expand", "sizes=(-1,5)", "sizes"),
        (&["(4,5)f32"], "Tensor.repeat", "sizes=(2)", "sizes"),
        (&["(4,5)f32"], "F.softmax", "", "dim"),
        (&["(1,2,5)f32"], "nn.InstanceNorm1d", "track_running_stats=True", "track_running_stats"),
    ];
    for (shapes, kind, params, key) in cases {
        let text = file(shapes, kind, params);
        let found = told(&text).1.unwrap_or_else(|| panic!("{text}"));
        assert!(found.contains(&format!("`{kind}`")) && found.contains(&format!("`{key}`")), "{text}{found}");
    }
}

/// Settings near the limits of 64 bits end in a message, too.
#[test]
fn huge_settings_are_refused() {
    let huge = "9223372036854775807";
    let mut passed = 0;
    for (shapes, kind, params) in examples() {
        for param in params.split_ascii_whitespace().filter(|param| !param.starts_with(['@', '$'])) {
            let (key, _) = param.split_once('=').unwrap();
            for value in [huge, "-9223372036854775808", "0", "-1", "(9223372036854775807,9223372036854775807)", "()"] {
                let found = told(&file(shapes, kind, &params.replace(param, &format!("{key}={value}"))));
                passed += usize::from(found.1.is_some());
            }
        }
    }
    assert!(passed > 1000, "{passed} are passed through");
}

/// Operands and data with fewer axes than a rule reads, without items, or with extents near the limit of 64 bits.
#[test]
fn operands_may_have_any_shape() {
    let huge = "(9223372036854775807,9223372036854775807,9223372036854775807,9223372036854775807)";
    let ranks = ["()", "(0)", "(4)", "(9223372036854775807)", "(0,0)", "(1,4)", "(2,0,9)", "(1,4,0,0)", huge];
    // How many are lowered, and how many passed through.
    let mut outcomes = [0, 0];
    let mut tell = |text: &str| outcomes[usize::from(told(text).1.is_some())] += 1;
    for (shapes, kind, params) in examples() {
        for shape in ranks {
            let typed = format!("{shape}f32");
            for at in 0..shapes.len() {
                let mut shapes = shapes.to_vec();
                shapes[at] = &typed;
                tell(&file(&shapes, kind, params));
            }
            tell(&file(&vec![&typed[..]; shapes.len()], kind, params));
            if let Some((before, after)) = params.split_once("@weight=") {
                let (_, rest) = after.split_once(')').unwrap();
                tell(&file(shapes, kind, &format!("{before}@weight={shape}{rest}")));
            }
        }
    }
    assert!(outcomes.iter().all(|count| *count > 1000), "{outcomes:?}");
}

/// What overflows is refused, so that the operator stays as it is.
#[test]
fn overflows_are_refused() {
    let large = "the settings of its window are too large";
    let unfit = "its operands have shapes for which NNEF has no counterpart";
    let max = "9223372036854775807";
    let cases = [
        ("(1,2,5)f32", "nn.Conv1d", format!("padding=same dilation=({max}) @weight=(2,2,3)f32"), large),
        ("(1,2,5)f32", "nn.ConvTranspose1d", format!("stride=({max}) @weight=(2,2,3)f32"), large),
        ("(1,2,5)f32", "nn.ConvTranspose1d", format!("dilation=({max}) @weight=(2,2,3)f32"), large),
        (
            "(1,2,5)f32",
            "nn.ConvTranspose1d",
            format!("padding=same dilation=({max}) output_padding=({max}) @weight=(2,2,0)f32"),
            large,
        ),
        ("(1,2,5)f32", "F.max_pool1d", format!("kernel_size=(2) padding=({max}) ceil_mode=True"), large),
        ("(1,2,5)f32", "F.max_pool1d", format!("kernel_size=(3) dilation=({max}) ceil_mode=True"), large),
        ("(1,4,5,5)f32", "F.pixel_shuffle", format!("upscale_factor={max}"), "a root of a divisor of 4 channels"),
        ("()f32", "nn.LayerNorm", "normalized_shape=(4)".to_owned(), unfit),
        ("()f32", "nn.RMSNorm", "normalized_shape=(4)".to_owned(), unfit),
        ("(3037000500,3037000500)f32", "torch.flatten", String::new(), unfit),
    ];
    for (shape, kind, params, wanted) in cases {
        let text = file(&[shape], kind, &params);
        let found = told(&text).1.unwrap_or_else(|| panic!("{text}"));
        assert!(found.contains(wanted), "{text}{found}");
    }
}

/// Settings that NNEF has are kept as they are, but no extent follows from them.
#[test]
fn extents_that_overflow_are_not_known() {
    let max = "9223372036854775807";
    let cases = [
        ("(1,2,5)f32", "nn.Conv1d", format!("padding=({max}) @weight=(2,2,3)f32")),
        ("(1,2,5)f32", "nn.Conv1d", format!("dilation=({max}) @weight=(2,2,3)f32")),
        ("(1,2,5)f32", "F.pad", format!("pad=({max},{max}) mode=constant")),
        ("(2,5)f32", "torch.tile", format!("dims=({max},{max})")),
    ];
    for (shape, kind, params) in cases {
        let text = file(&[shape], kind, &params);
        let (graph, passed) = lowered(&text);
        let found = graph.shape(graph.outputs()[0]).and_then(Shape::known);
        assert_eq!((passed, found), (false, None), "{text}");
    }
}

/// Above its threshold, softplus is the operand.
#[test]
fn softplus_has_a_threshold() {
    let text = file(&["(3)f32"], "F.softplus", "beta=2.0 threshold=3.0");
    let found = value(&text, &[&[3]]).1;
    assert!((found[0] - (2f64.exp().ln_1p() / 2.0)).abs() < 1e-9 && found[1..] == [2.0, 3.0], "{found:?}");
}

/// A mask of truth values that an unknown operator gives is not added.
#[test]
fn types_of_operators_that_are_passed_through_are_kept() {
    let text = |element: &str| {
        let inputs: String = (0..4).map(|i| format!("pnnx.Input in{i} 0 1 {i} #{i}=(1,2,2)f32\n")).collect();
        format!(
            "7767517\n7 6\n{inputs}foo.Mask m 1 1 3 4 #4=(1,2,2){element}\n\
                F.scaled_dot_product_attention a 4 1 0 1 2 4 5 $query=0 $key=1 $value=2 $attn_mask=4\n\
                pnnx.Output out 1 0 5\n"
        )
    };
    for (element, wanted) in [("f32", false), ("bool", false), ("i64", true), ("null", true), ("c64", true)] {
        let (graph, _) = lowered(&text(element));
        let passed = graph.operations.iter().any(|operation| graph.operation_name(operation).starts_with("F_"));
        assert_eq!(passed, wanted, "{element}");
    }
}

/// The operands of a choice are found by their names.
#[test]
fn choices_have_their_operands_by_name() {
    let text = file(&["(2)f32", "(2)bool", "(2)f32"], "torch.where", "$other=0 $condition=1 $input=2");
    let (graph, passed) = lowered(&text);
    assert!(!passed);
    let choice = graph.operations.iter().find(|operation| graph.operation_name(operation) == "select").unwrap();
    let mut names = Vec::new();
    let mut add = |tensor| names.push(graph.tensor_name(tensor));
    graph.operands_of(choice).for_each(|operand| operand.each_tensor(&mut add));
    assert_eq!(names, ["v_1", "v_2", "v_0"]);
}

/// A tensor where a rule expects a number must not be replaced by a default.
#[test]
fn tensors_in_place_of_numbers_are_not_ignored() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("Tensor.slice", &["(4)f32", "()i64"], "dim=0 end=4 step=1 $input=0 $start=1"),
        ("Tensor.slice", &["(4)f32", "()i64"], "dim=0 start=0 step=1 $input=0 $end=1"),
        ("Tensor.slice", &["(3,4)f32", "(2)i64"], "dims=(0,1) ends=(2,3) steps=(1,1) $input=0 $starts=1"),
        ("torch.sum", &["(2,3)f32", "()i64"], "$input=0 $dim=1 keepdim=False"),
        ("torch.max", &["(2,3)f32", "()i64"], "$input=0 $dim=1"),
        ("torch.cat", &["(2)f32", "(2)f32"], "$tensors=0 $dim=1"),
        ("F.pad", &["(2,3)f32", "()f32"], "$input=0 $value=1 pad=(1,1) mode=constant"),
        ("F.layer_norm", &["(2,3)f32", "()f32"], "$input=0 $eps=1 normalized_shape=(3)"),
        ("F.conv1d", &["(1,2,3)f32", "(2,1,1)f32", "()i64"], "$input=0 $weight=1 $groups=2"),
        ("F.selu", &["(4)f32", "()f32"], "$input=0 $alpha=1"),
        ("F.celu", &["(4)f32", "()f32"], "$input=0 $alpha=1"),
        ("F.leaky_relu", &["(4)f32", "()f32"], "$input=0 $negative_slope=1"),
        ("F.scaled_dot_product_attention", &["(1,1,1)f32"; 4], "$query=0 $key=1 $value=2 $scale=3"),
        ("F.instance_norm", &["(1,2,3)f32", "()bool"], "$input=0 $use_input_stats=1"),
    ];
    for (kind, shapes, params) in cases {
        let text = file(shapes, kind, params);
        let (graph, passed) = told(&text);
        assert!(passed.is_some_and(|found| found.contains(" is `a tensor`, expected ")), "{text}");
        // Nothing of the attempt is left.
        assert_eq!(graph.operations.len(), shapes.len() + 1, "{text}");
    }
}

/// The value of a file, for inputs that count from 1.
fn value(text: &str, shapes: &[&[usize]]) -> (Vec<usize>, Vec<f64>) {
    let (graph, passed) = lowered(text);
    assert!(!passed, "{text}");
    let input = |(i, shape): (usize, &&[usize])| {
        let items = (1..=shape.iter().product()).map(|item: usize| item as f64).collect();
        (format!("v_{i}"), Tensor::scalars(shape, items).unwrap())
    };
    let inputs: Vec<_> = shapes.iter().enumerate().map(input).collect();
    let found = Evaluator::default().run(&graph, &inputs, &BTreeMap::new());
    let found = found.unwrap_or_else(|error| panic!("{text}{}", error.message));
    let output = &found.outputs[0].1;
    (output.shape().to_vec(), output.to_scalars().to_vec())
}

#[test]
fn bounds_of_slices_may_be_left_out() {
    for (params, wanted) in [
        ("dims=(0,1) starts=(1,1) ends=(None,3) steps=(1,1)", vec![6.0, 7.0]),
        ("dims=(0,1) starts=(None,2) ends=(1,None) steps=(None,1)", vec![3.0, 4.0]),
        ("dims=(0,1) starts=(1,-1) ends=None", vec![8.0]),
        ("dims=(0,1) starts=(1,2) ends=(2,4) selects=(2147483647,2147483647)", vec![7.0, 8.0]),
        ("dim=1 start=None end=1 step=1", vec![1.0, 5.0]),
        ("dims=(0,1) starts=(0,0) ends=(2,0) steps=(1,0) selects=(2147483647,1)", vec![2.0, 6.0]),
        ("dims=(0,1) starts=(0,1) ends=(0,3) steps=(0,1) selects=(-1,2147483647)", vec![6.0, 7.0]),
    ] {
        let text = file(&["(2,4)f32"], "Tensor.slice", &format!("$input=0 {params}"));
        assert_eq!(value(&text, &[&[2, 4]]).1, wanted, "{text}");
    }
    let each = "an integer or `None` for each of 2 axes";
    for (params, setting, wanted) in [
        ("starts=(0,0) ends=(2,2) steps=(1,1) selects=(2147483647,4)", "selects", "an item of 4"),
        ("starts=(0,0) ends=(2,2) steps=(1,1) selects=(0)", "selects", each),
        ("starts=(0,0) ends=(2) steps=(1,1)", "ends", each),
        ("starts=(0,x) ends=(2,2) steps=(1,1)", "starts", "a list of integers and `None`"),
    ] {
        let text = file(&["(2,4)f32"], "Tensor.slice", &format!("$input=0 dims=(0,1) {params}"));
        let found = told(&text).1.unwrap_or_else(|| panic!("{text}"));
        assert!(found.contains(&format!("its setting `{setting}` is ")) && found.ends_with(wanted), "{text}{found}");
    }
}

/// Stored statistics are used only if those of the input are not.
#[test]
fn instance_norms_use_the_statistics_that_they_say() {
    let kinds = |text: &str| -> Vec<String> {
        let (graph, passed) = lowered(text);
        assert!(!passed, "{text}");
        graph.operations.iter().map(|operation| graph.operation_name(operation).to_owned()).collect()
    };
    let batch = |text: &str| kinds(text).iter().any(|kind| kind == "batch_normalization");
    let operands = ["(1,2,3)f32", "(2)f32", "(2)f32"];
    for (stats, wanted) in [("use_input_stats=False", true), ("use_input_stats=True", false), ("", false)] {
        let params = format!("$input=0 $running_mean=1 $running_var=2 eps=0.0 {stats}");
        let text = file(&operands, "F.instance_norm", &params);
        assert_eq!(batch(&text), wanted, "{text}");
        let params = format!("$input=0 eps=0.0 @running_mean=(2)f32 @running_var=(2)f32 {stats}");
        let text = file(&operands[..1], "F.instance_norm", &params);
        assert_eq!(batch(&text), wanted, "{text}");
    }
    let data = "eps=0.0 @running_mean=(2)f32 @running_var=(2)f32";
    assert!(batch(&file(&operands[..1], "nn.InstanceNorm1d", &format!("{data} track_running_stats=True"))));
    assert!(!batch(&file(&operands[..1], "nn.InstanceNorm1d", "eps=0.0 track_running_stats=False")));
    let text = file(&operands, "F.instance_norm", "$input=0 $running_mean=1 $running_var=2 eps=0.0");
    let ((shape, items), third) = (value(&text, &[&[1, 2, 3], &[2], &[2]]), 1.5f64.sqrt());
    assert_eq!(shape, [1, 2, 3]);
    let wanted = [-third, 0.0, third, -third, 0.0, third];
    assert!(all_near(&items, &wanted, 1e-9), "{items:?}");
    // Without statistics, there is nothing to use.
    let found = told(&file(&operands[..1], "F.instance_norm", "$input=0 use_input_stats=False")).1;
    assert!(found.is_some_and(|found| found.ends_with("it has no data `running_mean`")));
}
