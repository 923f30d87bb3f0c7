//! Prints models as texts that are read back as equal models.

use indexmap::IndexSet;

use super::super::elements::{Elements, LongConstant, Unread};
use super::cursor::is_domain_byte;
use super::parser::TextParser;
use crate::graph::names::{NameId, Spellings};
use crate::onnx::model::{
    AttributeProto, AttributeValue, FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto, StringEntry,
    TensorProto,
};
use crate::onnx::protobuf::fields::graph;
use crate::onnx::protobuf::{EncodedPart, texts};
use crate::onnx::types::AttributeType;
use crate::source::literals::push_int;
use crate::source::names::{Name, is_identifier};
use header::Header;
use numbers::{is_odd, odd_nans, push_elements, push_number};

mod header;
mod long;
mod numbers;
mod types;

pub(crate) use long::ModelText;

/// Prints a model or a part of one; also returns what the notation cannot express.
pub(crate) fn print(names: &ModelNames, part: EncodedPart) -> (ModelText, Lost) {
    let spellings = Spellings::new(&names.values, &names.texts);
    let mut printer = Printer { names, out: ModelText::default(), lost: Lost::default(), spellings };
    match part {
        EncodedPart::Model(model) => printer.model(model),
        EncodedPart::Graph(graph) => printer.graph(graph, 0),
        EncodedPart::Function(function) => printer.function(function),
        EncodedPart::Node(node) => printer.node(node, 0),
    }
    if !printer.out.text.ends_with('\n') {
        printer.put("\n");
    }
    (printer.out, printer.lost)
}

/// The parts of a model that a text cannot express.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lost {
    /// Descriptions of parts that would change.
    pub(crate) wrong: IndexSet<String>,
    /// The number of parts with documentation, metadata or fields that are omitted.
    pub(crate) left_out: usize,
    /// The number of NaNs with a payload or that signal, of which only the sign is kept.
    pub(crate) nan_bits: usize,
}

struct Printer<'m> {
    names: &'m ModelNames,
    out: ModelText,
    lost: Lost,
    spellings: Spellings<'m>,
}

