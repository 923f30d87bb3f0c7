//! What single layers compute, by formulas.

use super::computed;
use crate::tests::all_near;

const IMAGE: &str = "Input in 0 1 a 0=3 1=2 2=1";
const MATRIX: &str = "Input in 0 1 a 0=3 1=2";

fn softplus(x: f64) -> f64 {
    x.exp().ln_1p()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn between(x: f64) -> f64 {
    (0.1 * x + 0.2).clamp(0.0, 1.0)
}

/// A layer, and the function of each item that it computes.
type ItemRow = (&'static str, fn(f64) -> f64);

const OF_ITEMS: &[ItemRow] = &[
    ("UnaryOp l 1 1 a b 0=0", f64::abs),
    ("UnaryOp l 1 1 a b 0=1", |x| -x),
    ("UnaryOp l 1 1 a b 0=2", f64::floor),
    ("UnaryOp l 1 1 a b 0=3", f64::ceil),
    ("UnaryOp l 1 1 a b 0=4", |x| x * x),
    ("UnaryOp l 1 1 a b 0=5", f64::sqrt),
    ("UnaryOp l 1 1 a b 0=6", |x| 1.0 / x.sqrt()),
    ("UnaryOp l 1 1 a b 0=7", f64::exp),
    ("UnaryOp l 1 1 a b 0=8", f64::ln),
    ("UnaryOp l 1 1 a b 0=9", f64::sin),
    ("UnaryOp l 1 1 a b 0=10", f64::cos),
    ("UnaryOp l 1 1 a b 0=11", f64::tan),
    ("UnaryOp l 1 1 a b 0=15", |x| 1.0 / x),
    ("UnaryOp l 1 1 a b 0=16", f64::tanh),
    ("UnaryOp l 1 1 a b 0=17", f64::log10),
    ("UnaryOp l 1 1 a b 0=20", f64::signum),
    ("UnaryOp l 1 1 a b 0=21", f64::exp_m1),
    ("UnaryOp l 1 1 a b 0=27", f64::ln_1p),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=0", |x| x + 2.0),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=1", |x| x - 2.0),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=2", |x| x * 2.0),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=3", |x| x / 2.0),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=4", |x| x.max(2.0)),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=5", |x| x.min(2.0)),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=6", |x| x * x),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=7", |x| 2.0 - x),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=8", |x| 2.0 / x),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=9", f64::exp2),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=14", |x| (x.exp() + 2f64.exp()).ln()),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=15", |x| (x / 2.0).floor()),
    ("BinaryOp l 1 1 a b 1=1 2=2.0 0=16", |x| (2.0 / x).floor()),
    ("Split s 1 2 a c d\nEltwise l 2 1 c d b 0=0", |x| x * x),
    ("Split s 1 2 a c d\nEltwise l 2 1 c d b 0=1 -23301=2,2.0,-0.5", |x| 1.5 * x),
    ("Split s 1 2 a c d\nEltwise l 2 1 c d b 0=2", |x| x),
    ("AbsVal l 1 1 a b", f64::abs),
    ("BNLL l 1 1 a b", softplus),
    ("Softplus l 1 1 a b", softplus),
    ("CELU l 1 1 a b 0=2.0", |x| if x > 0.0 { x } else { 2.0 * (x / 2.0).exp_m1() }),
    ("Clip l 1 1 a b 0=2.0 1=5.0", |x| x.clamp(2.0, 5.0)),
    ("Dropout l 1 1 a b 0=0.5", |x| 0.5 * x),
    ("ELU l 1 1 a b 0=0.5", |x| if x > 0.0 { x } else { 0.5 * x.exp_m1() }),
    ("Exp l 1 1 a b", f64::exp),
    ("Exp l 1 1 a b 0=2.0 1=0.5 2=1.0", |x| (0.5 * x + 1.0).exp2()),
    ("GELU l 1 1 a b 0=1", |x| 0.5 * x * (1.0 + (0.797_884_560_8 * (x + 0.044_715 * x.powi(3))).tanh())),
    ("HardSigmoid l 1 1 a b 0=0.1 1=0.2", between),
    ("HardSwish l 1 1 a b 0=0.1 1=0.2", |x| x * between(x)),
    ("Log l 1 1 a b", f64::ln),
    ("Log l 1 1 a b 0=10.0 1=2.0 2=1.0", |x| (2.0 * x + 1.0).log10()),
    ("Mish l 1 1 a b", |x| x * softplus(x).tanh()),
    ("Power l 1 1 a b", |x| x),
    ("Power l 1 1 a b 0=2.0 1=0.5 2=1.0", |x| (0.5 * x + 1.0).powi(2)),
    ("ReLU l 1 1 a b", |x| x.max(0.0)),
    ("ReLU l 1 1 a b 0=0.1", |x| if x > 0.0 { x } else { 0.1 * x }),
    ("SELU l 1 1 a b", |x| 1.050_700_987 * if x > 0.0 { x } else { 1.673_263_24 * x.exp_m1() }),
    ("Shrink l 1 1 a b 0=1.0 1=2.5", |x| if x.abs() > 2.5 { x - x.signum() } else { 0.0 }),
    ("Sigmoid l 1 1 a b", sigmoid),
    ("Swish l 1 1 a b", |x| x * sigmoid(x)),
    ("TanH l 1 1 a b", f64::tanh),
    ("Threshold l 1 1 a b 0=3.5", |x| f64::from(u8::from(x > 3.5))),
];

