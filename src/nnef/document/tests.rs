use super::*;

#[test]
fn the_standard_libraries_are_right() {
    for standard in &STANDARD {
        let options = Options { dialect: Some(standard.dialect), ..Options::default() };
        let parsed = Document::parse(standard.name, standard.text.to_string(), ModuleKind::Library, &options);
        assert_eq!(parsed.diagnostics.iter().next(), None, "{}", standard.name);
    }
}

#[test]
fn a_document_knows_the_names_of_its_own_dialect_alone() {
    let read = |text: &str| Document::parse("t", text.to_string(), ModuleKind::Document, &Options::default());
    let (first, draft, again) = (read("version 1.0;"), read("version 1.0"), read("version 1.0;"));
    assert!(draft.document.names().get("trA").is_some() && first.document.names().get("trA").is_none());
    assert_eq!(first.document.names().len(), again.document.names().len());
}
