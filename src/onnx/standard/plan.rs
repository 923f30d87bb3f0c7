//! Finds the calls of standard operators that are to be expanded, and makes the functions that they call.

use rustc_hash::{FxHashMap, FxHashSet};

use super::call::StandardCall;
use super::facts::VisibleTypes;
use super::table::{self, Row};
use crate::Options;
use crate::onnx::infer::ModelTypes;
use crate::onnx::inline::{FunctionKey, Imports, NodeFinding, is_lowered};
use crate::onnx::model::{
    AttributeValue, Fields, FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto, OperatorSet,
};
use crate::onnx::schema::Schemas;
use crate::onnx::text::parse_function;
use crate::room::with_stack;
use crate::source::names::Name;

/// What became of the calls of standard operators that the options select.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The operators with a call that has become a call of a function.
    pub(super) lowered: FxHashSet<FunctionKey>,
    /// The operators with a call for which nobody knows what its body depends on.
    pub(super) blocked: FxHashSet<FunctionKey>,
}

/// The functions for the calls of one round.
pub(super) struct Plan<'o> {
    options: &'o Options,
    /// The domain of the functions. No model has it.
    domain: Name,
    /// The functions of the model, which may have the names of standard operators.
    own: FxHashSet<FunctionKey>,
    /// Whether nodes of a domain and an operator are to be expanded, as far as there were any.
    selected: FxHashMap<(Option<Name>, Option<Name>), bool>,
    /// The overload for each text with its operator sets.
    overloads: FxHashMap<(String, Vec<(Option<Name>, Option<i64>)>), Name>,
    pub(super) functions: Vec<FunctionProto>,
    pub(super) found: Found,
}

/// A graph or function, and what the nodes in it see.
struct Place<'p> {
    opsets: &'p [OperatorSet],
    imports: &'p Imports,
    types: VisibleTypes<'p>,
}

/// The place of graphs whose values nobody knows: those in defaults of functions.
const NOWHERE: (usize, usize) = (usize::MAX, usize::MAX);

type Planned<T> = Result<T, Box<NodeFinding>>;

impl<'o> Plan<'o> {
    /// Finds the calls in a model and turns them into calls of functions, which are in the plan.
    pub(super) fn of(model: &mut ModelProto, types: &ModelTypes, options: &'o Options) -> Planned<Plan<'o>> {
        let names = &mut model.names;
        let own = model.functions.iter().map(|function| FunctionKey::of_function(names, function)).collect();
        let mut plan = Plan {
            options,
            domain: unused_domain(names),
            own,
            selected: FxHashMap::default(),
            overloads: FxHashMap::default(),
            functions: Vec::new(),
            found: Found::default(),
        };
        if let Some(graph) = &mut model.graph {
            let imports = Imports::new(names, &model.opsets);
            let place = Place { opsets: &model.opsets, imports: &imports, types: VisibleTypes::of(&types.main) };
            plan.nodes(names, &mut graph.nodes, &place)?;
        }
        // The values of a function have the types of each call.
        for function in &mut model.functions {
            let imports = Imports::new(names, &function.opsets);
            let place = Place { opsets: &function.opsets, imports: &imports, types: VisibleTypes::default() };
            plan.nodes(names, &mut function.nodes, &place)?;
            for default in &mut function.defaults {
                plan.graphs(names, &mut default.value, NOWHERE, &place)?;
            }
        }
        Ok(plan)
    }

    fn nodes(&mut self, names: &mut ModelNames, nodes: &mut [NodeProto], place: &Place) -> Planned<()> {
        for (i, node) in nodes.iter_mut().enumerate() {
            for (k, attribute) in node.attributes.iter_mut().enumerate() {
                self.graphs(names, &mut attribute.value, (i, k), place)?;
            }
            if self.is_selected(names, node) {
                self.node(names, node, place)?;
            }
        }
        Ok(())
    }

    /// Finds the calls in the graphs of an attribute, which is given by the indices of node and attribute.
    fn graphs(
        &mut self,
        names: &mut ModelNames,
        value: &mut AttributeValue,
        (node, attribute): (usize, usize),
        place: &Place,
    ) -> Planned<()> {
        let graphs: &mut [GraphProto] = match value {
            AttributeValue::Graph(graph) => std::slice::from_mut(&mut **graph),
            AttributeValue::Graphs(graphs) => graphs,
            _ => return Ok(()),
        };
        for (position, graph) in graphs.iter_mut().enumerate() {
            let types = place.types.inner((node, attribute, position));
            let inner = Place { types, ..*place };
            with_stack(|| self.nodes(names, &mut graph.nodes, &inner))?;
        }
        Ok(())
    }

    fn is_selected(&mut self, names: &ModelNames, node: &NodeProto) -> bool {
        let (own, options) = (&self.own, self.options);
        let selected = || {
            let key = FunctionKey::of_node(names, node);
            table::has_body(key.domain(names), key.name(names))
                && !own.contains(&key)
                && is_lowered(names, key, options)
        };
        *self.selected.entry((node.domain, node.op_type)).or_insert_with(selected)
    }

    /// Turns a call into one of a function, if the operator has a body in this version.
    fn node(&mut self, names: &mut ModelNames, node: &mut NodeProto, place: &Place) -> Planned<()> {
        let key = FunctionKey::of_node(names, node);
        let Some(version) = place.imports.version(names, node.domain) else { return Ok(()) };
        let Some(row) = table::body(key.domain(names), key.name(names), version) else { return Ok(()) };
        let base = place.imports.version(names, None).unwrap_or_else(|| Schemas::new().latest(""));
        let domain = names.texts.text(self.domain);
        let call = StandardCall { names, node, version: base, types: &place.types, domain };
        let Ok(text) = row.text(&call) else {
            self.found.blocked.insert(key);
            return Ok(());
        };
        let overload = self.overload(names, row, text, (place, base), node.at)?;
        self.found.lowered.insert(key);
        (node.domain, node.overload) = (Some(self.domain), Some(overload));
        Ok(())
    }

    /// The overload of the function with a text, which is added unless it is there.
    fn overload(
        &mut self,
        names: &mut ModelNames,
        row: &Row,
        text: String,
        (place, base): (&Place, i64),
        at: u32,
    ) -> Planned<Name> {
        let versions = place.opsets.iter().map(|opset| (opset.domain, opset.version)).collect();
        let key = (text, versions);
        if let Some(overload) = self.overloads.get(&key) {
            return Ok(*overload);
        }
        let parsed = parse_function(names, &key.0).map_err(|found| NodeFinding::of(found, at))?;
        let overload = names.texts.intern(&self.functions.len().to_string());
        let mut opsets = place.opsets.to_vec();
        if place.imports.version(names, None).is_none() {
            let domain = Some(names.standard_domain());
            opsets.push(OperatorSet { domain, version: Some(base), rest: Fields::None });
        }
        let name = Some(names.texts.intern(row.name));
        let (domain, overload_of) = (Some(self.domain), Some(overload));
        self.functions.push(FunctionProto { name, domain, overload: overload_of, opsets, at, ..parsed });
        self.overloads.insert(key, overload);
        Ok(overload)
    }
}

/// A domain that no model has so far.
fn unused_domain(names: &mut ModelNames) -> Name {
    let mut domain = "standard".to_owned();
    while names.texts.get(&domain).is_some() {
        domain.push('_');
    }
    names.texts.intern(&domain)
}
