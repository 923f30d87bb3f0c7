//! Element types of shapes, parts of nested shapes, and comparisons that ignore properties.
#![allow(clippy::unwrap_used, clippy::panic)]

use nnef_flatten::tensor::{DType, ElementType, Ignoring, NarrowFloat, Shape, SmallInt};

fn shape(text: &str) -> Shape {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The type of an array has as many bits as the type of its shape.
#[test]
fn each_type_of_arrays_has_one_of_shapes() {
    use DType::{Narrow, Small};
    use NarrowFloat::*;
    use SmallInt::*;
    for (dtype, name, bits) in [
        (Narrow(Float16), "f16", 16),
        (Narrow(BFloat16), "bf16", 16),
        (Narrow(Float8E4M3Fn), "f8e4m3fn", 8),
        (Narrow(Float8E4M3Fnuz), "f8e4m3fnuz", 8),
        (Narrow(Float8E5M2), "f8e5m2", 8),
        (Narrow(Float8E5M2Fnuz), "f8e5m2fnuz", 8),
        (Narrow(Float8E8M0), "f8e8m0fnu", 8),
        (Narrow(Float6E2M3), "f6e2m3fn", 6),
        (Narrow(Float6E3M2), "f6e3m2fn", 6),
        (Narrow(Float4E2M1), "f4e2m1fn", 4),
        (Small(Int2), "s2", 2),
        (Small(Int4), "s4", 4),
        (Small(Int8), "s8", 8),
        (Small(Int16), "s16", 16),
        (Small(Uint2), "u2", 2),
        (Small(Uint4), "u4", 4),
        (Small(Uint8), "u8", 8),
        (Small(Uint16), "u16", 16),
        (DType::Float32, "f32", 32),
        (DType::Float64, "f64", 64),
        (DType::Int32, "s32", 32),
        (DType::Int64, "s64", 64),
        (DType::Uint32, "u32", 32),
        (DType::Uint64, "u64", 64),
        (DType::Bool, "pred", 8),
        (DType::Complex64, "c64", 64),
        (DType::Complex128, "c128", 128),
    ] {
        let element = ElementType::from(dtype);
        assert_eq!((element.name(), element.bits()), (name, bits));
        assert_eq!(ElementType::from_name(name), Some(element));
        assert_eq!(shape(&format!("{name}[2,3]")).array().unwrap().element(), element);
    }
    assert_eq!(ElementType::from_name("f12"), None);
}

#[test]
fn nested_shapes_have_parts() {
    let nested = shape("(f32[2], (s32[], token[]), opaque[])");
    let mut parts = Vec::new();
    nested.each_subshape(&mut |path, part| parts.push((path.to_vec(), part.to_string())));
    let paths: Vec<&[usize]> = parts.iter().map(|(path, _)| &path[..]).collect();
    assert_eq!(paths, [&[][..], &[0], &[1], &[1, 0], &[1, 1], &[2]]);
    for (path, part) in &parts {
        assert_eq!(nested.subshape(path).unwrap().to_string(), *part);
    }
    assert!(nested.subshape(&[3]).is_none() && nested.subshape(&[0, 0]).is_none());
    // Parts of tuples are elsewhere: a tuple has a pointer to each.
    let sizes = [(&[][..], 24), (&[0], 8), (&[1], 16), (&[1, 0], 4), (&[1, 1], 0), (&[2], 8)];
    for (path, bytes) in sizes {
        assert_eq!(nested.subshape(path).unwrap().element_bytes(8).unwrap(), bytes, "{path:?}");
    }
}

#[test]
fn comparisons_ignore_properties() {
    let equal = |a: &str, b: &str, ignoring: &[Ignoring]| shape(a).equals(&shape(b), ignoring);
    assert!(shape("f32[2,<=3]{0,1}").is_compatible(&shape("f32[2,3]{1,0}")));
    assert!(!shape("f32[2,4]").is_compatible(&shape("f32[2,3]")));
    for (a, b, ignored) in [
        ("f32[2]", "s32[2]", Ignoring::Element),
        ("f32[2]", "bf16[2]", Ignoring::Precision),
        ("f32[2]", "f32[3]", Ignoring::Sizes),
        ("f32[<=2]", "f32[2]", Ignoring::Dynamic),
        ("f32[2,3]{0,1}", "f32[2,3]{1,0}", Ignoring::Layout),
        ("f32[2,3]{1,0:T(8,128)}", "f32[2,3]{1,0}", Ignoring::Tiles),
        ("s4[2]{0:E(4)}", "s4[2]{0}", Ignoring::ElementBits),
        ("f32[2]{0:S(1)}", "f32[2]{0}", Ignoring::MemorySpace),
        ("(f32[2], s32[])", "(f32[3], s32[])", Ignoring::Sizes),
        ("b(f32[2])", "f32[2]", Ignoring::Buffers),
        ("f32[2]", "b(f32[2])", Ignoring::Buffers),
        ("b(f32[2])", "b(f32[3])", Ignoring::Sizes),
    ] {
        assert!(!equal(a, b, &[]), "{a} {b}");
        assert!(equal(a, b, &[ignored]) && equal(b, a, &[ignored]), "{a} {b} {ignored:?}");
    }
    assert!(!equal("f32[2]", "s32[2]", &[Ignoring::Precision]));
    assert!(!equal("(f32[2])", "(f32[2], f32[2])", &[Ignoring::Sizes]));
}

#[test]
fn dimensions_of_size_1_are_removed() {
    let array = shape("f32[1,5,1,3]{1,3,0,2}").array().unwrap().clone();
    assert!(array.has_degenerate_dimensions());
    let kept = array.without_degenerate_dimensions();
    assert_eq!(kept.to_string(), "f32[5,3]{0,1}");
    assert!(!kept.has_degenerate_dimensions());
    assert_eq!(kept.without_degenerate_dimensions(), kept);
}
