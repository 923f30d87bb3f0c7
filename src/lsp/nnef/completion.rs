//! Words that can stand at a position of a document.

use super::declaration::{Declaration, declarations};
use super::place::{DocumentPlace, GivenArguments, WordsBefore, named_after};
use super::text::NnefText;
use crate::graph::standard::{FLATTEN_LOOPS, FRAGMENT_DEFINITIONS, OPERATOR_EXPRESSIONS};
use crate::library::registries;
use crate::lsp::analyzed::{Completions, Proposal, ProposalKind};
use crate::nnef::registries::REGISTRY_EXTENSION;

/// The proposals at an offset.
pub(super) fn completions(of: &NnefText, offset: u32) -> Option<Completions> {
    let (text, after) = of.source().split_at_checked(offset as usize)?;
    let mut words = WordsBefore::new(text, of.document.dialect())?;
    let replaced = words.take_last();
    let proposals = match words.place() {
        DocumentPlace::Other => Vec::new(),
        DocumentPlace::Top => keywords(&["fragment", "graph", "extension", "version"]),
        DocumentPlace::Directive(first) => directives(first),
        DocumentPlace::Expression(Some((operation, mut given))) => {
            given.names.extend(named_after(after, of.document.dialect()));
            expressions(of, &words, Some((operation, given)))
        }
        DocumentPlace::Expression(None) => expressions(of, &words, None),
    };
    Some(Completions { replaced, proposals })
}

fn keywords(words: &[&str]) -> Vec<Proposal> {
    let keyword =
        |word: &&str| Proposal { label: (*word).to_owned(), kind: ProposalKind::Keyword, detail: None, insert: None };
    words.iter().map(keyword).collect()
}

fn directives(first: Option<&str>) -> Vec<Proposal> {
    match first {
        None => keywords(&[FRAGMENT_DEFINITIONS, OPERATOR_EXPRESSIONS, FLATTEN_LOOPS, REGISTRY_EXTENSION]),
        Some(REGISTRY_EXTENSION) => {
            let module = |registry: &registries::Registry| Proposal {
                label: registry.name.to_owned(),
                kind: ProposalKind::Module,
                detail: None,
                insert: None,
            };
            registries::ALL.iter().map(module).collect()
        }
        Some(_) => keywords(&[FRAGMENT_DEFINITIONS, OPERATOR_EXPRESSIONS]),
    }
}

/// Parameters of the call around the position, locals, and operations.
fn expressions(of: &NnefText, words: &WordsBefore, call: Option<(&str, GivenArguments)>) -> Vec<Proposal> {
    let names = of.document.names();
    let declared = declarations(&of.document);
    let mut found = Vec::new();
    if let Some((operation, given)) = call
        && let Some(declared) = names.get(operation).and_then(|name| declared.get(&name))
    {
        for param in declared.fragment.params.iter().skip(given.positions) {
            let label = names.text(param.name.name);
            if !given.names.contains(label) {
                found.push(Proposal {
                    label: label.to_owned(),
                    kind: ProposalKind::Parameter,
                    detail: Some(declared.param(param)),
                    insert: Some(format!("{label} = ")),
                });
            }
        }
    }
    let value =
        |name: &&str| Proposal { label: (*name).to_owned(), kind: ProposalKind::Value, detail: None, insert: None };
    found.extend(words.locals().iter().map(value));
    let operation = |label: &str, detail: String| Proposal {
        label: label.to_owned(),
        kind: ProposalKind::Operation,
        detail: Some(detail),
        insert: None,
    };
    let mut operations: Vec<&Declaration> = declared.values().collect();
    operations.sort_by_key(|declared| names.text(declared.fragment.name.name));
    found.extend(
        operations.iter().map(|declared| operation(names.text(declared.fragment.name.name), declared.signature())),
    );
    // The document has only those declarations of registries that it uses.
    for registry in of.document.registries() {
        let others = registry
            .library
            .declarations()
            .filter(|other| names.get(other.name).is_none_or(|name| !declared.contains_key(&name)));
        found.extend(others.map(|other| {
            let head = other.text.split('{').next().unwrap_or_default();
            let words: Vec<&str> = head.trim_end().trim_end_matches(';').split_whitespace().collect();
            operation(other.name, words.join(" "))
        }));
    }
    found
}
