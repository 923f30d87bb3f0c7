use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::{ClosedFile, Contents, DiskFile, ScanError, scan};
use crate::Options;
use crate::diagnostics::Code;
use crate::onnx::Document;
use crate::onnx::elements::{self, Elements, Length};
use crate::onnx::protobuf::{decode, push_packed};
use crate::sink::{OutputLimit, into_file};
use crate::source::Sources;

/// A field of bytes.
fn field(number: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_packed(&mut bytes, number << 3 | 2);
    push_packed(&mut bytes, payload.len() as u64);
    bytes.extend_from_slice(payload);
    bytes
}

/// A constant of `count` elements of a type, with a field of elements.
fn tensor(name: &str, (data_type, count): (u8, u64), elements: (u64, &[u8])) -> Vec<u8> {
    let mut dims = vec![0x08];
    push_packed(&mut dims, count);
    [dims, vec![0x10, data_type], field(8, name.as_bytes()), field(elements.0, elements.1)].concat()
}

/// A model with the raw floats `w`, the packed integers `i`, and a long constant in a function.
fn model() -> Vec<u8> {
    let raw: Vec<u8> = (0..1000_u32).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let mut packed = Vec::new();
    (0..2000).for_each(|i| push_packed(&mut packed, i));
    let attribute = [field(1, b"value"), field(5, &tensor("", (1, 1000), (9, &raw))), vec![0xA0, 0x01, 4]].concat();
    let constant = [field(2, b"c"), field(4, b"Constant"), field(5, &attribute)].concat();
    let function =
        [field(1, b"f"), field(5, b"c"), field(7, &constant), field(9, b"\x10\x15"), field(10, b"l")].concat();
    let call = [field(2, b"y"), field(4, b"f"), field(7, b"l")].concat();
    let graph = [
        field(1, &call),
        field(2, b"g"),
        field(5, &tensor("w", (1, 1000), (9, &raw))),
        field(5, &tensor("i", (7, 2000), (7, &packed))),
        field(12, b"\x0a\x01y"),
    ];
    let opsets = [field(8, b"\x10\x15"), field(8, b"\x0a\x01l\x10\x01")].concat();
    [vec![0x08, 10], field(7, &graph.concat()), opsets, field(25, &function)].concat()
}

fn scanned(path: &Path, limit: u64) -> Result<Contents, ScanError> {
    scan(DiskFile::new(Arc::new(File::open(path).unwrap()), "m.onnx").unwrap(), limit)
}

fn stored(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn document(contents: Contents) -> Document {
    let (document, _) = Document::decode_contents("m", contents, &mut Sources::new(), &Options::default());
    document.unwrap()
}

fn written(document: &Document) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    document.write_protobuf(&mut out).map(|()| out)
}

/// What is written into a file.
fn written_to_file(document: &Document) -> std::io::Result<Vec<u8>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut out = into_file(file.as_file(), OutputLimit::NONE);
    document.write_protobuf(&mut out)?;
    out.flush()?;
    std::fs::read(file.path())
}

#[test]
fn models_are_the_same_with_constants_in_memory_and_in_a_file() {
    let bytes = model();
    let file = stored(&bytes);
    let contents = scanned(file.path(), 1000).unwrap();
    assert_eq!(contents.len(), bytes.len());
    let [mut in_file, mut held] = [contents, Contents::from(Bytes::from(bytes.clone()))].map(document);
    assert_eq!(written(&in_file).unwrap(), written(&held).unwrap());
    assert_eq!(written_to_file(&in_file).unwrap(), written(&held).unwrap());
    let found = |document: &Document| {
        document.check(&Options::default()).iter().map(|found| found.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(found(&in_file), found(&held));
    for document in [&mut in_file, &mut held] {
        document.flatten(&Options::default()).unwrap();
    }
    assert_eq!(written(&in_file).unwrap(), written(&held).unwrap());
    assert_eq!(in_file.to_text(false).unwrap().0, held.to_text(false).unwrap().0);
}

#[test]
fn elements_of_constants_in_a_file_are_counted_and_read() {
    let file = stored(&model());
    let contents = scanned(file.path(), 1000).unwrap();
    let model = decode(&contents).unwrap().model;
    let [w, i] = &model.graph.as_ref().unwrap().initializers[..] else { panic!() };
    for tensor in [w, i] {
        assert!(tensor.rest.as_ref().unwrap()[0].bytes.held().is_none());
        assert_eq!(elements::length(tensor), Length::Right);
    }
    let held = decode(&Contents::from(Bytes::from(self::model()))).unwrap().model;
    assert_eq!(held.graph.as_ref().unwrap().initializers, model.graph.as_ref().unwrap().initializers);
    assert_ne!(w.rest, i.rest);
    assert_eq!(Elements::of(w), Ok(Elements::Floats((0..1000_u16).map(f32::from).collect())));
    assert_eq!(Elements::of(i), Ok(Elements::Ints((0..2000).collect())));
}

#[test]
fn malformed_files_give_the_same_error_at_the_same_byte() {
    let bytes = model();
    let mut malformed = 0;
    for (cut, change) in (0..bytes.len()).step_by(37).map(|cut| (cut, None)).chain((0..200).map(|at| (0, Some(at)))) {
        let mut broken = bytes[..bytes.len() - cut].to_vec();
        if let Some(at) = change {
            broken[at] ^= 0x55;
        }
        let contents = scanned(stored(&broken).path(), 1 << 20).unwrap();
        let [in_file, held] = [&contents, &Contents::from(Bytes::from(broken))].map(decode);
        assert_eq!(in_file.as_ref().err(), held.as_ref().err(), "{cut} {change:?}");
        malformed += usize::from(held.is_err());
    }
    // A file that is cut is malformed wherever that is.
    assert!(malformed > 250, "{malformed} are malformed");
}

#[test]
fn bytes_that_are_no_constants_are_limited() {
    let file = stored(&model());
    assert!(matches!(scanned(file.path(), 100), Err(ScanError::TooLarge)));
}

/// A file that is written to or cut off gives an error, not a model of two versions.
/// Changes of a file that has more than 2000 bytes.
const CHANGES: [fn(&mut File); 3] = [
    |file| file.set_len(2000).unwrap(),
    |file| {
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(b"more").unwrap();
    },
    |file| file.set_modified(std::time::UNIX_EPOCH).unwrap(),
];

#[test]
fn a_file_that_is_opened_for_each_part_is_noticed_to_change() {
    for change in CHANGES {
        let file = stored(&model());
        let closed = ClosedFile::new(file.path().into()).unwrap();
        let mut part = [0; 4];
        closed.read_at(&mut part, 3).unwrap();
        assert_eq!(part, model()[3..7]);
        change(&mut OpenOptions::new().write(true).open(file.path()).unwrap());
        let error = closed.read_at(&mut part, 3).unwrap_err().to_string();
        assert!(
            error.contains("changed while it was read") && error.contains(file.path().to_str().unwrap()),
            "{error}"
        );
    }
}

#[test]
fn a_file_that_changes_is_noticed() {
    for change in CHANGES {
        let file = stored(&model());
        let document = document(scanned(file.path(), 1000).unwrap());
        assert!(document.changed().is_none());
        change(&mut OpenOptions::new().write(true).open(file.path()).unwrap());
        for written in [written(&document), written_to_file(&document)] {
            assert!(written.unwrap_err().to_string().contains("changed while it was read"));
        }
        let found = document.to_text(false).unwrap_err();
        assert!(found.iter().all(|found| found.code == Code::OnnxChanged) && !found.is_empty(), "{found}");
        assert!(document.changed().is_some());
    }
}
