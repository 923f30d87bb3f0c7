//! Parts of the output other than the graph: extensions, metadata, and fragments that are not expanded.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::expander::Expander;
use crate::core::unit::UnitId;
use crate::core::unit::Units;
use crate::core::value::Value;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::standard::{
    EXTERNAL, FLATTEN_LOOPS, FRAGMENT_DEFINITIONS, OPERATOR_EXPRESSIONS, SYMBOL, SYMBOL_EXTENSIONS, Symbols,
    UNUSED_INPUT,
};
use crate::graph::{Graph, KeptFragment, prune};
use crate::nnef::ast::{Ast, Ident};
use crate::nnef::check::Checked;
use crate::nnef::document::ModuleId;
use crate::nnef::print::{print_extension, print_fragment};
use crate::nnef::types::{Element, Type};
use crate::options::Options;
use crate::source::names::Name;
use crate::source::{Location, Span};

/// Whether an error is about an exceeded limit, which ends the expansion.
fn is_limit(code: Code) -> bool {
    code.is_spent() || matches!(code, Code::EndlessRecursion | Code::LengthBudget)
}

/// Adds an unused input to a graph without inputs: NNEF requires one.
pub(super) fn demand_input(checked: &Checked, units: &Units, graph: &mut Graph) {
    let names = checked.document.names();
    let (Some(external), Some(name)) = (checked.standard(EXTERNAL), names.get(UNUSED_INPUT)) else { return };
    if !graph.inputs.is_empty() {
        return;
    }
    let kind = graph.standard_kind(&units.get(external).kind());
    graph.add_unused_input(kind, name, Location::new(checked.document.main().file, Span::default()));
}

