//! Operators that index, scatter, sort, accumulate, fill and convert.

use std::collections::BTreeMap;

use super::{Example, file, lowered, told};
use crate::eval::Evaluator;
use crate::tensor::Tensor;
use crate::tests::all_near;

/// Examples for the rules of families, as those of the other rules.
pub(super) const EXAMPLES: &[Example] = &[
    (&["(4)i64", "(4)i64"], "torch.gcd", "$input=0 $other=1"),
    (&["(4)i64", "(4)i64"], "torch.lcm", "$input=0 $other=1"),
    (&["(2,3)i64"], "F.embedding_bag", "mode=max padding_idx=1 @weight=(5,4)f32"),
    (
        &["(5)i64", "(3)i64"],
        "F.embedding_bag",
        "$input=0 $offsets=1 mode=mean include_last_offset=True @weight=(5,4)f32",
    ),
    (
        &["(1,2,4)f32"],
        "aten::_transformer_encoder_layer_fwd",
        "embed_dim=4 num_heads=2 use_gelu=True norm_first=False eps=0.5 @qkv_weight=(12,4)f32 @qkv_bias=(12)f32 \
            @proj_weight=(4,4)f32 @proj_bias=(4)f32 @norm_weight_1=(4)f32 @norm_bias_1=(4)f32 @norm_weight_2=(4)f32 \
            @norm_bias_2=(4)f32 @ffn_weight_1=(8,4)f32 @ffn_bias_1=(8)f32 @ffn_weight_2=(4,8)f32 @ffn_bias_2=(4)f32",
    ),
    (&["(4)f32"], "torch.clamp_min", "min=1.0"),
    (&["(4)f32"], "torch.clamp_max", "max=1.0"),
    (&["(4)f32"], "torch.isnan", ""),
    (&["(4)f32"], "torch.isinf", ""),
    (&["(4)f32"], "torch.isposinf", ""),
    (&["(4)f32"], "torch.isneginf", ""),
    (&["(4)f32"], "torch.isfinite", ""),
    (&["(4)f32", "(4)bool"], "torch.logical_and", "$input=0 $other=1"),
    (&["(4)f32", "(4)bool"], "torch.logical_or", "$input=0 $other=1"),
    (&["(4)i64", "(4)bool"], "torch.logical_xor", "$input=0 $other=1"),
    (&["(4)bool", "(4)bool"], "torch.bitwise_and", "$input=0 $other=1"),
    (&["(4)bool", "(4)bool"], "torch.bitwise_or", "$input=0 $other=1"),
    (&["(4)bool", "(4)bool"], "torch.bitwise_xor", "$input=0 $other=1"),
    (&["(4)i64"], "torch.bitwise_not", ""),
    (&["(4)i64"], "torch.bitwise_left_shift", "other=1"),
    (&["(4)i64"], "torch.bitwise_right_shift", "other=1"),
    (&["(4)f32", "(4)bool", "()f32"], "Tensor.masked_fill", "$input=0 $mask=1 $value=2"),
    (&["(4)f32", "(4)f32", "()f32"], "torch.lerp", "$input=0 $end=1 $weight=2"),
    (&["(4)f32", "(4)f32", "(4)f32"], "torch.addcmul", "$input=0 $tensor1=1 $tensor2=2 value=2.0"),
    (&["(4)f32", "(4)f32", "(4)f32"], "torch.addcdiv", "$input=0 $tensor1=1 $tensor2=2 value=2.0"),
    (&["(4)f32"], "Tensor.to", "dtype=torch.int"),
    (&["(4)f32", "(2)i64"], "Tensor.type_as", "$input=0 $other=1"),
    (&["(4)i64"], "Tensor.float", ""),
    (&["(4)f32"], "Tensor.int", ""),
    (&["(4)f32"], "Tensor.bool", ""),
    (&["(4)f32", "()f32"], "Tensor.fill", "$input=0 $value=1"),
    (&["(4)f32"], "torch.zeros_like", "dtype=torch.long"),
    (&["(4)f32"], "torch.ones_like", ""),
    (&["()f32"], "torch.full", "$fill_value=0 size=(2)"),
    (&["(4)f32"], "Tensor.new_zeros", "size=(2)"),
    (&["(4)f32"], "Tensor.new_ones", "size=(2)"),
    (&[], "torch.arange", "start=1.0 end=3.0 step=1.0"),
    (&[], "torch.linspace", "start=1.0 end=3.0 steps=3"),
    (&[], "torch.eye", "n=2 m=3"),
    (&["(2)f32", "(3)f32"], "torch.meshgrid", "indexing=xy"),
    (&["(2,3)f32", "(1,3)i64"], "torch.gather", "$input=0 $index=1 dim=0"),
    (&["(2,3)f32", "(4)i64"], "torch.index_select", "$input=0 $index=1 dim=0"),
    (&["(2,3)f32", "(4)i64"], "torch.take", "$input=0 $index=1"),
    (&["(2,3)f32"], "Tensor.index", "expr=[None,[2,0]]"),
    (&["(2,3)f32"], "torch.repeat_interleave", "repeats=2 dim=0"),
    (&["(4)f32"], "Tensor.unfold", "dimension=0 size=2 step=1"),
    (&["(4)f32", "(1)f32"], "Tensor.slice_copy", "$self=0 $src=1 dim=0 start=0 end=1 step=1"),
    (&["(4,2)f32", "(2)f32"], "torch.select_scatter", "$input=0 $src=1 dim=0 index=1"),
    (&["(4,2)f32", "(2)f32"], "Tensor.copy", "$self=0 $src=1"),
    (&["(4)f32", "(2)i64", "(2)f32"], "torch.scatter", "$input=0 $index=1 $src=2 dim=0"),
    (&["(4)f32", "(2)i64", "(2)f32"], "torch.scatter_add", "$input=0 $index=1 $src=2 dim=0"),
    (&["(4)f32", "(2)i64", "(2)f32"], "torch.scatter_reduce", "$input=0 $index=1 $src=2 dim=0 reduce=sum"),
    (&["(4)f32", "(2)i64", "(2)f32"], "torch.index_add", "$input=0 $index=1 $source=2 dim=0 alpha=2.0"),
    (&["(4)f32", "(2)i64", "(2)f32"], "torch.index_copy", "$input=0 $index=1 $source=2 dim=0"),
    (&["(4)f32", "(2)i64", "()f32"], "torch.index_fill", "$input=0 $index=1 $value=2 dim=0"),
    (&["(4)f32", "(2)i64", "(2)f32"], "Tensor.index_put", "$input=0 $indices=1 $values=2 accumulate=False"),
    (&["(2,3)f32"], "torch.argmax", "dim=1 keepdim=False"),
    (&["(2,3)f32"], "torch.argmin", "dim=1 keepdim=False"),
    (&["(2,3)f32"], "torch.topk", "dim=1 k=2 largest=True sorted=True"),
    (&["(2,3)f32"], "torch.sort", "dim=1 descending=False"),
    (&["(2,3)f32"], "torch.argsort", "dim=1 descending=False"),
    (&["(2,3)f32"], "torch.msort", ""),
    (&["(2,3)f32"], "torch.kthvalue", "dim=1 k=2 keepdim=False"),
    (&["(2,3)f32"], "torch.median", "dim=1 keepdim=False"),
    (&["(2,3)f32"], "torch.cumsum", "dim=1"),
    (&["(2,3)f32"], "torch.cumprod", "dim=1 dtype=torch.float"),
    (&["(2,3)f32"], "torch.logcumsumexp", "dim=1"),
    (&["(2,3)f32"], "torch.prod", "dim=1 keepdim=False"),
    (&["(2,3)f32"], "torch.any", "dim=(1) keepdim=False"),
    (&["(2,3)f32"], "torch.all", "dim=(1) keepdim=False"),
    (&["(2,3)f32"], "torch.roll", "shifts=(1) dims=(1)"),
    (&["(2,3)f32"], "torch.as_strided", "size=(2,2) stride=(1,3)"),
    (&["(2,3)f32"], "torch.flip", "dims=(1)"),
    (&["(2,3)f32"], "torch.fliplr", ""),
    (&["(2,3)f32"], "torch.flipud", ""),
    (&["(2,3)f32"], "torch.rot90", "k=1 dims=(0,1)"),
    (&["(2,3)f32"], "torch.narrow", "dim=1 start=0 length=2"),
    (&["(2,3)f32"], "torch.select", "dim=1 index=2"),
    (&["(2,6)f32"], "Tensor.unflatten", "dim=1 sizes=(2,3)"),
    (&["(2,6)f32"], "torch.ravel", ""),
    (&["(1,3)f32", "(2,3)f32"], "Tensor.expand_as", "$input=0 $other=1"),
    (&["(6)f32", "(2,3)f32"], "Tensor.reshape_as", "$input=0 $other=1"),
    (&["(2,3)f32"], "torch.movedim", "source=0 destination=1"),
    (&["(2,3)f32", "(2,3)f32"], "torch.cross", "$input=0 $other=1 dim=1"),
    (&["(2,3)f32", "(2,3)f32"], "torch.linalg.cross", "$input=0 $other=1"),
    (&["(1,4,3)f32"], "F.normalize", "dim=1 eps=0.1"),
    (&["(2,3)f32"], "torch.norm", "dim=(1) keepdim=False"),
    (&["(2,3)f32"], "torch.linalg.vector_norm", "dim=(1) keepdim=False"),
    (&["(2,3)f32"], "torch.linalg.norm", "dim=(1) keepdim=False"),
    (&["(2,3)f32"], "torch.var_mean", "dim=(1) keepdim=False correction=0.5"),
    (&["(2,3)f32"], "torch.std_mean", "dim=(1) keepdim=False unbiased=True"),
    (&["(2,3)f32"], "torch.diag", "diagonal=1"),
    (&["(2,3)f32"], "torch.diagonal", "offset=1 dim1=0 dim2=1"),
    (&["(2,3)f32"], "torch.linalg.diagonal", "offset=1 dim1=0 dim2=1"),
    (&["(2,3)f32"], "torch.trace", ""),
    (&["(2,3)f32"], "torch.tril", "diagonal=0"),
    (&["(2,3)f32"], "torch.triu", "diagonal=1"),
    (&["(2,3)f32", "(3)f32"], "torch.mv", "$input=0 $vec=1"),
    (&["(3)f32", "(3)f32"], "torch.dot", "$input=0 $tensor=1"),
    (&["(2,3)f32", "(4,3)f32"], "torch.inner", "$input=0 $other=1"),
    (&["(2)f32", "(3)f32"], "torch.outer", "$input=0 $vec2=1"),
    (&["(1,2,2)f32"; 3], "torch.baddbmm", "$input=0 $batch1=1 $batch2=2 alpha=2.0 beta=3.0"),
    (&["(2)f32", "(2,3)f32", "(3)f32"], "torch.addmv", "$input=0 $mat=1 $vec=2 alpha=2.0"),
    (&["(2,3)f32", "(2)f32", "(3)f32"], "torch.addr", "$input=0 $vec1=1 $vec2=2 beta=2.0"),
    (&["(2,3)f32"], "torch.fft.irfft", "dim=1 n=4 norm=ortho"),
    (&["(2,3)f32"], "torch.fft.irfft2", "dim=(0,1) s=(2,4) norm=forward"),
    (&["(2,3)f32"], "torch.fft.irfftn", "dim=(0,1) s=(2,4)"),
    (&["(2,3)f32"], "torch.fft.hfft", "dim=1 n=4 norm=ortho"),
    (&["(2,3)f32"], "torch.fft.hfft2", "dim=(0,1) s=(2,4) norm=forward"),
    (&["(2,3)f32"], "torch.fft.hfftn", "dim=(0,1) s=(2,4)"),
    (&["(4)f32"; 2], "torch.hypot", "$input=0 $other=1"),
    (&["(4)f32"; 2], "torch.copysign", "$input=0 $other=1"),
    (&["(4)f32"; 2], "torch.heaviside", "$input=0 $values=1"),
    (&["(4)f32"; 2], "torch.xlogy", "$input=0 $other=1"),
    (&["(4)f32"], "torch.exp2", ""),
    (&["(4)f32"], "torch.sinc", ""),
    (&["(4)f32"], "torch.erfc", ""),
    (&["(4)f32"], "torch.logit", "eps=0.125"),
    (&["(4)f32"], "torch.nan_to_num", "nan=1.0 posinf=2.0 neginf=-2.0"),
    (&["(2)i64"], "F.one_hot", "num_classes=3"),
    (&["(2,3)f32", "(4,3)f32"], "torch.cdist", "$x1=0 $x2=1"),
    (&["(4)f32"; 2], "F.l1_loss", "$input=0 $target=1"),
    (&["(4)f32"; 2], "F.mse_loss", "$input=0 $target=1"),
    (&["(4)f32"; 2], "F.smooth_l1_loss", "$input=0 $target=1 beta=2.0"),
    (&["(4)f32"; 2], "F.huber_loss", "$input=0 $target=1 delta=2.0"),
    (&["(4)f32"; 2], "F.soft_margin_loss", "$input=0 $target=1"),
    (&["(4)f32"; 2], "F.hinge_embedding_loss", "$input=0 $target=1 margin=2.0"),
    (&["(4)f32"; 2], "F.binary_cross_entropy", "$input=0 $target=1"),
    (&["(4)f32"; 2], "F.binary_cross_entropy_with_logits", "$input=0 $target=1"),
    (&["(4)f32"; 2], "F.kl_div", "$input=0 $target=1 log_target=True"),
    (&["(4)f32"; 2], "F.poisson_nll_loss", "$input=0 $target=1 log_input=False eps=0.5"),
    (&["(4)f32"; 3], "F.margin_ranking_loss", "$input1=0 $input2=1 $target=2 margin=2.0"),
    (&["(2,3)f32", "(2,3)f32", "(2)f32"], "F.cosine_embedding_loss", "$input1=0 $input2=1 $target=2 margin=0.5"),
    (&["(2,3)f32"; 3], "F.triplet_margin_loss", "$anchor=0 $positive=1 $negative=2 margin=2.0 eps=0.5 swap=True"),
    (&["(2,3)f32", "(2)i64"], "F.multi_margin_loss", "$input=0 $target=1 margin=2.0"),
    (&["(2,3)f32", "(2)i64"], "F.nll_loss", "$input=0 $target=1 ignore_index=1"),
    (&["(2,3)f32", "(2)i64"], "F.cross_entropy", "$input=0 $target=1 ignore_index=1"),
    (&["(2,3)f32"; 2], "F.cosine_similarity", "$x1=0 $x2=1 dim=1 eps=0.5"),
    (&["(2,3)f32"], "torch.broadcast_tensors", ""),
    (&["(2,3)f32"], "torch.diff", "dim=1 n=1"),
    (&["(2,3)f32"; 2], "torch.kron", "$input=0 $other=1"),
    (&["(2,3)f32"; 2], "torch.tensordot", "$input=0 $other=1"),
    (&["(2,3)f32"], "torch.linalg.multi_dot", ""),
    (&["(2,3)f32"], "torch.vstack", ""),
    (&["(2,3)f32"], "torch.hstack", ""),
    (&["(2,3)f32"], "torch.dstack", ""),
    (&["(2,3)f32"], "torch.aminmax", "dim=1 keepdim=True"),
    (&["(2,3)f32"], "torch.count_nonzero", ""),
    (&["(2,3)f32"], "torch.quantile", "q=0.5 dim=1 keepdim=True"),
    (&["(2,3)f32", "(2,3)i64"], "torch.take_along_dim", "$input=0 $indices=1 dim=1"),
    (&["(2,3)f32"], "torch.diag_embed", "offset=0 dim1=1 dim2=2"),
    (&["(4)f32"], "torch.frac", ""),
    (&["(4)f32"], "torch.sgn", ""),
    (&["(4)f32"], "torch.signbit", ""),
    (&["(4)f32"], "torch.rad2deg", ""),
    (&["(4)f32"], "torch.deg2rad", ""),
    (&["(4)f32"; 2], "torch.fmax", "$input=0 $other=1"),
    (&["(4)f32"; 2], "torch.fmin", "$input=0 $other=1"),
    (&["(4)f32"; 2], "torch.logaddexp2", "$input=0 $other=1"),
    (&["(4)f32"; 2], "torch.float_power", "$input=0 $exponent=1"),
    (&["(4)f32"; 2], "torch.ldexp", "$input=0 $other=1"),
    (&["(4)f32"], "torch.log2", ""),
    (&["(4)f32"], "torch.round", "decimals=1"),
    (
        &["(2,3)f32", "(2,4)f32"],
        "nn.Bilinear",
        "bias=True in1_features=3 in2_features=4 out_features=2 @weight=(2,3,4)f32 @bias=(2)f32",
    ),
];

