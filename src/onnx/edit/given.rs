//! Shapes of inputs, values of symbols and values of inputs that options give.

use rustc_hash::{FxHashMap, FxHashSet};

use super::contradictions;
use crate::Options;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::graph::Extent as GivenExtent;
use crate::graph::dims::Dim;
use crate::graph::names::NameId;
use crate::onnx::infer::infer;
use crate::onnx::model::{
    AttributeValue, Dim as DimProto, Extent, GraphProto, ModelNames, ModelProto, NodeProto, ShapeProto, TensorProto,
    TensorType, TypeForm, TypeProto, ValueInfo,
};
use crate::onnx::run::{dtype_of, tensor_proto};
use crate::onnx::walk::each_graph_mut;
use crate::options::{DeclaredSymbols, GivenShapes};
use crate::room::with_stack;
use crate::source::Location;
use crate::source::names::Name;
use crate::tensor::Tensor;

/// Writes the values of symbols into all types of a model, and the shapes of inputs into their types.
///
/// # Errors
///
/// There is no such symbol or input, or a shape contradicts the declared one.
pub(crate) fn set_shapes(model: &mut ModelProto, options: &Options, at: Location) -> Result<(), Diagnostics> {
    let shapes = &options.shapes;
    if shapes.inputs.is_empty() && shapes.symbols.is_empty() {
        return Ok(());
    }
    let mut found = Diagnostics::new(false);
    let shapes = match shapes.of_inputs(&open_inputs(model)) {
        Ok(shapes) => shapes,
        Err(message) => {
            found.report(Diagnostic::new(Code::OptionInput, at, format!("the options give {message}")));
            return Err(found);
        }
    };
    let declared = model.graph.as_ref().map(|graph| declared_symbols(&model.names, graph)).unwrap_or_default();
    let shapes = match shapes.with_implied(&declared).resolved() {
        Ok(shapes) => shapes,
        Err(conflict) => {
            found.report(Diagnostic::new(Code::OptionSymbol, at, format!("the options give {conflict}")));
            return Err(found);
        }
    };
    let has_inner = model.graph.iter().any(|graph| graph.nodes.iter().any(NodeProto::has_graphs));
    let before = if has_inner { model.graph.clone() } else { None };
    set_symbols(model, &shapes, &options.shapes, &mut |message, help| {
        found.report(Diagnostic::new(Code::OptionSymbol, at, message).help_if(help));
    });
    set_inputs(model, &shapes, at).unwrap_or_else(|refused| found.extend(refused));
    if found.has_errors() {
        return Err(found);
    }
    if let Some(before) = before {
        let types = infer(model, options);
        if let Some(graph) = &mut model.graph {
            model.contradicts |= contradictions::restore(graph, &before, &types.main);
        }
    }
    Ok(())
}

/// Whether the text of an extent is a symbol: neither an expression on symbols, nor a word for an extent that is not
/// known.
fn is_symbol(text: &str) -> bool {
    !matches!(text, "" | "?") && matches!(Dim::of_text(text), dim if dim == Dim::Unknown || dim == Dim::symbol(text))
}

/// The inputs of a model without a value of their own.
fn open_inputs(model: &ModelProto) -> Vec<&str> {
    let Some(graph) = &model.graph else { return Vec::new() };
    let values: FxHashSet<_> = graph.initializers.iter().map(|value| value.name).collect();
    let inputs = graph.inputs.iter().filter(|input| !values.contains(&input.name));
    inputs.map(|input| text_of(&model.names, input.name)).collect()
}

/// The symbols in the declared shapes of the inputs of a model.
fn declared_symbols(names: &ModelNames, graph: &GraphProto) -> Vec<DeclaredSymbols> {
    let texts = &names.texts;
    let symbol = |extent| if let Extent::Symbol(name) = extent { Some(texts.text(name).to_owned()) } else { None };
    let symbols = |input: &ValueInfo| match input.ty.as_ref().map(|ty| &ty.form) {
        Some(TypeForm::Tensor(TensorType { shape: Some(shape), .. })) => {
            shape.dims.iter().map(|dim| symbol(dim.extent).filter(|text| is_symbol(text))).collect()
        }
        _ => Vec::new(),
    };
    graph.inputs.iter().map(|input| (text_of(names, input.name).to_owned(), symbols(input))).collect()
}

/// Writes the given shapes into the types of inputs.
fn set_inputs(model: &mut ModelProto, shapes: &GivenShapes, at: Location) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new(false);
    let ModelProto { names, graph: Some(graph), .. } = model else { return Ok(()) };
    for (name, shape) in &shapes.inputs {
        let result = match find(names, &mut graph.inputs, name) {
            Some(input) => set_shape(names, input, shape).map_err(|message| {
                let message = format!("the shape that the options give `{name}`: {message}");
                Diagnostic::new(Code::OptionShape, at, message).label("another shape is declared")
            }),
            None => Err(unknown(names, graph, name, "a shape", at)),
        };
        result.unwrap_or_else(|refused| found.report(refused));
    }
    if found.has_errors() { Err(found) } else { Ok(()) }
}

