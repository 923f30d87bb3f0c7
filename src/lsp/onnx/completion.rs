//! Words that can stand at a position of a model.

use std::collections::BTreeSet;

use super::hover::function_at;
use super::operator::{attribute, head, qualified, schema, signature, version};
use super::place::{ModelPlace, attributes_after, place};
use super::scan::open_string;
use super::text::OnnxText;
use crate::lsp::analyzed::{Completions, Proposal, ProposalKind};
use crate::onnx::schema::Schemas;
use crate::onnx::text::{Marked, NameRole, quoted_name, value_name};
use crate::source::Span;

/// The proposals at an offset.
pub(super) fn completions(of: &OnnxText, offset: u32) -> Option<Completions> {
    let (text, after) = of.source().split_at_checked(offset as usize)?;
    if let Some(quote) = open_string(text) {
        return in_quotes(of, text.get(..quote as usize)?, offset + u32::from(after.starts_with('"')));
    }
    let (place, start) = place(text);
    let proposals = match place {
        ModelPlace::Operator => operators(of, offset, domain(text, start)),
        ModelPlace::Attribute(operator, mut given) => {
            given.extend(attributes_after(after));
            attributes(of, operator, offset, &given)
        }
        ModelPlace::Operand => values(of, start as u32, value_name),
        ModelPlace::Reference => parameters(of, offset),
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
fn operators(of: &OnnxText, offset: u32, domain: Option<&str>) -> Vec<Proposal> {
    let wanted = domain.unwrap_or_default();
    let version = version(of.model(), function_at(of, offset), wanted);
    let mut names: Vec<&str> = Schemas::new().operators(wanted).collect();
    names.sort_unstable();
    let usable = names.iter().filter_map(|name| {
        let schema = schema(wanted, name, version).filter(|schema| !schema.deprecated)?;
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
fn attributes(of: &OnnxText, operator: &str, offset: u32, given: &BTreeSet<&str>) -> Vec<Proposal> {
    let (domain, name) = operator.rsplit_once('.').unwrap_or(("", operator));
    let names = &of.marks.names;
    let own = names.iter().find(|mark| mark.role == NameRole::Function && mark.domain == domain && mark.text == name);
    let mut found: Vec<Proposal> = match own {
        Some(function) => {
            let declared = names.iter().filter(|mark| mark.role == NameRole::Parameter && mark.scope == function.scope);
            declared.map(|mark| proposal(&mark.text, ProposalKind::Parameter, None)).collect()
        }
        None => {
            let schema = schema(domain, name, version(of.model(), function_at(of, offset), domain));
            let rows = schema.map_or(&[][..], |schema| &schema.attributes);
            rows.iter().map(|row| proposal(row.name, ProposalKind::Parameter, Some(attribute(row)))).collect()
        }
    };
    found.retain(|one| !given.contains(one.label.as_str()));
    found.iter_mut().for_each(|one| one.insert = Some(format!("{} = ", one.label)));
    found
}

/// The attributes of the function around an offset.
fn parameters(of: &OnnxText, offset: u32) -> Vec<Proposal> {
    let Some(scope) = of.marks.scope_at(offset).map(|scope| of.marks.outermost(scope)) else { return Vec::new() };
    let own = of.marks.names.iter().filter(|mark| mark.role == NameRole::Parameter && mark.scope == scope);
    own.map(|mark| proposal(&mark.text, ProposalKind::Parameter, None)).collect()
}

/// The proposals for a name in quotes, which starts where a text ends: an operand.
fn in_quotes(of: &OnnxText, before: &str, end: u32) -> Option<Completions> {
    let start = before.len() as u32;
    let is_operand = place(before).0 == ModelPlace::Operand;
    let proposals = is_operand.then(|| values(of, start, quoted_name))?;
    Some(Completions { replaced: Span::new(start, end), proposals })
}

/// The values that a node at an offset can use, as `spelled` writes them: those of the graphs around it that are defined
/// before it, and not its own results.
fn values(of: &OnnxText, offset: u32, spelled: fn(&str) -> String) -> Vec<Proposal> {
    let marks = &of.marks;
    let mut visible = BTreeSet::new();
    let mut scope = marks.scope_at(offset);
    while let Some(at) = scope.filter(|at| visible.insert(*at)) {
        scope = marks.scopes.get(at).and_then(|scope| scope.around);
    }
    let is_own = |mark: &Marked| {
        let node = mark.node.and_then(|node| marks.nodes.get(node));
        node.is_some_and(|node| node.span.end > offset)
    };
    let before = marks
        .names
        .iter()
        .take_while(|mark| mark.span.end < offset)
        .filter(|mark| mark.role == NameRole::Definition && visible.contains(&mark.scope) && !is_own(mark));
    let names: BTreeSet<&str> = before.map(|mark| mark.text.as_str()).collect();
    names.into_iter().map(|name| proposal(&spelled(name), ProposalKind::Value, None)).collect()
}
