//! Places between items, bits, running extremes, and further ways to put items.

use super::families::{Input, check, check_shapes};
use super::{Example, file, told};

/// Examples for the rules, as those of the other rules.
pub(super) const EXAMPLES: &[Example] = &[
    (
        &["(1,2,3,4)f32", "(1,2,2,2)f32"],
        "F.grid_sample",
        "$input=0 $grid=1 mode=bicubic padding_mode=reflection align_corners=False",
    ),
    (
        &["(1,2,4,4)f32", "(1,8,3,3)f32"],
        "torchvision.ops.DeformConv2d",
        "bias=False dilation=(1,1) groups=1 in_channels=2 kernel_size=(2,2) out_channels=3 padding=(0,0) stride=(1,1) \
            @weight=(3,2,2,2)f32",
    ),
    (
        &["(1,2,4,4)f32", "(3,5)f32"],
        "torchvision.ops.RoIAlign",
        "aligned=True output_size=(2,2) sampling_ratio=2 spatial_scale=0.5",
    ),
    (&["(4)f32"], "torch.lgamma", ""),
    (&["(2,3)f32", "(2,3)f32"], "F.pairwise_distance", "$x1=0 $x2=1 eps=0.1 keepdim=False"),
    (&["(2,3)f32"], "torch.cummax", "dim=1"),
    (&["(2,3)f32"], "torch.cummin", "dim=1"),
    (
        &["(4)f32", "(2)i64", "(2)f32"],
        "torch.index_reduce",
        "$input=0 $index=1 $source=2 dim=0 reduce=prod include_self=True",
    ),
];

const IMAGE: Input = ("(1,1,2,2)f32", &[1.0, 2.0, 3.0, 4.0]);

#[test]
fn images_are_sampled_between_their_items() {
    let grid: Input = ("(1,1,3,2)f32", &[0.0, 0.0, -1.0, -1.0, 0.5, 3.0]);
    let parts = "aligned=False output_size=(1,2) sampling_ratio=1 spatial_scale=1.0";
    check(&[
        (
            &[IMAGE, grid],
            "F.grid_sample",
            "$input=0 $grid=1 mode=bilinear padding_mode=border align_corners=True",
            &[&[2.5, 1.0, 3.75]],
        ),
        (
            &[IMAGE, grid],
            "F.grid_sample",
            "$input=0 $grid=1 mode=bilinear padding_mode=zeros align_corners=False",
            &[&[2.5, 0.25, 0.0]],
        ),
        (
            &[IMAGE, grid],
            "F.grid_sample",
            "$input=0 $grid=1 mode=nearest padding_mode=reflection align_corners=True",
            &[&[1.0, 1.0, 2.0]],
        ),
        (
            &[IMAGE, ("(1,5)f32", &[0.0, 0.0, 0.0, 1.0, 1.0])],
            "torchvision.ops.RoIAlign",
            "aligned=False output_size=(1,1) sampling_ratio=1 spatial_scale=1.0",
            &[&[2.5]],
        ),
        // Two boxes, each in two parts beside each other.
        (
            &[IMAGE, ("(2,5)f32", &[0.0, 0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0, 1.0, 1.0])],
            "torchvision.ops.RoIAlign",
            parts,
            &[&[3.5, 4.0, 2.25, 2.75]],
        ),
    ]);
    check_shapes(&[
        (&[IMAGE, grid], "F.grid_sample", "$input=0 $grid=1 mode=bilinear align_corners=True", &[&[1, 1, 1, 3]]),
        (&[IMAGE, ("(2,5)f32", &[0.0; 10])], "torchvision.ops.RoIAlign", parts, &[&[2, 1, 1, 2]]),
    ]);
    let ratio = "aligned=False output_size=(1,1) sampling_ratio=-1 spatial_scale=1.0";
    let found = told(&file(&["(1,1,2,2)f32", "(1,5)f32"], "torchvision.ops.RoIAlign", ratio)).1;
    assert!(found.is_some_and(|found| found.contains("`sampling_ratio`")));
}