/// Makes inputs with a value constants.
///
/// # Errors
///
/// There is no such input, or a value does not fit its input.
pub(crate) fn bind(model: &mut ModelProto, values: &[(String, Tensor)], at: Location) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new(false);
    let ModelProto { names, graph: Some(graph), .. } = model else { return Ok(()) };
    for (name, value) in values {
        let result = match find(names, &mut graph.inputs, name).map(|input| constant(input, value)) {
            Some(Ok(constant)) => {
                graph.inputs.retain(|input| input.name != constant.name);
                graph.initializers.retain(|known| known.name != constant.name);
                graph.initializers.push(constant);
                Ok(())
            }
            Some(Err(message)) => {
                let message = format!("the value that the options give `{name}` {message}");
                Err(Diagnostic::new(Code::OptionValue, at, message))
            }
            None => Err(unknown(names, graph, name, "a value", at)),
        };
        result.unwrap_or_else(|refused| found.report(refused));
    }
    if found.has_errors() { Err(found) } else { Ok(()) }
}

/// The finding about a name in the options that is not an input.
fn unknown(names: &ModelNames, graph: &GraphProto, name: &str, what: &str, at: Location) -> Diagnostic {
    let inputs: Vec<&str> = graph.inputs.iter().map(|input| text_of(names, input.name)).collect();
    let message = format!("the options give {what} for `{name}`, which is not an input of the graph");
    let listed = || (!inputs.is_empty()).then(|| format!("its inputs are {}", inputs.join(", ")));
    let declared = declared_symbols(names, graph);
    let is_symbol = declared.iter().any(|(_, of)| of.iter().flatten().any(|symbol| symbol == name));
    let help = match is_symbol {
        true => Some(format!("`{name}` is a symbol of shapes: `--set {name}=…` gives it a value")),
        false => suggest::did_you_mean(name, inputs.iter().copied()).or_else(listed),
    };
    Diagnostic::new(Code::OptionInput, at, message).help_if(help)
}

/// A constant with the name of an input.
fn constant(input: &ValueInfo, value: &Tensor) -> Result<TensorProto, String> {
    let declared = match input.ty.as_ref().map(|ty| &ty.form) {
        None | Some(TypeForm::None) => None,
        Some(TypeForm::Tensor(tensor)) => Some(tensor),
        Some(_) => return Err("cannot be bound: the input is not a tensor".to_owned()),
    };
    if let Some(shape) = declared.and_then(|declared| declared.shape.as_ref()) {
        let fits = |(dim, extent): (&DimProto, &usize)| match dim.extent {
            Extent::Value(wanted) => i64::try_from(*extent).is_ok_and(|extent| extent == wanted),
            Extent::Unknown | Extent::Symbol(_) => true,
        };
        let found = value.shape();
        if shape.dims.len() != found.len() || !shape.dims.iter().zip(found).all(fits) {
            let dims = shape.dims.iter().map(|dim| match dim.extent {
                Extent::Value(value) => value.to_string(),
                Extent::Unknown | Extent::Symbol(_) => "?".to_owned(),
            });
            let declared = dims.collect::<Vec<_>>().join(", ");
            return Err(format!("has shape {found:?}, the declared one is [{declared}]"));
        }
    }
    let converted = match declared.and_then(|declared| declared.element) {
        Some(element) => {
            let of = dtype_of(element).ok_or("cannot be bound: its element type is not known")?;
            value.clone().rounded(of).map_err(|error| format!("does not fit: {}", error.0))?
        }
        None => value.clone(),
    };
    Ok(tensor_proto(&converted, input.name))
}

fn text_of(names: &ModelNames, name: Option<NameId>) -> &str {
    name.map_or("", |name| names.text(name))
}

/// The input with a name.
fn find<'i>(names: &ModelNames, inputs: &'i mut [ValueInfo], name: &str) -> Option<&'i mut ValueInfo> {
    inputs.iter_mut().find(|input| text_of(names, input.name) == name)
}

/// Replaces symbols by their values in all types of a model. Symbols of the shapes that the options give may have values, too.
fn set_symbols(
    model: &mut ModelProto,
    shapes: &GivenShapes,
    given_shapes: &GivenShapes,
    refuse: &mut dyn FnMut(String, Option<String>),
) {
    if shapes.symbols.is_empty() {
        return;
    }
    let given: FxHashMap<&str, Dim> = shapes.symbols.iter().map(|(name, value)| (name.as_str(), value.dim())).collect();
    let ModelProto { names, graph, functions, .. } = model;
    let mut setter = Setter { names, given: &given, values: FxHashMap::default(), used: FxHashSet::default() };
    graph.iter_mut().for_each(|graph| setter.graph(graph));
    for function in functions {
        function.value_info.iter_mut().for_each(|value| setter.value(value));
        setter.nodes(&mut function.nodes);
    }
    let used = setter.used;
    let mut texts: Vec<&str> = setter.values.keys().map(|name| names.texts.text(*name)).collect();
    texts.retain(|text| is_symbol(text));
    texts.sort_unstable();
    for (symbol, _) in &shapes.symbols {
        if !used.contains(symbol) && !given_shapes.mentions(symbol) {
            let message = format!("the options give a value for `{symbol}`, which is not a symbol of the model");
            let help = suggest::did_you_mean(symbol, texts.iter().copied());
            refuse(message, help.or_else(|| suggest::its_symbols(&texts)));
        }
    }
}

