//! Tests of packed arguments and results, and of signatures.

use super::*;

#[test]
fn tensors_are_words_and_equal_numbers_share_a_place() {
    let mut packed = Packed::default();
    packed.push_value(Value::Tensor(TensorId(7)));
    packed.push_value(Value::Scalar(0.5));
    packed.push_value(Value::Scalar(0.5));
    packed.push_value(Value::Int(0));
    packed.push_value(Value::Scalar(0.0));
    packed.push_value(Value::Scalar(-0.0));
    let operands: Vec<Operand> = packed.operands(0..6).collect();
    assert_eq!(operands[0], Operand::Tensor(TensorId(7)));
    assert_eq!(operands[2], Operand::Value(&Value::Scalar(0.5)));
    assert_eq!(operands[3], Operand::Value(&Value::Int(0)));
    assert!(matches!(operands[5], Operand::Value(Value::Scalar(s)) if s.is_sign_negative()));
    assert_eq!(packed.values.len(), 4);
}

#[test]
fn arrays_of_tensors_are_words() {
    let mut packed = Packed::default();
    let tensors = [TensorId(3), TensorId(5)];
    let kept = packed.keep(Value::Array(tensors.map(Value::Tensor).into()));
    packed.push_again(kept);
    packed.push_value(Value::Array([Value::Tensor(TensorId(3)), Value::Int(1)].into()));
    assert_eq!(packed.operand(0), Operand::Tensors(&tensors));
    assert!(matches!(packed.operand(1), Operand::Value(Value::Array(items)) if items.len() == 2));
    let mut copy = Packed::default();
    copy.copy(&packed, 0..2, &[], |tensor| TensorId(tensor.0 + 1));
    assert_eq!(copy.operand(0), Operand::Tensors(&[TensorId(4), TensorId(6)]));
    let mut all = Vec::new();
    copy.each_operand_tensor(0..2, &mut |tensor| all.push(tensor.0));
    assert_eq!(all, [4, 6, 4]);
}

#[test]
fn one_form_has_one_signature() {
    let mut signatures = Signatures::default();
    let keys = [Key::Param(0), Key::Param(2)];
    let a = signatures.intern(KindId(1), &keys, 1);
    assert_eq!(signatures.intern(KindId(1), &keys, 1), a);
    assert_ne!(signatures.intern(KindId(1), &keys[..1], 1), a);
    assert_ne!(signatures.intern(KindId(1), &keys, 2), a);
    assert_ne!(signatures.intern(KindId(2), &keys, 1), a);
    // It is not the most recent one of its kind any more.
    assert_eq!(signatures.intern(KindId(1), &keys, 1), a);
    assert_eq!(signatures.keys(a), keys);
    assert_eq!(signatures.counts(a), (KindId(1), 2, 1));
}
