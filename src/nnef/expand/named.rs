//! Names in the options: checks that the named operations, inputs and symbols exist, and that operations to be expanded
//! have a body.

use rustc_hash::FxHashSet;

use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::graph::Dialect;
use crate::graph::standard::EXTERNAL;
use crate::nnef::ast::{Ast, Expr, GraphDecl};
use crate::nnef::check::Checked;
use crate::nnef::document::ModuleId;
use crate::options::{LEVELS, Options};
use crate::source::names::Name;
use crate::source::{Location, Span};

/// Checks the names in the options against a document and its graph.
pub(super) fn check(checked: &Checked, graph: &GraphDecl, options: &Options, diagnostics: &mut Diagnostics) {
    let operations: Vec<&str> = options.named().collect();
    let find = |name: &str| checked.find(checked.document.main_id(), checked.document.names().get(name)?);
    let declared = |name: &str| find(name).is_some();
    let input = |name: &str| graph.params.iter().any(|param| checked.text(param.name) == name);
    let plain =
        operations.iter().all(|name| declared(name)) && checked.given.inputs.iter().all(|(name, _)| input(name));
    let used = if plain { Used::default() } else { Used::of(checked, graph) };
    let file = checked.document.main().file;
    let mut report = |code: Code, at: Location, message: String, help: &dyn Fn() -> Option<String>| {
        // Diagnostics that are only counted need no suggestion.
        let help = if diagnostics.is_frequent(code) { None } else { help() };
        diagnostics.report(Diagnostic::new(code, at, message).help_if(help));
    };
    let start = Location { file, ..Location::default() };
    options.conflicts().for_each(|message| report(Code::OptionConflict, start, message, &|| None));
    for name in operations.into_iter().filter(|name| !declared(name) && !used.calls(checked, name)) {
        let declared = || checked.fragment_ids().map(|id| checked.fragment(id).name);
        let all = || declared().chain(used.called.iter().copied()).map(|name| checked.text(name));
        let known = || suggest::did_you_mean(name, all().chain(LEVELS));
        report(Code::OptionOperation, start, Options::unknown(name), &known);
    }
    for name in options.lowered() {
        let has_body = find(name).map(|unit| checked.fragment(unit).has_body);
        if has_body == Some(false) || has_body.is_none() && used.calls(checked, name) {
            let message = format!("`{name}` is not expanded: it is a primitive, which has no body");
            report(Code::OptionPrimitive, start, message, &|| None);
        }
    }
    for (name, _) in checked.given.inputs.iter().filter(|(name, _)| !input(name) && !used.makes(checked, name)) {
        let names = || graph.params.iter().map(|param| checked.text(param.name));
        let inputs: Vec<&str> = names().take(8).collect();
        let more = if graph.params.len() > inputs.len() { ", …" } else { "" };
        let message = format!("the options give a shape for `{name}`, which is not an input of the graph");
        let at = Location::new(file, graph.name.span);
        report(Code::OptionInput, at, message, &|| {
            let all = || format!("its inputs are {}{more}", inputs.join(", "));
            suggest::did_you_mean(name, names()).or_else(|| (!inputs.is_empty()).then(all))
        });
    }
}

/// Reports values of symbols that the document does not have.
pub(super) fn check_symbols(
    checked: &Checked,
    known: &FxHashSet<Name>,
    options: &Options,
    diagnostics: &mut Diagnostics,
) {
    let shapes = &options.shapes;
    let is_known = |name: &str| {
        checked.document.names().get(name).is_some_and(|name| known.contains(&name)) || shapes.mentions(name)
    };
    let main = checked.document.main();
    let mut names: Vec<&str> = known.iter().map(|name| checked.text(*name)).collect();
    names.sort_unstable();
    for (name, _) in shapes.symbols.iter().filter(|(name, _)| !is_known(name)) {
        let meant = suggest::nearest(name, names.iter().copied());
        // The directive that declares the symbol that is probably meant, or any.
        let mut words = main.extensions.iter().flat_map(|extension| &extension.words);
        let is_meant = |text: &str| meant.map_or(names.contains(&text), |meant| meant == text);
        let declared = words.find(|word| is_meant(checked.text(word.name)));
        let at = Location::new(main.file, Span::default());
        let message = format!("the options give a value for `{name}`, which is not a dimension symbol of the document");
        let help = suggest::did_you_mean(name, names.iter().copied());
        let help = help.or_else(|| suggest::its_symbols(&names));
        let mut found = Diagnostic::new(Code::OptionSymbol, at, message).label("not a symbol of the document");
        if let Some(word) = declared {
            found = found.see(Location::new(main.file, word.span), "a symbol of the document");
        }
        diagnostics.report(found.help_if(help));
    }
}

/// The operations that a document calls, declared or not, and its external tensors.
#[derive(Default)]
struct Used {
    /// The operations that are called.
    called: FxHashSet<Name>,
    /// The results of `external`: in the draft, inputs need not be parameters of the graph.
    externals: FxHashSet<Name>,
}

impl Used {
    fn of(checked: &Checked, graph: &GraphDecl) -> Used {
        let mut used = Used::default();
        for id in checked.document.module_ids().filter(|id| *id != ModuleId::STANDARD) {
            used.add_calls(&checked.document.module(id).ast);
        }
        let draft = checked.document.dialect() == Dialect::Draft;
        let ast = &checked.document.main().ast;
        for statement in graph.body.assignments.iter().filter(|_| draft) {
            if let Expr::Call(call) = ast.expr(statement.value)
                && checked.text(ast.call(call).name.name) == EXTERNAL
            {
                ast.each_target(statement.target, |_, name| {
                    used.externals.insert(name);
                });
            }
        }
        used
    }

    fn add_calls(&mut self, ast: &Ast) {
        self.called.extend(ast.references().map(|(_, name)| name));
    }

    fn calls(&self, checked: &Checked, name: &str) -> bool {
        checked.document.names().get(name).is_some_and(|name| self.called.contains(&name))
    }

    fn makes(&self, checked: &Checked, name: &str) -> bool {
        checked.document.names().get(name).is_some_and(|name| self.externals.contains(&name))
    }
}
