//! Models, functions, graphs and nodes.

use super::cursor::is_domain_byte;
use super::marks::NameRole;
use super::parser::{Reported, TextParser, TextResult};
use crate::diagnostics::{Code, PlacePart};
use crate::graph::names::NameId;
use crate::onnx::model::{FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeForm, ValueInfo, Values};
use crate::room;
use crate::source::Span;

impl TextParser<'_> {
    pub(super) fn model(&mut self) -> TextResult<ModelProto> {
        let mut model = ModelProto::default();
        self.model_header(&mut model)?;
        let mut failed = None;
        model.graph = self.part(Self::graph, &mut failed)?;
        while self.cursor.at_identifier() || matches!(self.cursor.byte(), b'<' | b'"') {
            let function = self.part(Self::function, &mut failed)?;
            model.functions.extend(function);
        }
        failed.map_or(Ok(model), Err)
    }

    /// Reads the graph or a function of a model. If its body has errors but was read to its end, what follows is read,
    /// too, and the model has failed.
    fn part<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> TextResult<T>,
        failed: &mut Option<Reported>,
    ) -> TextResult<Option<T>> {
        let start = self.cursor.at;
        match self.nested(1, read) {
            Ok(part) => Ok(Some(part)),
            Err(reported) => {
                let read = self.cursor.text().get(start..self.cursor.at).unwrap_or_default();
                if !read.trim_end().ends_with('}') {
                    return Err(reported);
                }
                *failed = Some(reported);
                Ok(None)
            }
        }
    }

    /// Reads a function: a header, its name, attributes, parameters, results, types of values, and a body.
    pub(super) fn function(&mut self) -> TextResult<FunctionProto> {
        let mut function = FunctionProto { at: self.start(), ..FunctionProto::default() };
        self.function_header(&mut function)?;
        let start = self.start();
        let name = self.name("the name of a function")?;
        function.name = Some(name);
        self.open_scope(true, function.at, start);
        let span = Span::new(start, self.cursor.at as u32);
        self.mark_of(span, (NameRole::Function, None), function.domain, name);
        self.parameters(&mut function)?;
        let input = |i| (NameRole::Definition, Some(PlacePart::Input(i)));
        function.inputs = self.function_values(&mut function.value_info, input)?;
        self.arrow()?;
        let output = |i| (NameRole::Use, Some(PlacePart::Output(i)));
        function.outputs = self.function_values(&mut function.value_info, output)?;
        if self.cursor.eat(b'<') && !self.cursor.eat(b'>') {
            self.list(b'>', "`>` or `,`", |parser| {
                let value = parser.value_info()?;
                function.value_info.push(value);
                Ok(())
            })?;
        }
        function.nodes = self.nodes()?;
        self.close_scope();
        Ok(function)
    }

    fn start(&mut self) -> u32 {
        self.cursor.skip();
        self.cursor.at as u32
    }

    fn arrow(&mut self) -> TextResult<()> {
        match self.cursor.eat_arrow() {
            true => Ok(()),
            false => Err(self.unexpected("`=>`")),
        }
    }

    /// Reads the parameters or results of a function. Those with a type are added to `typed`.
    fn function_values(
        &mut self,
        typed: &mut Vec<ValueInfo>,
        role: fn(usize) -> (NameRole, Option<PlacePart>),
    ) -> TextResult<Vec<NameId>> {
        let mut values = Vec::new();
        self.expect(b'(', "`(`")?;
        if !self.cursor.eat(b')') {
            self.list(b')', "`)` or `,`", |parser| {
                let value = parser.value_info()?;
                parser.mark_again(role(values.len()));
                values.extend(value.name);
                typed.extend(value.ty.is_some().then_some(value));
                Ok(())
            })?;
        }
        Ok(values)
    }

    /// Reads a graph: its name, inputs, outputs, types and initializers, and nodes.
    pub(super) fn graph(&mut self) -> TextResult<GraphProto> {
        let start = self.start();
        let mut graph = GraphProto { name: Some(self.name("the name of a graph")?), ..GraphProto::default() };
        self.open_scope(false, start, start);
        if self.cursor.peek() == b'(' {
            self.inputs(&mut graph)?;
        }
        self.arrow()?;
        self.expect(b'(', "`(`")?;
        if !self.cursor.eat(b')') {
            self.list(b')', "`)` or `,`", |parser| {
                let output = parser.value_info()?;
                parser.mark_again((NameRole::Use, Some(PlacePart::Output(graph.outputs.len()))));
                graph.outputs.push(output);
                Ok(())
            })?;
        }
        if self.cursor.eat(b'<') && !self.cursor.eat(b'>') {
            self.list(b'>', "`>` or `,`", |parser| {
                let (value, is_initializer) = parser.value_or_initializer(&mut graph, (NameRole::Use, None))?;
                graph.value_info.extend((!is_initializer).then_some(value));
                Ok(())
            })?;
        }
        graph.nodes = self.nodes()?;
        self.close_scope();
        Ok(graph)
    }

    fn inputs(&mut self, graph: &mut GraphProto) -> TextResult<()> {
        self.cursor.at += 1;
        if self.cursor.eat(b')') {
            return Ok(());
        }
        self.list(b')', "`)` or `,`", |parser| {
            let role = (NameRole::Definition, Some(PlacePart::Input(graph.inputs.len())));
            let (input, _) = parser.value_or_initializer(graph, role)?;
            graph.inputs.push(input);
            Ok(())
        })
    }

    /// Reads a value, which is an initializer if it is followed by data. Returns whether it is.
    fn value_or_initializer(
        &mut self,
        graph: &mut GraphProto,
        role: (NameRole, Option<PlacePart>),
    ) -> TextResult<(ValueInfo, bool)> {
        let start = self.start();
        let value = self.value_info()?;
        let is_initializer = self.cursor.peek() == b'=';
        let initializer = (NameRole::Definition, Some(PlacePart::Initializer(graph.initializers.len())));
        self.mark_again(if is_initializer { initializer } else { role });
        let span = Span::new(start, self.cursor.at as u32);
        if !is_initializer {
            return Ok((value, false));
        }
        self.cursor.at += 1;
        let Some(TypeForm::Tensor(ty)) = value.ty.as_ref().map(|ty| &ty.form) else {
            return Err(self.report(
                Code::OnnxInitializer,
                span,
                "only a tensor has data, and its type must be written",
            ));
        };
        let tensor = self.tensor_data(ty, span)?;
        graph.initializers.push(TensorProto { name: value.name, ..tensor });
        Ok((value, true))
    }

    /// Reads nodes in braces. After an error in a node, the following nodes are read.
    fn nodes(&mut self) -> TextResult<Vec<NodeProto>> {
        let mut nodes = Vec::new();
        self.expect(b'{', "`{`")?;
        let mut failed = None;
        while !self.cursor.eat(b'}') {
            let first = nodes.is_empty();
            room::push(&mut nodes, NodeProto { at: self.start(), ..NodeProto::default() });
            let index = nodes.len() - 1;
            let Some(node) = nodes.last_mut() else { continue };
            let marked = self.mark_node(index);
            match self.nested(1, |parser| parser.node(node, first)) {
                Ok(()) => self.mark_read(marked),
                Err(reported) => {
                    nodes.pop();
                    failed = Some(reported);
                    let goes_on = self.recover();
                    self.mark_failed(marked);
                    if !goes_on {
                        return Err(reported);
                    }
                }
            }
        }
        failed.map_or(Ok(nodes), Err)
    }

    /// Reads a single node.
    pub(super) fn single_node(&mut self) -> TextResult<NodeProto> {
        let mut node = NodeProto { at: self.start(), ..NodeProto::default() };
        self.node(&mut node, true).map(|()| node)
    }

    /// Reads a node: `[label] y, z = domain.Op:overload <attributes> (x, "")`. Attributes may be before or
    /// after the operands.
    fn node(&mut self, node: &mut NodeProto, first: bool) -> TextResult<()> {
        if self.cursor.eat(b'[') {
            let name = if self.cursor.peek() == b']' { self.names.texts.intern("") } else { self.name("a name")? };
            node.name = Some(self.names.value(name));
            self.expect(b']', "`]`")?;
        } else if !first && self.cursor.peek() == b',' {
            let span = Span::new(node.at, node.at + 1);
            let message = "a comma before a node means that its first result has no name";
            self.report(Code::OnnxComma, span, message);
        }
        node.outputs = self.operands(|i| (NameRole::Definition, Some(PlacePart::Result(i))))?;
        self.expect(b'=', "`=`")?;
        self.operation(node)?;
        let before = self.attributes(&mut node.attributes)?;
        self.expect(b'(', if before { "`(`" } else { "`(` or `<`" })?;
        node.inputs = self.operands(|i| (NameRole::Use, Some(PlacePart::Operand(i))))?;
        self.expect(b')', "`)` or `,`")?;
        self.mark_node_end();
        if !before && self.attributes(&mut node.attributes)? {
            self.mark_node_end();
        }
        Ok(())
    }

    /// Reads names separated by commas. A missing name means an omitted operand, unless it is the last one.
    fn operands(&mut self, role: fn(usize) -> (NameRole, Option<PlacePart>)) -> TextResult<Values> {
        let mut values = Values::new();
        loop {
            match self.cursor.peek() {
                b',' => values.push(NameId::ROOT),
                b'A'..=b'Z' | b'a'..=b'z' | b'_' => {
                    let start = self.cursor.at;
                    let (name, end) = self.names.texts.intern_word(self.cursor.text(), start);
                    self.cursor.at = end;
                    self.mark(start as u32, role(values.len()), name);
                    values.push(self.names.value(name));
                }
                b'"' => {
                    let start = self.cursor.at as u32;
                    let name = self.name("a name")?;
                    self.mark(start, role(values.len()), name);
                    values.push(self.names.value(name));
                }
                _ => return Ok(values),
            }
            if !self.cursor.eat(b',') {
                return Ok(values);
            }
        }
    }

    /// Reads domain, operator and overload of a node: names separated by points, where the last one is the
    /// operator and the others are the domain, and an optional overload.
    fn operation(&mut self, node: &mut NodeProto) -> TextResult<()> {
        let start = self.start() as usize;
        let (mut name, mut domain_end) = (None, None);
        let mut last;
        loop {
            let start = self.start();
            if !self.other_part() {
                let expected = if domain_end.is_none() { "the name of an operation" } else { "a name" };
                name = Some(self.identifier(expected)?);
            }
            last = Span::new(start, self.cursor.at as u32);
            if !self.cursor.eat(b'.') {
                break;
            }
            domain_end = Some(self.cursor.at - 1);
        }
        node.domain = Some(match domain_end {
            None => self.names.standard_domain(),
            Some(end) => {
                let domain = self.without_blanks(start, end);
                self.names.texts.intern(&domain)
            }
        });
        node.op_type = name;
        if let Some(name) = name {
            self.mark_of(last, (NameRole::Operator, None), node.domain, name);
        }
        if self.cursor.eat(b':') {
            node.overload = Some(self.identifier("the name of an overload")?);
        }
        Ok(())
    }

    /// Consumes a part of a domain that is not an identifier, if it is next. Exporters put versions into domains; other
    /// readers refuse them.
    fn other_part(&mut self) -> bool {
        let start = self.start();
        let word = self.cursor.identifier();
        let rest = &self.cursor.text().as_bytes()[start as usize..];
        if !word.is_empty() && !rest.get(word.len()).is_some_and(|byte| is_domain_byte(*byte)) {
            return false;
        }
        let len = rest.iter().position(|byte| !is_domain_byte(*byte)).unwrap_or(rest.len());
        if len == 0 || rest.get(len) != Some(&b'.') {
            return false;
        }
        self.cursor.at += len;
        let span = Span::new(start, self.cursor.at as u32);
        self.report(Code::OnnxDomain, span, "parts of a domain that are not identifiers are not in the grammar");
        true
    }

    /// A part of the text without white space and comments.
    fn without_blanks(&self, start: usize, end: usize) -> String {
        let piece = &self.cursor.text()[start..end];
        let lines = piece.lines().map(|line| line.split('#').next().unwrap_or_default());
        lines.flat_map(|line| line.chars()).filter(|c| !c.is_ascii_whitespace()).collect()
    }
}
