//! Operators on complex numbers, transforms and spectra.

use super::families::{Input, check};
use super::{Example, told};

/// Examples for the rules, as those of the other rules.
pub(super) const EXAMPLES: &[Example] = &[
    (&["(4)f32", "(4)f32"], "torch.complex", "$real=0 $imag=1"),
    (&["(4)f32", "(4)f32"], "torch.polar", "$abs=0 $angle=1"),
    (&["(4,2)f32"], "torch.view_as_complex", ""),
    (&["(4)c64"], "torch.real", ""),
    (&["(4)c64"], "torch.imag", ""),
    (&["(4)c64"], "torch.view_as_real", ""),
    (&["(4)c64"], "torch.abs", ""),
    (&["(4)c64"], "torch.angle", ""),
    (&["(4)c64"], "torch.conj", ""),
    (&["(4)c64", "(4)f32"], "torch.mul", "$input=0 $other=1"),
    (&["(4)c64"], "torch.exp", ""),
    (&["(2,3)f32"], "torch.fft.fft", "dim=1 n=4 norm=ortho"),
    (&["(2,3)f32"], "torch.fft.fft2", "dim=(0,1) s=(2,4) norm=forward"),
    (&["(2,3)f32"], "torch.fft.fftn", "dim=(0,1) s=(2,4)"),
    (&["(2,3)c64"], "torch.fft.ifft", "dim=1 n=4 norm=ortho"),
    (&["(2,3)c64"], "torch.fft.ifft2", "dim=(0,1) s=(2,4) norm=forward"),
    (&["(2,3)c64"], "torch.fft.ifftn", "dim=(0,1) s=(2,4)"),
    (&["(2,3)f32"], "torch.fft.rfft", "dim=1 n=4 norm=ortho"),
    (&["(2,3)f32"], "torch.fft.rfft2", "dim=(0,1) s=(2,4) norm=forward"),
    (&["(2,3)f32"], "torch.fft.rfftn", "dim=(0,1) s=(2,4)"),
    (&["(2,3)f32"], "torch.fft.ihfft", "dim=1 n=4 norm=ortho"),
    (&["(2,3)f32"], "torch.fft.ihfft2", "dim=(0,1) s=(2,4) norm=forward"),
    (&["(2,3)f32"], "torch.fft.ihfftn", "dim=(0,1) s=(2,4)"),
    (
        &["(2,9)f32", "(3)f32"],
        "torch.stft",
        "$input=0 $window=1 center=True hop_length=2 n_fft=4 normalized=True onesided=True pad_mode=reflect \
            return_complex=True win_length=3",
    ),
    (
        &["(2,3,4)c64", "(3)f32"],
        "torch.istft",
        "$input=0 $window=1 center=True hop_length=2 n_fft=4 normalized=True onesided=True return_complex=False \
            win_length=3 length=5",
    ),
    (
        &["(2,9)f32", "(4)f32"],
        "torchaudio.functional.spectrogram",
        "$waveform=0 $window=1 center=True hop_length=2 n_fft=4 normalized=False onesided=True pad=1 pad_mode=reflect \
            power=2.0 win_length=4",
    ),
    (
        &["(2,3,4)c64", "(4)f32"],
        "torchaudio.functional.inverse_spectrogram",
        "$spectrogram=0 $window=1 center=True hop_length=2 n_fft=4 normalized=False onesided=True pad=0 \
            win_length=4 length=5",
    ),
];

const FOUR: Input = ("(4)f32", &[1.0, 2.0, 3.0, 4.0]);
/// 3 + 4i and i.
const TWO: Input = ("(2)c64", &[3.0, 4.0, 0.0, 1.0]);
/// 1 - i and 2.
const MORE: Input = ("(2)c64", &[1.0, -1.0, 2.0, 0.0]);

