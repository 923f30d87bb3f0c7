use crate::graph::{Dialect, Kind, KindParam, Primitive};
use crate::library::declared::{Declared, DeclaredParam, DeclaredResult};
use crate::library::identifier::RESERVED;
use crate::library::registries;
use crate::library::texts::{Library, standard};
use crate::nnef::check::{self, Checked};
use crate::nnef::compile::units;
use crate::nnef::document::Document;
use crate::nnef::grammar::ModuleKind;
use crate::nnef::lexer::SPELLED;
use crate::nnef::types::{Element, Type};
use crate::options::Options;

/// The primitive type of a type, or that of the elements of a tensor.
fn primitive(ty: Type) -> Option<Primitive> {
    match ty {
        Type::Primitive(of) | Type::Tensor(Element::Of(of)) => Some(of),
        _ => None,
    }
}

/// The declarations that the language reads in a module.
fn declared(checked: &Checked, module: usize, text: impl Fn(&str) -> &'static str) -> Vec<Declared> {
    let fragments = checked.fragments.iter().filter(|info| info.module.index() == module);
    let declared = fragments.map(|info| {
        let Kind { name, params, results, standard, generic, .. } = units::unit(checked, info).kind();
        let param = |(param, info): (KindParam, &check::ParamInfo)| DeclaredParam {
            name: text(checked.text(param.name)),
            tensor: param.tensor,
            takes: primitive(info.ty),
            default: param.default,
        };
        let results = results.into_iter().zip(&info.results);
        let results =
            results.map(|(name, info)| DeclaredResult { name: text(checked.text(name)), gives: primitive(info.ty) });
        let name = text(checked.text(name));
        let params = params.into_iter().zip(&info.params).map(param).collect();
        Declared { name, text: "", standard, generic, params, results: results.collect() }
    });
    declared.collect()
}

/// Without the texts, which the language does not have.
fn of(library: &'static Library) -> Vec<Declared> {
    library.declarations().map(|declared| Declared { text: "", ..declared.clone() }).collect()
}

#[test]
fn declarations_are_those_that_the_language_reads() {
    let leak = |text: &str| -> &'static str { text.to_owned().leak() };
    for dialect in [Dialect::V1, Dialect::Draft] {
        let options = Options { dialect: Some(dialect), ..Options::default() };
        let document = Document::parse("t", String::new(), ModuleKind::Library, &options).document;
        assert_eq!(of(standard(dialect)), declared(&check::check(&document, &options).0, 0, leak));
    }
    for registry in &registries::ALL {
        let libraries = vec![("t".to_owned(), registry.library.text.to_owned())];
        let options = Options { libraries, ..Options::default() };
        let document = Document::parse("t", String::new(), ModuleKind::Library, &options).document;
        assert_eq!(of(&registry.library), declared(&check::check(&document, &options).0, 1, leak), "{}", registry.name);
    }
}

#[test]
fn no_reserved_word_is_an_identifier() {
    let words = SPELLED.iter().map(|(spelling, _)| *spelling);
    let words: Vec<&str> = words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())).collect();
    assert_eq!(words, RESERVED);
    for word in RESERVED {
        assert_eq!(crate::library::identifier::identifier(word), format!("{word}_"));
    }
}