/// The shape and the items of an operand.
pub(super) type Input<'a> = (&'a str, &'a [f64]);

/// The shapes and the items of the results of a file.
fn outputs(text: &str, inputs: &[Input]) -> Vec<(Vec<usize>, Vec<f64>)> {
    let (graph, passed) = lowered(text);
    assert!(!passed, "{text}{:?}", told(text).1);
    let input = |(i, (shape, items)): (usize, &Input)| {
        let (extents, of) = shape[1..].split_once(')').unwrap();
        let mut extents: Vec<usize> = extents.split(',').filter_map(|extent| extent.parse().ok()).collect();
        extents.extend((of == "c64").then_some(2));
        let whole = || items.iter().map(|item| *item as i64);
        let tensor = match of {
            "i64" => Tensor::integers(&extents, whole().collect()),
            "bool" => Tensor::logicals(&extents, whole().map(|item| item != 0).collect()),
            _ => Tensor::scalars(&extents, items.to_vec()),
        };
        (format!("v_{i}"), tensor.unwrap())
    };
    let inputs: Vec<_> = inputs.iter().enumerate().map(input).collect();
    let found = Evaluator::default().run(&graph, &inputs, &BTreeMap::new());
    let found = found.unwrap_or_else(|error| panic!("{text}{}", error.message));
    found.outputs.iter().map(|(_, output)| (output.shape().to_vec(), output.to_scalars().to_vec())).collect()
}