#[test]
fn bits_are_those_of_complements_of_two() {
    let numbers: Input = ("(4)i64", &[5.0, -3.0, 1_099_511_627_783.0, 0.0]);
    let others: Input = ("(4)i64", &[3.0, 6.0, -5.0, -1.0]);
    check(&[
        (&[numbers, others], "torch.bitwise_and", "$input=0 $other=1", &[&[1.0, 4.0, 1_099_511_627_779.0, 0.0]]),
        (&[numbers, others], "torch.bitwise_or", "$input=0 $other=1", &[&[7.0, -1.0, -1.0, -1.0]]),
        (&[numbers], "torch.bitwise_xor", "other=-6", &[&[-1.0, 7.0, -1_099_511_627_779.0, -6.0]]),
        (&[numbers], "pnnx.Expression", "expr=or(and(@0,12),1)", &[&[5.0, 13.0, 5.0, 1.0]]),
        (&[numbers], "pnnx.Expression", "expr=lshift(rshift(@0,1),2)", &[&[8.0, -8.0, 2_199_023_255_564.0, 0.0]]),
        (
            &[("(4)f32", &[300.7, -1.5, 255.0, 128.0])],
            "Tensor.to",
            "dtype=torch.uint8",
            &[&[44.0, 255.0, 255.0, 128.0]],
        ),
        (&[("(4)f32", &[300.7, -1.5, 255.0, 128.0])], "Tensor.to", "dtype=torch.int8", &[&[44.0, -1.0, -1.0, -128.0]]),
    ]);
}

#[test]
fn items_are_put_by_reductions() {
    let x: Input = ("(4)f32", &[1.0, 2.0, 3.0, 8.0]);
    let places: Input = ("(4)i64", &[0.0, 0.0, 2.0, 3.0]);
    let source: Input = ("(4)f32", &[4.0, -5.0, 6.0, 7.0]);
    let with = |reduce: &str, included: bool| {
        format!(
            "$input=0 $index=1 $src=2 dim=0 reduce={reduce} include_self={}",
            if included { "True" } else { "False" }
        )
    };
    let cases: &[(&str, bool, [f64; 4])] = &[
        ("prod", true, [-20.0, 2.0, 18.0, 56.0]),
        ("prod", false, [-20.0, 2.0, 6.0, 7.0]),
        ("mean", true, [0.0, 2.0, 4.5, 7.5]),
        ("mean", false, [-0.5, 2.0, 6.0, 7.0]),
        ("amax", true, [4.0, 2.0, 6.0, 8.0]),
        ("amax", false, [4.0, 2.0, 6.0, 7.0]),
        ("amin", true, [-5.0, 2.0, 3.0, 7.0]),
        ("amin", false, [-5.0, 2.0, 6.0, 7.0]),
        ("sum", true, [0.0, 2.0, 9.0, 15.0]),
        ("sum", false, [-1.0, 2.0, 6.0, 7.0]),
    ];
    for (reduce, included, wanted) in cases {
        check(&[(&[x, places, source], "torch.scatter_reduce", &with(reduce, *included), &[wanted])]);
    }
}

#[test]
fn running_extremes_have_the_last_places() {
    let x: Input = ("(5)f32", &[1.0, 3.0, 3.0, f64::NAN, 9.0]);
    let nan = f64::NAN;
    check(&[
        (&[x], "torch.cummin", "dim=0", &[&[1.0, 1.0, 1.0, nan, nan], &[0.0, 0.0, 0.0, 3.0, 3.0]]),
        (&[x], "torch.cummax", "dim=-1", &[&[1.0, 3.0, 3.0, nan, nan], &[0.0, 1.0, 2.0, 3.0, 3.0]]),
        (
            &[("(4)f32", &[0.5, 4.0, -0.5, -1.0])],
            "torch.lgamma",
            "",
            &[&[0.5723649429247001, 1.791759469228055, 1.2655121234846454, f64::INFINITY]],
        ),
    ]);
}