/// Replaces symbols in types.
struct Setter<'m> {
    names: &'m mut ModelNames,
    given: &'m FxHashMap<&'m str, Dim>,
    /// What becomes of each text of an extent.
    values: FxHashMap<Name, Extent>,
    /// The symbols that occur.
    used: FxHashSet<String>,
}

impl Setter<'_> {
    fn graph(&mut self, graph: &mut GraphProto) {
        let values = graph.inputs.iter_mut().chain(&mut graph.outputs).chain(&mut graph.value_info);
        values.for_each(|value| self.value(value));
        self.nodes(&mut graph.nodes);
    }

    fn nodes(&mut self, nodes: &mut [NodeProto]) {
        for attribute in nodes.iter_mut().flat_map(|node| &mut node.attributes) {
            if let AttributeValue::Type(ty) = &mut attribute.value {
                self.ty(ty);
            }
            each_graph_mut(&mut attribute.value, &mut |graph| with_stack(|| self.graph(graph)));
        }
    }

    fn value(&mut self, value: &mut ValueInfo) {
        value.ty.iter_mut().for_each(|ty| self.ty(ty));
    }

    fn ty(&mut self, ty: &mut TypeProto) {
        match &mut ty.form {
            TypeForm::Tensor(tensor) | TypeForm::SparseTensor(tensor) => {
                let dims = tensor.shape.iter_mut().flat_map(|shape| &mut shape.dims);
                dims.for_each(|dim| {
                    if let Extent::Symbol(name) = dim.extent {
                        dim.extent = self.extent(name);
                    }
                });
            }
            TypeForm::Sequence(Some(of), _) | TypeForm::Optional(Some(of), _) => with_stack(|| self.ty(of)),
            TypeForm::Map { value: Some(of), .. } => with_stack(|| self.ty(of)),
            _ => {}
        }
    }

    /// What becomes of an extent, which is a symbol or an expression on symbols.
    fn extent(&mut self, name: Name) -> Extent {
        if let Some(known) = self.values.get(&name) {
            return *known;
        }
        let text = self.names.texts.text(name).to_owned();
        let dim = match self.given.get(text.as_str()) {
            Some(value) => {
                self.used.insert(text.clone());
                value.clone()
            }
            None => {
                let dim = Dim::of_text(&text);
                let mut uses = false;
                dim.each_symbol(&mut |symbol| {
                    if self.given.contains_key(symbol) {
                        uses = true;
                        self.used.insert(symbol.to_owned());
                    }
                });
                if uses { dim.substituted(&|symbol| self.given.get(symbol).cloned()) } else { Dim::Unknown }
            }
        };
        let extent = match dim {
            Dim::Int(value) => Extent::Value(value),
            Dim::Unknown => Extent::Symbol(name),
            dim => Extent::Symbol(self.names.texts.intern(&dim.text())),
        };
        self.values.insert(name, extent);
        extent
    }
}

/// Writes a shape into the type of an input.
fn set_shape(names: &mut ModelNames, input: &mut ValueInfo, given: &[GivenExtent]) -> Result<(), String> {
    let ty = input.ty.get_or_insert_default();
    if ty.form == TypeForm::None {
        ty.form = TypeForm::Tensor(TensorType::default());
    }
    let TypeForm::Tensor(tensor) = &mut ty.form else { return Err("the input is not a tensor".to_owned()) };
    let declared = match &mut tensor.shape {
        Some(shape) if shape.dims.len() != given.len() => {
            return Err(format!("it has {} extents, the declared shape has {}", given.len(), shape.dims.len()));
        }
        Some(shape) => shape,
        None => {
            let dims = vec![DimProto::default(); given.len()];
            tensor.shape.insert(ShapeProto { dims, rest: None })
        }
    };
    for (axis, (dim, given)) in declared.dims.iter_mut().zip(given).enumerate() {
        let extent = match given.dim() {
            Dim::Int(value) => Extent::Value(value),
            Dim::Unknown => continue,
            dim => Extent::Symbol(names.texts.intern(&dim.text())),
        };
        match (dim.extent, extent) {
            (Extent::Value(declared), Extent::Value(value)) if declared != value => {
                return Err(format!("axis {axis} has extent {value}, the declared one is {declared}"));
            }
            (Extent::Value(_), Extent::Symbol(_)) => {}
            _ => dim.extent = extent,
        }
    }
    Ok(())
}
