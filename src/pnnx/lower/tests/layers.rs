//! Numbers of layers, against sums that are written out here.

use super::{families, file, lowered, told, value};
use crate::tests::all_near;

/// The shapes of the inputs of an operator, its kind, its parameters, and the shape and the items of its result.
type NumberCase<'c> = (&'c [&'c [usize]], &'c str, &'c str, &'c [usize], &'c [f64]);
/// The types of the inputs of a module of attention, its parameters, and the shapes of its results.
type AttentionCase<'c> = (&'c [&'c str], String, [&'c [i64]; 2]);
/// The kind of a layer, the types of its inputs, its parameters, and the shapes of its results.
type LayerCase<'c> = (&'c str, &'c [&'c str], String, &'c [&'c [i64]]);

/// Checks the values of an operator for inputs that count from 1.
fn check(cases: &[NumberCase]) {
    for (shapes, kind, params, shape, items) in cases {
        let typed =
            |shape: &&[usize]| format!("({})f32", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(","));
        let typed: Vec<String> = shapes.iter().map(typed).collect();
        let typed: Vec<&str> = typed.iter().map(String::as_str).collect();
        let text = file(&typed, kind, params);
        let found = value(&text, shapes);
        assert_eq!(found.0, *shape, "{text}");
        assert!(all_near(&found.1, items, 1e-6), "{text}{:?}", found.1);
    }
}