#[test]
fn functions_of_items() {
    for (layer, wanted) in OF_ITEMS {
        let (kind, rest) = layer.split_once(" a ").unwrap();
        let negative = format!("{MATRIX}\nUnaryOp n 1 1 a m 0=1\n{kind} m {rest}");
        for (layers, sign) in [(format!("{MATRIX}\n{layer}"), 1.0), (negative, -1.0)] {
            let (shape, items) = computed(&layers, &[], &[2, 3]);
            let wanted = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|x| wanted(sign * x));
            assert!(shape == [2, 3] && all_near(&items, &wanted, 1e-5), "{layers}: {items:?}");
        }
    }
}

/// A layer, what its input is, its weights, and the shape and the items of its first result.
type Row = (&'static str, &'static str, &'static [f32], &'static [usize], &'static [f64]);

const SIX: &[f64] = &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
const BESIDE: &[f64] = &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 4.0, 5.0, 6.0];
const TWICE: &[f64] = &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
const UNIT: f64 = 1.224_744_871_391_589;
const OF_GROUP: &[f64] = &[-1.463_850_109, -0.878_310_066, -0.292_770_022, 0.292_770_022, 0.878_310_066, 1.463_850_109];

const ROWS: &[Row] = &[
    // The order and the number of items.
    (MATRIX, "Flatten l 1 1 a b", &[], &[6], SIX),
    (MATRIX, "ExpandDims l 1 1 a b -23303=1,0", &[], &[1, 2, 3], SIX),
    (IMAGE, "Squeeze l 1 1 a b 2=1", &[], &[2, 3], SIX),
    (IMAGE, "Squeeze l 1 1 a b -23303=1,0", &[], &[2, 3], SIX),
    (MATRIX, "Split s 1 2 a c d\nConcat l 2 1 c d b 0=1", &[], &[2, 6], BESIDE),
    (MATRIX, "Reshape l 1 1 a b 0=2 1=-1", &[], &[3, 2], SIX),
    (IMAGE, "Permute l 1 1 a b 0=1", &[], &[1, 3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
    (MATRIX, "Slice l 1 2 a b c -23302=1,1 1=1", &[], &[2, 1], &[1.0, 4.0]),
    (MATRIX, "Crop l 1 1 a b 0=1 3=2 4=2", &[], &[2, 2], &[2.0, 3.0, 5.0, 6.0]),
    (MATRIX, "Tile l 1 1 a b 0=0 1=2", &[], &[4, 3], TWICE),
    (MATRIX, "Tile l 1 1 a b -23302=2,1,2", &[], &[2, 6], BESIDE),
    (
        MATRIX,
        "Padding l 1 1 a b 0=1 2=1 5=9.0",
        &[],
        &[3, 4],
        &[9.0, 9.0, 9.0, 9.0, 9.0, 1.0, 2.0, 3.0, 9.0, 4.0, 5.0, 6.0],
    ),
    (MATRIX, "Padding l 1 1 a b 2=1 3=1 4=1", &[], &[2, 5], &[1.0, 1.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 6.0, 6.0]),
    (
        MATRIX,
        "Padding l 1 1 a b 2=1 3=2 4=2",
        &[],
        &[2, 6],
        &[2.0, 1.0, 2.0, 3.0, 2.0, 1.0, 5.0, 4.0, 5.0, 6.0, 5.0, 4.0],
    ),
    ("Input in 0 1 a 0=1 1=1 2=6", "ShuffleChannel l 1 1 a b 0=2", &[], &[6, 1, 1], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
    (
        "Input in 0 1 a 0=1 1=1 2=6",
        "ShuffleChannel l 1 1 a b 0=3 1=1",
        &[],
        &[6, 1, 1],
        &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0],
    ),
    (IMAGE, "Interp l 1 1 a b 0=1 1=2.0 2=1.0", &[], &[1, 4, 3], &[1., 2., 3., 1., 2., 3., 4., 5., 6., 4., 5., 6.]),
    (IMAGE, "Interp l 1 1 a b 0=2 3=2 4=3", &[], &[1, 2, 3], SIX),
    (IMAGE, "Interp l 1 1 a b 0=2 3=2 4=2 6=1", &[], &[1, 2, 2], &[1.0, 3.0, 4.0, 6.0]),
    // Reductions.
    (MATRIX, "Reduction l 1 1 a b 0=0 2=2.0", &[], &[1], &[42.0]),
    (MATRIX, "Reduction l 1 1 a b 0=1 1=0 -23303=1,1 5=1", &[], &[2], &[6.0, 15.0]),
    (MATRIX, "Reduction l 1 1 a b 0=2 1=0 -23303=1,1 5=1", &[], &[2], &[14.0, 77.0]),
    (MATRIX, "Reduction l 1 1 a b 0=3 1=0 -23303=1,1 5=1", &[], &[2], &[2.0, 5.0]),
    (MATRIX, "Reduction l 1 1 a b 0=4 1=0 -23303=1,1 4=1 5=1", &[], &[2, 1], &[3.0, 6.0]),
    (MATRIX, "Reduction l 1 1 a b 0=5 1=0 -23303=1,-1 5=1", &[], &[2], &[1.0, 4.0]),
    (MATRIX, "Reduction l 1 1 a b 0=9 1=0 -23303=1,1 5=1", &[], &[2], &[1.791_759_469, 2.708_050_201]),
    (MATRIX, "Reduction l 1 1 a b 0=10 1=0 -23303=1,1 5=1", &[], &[2], &[3.407_605_964, 6.407_605_964]),
    (MATRIX, "BinaryOp z 1 1 a m 0=2 1=1 2=0.0\nSoftmax l 1 1 m b 0=1 1=1", &[], &[2, 3], &[1.0 / 3.0; 6]),
    // Normalizations.
    (IMAGE, "BatchNorm l 1 1 a b 0=1 1=0.0", &[2.0, 1.0, 4.0, 3.0], &[1, 2, 3], &[3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
    (IMAGE, "Bias l 1 1 a b 0=1", &[10.0], &[1, 2, 3], &[11.0, 12.0, 13.0, 14.0, 15.0, 16.0]),
    (
        MATRIX,
        "LayerNorm l 1 1 a b 0=3 1=0.0",
        &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
        &[2, 3],
        &[-UNIT, 0.0, UNIT, -UNIT, 0.0, UNIT],
    ),
    (
        MATRIX,
        "RMSNorm l 1 1 a b 0=3 1=0.0",
        &[1.0, 1.0, 1.0],
        &[2, 3],
        &[0.462_910_05, 0.925_820_1, 1.388_730_15, 0.789_542_034, 0.986_927_543, 1.184_313_051],
    ),
    (IMAGE, "GroupNorm l 1 1 a b 0=1 1=1 2=0.0", &[1.0, 0.0], &[1, 2, 3], OF_GROUP),
    (IMAGE, "InstanceNorm l 1 1 a b 0=1 1=0.0", &[1.0, 0.0], &[1, 2, 3], OF_GROUP),
    (
        IMAGE,
        "LRN l 1 1 a b 1=1 2=1.0 3=1.0 4=0.0",
        &[],
        &[1, 2, 3],
        &[1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0, 1.0 / 6.0],
    ),
    (MATRIX, "UnaryOp n 1 1 a m 0=1\nPReLU l 1 1 m b 0=1", &[0.5], &[2, 3], &[-0.5, -1.0, -1.5, -2.0, -2.5, -3.0]),
];

#[test]
fn layers_that_move_reduce_and_normalize() {
    for (input, layer, weights, shape, wanted) in ROWS {
        let extents = ["0=", "1=", "2="].map(|key| {
            let given = input.split(' ').find_map(|word| word.strip_prefix(key));
            given.and_then(|extent| extent.parse::<usize>().ok())
        });
        let of_input: Vec<usize> = extents.into_iter().rev().flatten().collect();
        let (found, items) = computed(&format!("{input}\n{layer}"), weights, &of_input);
        assert!(found == *shape && all_near(&items, wanted, 1e-5), "{layer}: {found:?} {items:?}");
    }
}
