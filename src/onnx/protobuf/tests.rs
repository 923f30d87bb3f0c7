use bytes::Bytes;

use super::reader::MessageReader;
use super::*;
use crate::onnx::contents::Contents;
use crate::onnx::text::{ParsedText, Production, parse};
use crate::source::FileId;

fn example() -> Vec<u8> {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) <float[2] w = {1, 2}>
        { y = f <a = 1.5, b = h () => () {}> (x, w) } f <a> (x, w) => (y) { y = Op <a: float = @a> (x, w) }";
    let (Some(ParsedText::Model(model)), _) = parse(FileId(0), text, Production::Model, false) else { panic!() };
    encode(&model.names, EncodedPart::Model(&model)).unwrap()
}

fn again(bytes: &[u8]) -> Vec<u8> {
    let Decoded { model, .. } = decode(&Bytes::copy_from_slice(bytes).into()).unwrap();
    encode(&model.names, EncodedPart::Model(&model)).unwrap()
}

/// The message of what is not decoded, and its place.
fn refused(bytes: &[u8]) -> (String, usize) {
    let Err(error) = decode(&Bytes::copy_from_slice(bytes).into()) else { panic!("{bytes:?} is decoded") };
    (error.message, error.at)
}

#[test]
fn models_keep_their_bytes() {
    let bytes = example();
    assert_eq!(again(&bytes), bytes);
}

#[test]
fn unknown_fields_survive() {
    // Field 500 as a text, field 501 as a number, field 502 as four bytes.
    let unknown = b"\xa2\x1f\x03abc\xa8\x1f\x96\x01\xb5\x1f\x01\x02\x03\x04";
    let bytes = [&example()[..], unknown].concat();
    assert_eq!(again(&bytes), bytes);
}

/// A field of a number and four bytes of another encoding than any message of ONNX declares for it.
fn foreign(number: u32) -> Vec<u8> {
    let mut field = Vec::new();
    super::writer::push_packed(&mut field, u64::from(number << 3 | 1));
    field.extend([1, 2, 3, 4, 5, 6, 7, 8]);
    field
}

fn message(number: u32, content: &[u8]) -> Vec<u8> {
    let mut field = Vec::new();
    super::writer::push_packed(&mut field, u64::from(number << 3 | 2));
    super::writer::push_packed(&mut field, content.len() as u64);
    [&field[..], content].concat()
}

/// Readers of protobuf keep groups, and fields in another encoding than the message declares.
#[test]
fn groups_and_fields_in_another_encoding_survive() {
    // Group 31 with a number, a group 31 and a text; group 7, which is the number of the graph.
    let groups = b"\xfb\x01\x08\x05\xfb\x01\xfc\x01\x12\x01a\xfc\x01\x3b\x3c";
    let bytes = [&example()[..], groups].concat();
    let written = again(&bytes);
    assert_eq!(written.len(), bytes.len());
    assert_eq!(again(&written), written);
    assert!(
        written.windows(12).any(|part| part == &groups[..12]) && written.windows(2).any(|part| part == b"\x3b\x3c")
    );
    // In all messages: a model, a graph, a node, an attribute, a tensor, a value, its type and shape, and a function.
    for path in [
        &[][..],
        &[7],
        &[7, 1],
        &[7, 1, 5],
        &[7, 5],
        &[7, 5, 13],
        &[7, 11],
        &[7, 11, 2],
        &[7, 11, 2, 1],
        &[8],
        &[14],
        &[25],
    ] {
        for number in 1..30 {
            let field = foreign(number);
            let bytes = path.iter().rev().fold(field.clone(), |content, number| message(*number, &content));
            assert_eq!(again(&bytes), bytes, "{path:?} {number}");
        }
    }
    for (bad, message, at) in [
        (&b"\x3c"[..], "a field of an unknown encoding", 0),
        (b"\x3b", "an unterminated group", 0),
        (b"\x3b\x44", "the end of a group that was not started", 1),
        (b"\x3b\x43\x3c\x44", "the end of a group that was not started", 2),
        (b"\x3b\x08", "an unterminated number", 2),
        (&b"\x3b".repeat(200), "messages are nested deeper than 100", 100),
    ] {
        assert_eq!(refused(bad), (message.to_owned(), at), "{bad:?}");
    }
}