fn is_special_float(text: &str) -> bool {
    ["nan", "inf", "infinity"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// The name of a value as a text has it anywhere: in quotes, unless it is an identifier that is not a type.
#[cfg(feature = "lsp")]
pub(crate) fn value_name(name: &str) -> String {
    if is_identifier(name) && !TextParser::is_type(name) { name.to_owned() } else { quoted_name(name) }
}

/// The name of a value in quotes.
#[cfg(feature = "lsp")]
pub(crate) fn quoted_name(name: &str) -> String {
    let mut quoted = String::new();
    push_quoted(&mut quoted, name);
    quoted
}

/// Whether a text is a list of parts of a domain, separated by points.
fn is_domain(text: &str) -> bool {
    text.split('.').all(|part| !part.is_empty() && part.bytes().all(is_domain_byte))
}

impl Printer<'_> {
    fn wrong(&mut self, what: String) {
        self.lost.wrong.insert(what);
    }

    fn put(&mut self, text: &str) {
        self.out.text.push_str(text);
    }

    fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut print: impl FnMut(&mut Self, T)) {
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            print(self, item);
        }
    }

    fn string(&mut self, text: &str) {
        push_quoted(&mut self.out.text, text);
        if text.contains('\0') {
            self.wrong("a string with a zero byte".to_owned());
        }
    }

    /// Prints a name or another text of a model, which may not be UTF-8.
    fn text(&mut self, text: &str) {
        match texts::written(text) {
            Some(text) => self.string(&text),
            None => self.wrong("a text that is not UTF-8".to_owned()),
        }
    }

    /// Prints a name where quotes are allowed.
    fn quotable(&mut self, name: Option<Name>) {
        let text = name.map_or("", |name| self.names.texts.text(name));
        if is_identifier(text) { self.put(text) } else { self.text(text) }
    }

    /// Prints a name where only an identifier is allowed.
    fn identifier(&mut self, name: Option<Name>, what: &str) {
        let text = name.map_or("", |name| self.names.texts.text(name));
        if !is_identifier(text) {
            self.wrong(format!("the {what} `{text}`, which is not an identifier"));
        }
        self.put(text);
    }

    /// Prints the name of a value; `bare` is whether no type precedes it.
    fn value(&mut self, value: NameId, bare: bool) {
        let spelled = self.spellings.spell(value);
        if is_identifier(spelled) && !(bare && TextParser::is_type(spelled)) {
            self.out.text.push_str(spelled);
        } else {
            let spelled = spelled.to_owned();
            self.text(&spelled);
        }
    }

    fn values(&mut self, values: &[NameId]) {
        self.list(values, |printer, &value| printer.value(value, true));
    }

    fn model(&mut self, of: &ModelProto) {
        let Some(graph) = &of.graph else { return self.wrong("a model without a graph".to_owned()) };
        let mut header = Header::default();
        header.number("ir_version", of.ir_version);
        header.opsets(self, &of.opsets);
        header.text(self, "producer_name", &of.producer_name);
        header.text(self, "producer_version", &of.producer_version);
        header.text(self, "domain", &of.domain);
        header.number("model_version", of.model_version);
        header.text(self, "doc_string", &of.doc_string);
        header.entries(self, &of.metadata);
        header.print(self);
        self.lost.left_out += usize::from(of.rest.is_some());
        self.graph(graph, 0);
        self.put("\n");
        for function in &of.functions {
            self.function(function);
        }
    }

    fn function(&mut self, of: &FunctionProto) {
        let mut header = Header::default();
        header.name(self, "domain", of.domain);
        header.name(self, "overload", of.overload);
        header.opsets(self, &of.opsets);
        header.text(self, "doc_string", &of.doc_string);
        header.print(self);
        self.lost.left_out += usize::from(of.rest.is_some());
        self.quotable(of.name);
        if !of.attributes.is_empty() || !of.defaults.is_empty() {
            self.put(" <");
            self.list(&of.attributes, |printer, &name| printer.quotable(Some(name)));
            if !of.attributes.is_empty() && !of.defaults.is_empty() {
                self.put(", ");
            }
            self.list(&of.defaults, |printer, attribute| {
                printer.quotable(attribute.name);
                printer.attribute_value(attribute, 0);
            });
            self.put(">");
        }
        self.put(" (");
        self.values(&of.inputs);
        self.put(") => (");
        self.values(&of.outputs);
        self.put(")");
        if !of.value_info.is_empty() {
            self.put(" <");
            self.list(&of.value_info, Self::value_info);
            self.put(">");
        }
        self.put("\n");
        self.nodes(&of.nodes, 0);
        self.put("\n");
    }

    fn graph(&mut self, of: &GraphProto, level: usize) {
        self.quotable(of.name);
        self.lost.left_out += usize::from(of.rest.is_some());
        if of.rest.iter().flat_map(|fields| fields.iter()).any(|field| field.number == graph::SPARSE_INITIALIZER) {
            self.wrong("a sparse constant".to_owned());
        }
        self.put(" (");
        self.list(&of.inputs, Self::value_info);
        self.put(") => (");
        self.list(&of.outputs, Self::value_info);
        self.put(")");
        if !of.value_info.is_empty() || !of.initializers.is_empty() {
            self.put("\n");
            self.indent(level);
            self.put("<");
            self.list(&of.value_info, Self::value_info);
            if !of.value_info.is_empty() && !of.initializers.is_empty() {
                self.put(", ");
            }
            self.list(&of.initializers, Self::initializer);
            self.put(">");
        }
        self.put("\n");
        self.indent(level);
        self.nodes(&of.nodes, level);
    }

    fn indent(&mut self, level: usize) {
        (0..level).for_each(|_| self.put("    "));
    }

    fn nodes(&mut self, nodes: &[NodeProto], level: usize) {
        self.put("{\n");
        for node in nodes {
            self.indent(level + 1);
            self.node(node, level + 1);
            self.put("\n");
        }
        self.indent(level);
        self.put("}");
    }

    fn node(&mut self, of: &NodeProto, level: usize) {
        self.lost.left_out += usize::from(of.rest.is_some());
        if let Some(name) = of.name {
            self.put("[");
            self.value(name, false);
            self.put("] ");
        }
        if !of.outputs.is_empty() {
            self.values(&of.outputs);
            self.put(" ");
        }
        self.put("= ");
        let domain = of.domain.map_or("", |domain| self.names.texts.text(domain));
        if !domain.is_empty() {
            if !is_domain(domain) {
                self.wrong(format!("the domain `{domain}`, whose parts are empty or have characters of the notation"));
            }
            self.put(domain);
            self.put(".");
        }
        self.identifier(of.op_type, "operation");
        if let Some(overload) = of.overload.filter(|name| !self.names.texts.text(*name).is_empty()) {
            self.put(":");
            self.identifier(Some(overload), "overload");
        }
        if !of.attributes.is_empty() {
            self.put(" <");
            self.list(&of.attributes, |printer, attribute| {
                printer.identifier(attribute.name, "attribute");
                printer.attribute_value(attribute, level);
            });
            self.put(">");
        }
        self.put(" (");
        self.values(&of.inputs);
        self.put(")");
    }

    /// Prints the type and the value of an attribute.
    fn attribute_value(&mut self, of: &AttributeProto, level: usize) {
        self.lost.left_out += usize::from(of.rest.is_some());
        let declared = of.kind.and_then(AttributeType::numbered);
        let kind = declared.or_else(|| of.value.kind());
        if let (Some(declared), Some(own)) = (declared, of.value.kind())
            && declared != own
        {
            let name = of.name.map_or("", |name| self.names.texts.text(name));
            self.wrong(format!(
                "the attribute `{name}` of type `{}`, whose value is a `{}`",
                declared.name(),
                own.name()
            ));
        }
        if let Some(kind) = kind {
            self.put(": ");
            self.put(kind.name());
        }
        self.put(" = ");
        if let Some(reference) = of.reference {
            self.put("@");
            return self.quotable(Some(reference));
        }
        match (&of.value, kind) {
            // Sparse tensors are among the other fields.
            (AttributeValue::None, Some(kind))
                if kind.item().is_some() && (kind != AttributeType::SparseTensors || of.rest.is_none()) =>
            {
                self.put("[]");
            }
            (AttributeValue::None, kind) => match kind.and_then(AttributeValue::implied) {
                Some(value) => self.attribute_content(&value, level),
                None => {
                    let name = of.name.map_or("", |name| self.names.texts.text(name));
                    self.wrong(format!("the attribute `{name}` without a value that a text can have"));
                }
            },
            (value, _) => self.attribute_content(value, level),
        }
    }

    fn attribute_content(&mut self, value: &AttributeValue, level: usize) {
        use AttributeValue as V;
        let brackets = value.kind().is_some_and(|kind| kind.item().is_some());
        self.put(if brackets { "[" } else { "" });
        match value {
            V::None => {}
            V::Float(float) => self.float(*float),
            V::Int(int) => push_int(&mut self.out.text, *int),
            V::String(bytes) => self.bytes(bytes),
            V::Tensor(tensor) => self.tensor(tensor),
            V::Graph(graph) => self.subgraph(graph, level),
            V::Type(ty) => self.ty(ty),
            V::Floats(floats) => {
                self.list(floats, |printer, float| printer.float(*float));
            }
            V::Ints(ints) => self.list(ints, |printer, int| push_int(&mut printer.out.text, *int)),
            V::Strings(strings) => self.list(strings, |printer, bytes| printer.bytes(bytes)),
            V::Tensors(tensors) => self.list(tensors, Self::tensor),
            V::Graphs(graphs) => self.list(graphs, |printer, graph| printer.subgraph(graph, level)),
            V::Types(types) => self.list(types, Self::ty),
        }
        self.put(if brackets { "]" } else { "" });
    }

    fn subgraph(&mut self, graph: &GraphProto, level: usize) {
        let name = graph.name.map_or("", |name| self.names.texts.text(name));
        if !is_identifier(name) || TextParser::is_type(name) || is_special_float(name) {
            self.wrong(format!("the graph `{name}` in an attribute, whose name is not an identifier"));
        }
        self.graph(graph, level);
    }

    fn float(&mut self, value: f32) {
        push_number(&mut self.out.text, value);
        self.lost.nan_bits += usize::from(is_odd(value));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.string(text),
            Err(_) => self.wrong("a string that is not UTF-8".to_owned()),
        }
    }

    fn shape_of(&mut self, tensor: &TensorProto) {
        self.element(tensor.data_type);
        if !tensor.dims.is_empty() {
            self.put("[");
            self.list(&tensor.dims, |printer, extent| push_int(&mut printer.out.text, *extent));
            self.put("]");
        }
        if tensor.dims.iter().any(|extent| *extent < 0) {
            self.wrong("a tensor with a negative extent".to_owned());
        }
    }

    fn initializer(&mut self, of: &TensorProto) {
        self.shape_of(of);
        self.put(" ");
        self.value(of.name.unwrap_or(NameId::ROOT), false);
        self.put(" = ");
        self.data(of);
    }

    /// Prints a tensor in an attribute.
    fn tensor(&mut self, of: &TensorProto) {
        self.shape_of(of);
        if let Some(name) = of.name.filter(|name| *name != NameId::ROOT) {
            self.put(" ");
            self.value(name, false);
        }
        self.put(if of.is_external() { " = " } else { " " });
        self.data(of);
    }

    fn data(&mut self, of: &TensorProto) {
        if of.is_external() {
            return match of.external.is_empty() {
                true => self.wrong("external data without a location".to_owned()),
                false => self.entries(&of.external),
            };
        }
        self.lost.left_out += usize::from(!of.external.is_empty());
        self.put("{");
        match LongConstant::within(of) {
            Some(long) => self.long(long),
            None => match Elements::of(of) {
                Ok(Elements::Strings(strings)) => self.list(&strings, |printer, bytes| printer.bytes(bytes)),
                Ok(numbers) => {
                    push_elements(&mut self.out.text, 0, &numbers);
                    self.lost.nan_bits += odd_nans(&numbers);
                }
                Err(Unread) => self.wrong("a tensor whose elements do not fit its type and shape".to_owned()),
            },
        }
        self.put("}");
    }

    /// Adds a constant whose elements are printed when the text is written. A file that cannot be read is reported by the
    /// document.
    fn long(&mut self, of: LongConstant) {
        if of.is_float() {
            let odd = &mut self.lost.nan_bits;
            let _ = of.elements(0..of.len(), |_, elements| *odd += odd_nans(&elements));
        }
        self.out.push(of);
    }

    fn entries(&mut self, entries: &[StringEntry]) {
        self.put("[");
        self.list(entries, |printer, entry| {
            printer.text(entry.key.as_deref().unwrap_or_default());
            printer.put(": ");
            printer.text(entry.value.as_deref().unwrap_or_default());
        });
        self.put("]");
    }
}