/// Fills in the extensions and fragments of the output.
pub(super) fn keep(
    checked: &Checked,
    units: &Rc<Units>,
    graph: &mut Graph,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<(), Box<Diagnostic>> {
    let mut keeper = Keeper {
        checked,
        units,
        options,
        diagnostics,
        verbatim: BTreeSet::new(),
        flat: Vec::new(),
        references: FxHashMap::default(),
    };
    keeper.collect(graph);
    keeper.expand_bodies()?;
    graph.fragments = keeper.fragments();
    let bodies = keeper.verbatim.iter().any(|&id| checked.fragment(id).has_body);
    graph.comments = comments(checked);
    graph.extensions = extensions(checked, !graph.fragments.is_empty(), bodies);
    declare_symbols(graph, checked);
    Ok(())
}

struct Keeper<'a, 'd> {
    checked: &'a Checked<'d>,
    units: &'a Rc<Units>,
    options: &'a Options,
    diagnostics: &'a mut Diagnostics,
    /// Fragments whose text is copied.
    verbatim: BTreeSet<UnitId>,
    /// Fragments referred to by name in a string, and their flat bodies.
    flat: Vec<(UnitId, Option<Box<Graph>>)>,
    /// The references of the modules whose fragments are copied.
    references: FxHashMap<ModuleId, Vec<(u32, Name)>>,
}

/// The names that the calls and strings of a module refer to, with their byte offsets, in source order.
fn references(ast: &Ast) -> Vec<(u32, Name)> {
    let mut references: Vec<(u32, Name)> = ast.references().collect();
    references.sort_unstable();
    references
}

impl Keeper<'_, '_> {
    /// Notes the fragments that the operations of a graph need.
    fn collect(&mut self, graph: &Graph) {
        let checked = self.checked;
        let main = checked.document.main_id();
        for operation in &graph.operations {
            let kind = graph.kind(operation);
            if kind.standard {
                continue;
            }
            if let Some(id) = checked.find(main, kind.name).filter(|_| kind.declared) {
                self.keep_verbatim(id);
            }
            for value in graph.arguments(operation).filter_map(|(_, operand)| operand.value()) {
                value.each_string(&mut |text| {
                    let named = checked.document.names().get(text).and_then(|name| checked.find(main, name));
                    if let Some(id) = named.filter(|&id| checked.fragment(id).module == main)
                        && checked.fragment(id).has_body
                        && self.flat.iter().all(|(other, _)| *other != id)
                    {
                        self.flat.push((id, None));
                    }
                });
            }
        }
    }

    /// Keeps a fragment and the fragments that its body calls or names in a string. Declarations without a body from other
    /// files are not copied: they describe operations that the reader of the output knows.
    fn keep_verbatim(&mut self, id: UnitId) {
        let checked = self.checked;
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let info = checked.fragment(id);
            let standard = info.module == ModuleId::STANDARD;
            let foreign = info.module != checked.document.main_id() && !info.has_body;
            if standard || foreign || !self.verbatim.insert(id) {
                continue;
            }
            let Some(body) = &checked.declaration(info).body else { continue };
            // The references of a body are those within its span.
            let module = &checked.module(info.module).ast;
            let references = self.references.entry(info.module).or_insert_with(|| references(module));
            let first = references.partition_point(|(start, _)| *start < body.span.start);
            let inside = references[first..].iter().take_while(|(start, _)| *start < body.span.end);
            open.extend(inside.filter_map(|(_, name)| checked.find(info.module, *name)));
        }
    }

    fn expand_bodies(&mut self) -> Result<(), Box<Diagnostic>> {
        let mut next = 0;
        while next < self.flat.len() {
            let id = self.flat[next].0;
            if self.checked.fragment(id).params.iter().any(|param| matches!(param.ty, Type::Array(_)) && param.tensor) {
                // How many tensors such a parameter holds is known only to the operation that
                // runs the body.
                self.keep_verbatim(id);
            } else {
                match flat_body(self.checked, self.units, id, self.options, self.diagnostics) {
                    Ok(body) => {
                        self.collect(&body);
                        self.flat[next].1 = Some(Box::new(body));
                    }
                    Err(failure) if is_limit(failure.code) => return Err(failure),
                    // The attributes are known only to the operation that runs the body, if there
                    // is one: a string may be the name of a fragment by chance.
                    Err(_) => self.keep_verbatim(id),
                }
            }
            next += 1;
        }
        Ok(())
    }

    /// The kept fragments in the order of their declarations.
    fn fragments(&mut self) -> Vec<KeptFragment> {
        let checked = self.checked;
        let mut kept: Vec<(UnitId, KeptFragment)> = Vec::new();
        for (id, body) in std::mem::take(&mut self.flat) {
            if let Some(body) = body
                && !self.verbatim.contains(&id)
            {
                kept.push((id, KeptFragment::Flat(head(&formatted(checked, id)), body)));
            }
        }
        let metadata = checked.fragment_ids().filter(|&id| checked.fragment(id).metadata);
        for id in self.verbatim.iter().copied().chain(metadata) {
            kept.push((id, KeptFragment::Verbatim(formatted(checked, id))));
        }
        kept.sort_unstable_by_key(|(id, _)| *id);
        kept.into_iter().map(|(_, fragment)| fragment).collect()
    }
}

/// The text of a fragment, formatted like the rest of the output.
fn formatted(checked: &Checked, id: UnitId) -> String {
    let info = checked.fragment(id);
    let module = checked.module(info.module);
    let text = checked.document.sources().file(module.file).text();
    let dialect = checked.document.dialect();
    print_fragment(module, checked.document.names(), text, dialect, checked.declaration(info))
}

/// The text of a fragment before its body, whose bracket is the first that stands alone on a line.
fn head(text: &str) -> String {
    text.split("\n{\n").next().unwrap_or(text).to_string()
}

