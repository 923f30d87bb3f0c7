use super::*;

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
