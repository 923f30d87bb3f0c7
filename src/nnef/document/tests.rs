use std::path::Path;

use super::*;
use crate::nnef::ast::write_number;
use crate::nnef::lexer::reserved_names;
use crate::source::names::Name;

/// Names that the expansion may need although they occur in no text.
const IMPLIED_NAMES: &[&str] = &[crate::graph::standard::UNUSED_INPUT, crate::graph::standard::TRIP];

/// The names and the syntax tree of a standard library, as its file has them.
fn tree_of(dialect: Dialect) -> Vec<u8> {
    let library = standard(dialect);
    let mut names = reserved_names();
    for name in IMPLIED_NAMES {
        names.intern(name);
    }
    let (file, mut found) = (Sources::new().add(library.file, library.text), Diagnostics::default());
    let module = grammar::parse_module(file, library.text, dialect, ModuleKind::Library, &mut names, &mut found);
    assert!(found.iter().next().is_none(), "{}", library.file);
    written(&names, &module)
}

fn written(names: &Names, module: &Module) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_number(names.len() as u64, &mut bytes);
    for text in (0..names.len()).map(|index| names.text(Name::new(index))) {
        write_number(text.len() as u64, &mut bytes);
        bytes.extend(text.as_bytes());
    }
    module.store(&mut bytes);
    bytes
}

/// Without the files, the program would parse the libraries in each process.
#[test]
fn the_trees_of_the_standard_libraries_are_those_of_their_texts() {
    for (dialect, file) in [(Dialect::V1, "nnef-1.0.tree"), (Dialect::Draft, "nnef-draft.tree")] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/library/std").join(file);
        let (found, wanted) = (std::fs::read(&path).unwrap(), tree_of(dialect));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&path, &wanted).unwrap();
        } else {
            assert!(found == wanted, "{file} is not the tree of the library; UPDATE_SNAPSHOTS=1 writes it again");
        }
        let id = Sources::new().add("library", "");
        let (names, module) = read_tree(id, &wanted);
        assert!(written(&names, &module) == wanted, "{file} reads back as another tree");
    }
}

#[test]
fn the_standard_libraries_are_right() {
    for dialect in [Dialect::V1, Dialect::Draft] {
        let options = Options { dialect: Some(dialect), ..Options::default() };
        let library = standard(dialect);
        let parsed = Document::parse(library.file, library.text.to_string(), ModuleKind::Library, &options);
        assert_eq!(parsed.diagnostics.iter().next(), None, "{}", library.file);
    }
}

#[test]
fn a_document_knows_the_names_of_its_own_dialect_alone() {
    let read = |text: &str| Document::parse("t", text.to_string(), ModuleKind::Document, &Options::default());
    let (first, draft, again) = (read("version 1.0;"), read("version 1.0"), read("version 1.0;"));
    assert!(draft.document.names().get("trA").is_some() && first.document.names().get("trA").is_none());
    assert_eq!(first.document.names().len(), again.document.names().len());
}