/// The body of a fragment as a separate graph. Attributes are known only to the operation that runs
/// it, so they are symbols.
fn flat_body(
    checked: &Checked,
    units: &Rc<Units>,
    id: UnitId,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<Graph, Box<Diagnostic>> {
    let info = checked.fragment(id);
    let fragment = checked.declaration(info);
    let mut graph = Graph::new(info.name, Arc::clone(checked.document.shared_names()));
    let mut params = Vec::new();
    for param in &info.params {
        if param.tensor {
            let dtype = match param.ty {
                Type::Tensor(Element::Of(primitive)) => Some(primitive),
                _ => None,
            };
            let name = graph.names.user(param.name);
            let tensor = graph.add_tensor(name, dtype);
            graph.inputs.push(tensor);
            params.push(Value::Tensor(tensor));
        } else {
            params.push(Value::symbol(checked.text(param.name)));
        }
    }
    let inputs = std::mem::take(&mut graph.inputs);
    let mut expander = Expander::new(checked, Rc::clone(units), options, &[], graph);
    let outcome = expander.run_as_graph(checked, id, params);
    let mut machine = expander.machine;
    diagnostics.extend(machine.shapes.take());
    outcome?;
    let idents: Vec<Ident> = fragment.results.iter().map(|result| result.name).collect();
    let outputs = super::tensors(&machine, checked.document, &idents, checked.result_slots(id))?;
    let mut graph = machine.graph;
    (graph.inputs, graph.outputs) = (inputs, outputs);
    if !options.keep_unused {
        prune::prune(&mut graph);
    }
    graph.finish_names();
    Ok(graph)
}

/// The comments before the version, such as licences and authors.
fn comments(checked: &Checked) -> Vec<String> {
    let module = checked.document.main();
    let text = checked.document.sources().file(module.file).text();
    let start = module.version.map_or(0, |version| version.start);
    let head: Vec<Span> = module.comments.iter().copied().take_while(|comment| comment.end <= start).collect();
    let mut lines = Vec::new();
    for (i, comment) in head.iter().enumerate() {
        lines.push(text[comment.range()].trim_end().to_string());
        let next = head.get(i + 1).map_or(start, |next| next.start) as usize;
        if text[comment.end as usize..next].matches('\n').count() > 1 {
            lines.push(String::new());
        }
    }
    lines
}

/// Declares the symbols of input shapes and values in the options that the document does not declare.
fn declare_symbols(graph: &mut Graph, checked: &Checked) {
    let mut symbols = BTreeSet::new();
    let shapes = checked.given.inputs.iter().flat_map(|(_, extents)| extents);
    for extent in shapes.chain(checked.symbols.values()) {
        extent.dim().each_symbol(&mut |symbol| {
            symbols.insert(symbol.to_owned());
        });
    }
    for line in &graph.extensions {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let first = words.next();
        match SYMBOL_EXTENSIONS.iter().find(|(name, _)| Some(*name) == first) {
            Some((_, Symbols::Arguments)) => words.for_each(|word| {
                symbols.remove(word);
            }),
            Some((_, Symbols::Fixed(symbol))) => {
                symbols.remove(*symbol);
            }
            None => {}
        }
    }
    graph.extensions.extend(symbols.into_iter().map(|symbol| format!("{SYMBOL} {symbol}")));
}

/// The extensions of the output: those of the document, without those that a flat document does not need.
fn extensions(checked: &Checked, fragments: bool, bodies: bool) -> Vec<String> {
    let document = checked.document;
    let module = document.main();
    let needed = |name: &str| match name {
        FRAGMENT_DEFINITIONS => fragments,
        OPERATOR_EXPRESSIONS => bodies,
        FLATTEN_LOOPS => bodies && !module.ast.loops.is_empty(),
        _ => true,
    };
    let text = document.sources().file(module.file).text();
    let mut lines = Vec::new();
    for extension in &module.extensions {
        let words: Vec<&str> = extension.words.iter().map(|word| document.names().text(word.name)).collect();
        if words.iter().all(|word| needed(word)) {
            lines.push(print_extension(module, document.names(), text, document.dialect(), extension));
        } else {
            let rest: Vec<&str> = words.into_iter().filter(|word| needed(word)).collect();
            if !rest.is_empty() {
                lines.push(rest.join(" "));
            }
        }
    }
    lines
}
