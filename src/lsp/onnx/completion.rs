//! Words that can stand at a position of a model.

use std::collections::BTreeSet;

use super::operator::{attribute, head, qualified, schema, signature, version};
use super::place::{ModelPlace, attributes_after, place};
use super::text::OnnxText;
use crate::lsp::analyzed::{Completions, Proposal, ProposalKind};
use crate::onnx::schema::Schemas;
use crate::onnx::text::NameRole;
use crate::source::Span;

/// The proposals at an offset.
pub(super) fn completions(of: &OnnxText, offset: u32) -> Option<Completions> {
    let text = of.source().get(..offset as usize)?;
    let (place, start) = place(text);
    let proposals = match place {
        ModelPlace::Operator => operators(of, domain(text, start)),
        ModelPlace::Attribute(operator, mut given) => {
            given.extend(attributes_after(of.source().get(offset as usize..).unwrap_or_default()));
            attributes(of, operator, &given)
        }
        ModelPlace::Operand => values(of, offset),
        ModelPlace::Other => return None,
    };
    Some(Completions { replaced: Span::new(start as u32, offset), proposals })
}

/// The domain before a word, with its points inside; none if there is none.
fn domain(text: &str, word: usize) -> Option<&str> {
    let before = text.get(..word)?.strip_suffix('.')?;
    let start = before.rfind(|c: char| c.is_whitespace() || c == '=').map_or(0, |at| at + 1);
    before.get(start..)
}

fn proposal(label: &str, kind: ProposalKind, detail: Option<String>) -> Proposal {
    Proposal { label: label.to_owned(), kind, detail, insert: None }
}

/// The operators of a domain, and the functions of the model.
fn operators(of: &OnnxText, domain: Option<&str>) -> Vec<Proposal> {
    let wanted = domain.unwrap_or_default();
    let version = version(of.model(), None, wanted);
    let mut names: Vec<&str> = Schemas::new().operators(wanted).collect();
    names.sort_unstable();
    let usable = names.iter().filter_map(|name| {
        let schema = schema((wanted, name), version).filter(|schema| !schema.deprecated)?;
        Some(proposal(name, ProposalKind::Operation, Some(signature(name, schema))))
    });
    let mut found: Vec<Proposal> = usable.collect();
    // Functions are known from the names in the text, even if the model has errors.
    let mut seen = BTreeSet::new();
    for mark in of.marks.names.iter().filter(|mark| mark.role == NameRole::Function) {
        let label = match domain {
            Some(domain) if domain == mark.domain => mark.text.clone(),
            None => qualified(&mark.domain, &mark.text),
            Some(_) => continue,
        };
        if seen.insert(label.clone()) {
            let head = head(&of.marks, mark).map(|head| head.label);
            found.push(proposal(&label, ProposalKind::Operation, head));
        }
    }
    found
}

/// The attributes of an operator or a function that a node does not give yet.
fn attributes(of: &OnnxText, operator: &str, given: &BTreeSet<&str>) -> Vec<Proposal> {
    let (domain, name) = operator.rsplit_once('.').unwrap_or(("", operator));
    let names = &of.marks.names;
    let own = names.iter().find(|mark| mark.role == NameRole::Function && mark.domain == domain && mark.text == name);
    let mut found: Vec<Proposal> = match own {
        Some(function) => {
            let declared = names.iter().filter(|mark| mark.role == NameRole::Parameter && mark.scope == function.scope);
            declared.map(|mark| proposal(&mark.text, ProposalKind::Parameter, None)).collect()
        }
        None => {
            let schema = schema((domain, name), version(of.model(), None, domain));
            let rows = schema.map_or(&[][..], |schema| &schema.attributes);
            rows.iter().map(|row| proposal(row.name, ProposalKind::Parameter, Some(attribute(row)))).collect()
        }
    };
    found.retain(|one| !given.contains(one.label.as_str()));
    found.iter_mut().for_each(|one| one.insert = Some(format!("{} = ", one.label)));
    found
}

/// The values that are defined before an offset.
fn values(of: &OnnxText, offset: u32) -> Vec<Proposal> {
    let before = of.marks.names.iter().filter(|mark| mark.role == NameRole::Definition && mark.span.end < offset);
    let names: BTreeSet<&str> = before.map(|mark| mark.text.as_str()).collect();
    names.into_iter().map(|name| proposal(name, ProposalKind::Value, None)).collect()
}
