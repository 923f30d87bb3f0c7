use super::*;

#[test]
fn conversions_of_the_specification() {
    let mut types = Types::default();
    let tensor = Type::Tensor(Element::Of(Primitive::Scalar));
    assert!(types.castable(Type::SCALAR, tensor));
    assert!(!types.castable(Type::INTEGER, tensor));
    assert!(!types.castable(tensor, Type::SCALAR));
    assert!(types.castable(tensor, Type::Tensor(Element::Any)));
    let (scalars, tensors) = (types.array(Type::SCALAR), types.array(tensor));
    assert!(types.castable(scalars, tensors));
    assert!(types.castable(Type::EmptyArray, tensors));
    assert!(!types.castable(tensors, scalars));
    assert_eq!(types.common(scalars, tensors), Some(tensors));
    assert_eq!(types.common(Type::SCALAR, Type::INTEGER), None);
}

#[test]
fn generics_are_bound_by_the_first_value() {
    let types = Types::default();
    let formal = Type::Tensor(Element::Of(Primitive::Generic));
    let mut generic = None;
    assert_eq!(types.fit(formal, Type::LOGICAL, &mut generic), Fit::Exact);
    assert_eq!(generic, Some(Primitive::Logical));
    let other = Type::Tensor(Element::Of(Primitive::Scalar));
    assert_eq!(types.fit(formal, other, &mut generic), Fit::Elements);
}