#[test]
fn sums_of_products_follow_their_formula() {
    check(&[
        (&[&[2, 2]], "torch.einsum", "equation=ii->i", &[2], &[1.0, 4.0]),
        (&[&[2, 2]], "torch.einsum", "equation=ii", &[], &[5.0]),
        (&[&[2, 3]], "torch.einsum", "equation=ba", &[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
        (&[&[2, 2], &[2]], "torch.einsum", "equation=ij,j->i", &[2], &[5.0, 11.0]),
        (&[&[2], &[2], &[2]], "torch.einsum", "equation=i,i,j->j", &[2], &[5.0, 10.0]),
        (&[&[2, 1], &[2, 3]], "torch.einsum", "equation=ij,ij->ij", &[2, 3], &[1.0, 2.0, 3.0, 8.0, 10.0, 12.0]),
        (&[&[1, 2, 2], &[2, 2]], "torch.einsum", "equation=...i,...i->...", &[1, 2], &[5.0, 25.0]),
        (&[&[2], &[2]], "torch.einsum", "equation=i,j->ji", &[2, 2], &[1.0, 2.0, 2.0, 4.0]),
    ]);
    for equation in ["ij->ii", "ij->ik", "i", "i.j", "ij,jk->ik", "...ijk"] {
        let found = told(&file(&["(2,3)f32"], "torch.einsum", &format!("equation={equation}"))).1;
        assert!(found.as_ref().is_some_and(|found| found.contains("`equation`")), "{equation} {found:?}");
    }
}

#[test]
fn deformable_windows_are_shifted() {
    let kind = "torchvision.ops.DeformConv2d";
    // One window of one item, which is moved by a row and two columns.
    check(&[
        (
            &[&[1, 1, 6, 12], &[1, 2, 1, 1], &[1, 1, 1, 1]],
            kind,
            "$input=0 $offset=1 $weight=2 stride=(6,12)",
            &[1; 4],
            &[15.0],
        ),
        (
            &[&[1, 1, 6, 2], &[1, 2, 1, 1], &[1, 1, 1, 1]],
            kind,
            "$input=0 $offset=1 $weight=2 stride=(6,12)",
            &[1; 4],
            &[0.0],
        ),
        (
            &[&[1, 1, 6, 12], &[1, 2, 1, 1], &[1, 1, 1, 1], &[1]],
            kind,
            "$input=0 $offset=1 $weight=2 $bias=3 stride=(8,14) padding=(1,1)",
            &[1; 4],
            &[3.0],
        ),
    ]);
    // Between items, the nearest four are weighted; the mask is a factor.
    families::check(&[(
        &[
            ("(1,1,2,2)f32", &[1.0, 2.0, 3.0, 4.0]),
            ("(1,2,1,1)f32", &[0.5, 0.25]),
            ("(1,1,1,1)f32", &[3.0]),
            ("(1,1,1,1)f32", &[0.5]),
        ],
        kind,
        "$input=0 $offset=1 $weight=2 $mask=3 stride=(2,2)",
        &[&[3.375]],
    )]);
    for (offset, more, fits) in [
        ("(1,2,4,4)", "", true),
        ("(1,3,4,4)", "", false),
        ("(1,6,4,4)", "", false),
        ("(1,2,4,3)", "", false),
        ("(1,2,4,4)", "groups=2", false),
    ] {
        let offset = format!("{offset}f32");
        let params = format!("{more} @weight=(2,2,1,1)f32");
        let found = told(&file(&["(1,2,4,4)f32", &offset], kind, &params)).1;
        let is_named = found.as_ref().is_some_and(|found| found.contains("its operands have shapes"));
        assert_eq!((found.is_none(), is_named), (fits, !fits), "{offset} {more}: {found:?}");
    }
}

#[test]
fn resampling_reaches_any_extent() {
    check(&[
        (&[&[1, 1, 3]], "F.interpolate", "size=(4) mode=nearest", &[1, 1, 4], &[1.0, 1.0, 2.0, 3.0]),
        (&[&[1, 1, 5]], "F.interpolate", "size=(2) mode=nearest-exact", &[1, 1, 2], &[2.0, 4.0]),
        (&[&[1, 1, 4]], "F.interpolate", "scale_factor=1.5 mode=nearest", &[1, 1, 6], &[1.0, 1.0, 2.0, 3.0, 3.0, 4.0]),
        (&[&[1, 1, 4]], "F.interpolate", "size=(3) mode=area", &[1, 1, 3], &[1.5, 2.5, 3.5]),
        (&[&[1, 1, 2]], "F.interpolate", "size=(3) mode=linear", &[1, 1, 3], &[1.0, 1.5, 2.0]),
        (&[&[1, 1, 5]], "F.interpolate", "size=(3) mode=linear align_corners=True", &[1, 1, 3], &[1.0, 3.0, 5.0]),
        (
            &[&[1, 1, 1, 4]],
            "F.interpolate",
            "size=(1,2) mode=bicubic align_corners=False",
            &[1, 1, 1, 2],
            &[1.40625, 3.59375],
        ),
        (
            &[&[1, 1, 1, 4]],
            "F.interpolate",
            "size=(1,2) mode=bilinear antialias=True",
            &[1, 1, 1, 2],
            &[12.0 / 7.0, 23.0 / 7.0],
        ),
        (&[&[1, 1, 2, 2]], "nn.UpsamplingBilinear2d", "size=(3,1)", &[1, 1, 3, 1], &[1.0, 2.0, 3.0]),
    ]);
}

#[test]
fn padding_may_be_circular() {
    check(&[
        (&[&[1, 3]], "F.pad", "pad=(2,1) mode=circular", &[1, 6], &[2.0, 3.0, 1.0, 2.0, 3.0, 1.0]),
        (&[&[1, 1, 2]], "nn.CircularPad1d", "padding=(0,2)", &[1, 1, 4], &[1.0, 2.0, 1.0, 2.0]),
        (
            &[&[1, 1, 3], &[1, 1, 2]],
            "F.conv1d",
            "$input=0 $weight=1 padding=1 padding_mode=circular",
            &[1, 1, 4],
            &[5.0, 5.0, 8.0, 5.0],
        ),
    ]);
}

#[test]
fn pooling_follows_its_windows() {
    check(&[
        (&[&[1, 1, 5]], "F.adaptive_avg_pool1d", "output_size=3", &[1, 1, 3], &[1.5, 3.0, 4.5]),
        (&[&[1, 1, 5]], "F.adaptive_max_pool1d", "output_size=3", &[1, 1, 3], &[2.0, 4.0, 5.0]),
        (&[&[1, 1, 2, 3]], "F.adaptive_avg_pool2d", "output_size=(0,2)", &[1, 1, 2, 2], &[1.5, 2.5, 4.5, 5.5]),
        (&[&[1, 1, 3]], "F.avg_pool1d", "kernel_size=2 divisor_override=4", &[1, 1, 1], &[0.75]),
        (&[&[1, 1, 2]], "F.max_pool1d", "kernel_size=3 stride=2 ceil_mode=True", &[1, 1, 1], &[2.0]),
        (&[&[1, 1, 4]], "F.avg_pool1d", "kernel_size=3 padding=1 ceil_mode=True", &[1, 1, 2], &[1.0, 7.0 / 3.0]),
        (
            &[&[1, 1, 4]],
            "F.avg_pool1d",
            "kernel_size=3 padding=1 stride=2 ceil_mode=True",
            &[1, 1, 3],
            &[1.0, 3.0, 2.0],
        ),
        (
            &[&[1, 1, 3]],
            "F.lp_pool1d",
            "norm_type=2.0 kernel_size=2 ceil_mode=True",
            &[1, 1, 2],
            &[5f64.sqrt(), 18f64.sqrt()],
        ),
        (&[&[1, 1, 3]], "F.lp_pool1d", "norm_type=1.0 kernel_size=3", &[1, 1, 1], &[6.0]),
        (&[&[1, 2, 1]], "F.local_response_norm", "size=2 alpha=2.0 beta=1.0 k=0.0", &[1, 2, 1], &[1.0, 0.4]),
        (
            &[&[1, 1, 2, 2]],
            "F.unfold",
            "kernel_size=(1,2) padding=(0,1)",
            &[1, 2, 6],
            &[0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 1.0, 2.0, 0.0, 3.0, 4.0, 0.0],
        ),
        (&[&[1, 2, 2]], "F.fold", "kernel_size=(1,2) output_size=(1,3)", &[1, 1, 1, 3], &[1.0, 5.0, 4.0]),
        (&[&[2, 2]], "F.fold", "kernel_size=(1,2) output_size=(1,3)", &[1, 1, 3], &[1.0, 5.0, 4.0]),
    ]);
}

/// Places count the items of a plane of the operand.
#[test]
fn maxima_have_places() {
    let cases = [
        ("F.max_pool2d", "kernel_size=(2,2) stride=(1,1) padding=(1,1)", vec![0.0, 1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 5.0]),
        ("F.adaptive_max_pool2d", "output_size=(1,2)", vec![4.0, 5.0]),
        ("F.adaptive_max_pool2d", "output_size=(2,2)", vec![1.0, 2.0, 4.0, 5.0]),
        ("F.adaptive_max_pool2d", "output_size=(1,1)", vec![5.0]),
    ];
    for (kind, params, wanted) in cases {
        // One result is the tuple of both, which are outputs then.
        let text = |params: &str| {
            format!(
                "7767517\n4 3\npnnx.Input in 0 1 0 #0=(1,1,2,3)f32\n{kind} op 1 2 0 1 2 {params} return_indices=True\n\
                    pnnx.Output out 1 0 2\npnnx.Output more 1 0 1\n"
            )
        };
        let found = value(&text(params), &[&[1, 1, 2, 3]]).1;
        assert_eq!(found.get(..wanted.len()), Some(&wanted[..]), "{kind} {params}");
        let tuple = text(params).replace(" 1 2 0 1 2 ", " 1 1 0 1 ").replace("pnnx.Output out 1 0 2\n", "");
        let (graph, passed) = lowered(&tuple.replace("\n4 3\n", "\n3 2\n"));
        assert_eq!((graph.outputs().len(), passed), (2, false), "{tuple}");
    }
}

/// The polynomial differs from the error function by less than 1.5e-7.
#[test]
fn gelu_is_near_the_error_function() {
    let items: Vec<f64> =
        [1.0, 2.0, 3.0].iter().map(|x: &f64| x * (1.0 + crate::dictionary::erf(x / 2f64.sqrt())) / 2.0).collect();
    let found = value(&file(&["(3)f32"], "F.gelu", ""), &[&[3]]).1;
    assert!(all_near(&found, &items, 5e-7), "{found:?}");
    let found = value(&file(&["(3)f32"], "torch.erf", ""), &[&[3]]).1;
    assert!(all_near(&found, &[1.0, 2.0, 3.0].map(crate::dictionary::erf), 1.6e-7), "{found:?}");
    let below = [-3.0, -1.0, -0.5];
    let gelu = below.map(|x: f64| x * (1.0 + crate::dictionary::erf(x / 2f64.sqrt())) / 2.0);
    families::check(&[
        (&[("(3)f32", &below)], "F.gelu", "", &[&gelu]),
        (&[("(3)f32", &below)], "torch.erf", "", &[&below.map(crate::dictionary::erf)]),
    ]);
}

#[test]
fn other_activations() {
    let third = |x: f64| (-x).exp() / ((-1f64).exp() + (-2f64).exp());
    check(&[
        (&[&[2]], "F.softmin", "dim=0", &[2], &[third(1.0), third(2.0)]),
        (&[&[2, 1, 1]], "nn.Softmax2d", "", &[2, 1, 1], &[1.0 - third(1.0), third(1.0)]),
        (&[&[2]], "F.rrelu", "lower=0.125 upper=0.5", &[2], &[1.0, 2.0]),
        (&[&[1, 2, 3]], "F.affine_grid", "size=(1,1,2,1) align_corners=False", &[1, 2, 1, 2], &[2.0, 3.5, 4.0, 8.5]),
        (&[&[1, 2, 3]], "F.affine_grid", "size=(1,1,1,2) align_corners=True", &[1, 1, 2, 2], &[2.0, 2.0, 4.0, 10.0]),
    ]);
}

/// Attention with operands of one head of width 1: what a query sees.
#[test]
fn attention_has_masks() {
    let operands: &[&[usize]] = &[&[1, 2, 1], &[1, 2, 1], &[1, 2, 1]];
    let names = "$query=0 $key=1 $value=2";
    let seen = |query: f64| (query.exp() + 2.0 * (2.0 * query).exp()) / (query.exp() + (2.0 * query).exp());
    check(&[
        (
            operands,
            "F.scaled_dot_product_attention",
            &format!("{names} scale=1.0"),
            &[1, 2, 1],
            &[seen(1.0), seen(2.0)],
        ),
        (operands, "F.scaled_dot_product_attention", &format!("{names} is_causal=True"), &[1, 2, 1], &[1.0, seen(2.0)]),
        (
            &[&[2, 1, 1], &[1, 1, 1], &[1, 1, 1]],
            "F.scaled_dot_product_attention",
            &format!("{names} enable_gqa=True"),
            &[2, 1, 1],
            &[1.0, 1.0],
        ),
    ]);
    let inputs = ["(1,2,1)f32", "(1,2,1)f32", "(1,2,1)f32", "(2,2)bool"];
    let text = file(&inputs, "F.scaled_dot_product_attention", &format!("{names} $attn_mask=3"));
    assert!(!lowered(&text).1);
    let text = file(&inputs, "F.scaled_dot_product_attention", &format!("{names} $attn_mask=3 is_causal=True"));
    assert!(lowered(&text).1);
}

/// All settings of modules are understood, so that the results have the shapes of torch.
#[test]
fn modules_of_attention_have_their_shapes() {
    let packed = "@in_proj_weight=(12,4)f32 @in_proj_bias=(12)f32 @out_proj.weight=(4,4)f32 @out_proj.bias=(4)f32";
    let apart = "@q_proj_weight=(4,4)f32 @k_proj_weight=(4,3)f32 @v_proj_weight=(4,2)f32 @out_proj.weight=(4,4)f32";
    let more = "add_bias_kv=True add_zero_attn=True @bias_k=(1,1,4)f32 @bias_v=(1,1,4)f32";
    let cases: &[AttentionCase] = &[
        (&["(3,2,4)f32"], packed.to_owned(), [&[3, 2, 4], &[2, 3, 3]]),
        (&["(3,2,4)f32"], format!("batch_first=True {packed}"), [&[3, 2, 4], &[3, 2, 2]]),
        (&["(3,4)f32"], packed.to_owned(), [&[3, 4], &[3, 3]]),
        (&["(3,2,4)f32", "(5,2,4)f32"], format!("{more} {packed}"), [&[3, 2, 4], &[2, 3, 7]]),
        (
            &["(3,1,4)f32", "(5,1,3)f32", "(5,1,2)f32", "(3,5)f32"],
            format!("kdim=3 vdim=2 $attn_mask=3 {more} {apart}"),
            [&[3, 1, 4], &[1, 3, 7]],
        ),
        (
            &["(1,3,4)f32", "(1,5,3)f32", "(1,5,2)f32", "(2,3,5)bool", "(1,5)bool"],
            format!("batch_first=True average_attn_weights=False $attn_mask=3 $key_padding_mask=4 {apart}"),
            [&[1, 3, 4], &[1, 2, 3, 5]],
        ),
    ];
    for (shapes, params, wanted) in cases {
        let text = file(shapes, "nn.MultiheadAttention", &format!("embed_dim=4 num_heads=2 {params}"));
        let count = shapes.len();
        let both = text
            .replace(&format!("op {count} 1"), &format!("op {count} 2"))
            .replace(&format!(" {count} embed_dim"), &format!(" {count} {} embed_dim", count + 1))
            .replace(&format!("pnnx.Output out 1 0 {count}"), &format!("pnnx.Output out 2 0 {count} {}", count + 1))
            .replace(&format!("\n{} {}\n", count + 2, count + 1), &format!("\n{} {}\n", count + 2, count + 2));
        let (graph, passed) = told(&both);
        assert_eq!(passed, None, "{both}");
        let shapes: Vec<_> =
            graph.outputs().iter().map(|output| graph.shape(*output).and_then(|shape| shape.known())).collect();
        assert_eq!(shapes, wanted.map(|shape| Some(shape.to_vec())), "{both}");
    }
}

/// Layers, directions, batches and states have the shapes of torch.
#[test]
fn recurrent_layers_have_their_shapes() {
    let weights = |kind: &str, gates: usize, layers: usize, projection: usize| {
        let shown = if projection > 0 { projection } else { 3 };
        let mut text = format!("{kind} hidden_size=3 input_size=2 num_layers={layers} bidirectional=True");
        for layer in 0..layers {
            let width = if layer == 0 { 2 } else { 2 * shown };
            for side in ["", "_reverse"] {
                let rows = gates * 3;
                text += &format!(
                    " @weight_ih_l{layer}{side}=({rows},{width})f32 @weight_hh_l{layer}{side}=({rows},{shown})f32"
                );
                text += &format!(" @bias_ih_l{layer}{side}=({rows})f32 @bias_hh_l{layer}{side}=({rows})f32");
                if projection > 0 {
                    text += &format!(" @weight_hr_l{layer}{side}=({projection},3)f32");
                }
            }
        }
        text
    };
    let cases: &[LayerCase] = &[
        ("nn.RNN", &["(4,1,2)f32", "(4,1,3)f32"], weights("", 1, 2, 0), &[&[4, 1, 6], &[4, 1, 3]]),
        ("nn.GRU", &["(1,4,2)f32"], weights("batch_first=True", 3, 1, 0), &[&[1, 4, 6], &[2, 1, 3]]),
        (
            "nn.LSTM",
            &["(4,5,2)f32", "(4,5,1)f32", "(4,5,3)f32"],
            weights("proj_size=1", 4, 2, 1),
            &[&[4, 5, 2], &[4, 5, 1], &[4, 5, 3]],
        ),
        ("nn.LSTM", &["(4,2)f32"], weights("", 4, 1, 0), &[&[4, 6], &[2, 3], &[2, 3]]),
    ];
    for (kind, shapes, params, wanted) in cases {
        let (inputs, results) = (shapes.len(), wanted.len());
        let names = |range: std::ops::Range<usize>| range.map(|i| i.to_string()).collect::<Vec<_>>().join(" ");
        let mut text = format!("7767517\n{} {}\n", inputs + 2, inputs + results);
        for (i, shape) in shapes.iter().enumerate() {
            text += &format!("pnnx.Input in{i} 0 1 {i} #{i}={shape}\n");
        }
        let (given, made) = (names(0..inputs), names(inputs..inputs + results));
        text += &format!("{kind} op {inputs} {results} {given} {made} {params}\npnnx.Output out {results} 0 {made}\n");
        let (graph, passed) = told(&text);
        assert_eq!(passed, None, "{text}");
        let shapes: Vec<_> =
            graph.outputs().iter().map(|output| graph.shape(*output).and_then(|shape| shape.known())).collect();
        let wanted: Vec<_> = wanted.iter().map(|shape| Some(shape.to_vec())).collect();
        assert_eq!(shapes, wanted, "{text}");
    }
}

/// More steps than operations are allowed end in a refusal, not in a graph without end.
#[test]
fn steps_without_end_are_refused() {
    let shape = "(9223372036854775807,1,2)f32";
    let text = file(&[shape], "nn.RNN", "hidden_size=2 bias=False @weight_ih_l0=(2,2)f32 @weight_hh_l0=(2,2)f32");
    let found = told(&text).1;
    assert!(found.is_some(), "{text}");
}
