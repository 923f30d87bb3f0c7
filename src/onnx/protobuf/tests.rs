use bytes::Bytes;

use super::*;
use crate::onnx::text::{Parsed, Production, parse};
use crate::source::FileId;

fn example() -> Vec<u8> {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) <float[2] w = {1, 2}>
        { y = f <a = 1.5, b = h () => () {}> (x, w) } f <a> (x, w) => (y) { y = Op <a: float = @a> (x, w) }";
    let (Some(Parsed::Model(model)), _) = parse(FileId(0), text, Production::Model, false) else { panic!() };
    encode(&model.names, Part::Model(&model)).unwrap()
}

fn again(bytes: &[u8]) -> Vec<u8> {
    let model = decode(&Bytes::copy_from_slice(bytes)).unwrap();
    encode(&model.names, Part::Model(&model)).unwrap()
}

#[test]
fn models_keep_their_bytes() {
    let bytes = example();
    assert_eq!(again(&bytes), bytes);
}

#[test]
fn fields_that_nobody_knows_survive() {
    // Field 500 as a text, field 501 as a number, field 502 as four bytes.
    let unknown = b"\xa2\x1f\x03abc\xa8\x1f\x96\x01\xb5\x1f\x01\x02\x03\x04";
    let bytes = [&example()[..], unknown].concat();
    assert_eq!(again(&bytes), bytes);
}

/// Programs differ in what two messages of one field mean.
#[test]
fn messages_are_given_once() {
    let graph = b"\x3a\x03\x12\x01g";
    assert!(decode(&Bytes::from_static(graph)).is_ok());
    assert!(decode(&Bytes::from([&graph[..], graph].concat())).is_err());
}

#[test]
fn broken_files_are_refused_at_every_length() {
    let bytes = example();
    let mut refused = 0;
    for len in 0..bytes.len() {
        // A file that is truncated between two fields of the model is valid.
        refused += usize::from(decode(&Bytes::copy_from_slice(&bytes[..len])).is_err());
    }
    assert!(refused > bytes.len() * 9 / 10);
    let nested = (0..200).fold(Vec::new(), |inner: Vec<u8>, _| {
        let mut outer = Vec::new();
        outer.push(0x3a);
        super::writer::push_packed(&mut outer, inner.len() as u64);
        outer.extend(inner);
        outer
    });
    assert!(decode(&Bytes::from(nested)).is_ok_and(|model| model.graph.is_some_and(|graph| graph.rest.is_some())));
    for bad in [&b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"[..], b"\x12\x02\xff\xfe", b"\x0f", b"\x3a\x05"] {
        assert!(decode(&Bytes::copy_from_slice(bad)).is_err(), "{bad:?}");
    }
}