/// Lists of both parts are joined, other fields have the value of the last part; another form replaces a type.
#[test]
fn messages_in_several_parts_are_merged() {
    let (graph, node, attribute) = (7, 1, 5);
    let float = |extents: &[u8]| message(1, &[&b"\x08\x01"[..], &message(2, &message(1, extents))].concat());
    let cases = [
        (vec![], message(2, b"g"), message(2, b"h"), message(2, b"h")),
        (
            vec![],
            message(node, b"\x22\x01A"),
            message(node, b"\x22\x01B"),
            [message(node, b"\x22\x01A"), message(node, b"\x22\x01B")].concat(),
        ),
        (vec![11, 2], float(b"\x08\x02"), float(b"\x08\x03"), float(b"\x08\x02")),
        (vec![node, attribute], message(6, b""), message(6, &message(2, b"g")), message(6, &message(2, b"g"))),
        (vec![node, attribute], message(5, b"\x08\x02"), message(5, b"\x08\x03"), message(5, b"\x08\x02\x08\x03")),
        (vec![node, attribute], message(8, b""), message(8, b"\x08\x08"), b"\x40\x08\x40\x08".to_vec()),
    ];
    for (i, (path, first, second, merged)) in cases.into_iter().enumerate() {
        let within = |content: Vec<u8>| path.iter().rev().fold(content, |content, number| message(*number, &content));
        let merged = match i {
            // The shapes of both parts are one.
            2 => {
                let dims = [message(1, b"\x08\x02"), message(1, b"\x08\x03")].concat();
                message(1, &[&b"\x08\x01"[..], &message(2, &dims)].concat())
            }
            _ => merged,
        };
        // The field that has two parts is the last one of the path.
        let bytes = message(graph, &within([first, second].concat()));
        let found = again(&bytes);
        assert_eq!(found, message(graph, &within(merged)), "{i}");
    }
    let parts = [message(graph, &message(2, b"g")), b"\x08\x08".to_vec(), message(graph, &message(node, b"\x22\x01A"))];
    let whole = [b"\x08\x08".to_vec(), message(graph, &[message(node, b"\x22\x01A"), message(2, b"g")].concat())];
    assert_eq!(again(&parts.concat()), whole.concat());
    // A tensor type, and then a sequence type.
    let value = |ty: &[u8]| message(graph, &message(11, &message(2, ty)));
    assert_eq!(again(&value(&[message(1, b"\x08\x01"), message(4, b"")].concat())), value(&message(4, b"")));
    // Two values of an attribute have no meaning.
    let several = message(graph, &message(node, &message(attribute, b"\x18\x01\x22\x01a")));
    assert_eq!(refused(&several).0, "an attribute has several values");
}

#[test]
fn texts_that_are_not_utf8_keep_their_bytes() {
    for (path, number) in [
        (&[][..], 2),
        (&[7][..], 2),
        (&[7, 1], 1),
        (&[7, 1], 3),
        (&[7, 1], 4),
        (&[7, 1, 5], 1),
        (&[7, 5], 8),
        (&[14], 1),
        (&[25], 8),
    ] {
        for (text, is_utf8) in [(&b"a\xff\xfe"[..], false), ("\u{10FE80}é".as_bytes(), true)] {
            let bytes = path.iter().rev().fold(message(number, text), |content, number| message(*number, &content));
            let decoded = decode(&Bytes::from(bytes.clone()).into()).unwrap();
            assert_eq!(decoded.not_utf8.is_none(), is_utf8, "{path:?} {number}");
            assert_eq!(again(&bytes), bytes, "{path:?} {number}");
        }
    }
}

#[test]
fn broken_files_are_refused_at_every_length() {
    let bytes = example();
    let mut refused = 0;
    for len in 0..bytes.len() {
        // A file that is truncated between two fields of the model is valid.
        if let Err(error) = decode(&Bytes::copy_from_slice(&bytes[..len]).into()) {
            refused += 1;
            assert!(error.at <= len, "{error:?} of {len} bytes");
        }
    }
    assert!(refused > bytes.len() * 9 / 10);
    let nested = (0..200).fold(Vec::new(), |inner: Vec<u8>, _| {
        let mut outer = Vec::new();
        outer.push(0x3a);
        super::writer::push_packed(&mut outer, inner.len() as u64);
        outer.extend(inner);
        outer
    });
    assert!(
        decode(&Bytes::from(nested).into())
            .is_ok_and(|found| found.model.graph.is_some_and(|graph| graph.rest.is_some()))
    );
    for (bad, message) in [
        (&b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"[..], "a field is longer than the message around it"),
        (b"", "the file is empty"),
        (b"\x0f", "a field of an unknown encoding"),
        (b"\x3a\x05", "a field is longer than the message around it"),
    ] {
        assert_eq!(self::refused(bad), (message.to_owned(), 0), "{bad:?}");
    }
}

/// Broken numbers end a list; the fields behind it are read.
#[test]
fn reading_goes_on_behind_broken_numbers() {
    // A number, packed numbers of which the second has no end, and a number.
    let message: Contents = Bytes::from_static(b"\x08\x05\x0a\x02\x07\x80\x08\x09").into();
    let (mut reader, mut found, mut broken) = (MessageReader::new(&message), Vec::new(), Vec::new());
    while let Ok(Some((1, _))) = reader.next() {
        broken.extend(reader.ints(|number| found.push(number)).err().map(|error| error.message));
    }
    assert_eq!((found, broken), (vec![5, 7, 9], vec!["an unterminated number".to_owned()]));
}
