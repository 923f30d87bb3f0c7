use std::fs;
use std::path::Path;

use crate::diagnostics::{Code, Diagnostics};
use crate::onnx::Document;
use crate::source::Sources;
use crate::{Lower, Options};

const HEAD: &str = "<ir_version: 10, opset_import: [\"\" : 25, \"l\" : 1]> ";

fn read(text: &str, folder: Option<&Path>) -> Document {
    let (mut sources, options) = (Sources::new(), Options::default());
    let (document, found) = Document::parse("test", text, &mut sources, &options);
    let mut document = document.unwrap_or_else(|| panic!("{text}: {found}"));
    folder.into_iter().for_each(|folder| document.set_folder(folder));
    document
}

/// The codes of a check, which flattening gives, too.
fn codes(mut document: Document, text: &str) -> Vec<Code> {
    let listed =
        |found: &Diagnostics| found.iter().filter(|found| found.is_error()).map(|found| found.code).collect::<Vec<_>>();
    let checked = listed(&document.check(&Options::default()));
    let options = Options { lower: Lower::None, ..Options::default() };
    let flattened = document.flatten(&options).map_or_else(|errors| listed(&errors), |_| Vec::new());
    assert_eq!(checked, flattened, "{text}");
    checked
}

/// A model whose constant of a type has data in another file.
fn constant(ty: &str, pairs: &str) -> String {
    format!("{HEAD} g () => ({ty} y) <{ty} w = [{pairs}]> {{ y = Identity (w) }}")
}

#[test]
fn files_are_where_and_what_the_model_says() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model");
    fs::create_dir_all(folder.join("data")).unwrap();
    fs::write(folder.join("w.bin"), [0; 32]).unwrap();
    fs::write(place.path().join("far.bin"), [0; 32]).unwrap();
    const RIGHT: &[Code] = &[];
    const WRONG: &[Code] = &[Code::OnnxExternalFile];
    const OUTSIDE: &[Code] = &[Code::OnnxExternal];
    let at = |location: &str| format!("\"location\" : \"{location}\"");
    let more = |pairs: &str| format!("{}, {pairs}", at("w.bin"));
    let cases = [
        ("float[8]", at("w.bin"), RIGHT),
        ("float[8]", at("data/../w.bin"), RIGHT),
        ("float[8]", at("./w.bin"), RIGHT),
        ("float[8]", at("gone.bin"), WRONG),
        ("float[8]", at("data"), WRONG),
        ("float[8]", at("."), WRONG),
        ("float[8]", at(""), WRONG),
        ("float[8]", "\"offset\" : \"0\"".to_owned(), WRONG),
        ("float[8]", at("../far.bin"), OUTSIDE),
        ("float[8]", at("data/../../model/w.bin"), OUTSIDE),
        ("float[9]", at("w.bin"), WRONG),
        ("float[4]", at("w.bin"), RIGHT),
        ("float[4]", more("\"offset\" : \"16\", \"length\" : \"16\""), RIGHT),
        ("float[4]", more("\"offset\" : \"20\""), WRONG),
        ("float[4]", more("\"offset\" : \"-1\""), WRONG),
        ("float[4]", more("\"offset\" : \"x\""), WRONG),
        ("float[4]", more("\"offset\" : \"18446744073709551615\""), WRONG),
        ("float[4]", more("\"length\" : \"12\""), WRONG),
        ("float[4]", more("\"length\" : \"20\""), WRONG),
        ("float[4]", more("\"length\" : \"\""), WRONG),
        ("float[4]", more("\"length\" : \"0\""), RIGHT),
        ("float[4]", more("\"checksum\" : \"abc\""), RIGHT),
        ("float[4]", more("\"location\" : \"w.bin\""), RIGHT),
        ("float[4]", more("\"location\" : \"v.bin\""), WRONG),
        ("float[4]", more("\"offset\" : \"0\", \"offset\" : \"4\""), WRONG),
        ("float", more("\"length\" : \"4\""), RIGHT),
        ("int4[7]", more("\"length\" : \"4\""), RIGHT),
        ("uint2[5]", more("\"length\" : \"2\""), RIGHT),
        ("bool[32]", at("w.bin"), RIGHT),
        ("complex128[2]", at("w.bin"), RIGHT),
        ("complex128[3]", at("w.bin"), WRONG),
        ("float16[16]", at("w.bin"), RIGHT),
        ("float16[17]", at("w.bin"), WRONG),
        ("float[0]", at("w.bin"), RIGHT),
        ("string[1]", at("w.bin"), WRONG),
        ("float[9223372036854775807, 9]", at("w.bin"), WRONG),
    ];
    for (ty, pairs, wanted) in cases {
        let text = constant(ty, &pairs);
        assert_eq!(codes(read(&text, Some(&folder)), &text), wanted, "{text}");
    }
    // Without a folder only the description is checked.
    let text = constant("float[8]", &at("gone.bin"));
    assert_eq!(codes(read(&text, None), &text), RIGHT);
}