/// The items of the results of a file.
fn results(text: &str, inputs: &[Input]) -> Vec<Vec<f64>> {
    outputs(text, inputs).into_iter().map(|(_, items)| items).collect()
}

/// Operands with their items, the kind, the parameters, and the items of the results.
pub(super) type Case<'a> = (&'a [Input<'a>], &'a str, &'a str, &'a [&'a [f64]]);

pub(super) fn check(cases: &[Case]) {
    for (inputs, kind, params, wanted) in cases {
        let shapes: Vec<&str> = inputs.iter().map(|(shape, _)| *shape).collect();
        let text = file(&shapes, kind, params);
        let found = results(&text, inputs);
        let near = |a: &f64, b: &f64| (a - b).abs() < 1e-6 || a == b || a.is_nan() && b.is_nan();
        let same = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b));
        let all = found.len() == wanted.len() && found.iter().zip(*wanted).all(|(a, b)| same(a, b));
        assert!(all, "{text}{found:?} instead of {wanted:?}");
    }
}

/// Operands with their items, the kind, the parameters, and the shapes of the results.
pub(super) type ShapeCase<'a> = (&'a [Input<'a>], &'a str, &'a str, &'a [&'a [usize]]);

/// Compares the shapes of results, whose items alone [`check`] compares.
pub(super) fn check_shapes(cases: &[ShapeCase]) {
    for (inputs, kind, params, wanted) in cases {
        let shapes: Vec<&str> = inputs.iter().map(|(shape, _)| *shape).collect();
        let text = file(&shapes, kind, params);
        let found: Vec<Vec<usize>> = outputs(&text, inputs).into_iter().map(|(shape, _)| shape).collect();
        assert_eq!(found, *wanted, "{text}");
    }
}

const SIX: Input = ("(2,3)f32", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
const INF: f64 = f64::INFINITY;

#[test]
fn functions_with_formulas() {
    let pair: Input = ("(2,2)f32", &[0.0, 0.0, 3.0, 4.0]);
    let signs: Input = ("(4)f32", &[1.0, -0.0, -2.0, 0.0]);
    let four: Input = ("(4)f32", &[3.0, 4.0, -5.0, 0.0]);
    check(&[
        (&[four, signs], "torch.copysign", "$input=0 $other=1", &[&[3.0, -4.0, -5.0, 0.0]]),
        (&[four], "torch.copysign", "$input=0 other=-1.0", &[&[-3.0, -4.0, -5.0, -0.0]]),
        (&[four, four], "torch.hypot", "$input=0 $other=1", &[&[18f64.sqrt(), 32f64.sqrt(), 50f64.sqrt(), 0.0]]),
        (&[signs, four], "torch.heaviside", "$input=0 $values=1", &[&[1.0, 4.0, 0.0, 0.0]]),
        (&[four, ("(4)f32", &[1.0; 4])], "torch.xlogy", "$input=0 $other=1", &[&[0.0; 4]]),
        (&[signs, four], "torch.xlogy", "$input=0 $other=1", &[&[3f64.ln(), 0.0, f64::NAN, 0.0]]),
        (&[four], "torch.exp2", "", &[&[8.0, 16.0, 0.03125, 1.0]]),
        (&[("(3)f32", &[0.0, 0.5, 1.0])], "torch.sinc", "", &[&[1.0, 2.0 / std::f64::consts::PI, 0.0]]),
        (&[("(3)f32", &[0.5, 0.0, 1.0])], "torch.logit", "eps=0.25", &[&[0.0, -3f64.ln(), 3f64.ln()]]),
        (
            &[("(4)f32", &[f64::NAN, INF, -INF, 2.0])],
            "torch.nan_to_num",
            "nan=1.0 posinf=7.0",
            &[&[1.0, 7.0, -f64::from(f32::MAX), 2.0]],
        ),
        (&[("(2)i64", &[2.0, 0.0])], "F.one_hot", "num_classes=3", &[&[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]]),
        (&[pair, pair], "torch.cdist", "$x1=0 $x2=1 p=2.0", &[&[0.0, 5.0, 5.0, 0.0]]),
        (&[pair, pair], "torch.cdist", "$x1=0 $x2=1 p=1.0", &[&[0.0, 7.0, 7.0, 0.0]]),
        // One row beside two.
        (&[pair, ("(1,2)f32", &[0.0, 0.0])], "torch.cdist", "$x1=0 $x2=1 p=1.0", &[&[0.0, 7.0]]),
    ]);
    check_shapes(&[
        (&[("(2)i64", &[2.0, 0.0])], "F.one_hot", "num_classes=3", &[&[2, 3]]),
        (&[pair, ("(1,2)f32", &[0.0, 0.0])], "torch.cdist", "$x1=0 $x2=1 p=1.0", &[&[2, 1]]),
    ]);
    // Distances are those of rows.
    for shapes in [["(3)f32", "(2,3)f32"], ["(2,3)f32", "(3)f32"]] {
        assert!(told(&file(&shapes, "torch.cdist", "$x1=0 $x2=1")).1.is_some(), "{shapes:?}");
    }
}

/// Operands without names have those of the operator of torch.
#[test]
fn operands_by_position_have_the_names_of_torch() {
    for (lines, wanted) in [
        ("aten::relu op 1 1 0 9", vec![1.0, 0.0, 3.0, 0.0, 5.0, 0.0]),
        ("aten::relu_ op 1 1 0 9", vec![1.0, 0.0, 3.0, 0.0, 5.0, 0.0]),
        ("aten::zero_ op 1 1 0 9", vec![0.0; 6]),
        ("aten::t op 1 1 0 9", vec![1.0, -4.0, -2.0, 5.0, 3.0, -6.0]),
        ("aten::transpose op 3 1 0 1 2 9", vec![1.0, -4.0, -2.0, 5.0, 3.0, -6.0]),
        ("aten::permute op 2 1 0 3 9", vec![1.0, -4.0, -2.0, 5.0, 3.0, -6.0]),
        ("aten::maximum op 2 1 0 1 9", vec![1.0, 0.0, 3.0, 0.0, 5.0, 0.0]),
        ("aten::sum op 3 1 0 3 4 9", vec![-3.0]),
        ("aten::cumsum op 3 1 0 2 5 9", vec![1.0, -1.0, 2.0, -4.0, 1.0, -5.0]),
        ("aten::select op 3 1 0 1 2 9", vec![-4.0, 5.0, -6.0]),
        ("aten::unfold op 4 1 0 2 6 2 9", vec![1.0, -2.0, -2.0, 3.0, -4.0, 5.0, 5.0, -6.0]),
        ("aten::elu op 4 1 0 2 2 2 9", vec![1.0, -0.8646647, 3.0, -0.9816844, 5.0, -0.9975212]),
    ] {
        let text = format!(
            "7767517\n9 8\npnnx.Input in 0 1 0 #0=(2,3)f32\npnnx.Expression a 0 1 1 expr=0\npnnx.Expression b 0 1 2 expr=1\n\
             pnnx.Expression c 0 1 3 expr=[1,0]\npnnx.Expression d 0 1 4 expr=False\npnnx.Expression e 0 1 5 expr=None\n\
             pnnx.Expression f 0 1 6 expr=2\n{lines}\npnnx.Output out 1 0 9\n"
        );
        let found = results(&text, &[("(2,3)f32", &[1.0, -2.0, 3.0, -4.0, 5.0, -6.0])]);
        assert!(all_near(&found[0], &wanted, 1e-6), "{lines}: {found:?}");
    }
}

#[test]
fn items_are_assigned() {
    let two: Input = ("(2)f32", &[-1.0, -2.0]);
    let of = |params: &'static str| format!("$self=0 $src=1 {params}");
    let each = of("dim=1 end=0 select=1 start=0 step=0");
    let both = of("dims=(0,1) starts=(0,1) ends=(2,3) steps=(1,1) selects=(1,2147483647)");
    let corner = of("dims=(0,1) starts=(0,1) ends=(2,3) steps=(1,1)");
    check(&[
        (&[SIX, two], "Tensor.slice_copy", &each, &[&[1.0, -1.0, 3.0, 4.0, -2.0, 6.0]]),
        (&[SIX, two], "Tensor.slice_copy", &both, &[&[1.0, 2.0, 3.0, 4.0, -1.0, -2.0]]),
        (&[SIX, two], "Tensor.slice_copy", &corner, &[&[1.0, -1.0, -2.0, 4.0, -1.0, -2.0]]),
    ]);
}

#[test]
fn items_are_taken_at_indices() {
    let mixed: Input = ("(2,3)f32", &[3.0, 1.0, 2.0, 4.0, 6.0, 5.0]);
    check(&[
        (&[SIX, ("(1,3)i64", &[1.0, 0.0, 1.0])], "torch.gather", "$input=0 $index=1 dim=0", &[&[4.0, 2.0, 6.0]]),
        (&[SIX, ("(2,1)i64", &[2.0, 0.0])], "torch.gather", "$input=0 $index=1 dim=-1", &[&[3.0, 4.0]]),
        (&[SIX, ("(2)i64", &[2.0, 0.0])], "torch.index_select", "$input=0 $index=1 dim=1", &[&[3.0, 1.0, 6.0, 4.0]]),
        (&[SIX, ("(2)i64", &[-1.0, 1.0])], "torch.take", "$input=0 $index=1", &[&[6.0, 2.0]]),
        (&[SIX], "Tensor.index", "expr=[None,[2,-3]]", &[&[3.0, 1.0, 6.0, 4.0]]),
        (&[SIX], "Tensor.index", "expr=[[1,0],[2,0]]", &[&[6.0, 1.0]]),
        (&[SIX], "Tensor.index", "expr=[[True,False],[False,True,True]]", &[&[2.0, 3.0]]),
        (&[SIX], "Tensor.index", "expr=[1]", &[&[4.0, 5.0, 6.0]]),
        (&[SIX, ("(2)i64", &[-1.0, 0.0])], "Tensor.index", "expr=[@1,[1,2]]", &[&[5.0, 3.0]]),
        (&[("(1,2,3)f32", SIX.1)], "Tensor.index", "expr=[[0,0],None,[2,0]]", &[&[3.0, 6.0, 1.0, 4.0]]),
        (&[SIX], "torch.repeat_interleave", "repeats=2 dim=0", &[&[1., 2., 3., 1., 2., 3., 4., 5., 6., 4., 5., 6.]]),
        (&[("(2)f32", &[1.0, 2.0])], "torch.repeat_interleave", "repeats=2", &[&[1.0, 1.0, 2.0, 2.0]]),
        (&[("(5)f32", &[1., 2., 3., 4., 5.])], "Tensor.unfold", "dimension=0 size=2 step=3", &[&[1., 2., 4., 5.]]),
        (
            &[SIX, ("(2)f32", &[8.0, 9.0])],
            "Tensor.slice_copy",
            "$self=0 $src=1 dim=1 start=0 end=3 step=2",
            &[&[8.0, 2.0, 9.0, 8.0, 5.0, 9.0]],
        ),
        (
            &[SIX, ("(2)f32", &[8.0, 9.0])],
            "torch.select_scatter",
            "$input=0 $src=1 dim=1 index=-1",
            &[&[1.0, 2.0, 8.0, 4.0, 5.0, 9.0]],
        ),
        (&[mixed], "torch.topk", "dim=1 k=2 largest=True sorted=True", &[&[3., 2., 6., 5.], &[0., 2., 1., 2.]]),
        (&[mixed], "torch.topk", "dim=0 k=1 largest=False", &[&[3.0, 1.0, 2.0], &[0.0, 0.0, 0.0]]),
        (
            &[("(4)f32", &[1.0, f64::NAN, 1.0, -INF])],
            "torch.sort",
            "",
            &[&[-INF, 1.0, 1.0, f64::NAN], &[3., 0., 2., 1.]],
        ),
        (&[mixed], "torch.argsort", "dim=-1 descending=True", &[&[0.0, 2.0, 1.0, 1.0, 2.0, 0.0]]),
        (&[mixed], "torch.kthvalue", "k=2", &[&[2.0, 5.0], &[2.0, 2.0]]),
        (&[mixed], "torch.median", "", &[&[3.0]]),
        (&[mixed], "torch.argmax", "dim=None keepdim=False", &[&[4.0]]),
        (&[mixed], "torch.argmin", "keepdim=True", &[&[1.0]]),
    ]);
    check_shapes(&[
        (&[SIX, ("(1,3)i64", &[1.0, 0.0, 1.0])], "torch.gather", "$input=0 $index=1 dim=0", &[&[1, 3]]),
        (&[SIX, ("(2)i64", &[-1.0, 1.0])], "torch.take", "$input=0 $index=1", &[&[2]]),
        (&[SIX], "Tensor.index", "expr=[1]", &[&[3]]),
        (&[SIX], "Tensor.index", "expr=[None,[2,-3]]", &[&[2, 2]]),
        (&[SIX], "torch.repeat_interleave", "repeats=2 dim=0", &[&[4, 3]]),
        (&[SIX], "torch.repeat_interleave", "repeats=2", &[&[12]]),
        (&[("(5)f32", &[1., 2., 3., 4., 5.])], "Tensor.unfold", "dimension=0 size=2 step=3", &[&[2, 2]]),
        (&[mixed], "torch.topk", "dim=1 k=2 largest=True sorted=True", &[&[2, 2], &[2, 2]]),
        (&[mixed], "torch.kthvalue", "k=2", &[&[2], &[2]]),
        (&[mixed], "torch.kthvalue", "dim=1 k=2 keepdim=True", &[&[2, 1], &[2, 1]]),
        (&[mixed], "torch.median", "", &[&[]]),
        (&[mixed], "torch.argmax", "dim=None keepdim=False", &[&[]]),
        (&[mixed], "torch.argmax", "dim=1 keepdim=True", &[&[2, 1]]),
        (&[mixed], "torch.argmin", "keepdim=True", &[&[1, 1]]),
    ]);
}

#[test]
fn items_are_put_at_indices() {
    let four: Input = ("(4)f32", &[1.0, 2.0, 3.0, 4.0]);
    let [twice, source]: [Input; 2] = [("(3)i64", &[2., 0., 2.]), ("(3)f32", &[10., 20., 30.])];
    let named = "$input=0 $index=1 $src=2 dim=0";
    let of = "$input=0 $index=1 $source=2 dim=0";
    check(&[
        (&[four, twice, source], "torch.scatter_add", named, &[&[21.0, 2.0, 43.0, 4.0]]),
        (&[four, twice, source], "torch.scatter", named, &[&[20.0, 2.0, 30.0, 4.0]]),
        (&[four, twice], "torch.scatter", "$input=0 $index=1 dim=0 value=7", &[&[7.0, 2.0, 7.0, 4.0]]),
        (&[SIX, ("(1,2)i64", &[1.0, 0.0]), SIX], "torch.scatter", named, &[&[1.0, 2.0, 3.0, 1.0, 5.0, 6.0]]),
        (&[SIX, ("(1,2)i64", &[1.0, 0.0]), SIX], "torch.scatter_add", named, &[&[1.0, 4.0, 3.0, 5.0, 5.0, 6.0]]),
        (&[four, twice, source], "torch.index_add", of, &[&[21.0, 2.0, 43.0, 4.0]]),
        (&[four, twice, source], "torch.index_copy", of, &[&[20.0, 2.0, 30.0, 4.0]]),
        (
            &[SIX, ("(1)i64", &[1.0])],
            "torch.index_fill",
            "$input=0 $index=1 dim=1 value=0",
            &[&[1., 0., 3., 4., 0., 6.]],
        ),
        (
            &[SIX, ("(1)i64", &[-1.0]), ("(3)f32", &[7., 8., 9.])],
            "Tensor.index_put",
            "$input=0 $indices=1 $values=2",
            &[&[1.0, 2.0, 3.0, 7.0, 8.0, 9.0]],
        ),
    ]);
}

#[test]
fn items_are_accumulated() {
    check(&[
        (&[SIX], "torch.cumsum", "dim=1", &[&[1.0, 3.0, 6.0, 4.0, 9.0, 15.0]]),
        (&[SIX], "torch.cumprod", "dim=0", &[&[1.0, 2.0, 3.0, 4.0, 10.0, 18.0]]),
        (&[("(3)i64", &[1.0, 2.0, 3.0])], "torch.cumsum", "dim=-1", &[&[1.0, 3.0, 6.0]]),
        (&[SIX], "torch.prod", "dim=1 keepdim=True", &[&[6.0, 120.0]]),
        (&[SIX], "torch.prod", "", &[&[720.0]]),
        (&[("(2,2)bool", &[0.0, 1.0, 1.0, 1.0])], "torch.all", "dim=1", &[&[0.0, 1.0]]),
        (&[("(2,2)f32", &[0.0, 0.0, 2.0, 0.0])], "torch.any", "dim=(1)", &[&[0.0, 1.0]]),
        (&[("(3)f32", &[0.0, 0.0, 0.0])], "torch.logcumsumexp", "dim=0", &[&[0.0, 2f64.ln(), 3f64.ln()]]),
    ]);
    let bits: Input = ("(2,2)bool", &[0.0, 1.0, 1.0, 1.0]);
    check_shapes(&[
        (&[SIX], "torch.cumsum", "dim=1", &[&[2, 3]]),
        (&[SIX], "torch.cumprod", "dim=0", &[&[2, 3]]),
        (&[SIX], "torch.prod", "dim=1 keepdim=True", &[&[2, 1]]),
        (&[SIX], "torch.prod", "dim=1 keepdim=False", &[&[2]]),
        (&[SIX], "torch.prod", "", &[&[]]),
        (&[bits], "torch.all", "dim=1", &[&[2]]),
        (&[bits], "torch.any", "dim=(1) keepdim=True", &[&[2, 1]]),
    ]);
}

#[test]
fn items_are_moved() {
    let other: Input = ("(2,3)f32", &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    check(&[
        (&[SIX], "torch.as_strided", "size=(2,2) stride=(1,2) storage_offset=1", &[&[2.0, 4.0, 3.0, 5.0]]),
        (&[SIX], "torch.roll", "shifts=(1) dims=(1)", &[&[3.0, 1.0, 2.0, 6.0, 4.0, 5.0]]),
        (&[SIX], "torch.roll", "shifts=-2 dims=None", &[&[3.0, 4.0, 5.0, 6.0, 1.0, 2.0]]),
        (&[SIX], "torch.flip", "dims=(0,1)", &[&[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]]),
        (&[SIX], "torch.rot90", "k=1 dims=(0,1)", &[&[3.0, 6.0, 2.0, 5.0, 1.0, 4.0]]),
        (&[SIX], "torch.rot90", "k=-1 dims=(0,1)", &[&[4.0, 1.0, 5.0, 2.0, 6.0, 3.0]]),
        (&[SIX], "torch.narrow", "dim=1 start=-2 length=2", &[&[2.0, 3.0, 5.0, 6.0]]),
        (&[SIX, other], "torch.cross", "$input=0 $other=1 dim=None", &[&[0.0, 3.0, -2.0, -6.0, 0.0, 4.0]]),
        (&[SIX], "torch.tril", "", &[&[1.0, 0.0, 0.0, 4.0, 5.0, 0.0]]),
        (&[SIX], "torch.triu", "diagonal=1", &[&[0.0, 2.0, 3.0, 0.0, 0.0, 6.0]]),
        (&[("(1,3)f32", &[1., 2., 3.]), SIX], "Tensor.expand_as", "$input=0 $other=1", &[&[1., 2., 3., 1., 2., 3.]]),
    ]);
    check_shapes(&[
        (&[SIX], "torch.rot90", "k=1 dims=(0,1)", &[&[3, 2]]),
        (&[SIX], "torch.narrow", "dim=1 start=-2 length=2", &[&[2, 2]]),
    ]);
}

#[test]
fn norms_have_any_order() {
    let row: Input = ("(1,3)f32", &[-1.0, 0.0, 2.0]);
    check(&[
        (&[row], "torch.norm", "p=inf dim=(1)", &[&[2.0]]),
        (&[row], "torch.norm", "p=-inf", &[&[0.0]]),
        (&[row], "torch.norm", "p=0 dim=1 keepdim=True", &[&[2.0]]),
        (&[row], "torch.norm", "p=3", &[&[9f64.cbrt()]]),
        (&[row], "torch.norm", "p=fro dim=(0,1)", &[&[5f64.sqrt()]]),
        (&[row], "F.normalize", "p=1.0 dim=1", &[&[-1.0 / 3.0, 0.0, 2.0 / 3.0]]),
        (&[row], "torch.var_mean", "dim=(1) correction=0", &[&[14.0 / 9.0], &[1.0 / 3.0]]),
    ]);
    check_shapes(&[
        (&[row], "torch.norm", "p=inf dim=(1)", &[&[1]]),
        (&[row], "torch.norm", "p=-inf", &[&[]]),
        (&[row], "torch.norm", "p=0 dim=1 keepdim=True", &[&[1, 1]]),
        (&[row], "torch.norm", "p=fro dim=(0,1)", &[&[]]),
        (&[row], "torch.var_mean", "dim=(1) correction=0", &[&[1], &[1]]),
    ]);
}

#[test]
fn diagonals_are_items_of_matrices() {
    let two: Input = ("(2)f32", &[7.0, 8.0]);
    check(&[
        (&[SIX], "torch.diag", "diagonal=1", &[&[2.0, 6.0]]),
        (&[SIX], "torch.diag", "diagonal=-1", &[&[4.0]]),
        (&[two], "torch.diag", "", &[&[7.0, 0.0, 0.0, 8.0]]),
        (&[two], "torch.diag", "diagonal=1", &[&[0.0, 7.0, 0.0, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0]]),
        (&[two], "torch.diag", "diagonal=-1", &[&[0.0, 0.0, 0.0, 7.0, 0.0, 0.0, 0.0, 8.0, 0.0]]),
        (&[("(3,1,2)f32", SIX.1)], "torch.diagonal", "dim1=0 dim2=-1", &[&[1.0, 4.0]]),
        (&[SIX], "torch.trace", "", &[&[6.0]]),
    ]);
    check_shapes(&[
        (&[SIX], "torch.diag", "diagonal=1", &[&[2]]),
        (&[two], "torch.diag", "diagonal=1", &[&[3, 3]]),
        (&[("(3,1,2)f32", SIX.1)], "torch.diagonal", "dim1=0 dim2=-1", &[&[1, 2]]),
        (&[SIX], "torch.trace", "", &[&[]]),
    ]);
}

#[test]
fn types_are_carried() {
    let [signs, bits]: [Input; 2] = [("(4)i64", &[-5., -1., 0., 5.]), ("(4)bool", &[0., 1., 1., 0.])];
    let fractions: Input = ("(4)f32", &[-1.5, 0.0, 0.5, 2.5]);
    check(&[
        (&[fractions], "Tensor.to", "dtype=torch.int copy=False", &[&[-1.0, 0.0, 0.0, 2.0]]),
        (&[fractions], "Tensor.to", "dtype=torch.bool", &[&[1.0, 0.0, 1.0, 1.0]]),
        (&[bits], "Tensor.to", "dtype=torch.float", &[bits.1]),
        (&[fractions, signs], "Tensor.type_as", "$input=0 $other=1", &[&[-1.0, 0.0, 0.0, 2.0]]),
        (&[signs], "torch.bitwise_not", "", &[&[4.0, 0.0, -1.0, -6.0]]),
        (&[signs], "torch.bitwise_left_shift", "other=2", &[&[-20.0, -4.0, 0.0, 20.0]]),
        (&[signs], "torch.bitwise_right_shift", "other=1", &[&[-3.0, -1.0, 0.0, 2.0]]),
        (&[signs, ("(4)i64", &[1., 1., 1., 2.])], "torch.bitwise_right_shift", "", &[&[-3.0, -1.0, 0.0, 1.0]]),
        (&[bits, fractions], "torch.logical_xor", "$input=0 $other=1", &[&[1.0, 1.0, 0.0, 1.0]]),
        (&[fractions, bits], "Tensor.masked_fill", "$input=0 $mask=1 value=-inf", &[&[-1.5, -INF, -INF, 2.5]]),
        (&[signs, bits], "Tensor.masked_fill", "$input=0 $mask=1 value=2.7", &[&[-5.0, 2.0, 2.0, 5.0]]),
        (&[bits, fractions], "torch.where", "$condition=0 $input=1 other=9", &[&[9.0, 0.0, 0.5, 9.0]]),
        (&[fractions, ("(1)f32", &[1.0])], "torch.clamp", "$input=0 $max=1 min=-1", &[&[-1.0, 0.0, 0.5, 1.0]]),
        (&[fractions, ("()f32", &[0.25])], "aten::clamp_max", "", &[&[-1.5, 0.0, 0.25, 0.25]]),
        (&[fractions, ("()f32", &[0.0]), ("()f32", &[1.0])], "aten::clamp", "", &[&[0.0, 0.0, 0.5, 1.0]]),
        (&[fractions, bits, ("()f32", &[9.0])], "aten::masked_fill", "", &[&[-1.5, 9.0, 9.0, 2.5]]),
        (&[signs], "torch.floor_divide", "other=2", &[&[-3.0, -1.0, 0.0, 2.0]]),
        (&[fractions, fractions], "torch.sub", "$input=0 $other=1 alpha=2.0", &[&[1.5, 0.0, -0.5, -2.5]]),
        (&[("(4)f32", &[1.0, INF, -INF, f64::NAN])], "torch.isinf", "", &[&[0.0, 1.0, 1.0, 0.0]]),
        (&[("(4)f32", &[1.0, INF, -INF, f64::NAN])], "torch.isfinite", "", &[&[1.0, 0.0, 0.0, 0.0]]),
        (
            &[("(2)f32", &[1., 2.]), ("(3)f32", &[3., 4., 5.])],
            "torch.meshgrid",
            "indexing=xy",
            &[&[1., 2., 1., 2., 1., 2.], &[3., 3., 4., 4., 5., 5.]],
        ),
        (&[signs], "Tensor.new_full", "$input=0 fill_value=3 size=(2)", &[&[3.0, 3.0]]),
        (&[signs], "torch.ones_like", "", &[&[1.0; 4]]),
    ]);
    for (shape, kind, params, wanted) in [
        ("(4)i64", "torch.ones_like", "", "integer"),
        ("(4)i64", "Tensor.new_full", "$input=0 fill_value=3 size=(2)", "integer"),
        ("(4)f32", "Tensor.to", "dtype=torch.int copy=False", "integer"),
        ("(4)f32", "Tensor.to", "dtype=torch.bool", "logical"),
        ("(4)bool", "Tensor.to", "dtype=torch.float", "scalar"),
    ] {
        let (graph, _) = lowered(&file(&[shape], kind, params));
        assert_eq!(graph.element_type(graph.outputs()[0]), Some(wanted), "{kind} {params}");
    }
    let axes: [Input; 2] = [("(2)f32", &[1., 2.]), ("(3)f32", &[3., 4., 5.])];
    check_shapes(&[(&axes, "torch.meshgrid", "indexing=xy", &[&[3, 2], &[3, 2]])]);
    for (params, kind) in [("other=1.5", "torch.bitwise_left_shift"), ("dtype=torch.complex64", "Tensor.to")] {
        assert!(lowered(&file(&["(4)i64"], kind, params)).1, "{kind} {params}");
    }
    assert!(lowered(&file(&["(4)f32", "(4)i64"], "torch.bitwise_and", "$input=0 $other=1")).1);
}

#[test]
fn products_have_vectors_and_batches() {
    let [two, three]: [Input; 2] = [("(2)f32", &[1.0, 2.0]), ("(3)f32", &[1.0, 2.0, 3.0])];
    check(&[
        (&[three, three], "torch.dot", "$input=0 $tensor=1", &[&[14.0]]),
        (&[SIX, three], "torch.mv", "$input=0 $vec=1", &[&[14.0, 32.0]]),
        (&[two, SIX], "torch.matmul", "$input=0 $other=1", &[&[9.0, 12.0, 15.0]]),
        (
            &[("(2,1,2)f32", &[1., 2., 3., 4.]), ("(2,1)f32", &[1., 1.])],
            "torch.matmul",
            "$input=0 $other=1",
            &[&[3., 7.]],
        ),
        (&[two, ("(2,2,1)f32", &[1., 2., 3., 4.])], "torch.matmul", "$input=0 $other=1", &[&[5.0, 11.0]]),
        (&[two, three], "torch.outer", "$input=0 $vec2=1", &[&[1.0, 2.0, 3.0, 2.0, 4.0, 6.0]]),
        (&[SIX, SIX], "torch.inner", "$input=0 $other=1", &[&[14.0, 32.0, 32.0, 77.0]]),
        (&[two, SIX, three], "torch.addmv", "$input=0 $mat=1 $vec=2 alpha=2 beta=3", &[&[31.0, 70.0]]),
    ]);
    let stack: Input = ("(2,1,2)f32", &[1., 2., 3., 4.]);
    check_shapes(&[
        (&[three, three], "torch.dot", "$input=0 $tensor=1", &[&[]]),
        (&[SIX, three], "torch.mv", "$input=0 $vec=1", &[&[2]]),
        (&[two, SIX], "torch.matmul", "$input=0 $other=1", &[&[3]]),
        (&[stack, ("(2,1)f32", &[1., 1.])], "torch.matmul", "$input=0 $other=1", &[&[2, 1, 1]]),
        (&[two, ("(2,2,1)f32", &[1., 2., 3., 4.])], "torch.matmul", "$input=0 $other=1", &[&[2, 1]]),
        (&[two, three], "torch.outer", "$input=0 $vec2=1", &[&[2, 3]]),
        (&[SIX, SIX], "torch.inner", "$input=0 $other=1", &[&[2, 2]]),
        (&[two, SIX, three], "torch.addmv", "$input=0 $mat=1 $vec=2 alpha=2 beta=3", &[&[2]]),
    ]);
}

/// The transform of `1, 2, 3` as the first half of a spectrum is that of `1, 2, 3, 2`.
#[test]
fn transforms_give_real_numbers() {
    let three: Input = ("(3)f32", &[1.0, 2.0, 3.0]);
    check(&[
        (&[three], "torch.fft.hfft", "", &[&[8.0, -2.0, 0.0, -2.0]]),
        (&[three], "torch.fft.irfft", "", &[&[2.0, -0.5, 0.0, -0.5]]),
        (&[three], "torch.fft.irfft", "n=3", &[&[5.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0]]),
        (&[("(1,3)f32", three.1)], "torch.fft.hfftn", "", &[&[8.0, -2.0, 0.0, -2.0]]),
        (&[SIX], "torch.fft.hfftn", "norm=backward", &[&[28.0, -4.0, 0.0, -4.0, -12.0, 0.0, 0.0, 0.0]]),
    ]);
}

#[test]
fn losses_of_items() {
    let (four, other): (Input, Input) = (("(4)f32", &[1.0, 2.0, 3.0, 4.0]), ("(4)f32", &[0.0, 2.0, 5.0, 4.0]));
    let (half, bits): (Input, Input) = (("(2)f32", &[0.5, 0.5]), ("(2)f32", &[1.0, 0.0]));
    let (zeros, signs): (Input, Input) = (("(2)f32", &[0.0, 0.0]), ("(2)f32", &[1.0, -1.0]));
    let ln_2 = std::f64::consts::LN_2;
    check(&[
        (&[four, other], "F.l1_loss", "$input=0 $target=1", &[&[0.75]]),
        (&[four, other], "F.l1_loss", "$input=0 $target=1 reduction=none", &[&[1.0, 0.0, 2.0, 0.0]]),
        (&[four, other], "F.mse_loss", "$input=0 $target=1 reduction=2", &[&[5.0]]),
        (&[four, other], "F.smooth_l1_loss", "$input=0 $target=1 beta=1.0", &[&[0.5]]),
        (&[four, other], "F.huber_loss", "$input=0 $target=1 delta=1.5", &[&[0.59375]]),
        (&[half, bits], "F.binary_cross_entropy", "$input=0 $target=1", &[&[ln_2]]),
        (&[zeros, bits], "F.binary_cross_entropy_with_logits", "$input=0 $target=1", &[&[ln_2]]),
        (
            &[signs, bits, pair_of(&[3.0, 3.0])],
            "F.binary_cross_entropy_with_logits",
            "$input=0 $target=1 $pos_weight=2 reduction=none",
            &[&[0.9397851, 0.3132617]],
        ),
        (&[zeros, signs], "F.soft_margin_loss", "$input=0 $target=1", &[&[ln_2]]),
        (&[half, signs], "F.hinge_embedding_loss", "$input=0 $target=1 reduction=0", &[&[0.5, 0.5]]),
        (&[zeros, half], "F.kl_div", "$input=0 $target=1 reduction=sum", &[&[-ln_2]]),
        (&[zeros, zeros], "F.kl_div", "$input=0 $target=1 log_target=True", &[&[0.0]]),
        (
            &[("(2)f32", &[0.0, 1.0]), ("(2)f32", &[1.0, 2.0])],
            "F.poisson_nll_loss",
            "$input=0 $target=1 log_input=True full=False reduction=none",
            &[&[1.0, std::f64::consts::E - 2.0]],
        ),
    ]);
}

/// Two items.
fn pair_of(items: &'static [f64]) -> Input<'static> {
    ("(2)f32", items)
}

#[test]
fn losses_of_rows_and_classes() {
    let ln_2 = std::f64::consts::LN_2;
    let rows: Input = ("(2,3)f32", &[0.0, ln_2, 0.0, 7.0, 8.0, 9.0]);
    let ones: Input = ("(2)f32", &[1.0, 1.0]);
    let near: Input = ("(1,2)f32", &[3.0, 4.0]);
    check(&[
        (&[rows, ("(2)i64", &[1.0, -100.0])], "F.cross_entropy", "$input=0 $target=1", &[&[ln_2]]),
        (&[rows, ("(2)i64", &[1.0, 2.0])], "F.cross_entropy", "$input=0 $target=1 ignore_index=2", &[&[ln_2]]),
        (
            &[rows, ("(2,3)f32", &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0])],
            "F.cross_entropy",
            "$input=0 $target=1 reduction=none",
            &[&[ln_2, 0.0]],
        ),
        (&[rows, ("(2)i64", &[1.0, 2.0])], "F.nll_loss", "$input=0 $target=1 reduction=2", &[&[-9.0 - ln_2]]),
        (
            &[("(1,3)f32", &[1.0, 2.0, 3.0]), ("(1)i64", &[0.0])],
            "F.multi_margin_loss",
            "$input=0 $target=1",
            &[&[5.0 / 3.0]],
        ),
        (
            &[("(2)f32", &[1.0, 2.0]), ("(2)f32", &[2.0, 1.0]), ones],
            "F.margin_ranking_loss",
            "$input1=0 $input2=1 $target=2 margin=0.5",
            &[&[0.75]],
        ),
        (
            &[("(2,2)f32", &[1.0, 0.0, 1.0, 0.0]), ("(2,2)f32", &[0.0, 1.0, 1.0, 0.0]), ("(2)f32", &[1.0, -1.0])],
            "F.cosine_embedding_loss",
            "$input1=0 $input2=1 $target=2 margin=0.0 reduction=0",
            &[&[1.0, 1.0]],
        ),
        (
            &[("(1,2)f32", &[0.0, 0.0]), near, ("(1,2)f32", &[6.0, 8.0])],
            "F.triplet_margin_loss",
            "$anchor=0 $positive=1 $negative=2 margin=1.0 p=2.0 swap=True",
            &[&[1.0]],
        ),
        (&[("(2,2)f32", &[3.0, 4.0, 1.0, 0.0]), near], "F.cosine_similarity", "$x1=0 $x2=1 dim=1", &[&[1.0, 0.6]]),
    ]);
}

#[test]
fn functions_of_one_row_of_torch() {
    let three: Input = ("(3)f32", &[1.0, 3.0, 6.0]);
    let nan: Input = ("(3)f32", &[f64::NAN, 2.0, f64::NAN]);
    check(&[
        (&[three], "torch.diff", "dim=-1 n=1", &[&[2.0, 3.0]]),
        (&[three], "torch.diff", "dim=-1 n=2", &[&[1.0]]),
        (
            &[("(1,2)f32", &[1.0, 2.0]), ("(2,1)f32", &[1.0, 3.0])],
            "torch.kron",
            "$input=0 $other=1",
            &[&[1.0, 2.0, 3.0, 6.0]],
        ),
        (&[SIX, SIX], "torch.tensordot", "$input=0 $other=1 dims_self=(0,1) dims_other=(0,1)", &[&[91.0]]),
        (
            &[SIX, SIX],
            "torch.tensordot",
            "$input=0 $other=1 dims_self=(1) dims_other=(1)",
            &[&[14.0, 32.0, 32.0, 77.0]],
        ),
        (&[SIX], "torch.count_nonzero", "dim=(1)", &[&[3.0, 3.0]]),
        (&[("(4)f32", &[5.0, 1.0, 3.0, 2.0])], "torch.quantile", "q=0.25 dim=0 keepdim=False", &[&[1.75]]),
        (&[("(4)f32", &[5.0, 1.0, 3.0, 2.0])], "torch.quantile", "q=1.0", &[&[5.0]]),
        (&[SIX, ("(2,1)i64", &[2.0, 0.0])], "torch.take_along_dim", "$input=0 $indices=1 dim=1", &[&[3.0, 4.0]]),
        (&[SIX, ("(1,1)i64", &[2.0])], "torch.take_along_dim", "$input=0 $indices=1 dim=1", &[&[3.0, 6.0]]),
        (&[("(2)f32", &[3.0, 4.0])], "torch.diag_embed", "offset=0", &[&[3.0, 0.0, 0.0, 4.0]]),
        (&[("(2)f32", &[-1.25, 2.5])], "torch.frac", "", &[&[-0.25, 0.5]]),
        (&[("(3)f32", &[-0.0, 0.0, -2.0])], "torch.signbit", "", &[&[1.0, 0.0, 1.0]]),
        (&[nan, three], "torch.fmax", "$input=0 $other=1", &[&[1.0, 3.0, 6.0]]),
        (&[three, nan], "torch.fmin", "$input=0 $other=1", &[&[1.0, 2.0, 6.0]]),
        (&[three, three], "torch.logaddexp2", "$input=0 $other=1", &[&[2.0, 4.0, 7.0]]),
        (&[three, ("(3)i64", &[2.0, 0.0, -1.0])], "torch.ldexp", "$input=0 $other=1", &[&[4.0, 3.0, 3.0]]),
        (&[three], "torch.float_power", "exponent=2.0", &[&[1.0, 9.0, 36.0]]),
        (&[("(2)f32", &[8.0, 0.5])], "torch.log2", "", &[&[3.0, -1.0]]),
        (&[("(2)f32", &[1.26, -1.24])], "torch.round", "decimals=1", &[&[1.3, -1.2]]),
        (&[("(2)f32", &[2.5, -1.5])], "torch.round", "", &[&[2.0, -2.0]]),
        (&[("(3)f32", &[0.25, 0.75, -0.125])], "torch.round", "decimals=1", &[&[0.2, 0.8, -0.1]]),
        (&[("(3)f32", &[25.0, 35.0, -26.0])], "torch.round", "decimals=-1", &[&[20.0, 40.0, -30.0]]),
        (
            &[("(2)i64", &[2.0, 3.0]), ("(2)i64", &[-1.0, 40.0])],
            "torch.float_power",
            "$input=0 $exponent=1",
            &[&[0.5, 3f64.powi(40)]],
        ),
        (&[("(4)bool", &[1.0, 0.0, 0.0, 1.0])], "torch.diff", "dim=0", &[&[1.0, 0.0, 1.0]]),
        (&[("(1)f32", &[180.0])], "torch.deg2rad", "", &[&[std::f64::consts::PI]]),
    ]);
    let factors: [Input; 2] = [("(1,2)f32", &[1.0, 2.0]), ("(2,1)f32", &[1.0, 3.0])];
    let sums = |axes: &str| format!("$input=0 $other=1 dims_self=({axes}) dims_other=({axes})");
    check_shapes(&[
        (&factors, "torch.kron", "$input=0 $other=1", &[&[2, 2]]),
        (&[SIX, SIX], "torch.tensordot", &sums("0,1"), &[&[]]),
        (&[SIX, SIX], "torch.tensordot", &sums("1"), &[&[2, 2]]),
        (&[SIX], "torch.count_nonzero", "dim=(1)", &[&[2]]),
        (&[("(4)f32", &[5.0, 1.0, 3.0, 2.0])], "torch.quantile", "q=0.25 dim=0 keepdim=False", &[&[]]),
        (&[SIX, ("(2,1)i64", &[2.0, 0.0])], "torch.take_along_dim", "$input=0 $indices=1 dim=1", &[&[2, 1]]),
        (&[("(2)f32", &[3.0, 4.0])], "torch.diag_embed", "offset=0", &[&[2, 2]]),
    ]);
}

/// Divisors are exact for all integers, and their graphs have no numbers that are not integers.
#[test]
fn divisors_are_those_of_integers() {
    const LARGE: (&[f64], &[f64]) = (&[50_331_651.0, -12.0, 0.0, 0.0], &[83_886_085.0, 8.0, -7.0, 0.0]);
    let operands: &[Input] = &[("(4)i64", LARGE.0), ("(4)i64", LARGE.1)];
    check(&[
        (operands, "torch.gcd", "$input=0 $other=1", &[&[16_777_217.0, 4.0, 7.0, 0.0]]),
        (operands, "torch.lcm", "$input=0 $other=1", &[&[251_658_255.0, 24.0, 0.0, 0.0]]),
        // The largest Fibonacci numbers of 8 bits take the most steps.
        (&[("(1)u8", &[144.0]), ("(1)u8", &[233.0])], "torch.gcd", "$input=0 $other=1", &[&[1.0]]),
    ]);
    for kind in ["torch.gcd", "torch.lcm"] {
        let (graph, passed) = lowered(&file(&["(4)i64", "(4)i64"], kind, "$input=0 $other=1"));
        assert!(!passed);
        for operation in &graph.operations {
            assert_ne!(graph.operation_name(operation), "cast", "{kind}");
        }
    }
}

/// Negative amounts of padding remove items before the rest is padded, unless items are reflected.
#[test]
fn padding_removes_items() {
    let row: Input = ("(1,1,4)f32", &[1.0, 2.0, 3.0, 4.0]);
    check(&[
        (&[row], "nn.ConstantPad1d", "padding=(-1,2) value=0.5", &[&[2.0, 3.0, 4.0, 0.5, 0.5]]),
        (&[row], "F.pad", "pad=(-1,-2)", &[&[2.0]]),
        (&[row], "F.pad", "pad=(1,-2) value=-inf", &[&[f64::NEG_INFINITY, 1.0, 2.0]]),
        (&[row], "nn.ConstantPad1d", "padding=(-3,1) value=inf", &[&[4.0, f64::INFINITY]]),
        (&[row], "F.pad", "pad=(1,-1) mode=circular", &[&[3.0, 1.0, 2.0, 3.0]]),
        (&[row], "F.pad", "pad=(-1,1) mode=replicate", &[&[2.0, 3.0, 4.0, 4.0]]),
        (&[row], "F.pad", "pad=(3,-2) mode=reflect", &[&[4.0, 3.0, 2.0, 1.0, 2.0]]),
        (&[row], "nn.ReflectionPad1d", "padding=(-3,2)", &[&[4.0, 3.0, 2.0]]),
    ]);
}

/// What other bags have, also infinities and NaN, does not change a bag.
#[test]
fn bags_are_apart() {
    let table: Input = ("(4,1)f32", &[INF, f64::NAN, -INF, 2.0]);
    let rows: Input = ("(3,2)i64", &[0.0, 3.0, 3.0, 3.0, 2.0, 2.0]);
    let flat: Input = ("(6)i64", rows.1);
    let offsets: Input = ("(3)i64", &[0.0, 2.0, 4.0]);
    let sums: &[&[f64]] = &[&[INF, 4.0, -INF]];
    let others: &[&[f64]] = &[&[INF, 2.0, -INF]];
    check(&[
        (&[rows, table], "F.embedding_bag", "$input=0 $weight=1 mode=sum", sums),
        (&[rows, table], "F.embedding_bag", "$input=0 $weight=1 mode=mean", others),
        (&[rows, table], "F.embedding_bag", "$input=0 $weight=1 mode=max", others),
        (&[rows, table], "F.embedding_bag", "$input=0 $weight=1 mode=sum padding_idx=0", &[&[2.0, 4.0, -INF]]),
        (&[flat, table, offsets], "F.embedding_bag", "$input=0 $weight=1 $offsets=2 mode=sum", sums),
        (&[flat, table, offsets], "F.embedding_bag", "$input=0 $weight=1 $offsets=2 mode=mean", others),
        (&[flat, table, offsets], "F.embedding_bag", "$input=0 $weight=1 $offsets=2 mode=max", others),
    ]);
}