#[test]
fn complex_numbers_are_pairs() {
    check(&[
        (&[TWO, MORE], "torch.add", "$input=0 $other=1", &[&[4.0, 3.0, 2.0, 1.0]]),
        (&[TWO, MORE], "torch.mul", "$input=0 $other=1", &[&[7.0, 1.0, 0.0, 2.0]]),
        (&[TWO, MORE], "torch.div", "$input=0 $other=1", &[&[-0.5, 3.5, 0.0, 0.5]]),
        (&[TWO], "pnnx.Expression", "expr=sub(mul(@0,2j),1)", &[&[-9.0, 6.0, -3.0, 0.0]]),
        (&[TWO], "pnnx.Expression", "expr=reciprocal(@0)", &[&[0.12, -0.16, 0.0, -1.0]]),
        (&[TWO], "pnnx.Expression", "expr=add(abs(@0),1)", &[&[6.0, 2.0]]),
        (&[TWO], "torch.abs", "", &[&[5.0, 1.0]]),
        (&[TWO], "torch.imag", "", &[&[4.0, 1.0]]),
        (&[TWO], "torch.conj", "", &[&[3.0, -4.0, 0.0, -1.0]]),
        (&[TWO], "torch.flip", "dims=(-1)", &[&[0.0, 1.0, 3.0, 4.0]]),
        (&[TWO, MORE], "torch.cat", "dim=-1", &[&[3.0, 4.0, 0.0, 1.0, 1.0, -1.0, 2.0, 0.0]]),
        (&[TWO], "torch.sum", "dim=(0) keepdim=False", &[&[3.0, 5.0]]),
    ]);
}

#[test]
fn transforms_are_products_with_waves() {
    let eight: Input = ("(8)f32", &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let six: Input = ("(2,3)f32", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let root = 3f64.sqrt();
    check(&[
        (&[FOUR], "torch.fft.fft", "dim=-1 n=None norm=None", &[&[10.0, 0.0, -2.0, 2.0, -2.0, 0.0, -2.0, -2.0]]),
        (&[FOUR], "torch.fft.rfft", "dim=-1 n=None norm=ortho", &[&[5.0, 0.0, -1.0, 1.0, -1.0, 0.0]]),
        (&[FOUR], "torch.fft.ihfft", "dim=-1 n=None norm=None", &[&[2.5, 0.0, -0.5, -0.5, -0.5, 0.0]]),
        (&[FOUR], "torch.fft.ifft", "dim=-1 n=2 norm=forward", &[&[3.0, 0.0, -1.0, 0.0]]),
        (&[TWO], "torch.fft.irfft", "dim=-1 n=3 norm=forward", &[&[3.0, 3.0 - 3.0f64.sqrt(), 3.0 + 3.0f64.sqrt()]]),
        (&[TWO], "torch.fft.hfft", "dim=-1 n=2 norm=backward", &[&[3.0, 3.0]]),
        (
            &[six],
            "torch.fft.fft2",
            "dim=(0,1) s=None norm=None",
            &[&[21.0, 0.0, -3.0, root, -3.0, -root, -9.0, 0.0, 0.0, 0.0, 0.0, 0.0]],
        ),
        (&[six], "torch.fft.rfft2", "dim=(0,1) s=None norm=None", &[&[21.0, 0.0, -3.0, root, -9.0, 0.0, 0.0, 0.0]]),
        (
            &[eight],
            "torch.stft",
            "center=False hop_length=4 n_fft=4 normalized=False onesided=True pad_mode=reflect return_complex=False \
                win_length=None window=None",
            &[&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]],
        ),
        (
            &[("(3,2)c64", &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])],
            "torch.istft",
            "center=False hop_length=4 n_fft=4 normalized=False onesided=True return_complex=False win_length=None \
                window=None length=None",
            &[eight.1],
        ),
    ]);
}

/// Operators that have no rule for complex numbers are passed through.
#[test]
fn other_operators_on_complex_numbers_are_named() {
    let complex = "it computes with complex numbers, which NNEF does not have";
    let message = |kind: &str, why: &str| Some(format!("`{kind}` is passed through: {why}"));
    for (kind, params, why) in [
        ("F.relu", "", complex),
        ("torch.sin", "", complex),
        ("torch.max", "dim=0", complex),
        ("torch.mul", "other=inf", "its setting `other` is `inf`, expected a number"),
    ] {
        let text = super::file(&["(2)c64"], kind, params);
        assert_eq!(told(&text).1, message(kind, why));
    }
    // Results that are complex are pairs, and others keep their shapes.
    for (element, wanted) in [("f32", "[3]"), ("c64", "[3, 2]")] {
        let (graph, found) = told(&super::file(&["(2)c64"], "foo.bar", &format!("#1=(3){element}")));
        let shape = graph.shape(graph.outputs[0]).map(|shape| format!("{shape:?}"));
        assert_eq!((found, shape.as_deref()), (message("foo.bar", complex), Some(wanted)), "{element}");
    }
}