#[cfg(unix)]
#[test]
fn links_lead_to_files_in_the_folder() {
    use std::os::unix::fs::symlink;
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("w.bin"), [0; 32]).unwrap();
    fs::write(place.path().join("far.bin"), [0; 32]).unwrap();
    symlink("w.bin", folder.join("near")).unwrap();
    symlink("../far.bin", folder.join("far")).unwrap();
    symlink(place.path(), folder.join("up")).unwrap();
    symlink("gone", folder.join("dangling")).unwrap();
    symlink(&folder, place.path().join("alias")).unwrap();
    for (location, wanted) in [
        ("near", &[][..]),
        ("far", &[Code::OnnxExternal]),
        ("up/far.bin", &[Code::OnnxExternal]),
        ("up/model/w.bin", &[]),
        ("dangling", &[Code::OnnxExternalFile]),
    ] {
        let text = constant("float[8]", &format!("\"location\" : \"{location}\""));
        for folder in [&folder, &place.path().join("alias")] {
            assert_eq!(codes(read(&text, Some(folder)), &text), wanted, "{text}");
        }
    }
}

/// A field of bytes.
fn message(number: u8, content: &[u8]) -> Vec<u8> {
    let key = [number << 3 | 2 | if number > 15 { 0x80 } else { 0 }];
    let high = if number > 15 { vec![number >> 4] } else { Vec::new() };
    let len = content.len() as u8;
    assert!(len < 0x80);
    [&key[..], &high, &[len], content].concat()
}

/// Sparse tensors and training information stay encoded, but their data are looked at.
#[test]
fn data_of_encoded_parts_are_looked_at() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("w"), [0; 8]).unwrap();
    // Two floats, named `n`, in the file `w`; and in one that does not exist.
    let tensor = |file: &[u8]| {
        let pair = [message(1, b"location"), message(2, file)].concat();
        [b"\x08\x02\x10\x01".to_vec(), message(8, b"n"), message(13, &pair), b"\x70\x01".to_vec()].concat()
    };
    type Part = (&'static str, fn(Vec<u8>) -> Vec<u8>);
    let parts: [Part; 6] = [
        ("graph.sparse_initializer[0]", |tensor| message(7, &message(15, &message(1, &tensor)))),
        ("graph.sparse_initializer[0]", |tensor| message(7, &message(15, &message(2, &tensor)))),
        ("graph.node[0].attribute[0].sparse_tensor", |tensor| {
            message(7, &message(1, &message(5, &message(22, &message(1, &tensor)))))
        }),
        ("graph.node[0].attribute[0].sparse_tensors[0]", |tensor| {
            message(7, &message(1, &message(5, &message(23, &message(1, &tensor)))))
        }),
        ("training_info[0].initialization.initializer[0]", |tensor| message(20, &message(1, &message(5, &tensor)))),
        ("training_info[0].algorithm.initializer[0]", |tensor| message(20, &message(2, &message(5, &tensor)))),
    ];
    for (path, within) in parts {
        for (file, right) in [(&b"w"[..], true), (b"gone", false)] {
            let (mut sources, options) = (Sources::new(), Options { lower: Lower::None, ..Options::default() });
            let bytes = within(tensor(file));
            let (document, found) = Document::decode("test", bytes, &mut sources, &options);
            let mut document = document.unwrap_or_else(|| panic!("{path}: {found}"));
            document.set_folder(place.path());
            assert_eq!(document.external_files().len(), 1, "{path}");
            match document.check_external_data(&options) {
                Ok(()) => assert!(right, "{path}"),
                Err(found) => {
                    let found: Vec<_> = found.iter().map(|found| (found.code, found.message.as_str())).collect();
                    let message =
                        format!("the external data `gone`: there is no such file; it has the data of `n` ({path})");
                    assert!(!right, "{path}");
                    assert_eq!(found, [(Code::OnnxExternalFile, message.as_str())]);
                }
            }
        }
    }
}
