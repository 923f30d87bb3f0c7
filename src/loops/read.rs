//! Reads networks and inputs from JSON.

use std::fmt::Display;

use rustc_hash::FxHashMap;

use super::network::{LayerKind, LimitKind, LoopId, Network, OutputKind, StaticType, TensorSource, Use, volume};
use super::ops::{Attributes, Field, Op};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::source::json::{Json, JsonValue, Member, SyntaxError, parse};
use crate::source::{FileId, Location, Span};
use crate::tensor::json::{shape_of, typed};
use crate::tensor::{DType, MAX_RANK, Tensor};

/// Reads a tensor from a number or nested arrays of numbers.
fn tensor(json: &Json, dtype: DType) -> Result<Tensor, (Span, String)> {
    let tensor = typed(json, dtype)?;
    if volume(tensor.shape()).is_none() { Err((json.at, "the tensor is too large".to_owned())) } else { Ok(tensor) }
}

/// The error of a part that could not be read; it has been reported.
struct ReportedError;

type ReadResult<T> = Result<T, ReportedError>;

/// Reads a text as JSON.
fn json(text: &str, file: FileId, diagnostics: &mut Diagnostics) -> Option<Json> {
    let report = |error: SyntaxError| {
        let code = if error.depth { Code::TooDeep } else { Code::LoopFormat };
        diagnostics.report(Diagnostic::new(code, Location::new(file, error.at), error.message));
    };
    parse(text).map_err(report).ok()
}

/// Reads a network; parts with errors are left out.
pub(crate) fn network(text: &str, file: FileId, diagnostics: &mut Diagnostics) -> Option<Network> {
    let json = json(text, file, diagnostics)?;
    let mut net = Network::new("net");
    net.file = file;
    let mut reader = NetworkReader { net, diagnostics, loops: FxHashMap::default() };
    reader.network(&json).ok()?;
    Some(reader.net)
}

/// Reads the values of a network's inputs: an object that maps names to nested arrays.
pub(crate) fn inputs(
    text: &str,
    file: FileId,
    net: &Network,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<(String, Tensor)>> {
    let json = json(text, file, diagnostics)?;
    let mut wrong = Vec::new();
    let mut found = Vec::new();
    let by_name: FxHashMap<&str, _> = net.declared().map(|(input, ty)| (net.name_of(input), ty)).collect();
    for Member { key, at, value } in json.as_object().unwrap_or_default() {
        let Some(declared) = by_name.get(key.as_str()) else {
            let known: Vec<&str> = net.declared().map(|(input, _)| net.name_of(input)).collect();
            wrong.push((*at, suggest::no_input("network", key, &known)));
            continue;
        };
        match tensor(value, declared.dtype) {
            Ok(tensor) => found.push((key.clone(), tensor)),
            Err((at, message)) => wrong.push((at, format!("input `{key}`: {message}"))),
        }
    }
    if json.as_object().is_none() {
        wrong.push((json.at, format!("expected an object of inputs, not {}", json.kind())));
    }
    let complete = wrong.is_empty();
    for (at, message) in wrong {
        diagnostics.report(Diagnostic::new(Code::LoopInput, Location::new(file, at), message));
    }
    complete.then_some(found)
}

struct NetworkReader<'d> {
    net: Network,
    diagnostics: &'d mut Diagnostics,
    loops: FxHashMap<String, LoopId>,
}

/// The members of the network, an input, a constant, and of every layer.
const PARTS: &[&str] = &["name", "inputs", "constants", "layers", "outputs"];
const INPUT: &[&str] = &["dtype", "shape"];
const CONSTANT: &[&str] = &["dtype", "shape", "data"];
const LAYER: &[&str] = &["op", "name"];
/// Members with comments, which every object may have.
const REMARKS: &[&str] = &["note", "comment"];

/// Reads the kind of a boundary layer.
type Boundary = fn(&mut NetworkReader, LoopId, &Json) -> ReadResult<LayerKind>;

/// The boundary layers and their members.
const BOUNDARY: &[(&str, &[&str], Boundary)] = &[
    ("trip_limit", &["loop", "kind", "input"], |reader, of, json| reader.trip_limit(of, json)),
    ("iterator", &["loop", "input", "axis", "reverse"], |reader, of, json| reader.iterator(of, json)),
    ("recurrence", &["loop", "initial", "next"], |reader, of, json| reader.recurrence(of, json)),
    ("loop_output", &["loop", "kind", "input", "axis", "length"], |reader, of, json| reader.loop_output(of, json)),
];

impl NetworkReader<'_> {
    fn wrong<T>(&mut self, at: Span, message: impl Into<String>) -> ReadResult<T> {
        self.diagnostics.report(Diagnostic::new(Code::LoopFormat, self.net.location(at), message));
        Err(ReportedError)
    }

    /// Returns `found`, or reports what was expected.
    fn expect<T>(&mut self, json: &Json, found: Option<T>, expected: impl Display) -> ReadResult<T> {
        found.map_or_else(|| self.wrong(json.at, format!("expected {expected}")), Ok)
    }

    /// Like [`Self::expect`]; the message also has the kind of the value.
    fn expect_kind<T>(&mut self, json: &Json, found: Option<T>, expected: impl Display) -> ReadResult<T> {
        self.expect(json, found, format_args!("{expected}, not {}", json.kind()))
    }

    fn members<'j>(&mut self, json: &'j Json, what: &str) -> ReadResult<&'j [Member]> {
        self.expect_kind(json, json.as_object(), format_args!("{what} as an object"))
    }

    fn items<'j>(&mut self, json: &'j Json, what: &str) -> ReadResult<&'j [Json]> {
        self.expect_kind(json, json.as_array(), format_args!("{what} as an array"))
    }

    /// A required member.
    fn member<'j>(&mut self, json: &'j Json, key: &str, at: Span) -> ReadResult<&'j Json> {
        json.get(key).map_or_else(|| self.wrong(at, format!("the member `{key}` is missing")), Ok)
    }

    fn text<'j>(&mut self, json: &'j Json, key: &str) -> ReadResult<&'j str> {
        let value = self.member(json, key, json.at)?;
        self.expect_kind(value, value.as_str(), "a string")
    }

    /// The value of a member that is one of several words.
    fn word<T: Copy>(&mut self, json: &Json, key: &str, words: &[(&str, T)]) -> ReadResult<T> {
        let found = self.text(json, key)?;
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let value = words.iter().find(|(word, _)| *word == found).map(|(_, value)| *value);
        let place = json.get(key).unwrap_or(json);
        self.expect(place, value, format_args!("one of {}", known.join(", ")))
    }

    fn tensor(&mut self, json: &Json) -> ReadResult<Use> {
        let name = self.expect_kind(json, json.as_str(), "the name of a tensor")?;
        Ok(Use { tensor: self.net.tensor(name), at: json.at })
    }

    fn required(&mut self, json: &Json, key: &str) -> ReadResult<Use> {
        let value = self.member(json, key, json.at)?;
        self.tensor(value)
    }

    /// A tensor in a member that may be missing or null.
    fn optional(&mut self, json: &Json, key: &str) -> ReadResult<Option<Use>> {
        json.get(key).filter(|value| value.value != JsonValue::Null).map(|value| self.tensor(value)).transpose()
    }

    fn axis(&mut self, json: &Json) -> ReadResult<i64> {
        let Some(axis) = json.get("axis") else { return Ok(0) };
        self.expect(axis, integer(axis), "an axis: an integer")
    }

    fn type_name(&mut self, json: &Json) -> ReadResult<DType> {
        let known: Vec<&str> = DType::names().collect();
        let dtype = json.as_str().and_then(DType::from_name);
        self.expect(json, dtype, format_args!("a type of elements: {}", known.join(", ")))
    }

    /// Reports unknown members.
    fn only(&mut self, json: &Json, known: &[&[&str]]) {
        let all = || known.iter().flat_map(|names| names.iter().copied());
        for member in json.as_object().unwrap_or_default() {
            if !all().chain(REMARKS.iter().copied()).any(|name| name == member.key) {
                let hint = suggest::did_you_mean(&member.key, all());
                let message = format!("unknown member `{}`", member.key);
                let diagnostic = Diagnostic::new(Code::LoopUnknownMember, self.net.location(member.at), message);
                self.diagnostics.report(diagnostic.help_if(hint));
            }
        }
    }

    fn network(&mut self, json: &Json) -> ReadResult<()> {
        self.members(json, "a network")?;
        self.only(json, &[PARTS]);
        if let Some(name) = json.get("name").and_then(Json::as_str) {
            self.net.name = name.to_owned();
        }
        for (part, read) in
            [("inputs", Self::input as fn(&mut Self, &Member) -> ReadResult<()>), ("constants", Self::constant)]
        {
            let Some(all) = json.get(part) else { continue };
            if let Ok(members) = self.members(all, part) {
                // Errors are reported; the other members are still read.
                members.iter().for_each(|member| drop(read(self, member)));
            }
        }
        match json.get("layers") {
            Some(layers) => {
                if let Ok(items) = self.items(layers, "the layers") {
                    items.iter().for_each(|layer| drop(self.layer(layer)));
                }
            }
            None => drop(self.wrong::<()>(json.at, "the network has no `layers`")),
        }
        let Some(outputs) = json.get("outputs") else { return self.wrong(json.at, "the network has no `outputs`") };
        let items = self.items(outputs, "the outputs")?;
        self.net.outputs = items.iter().map(|output| self.tensor(output)).collect::<ReadResult<_>>()?;
        if self.net.outputs.is_empty() { self.wrong(outputs.at, "the network has no outputs") } else { Ok(()) }
    }

    /// Checks the members of an input or a constant, and reads its element type.
    fn dtype(&mut self, Member { at, value, .. }: &Member, what: &str, known: &[&str]) -> ReadResult<DType> {
        self.members(value, what)?;
        self.only(value, &[known]);
        let dtype = self.member(value, "dtype", *at)?;
        self.type_name(dtype)
    }

    fn input(&mut self, member: &Member) -> ReadResult<()> {
        let dtype = self.dtype(member, "an input", INPUT)?;
        let shape = self.member(&member.value, "shape", member.at)?;
        let extent = |json: &Json| match json.value {
            JsonValue::Int(-1) | JsonValue::Null => Some(None),
            JsonValue::Int(known) if (0..=1 << 48).contains(&known) => Some(Some(known as usize)),
            _ => None,
        };
        let expected = "an extent, or -1 for one that is open";
        let items = self.items(shape, "a shape")?.iter();
        let dims: Vec<_> = items.map(|json| self.expect(json, extent(json), expected)).collect::<ReadResult<_>>()?;
        if dims.len() > MAX_RANK {
            return self.wrong(shape.at, format!("a tensor has at most {MAX_RANK} axes"));
        }
        let id = self.net.define(&member.key, TensorSource::Input(StaticType { dtype, dims }), member.at);
        self.net.inputs.push(id);
        Ok(())
    }

    fn constant(&mut self, member: &Member) -> ReadResult<()> {
        let dtype = self.dtype(member, "a constant", CONSTANT)?;
        let data = self.member(&member.value, "data", member.at)?;
        let value = tensor(data, dtype).or_else(|(at, message)| self.wrong(at, message))?;
        let value = match member.value.get("shape") {
            None => Some(value),
            Some(shape) => shape_of(shape).and_then(|extents| value.reshaped(&extents).ok()),
        };
        let Some(value) = value else { return self.wrong(data.at, "the data do not fill the shape") };
        self.net.define(&member.key, TensorSource::Constant(value.into()), member.at);
        Ok(())
    }

    fn layer(&mut self, json: &Json) -> ReadResult<()> {
        self.members(json, "a layer")?;
        let op = self.text(json, "op")?;
        let kind = match BOUNDARY.iter().find(|(name, ..)| *name == op) {
            Some((_, members, read)) => {
                let kind = self.loop_of(json).and_then(|of| read(self, of, json));
                self.only(json, &[LAYER, members]);
                kind
            }
            None => self.operation(json, op),
        };
        let (name, at) = match json.get("name") {
            _ if op == "trip_limit" => (None, json.at),
            Some(name) => (Some(self.text(json, "name")?), name.at),
            None => return self.wrong(json.at, "the layer has no `name`"),
        };
        match kind {
            Ok(kind) => drop(self.net.push(name, kind, at)),
            Err(refused) => {
                // Keeps the name of the layer's result, as an undefined tensor.
                name.map(|name| self.net.tensor(name));
                return Err(refused);
            }
        }
        Ok(())
    }

    fn loop_of(&mut self, json: &Json) -> ReadResult<LoopId> {
        let name = self.text(json, "loop")?;
        Ok(*self.loops.entry(name.to_owned()).or_insert_with(|| self.net.add_loop(name)))
    }

    fn trip_limit(&mut self, of: LoopId, json: &Json) -> ReadResult<LayerKind> {
        let limit = self.word(json, "kind", &[("count", LimitKind::Count), ("while", LimitKind::While)])?;
        Ok(LayerKind::TripLimit { of, limit, input: self.required(json, "input")? })
    }

    fn iterator(&mut self, of: LoopId, json: &Json) -> ReadResult<LayerKind> {
        let reverse = match json.get("reverse") {
            None => false,
            Some(reverse) => self.expect(reverse, truth(reverse), "true or false")?,
        };
        Ok(LayerKind::Iterator { of, input: self.required(json, "input")?, axis: self.axis(json)?, reverse })
    }

    fn recurrence(&mut self, of: LoopId, json: &Json) -> ReadResult<LayerKind> {
        Ok(LayerKind::Recurrence { of, initial: self.optional(json, "initial")?, next: self.optional(json, "next")? })
    }

    fn loop_output(&mut self, of: LoopId, json: &Json) -> ReadResult<LayerKind> {
        let kinds = [
            ("last_value", OutputKind::LastValue),
            ("concatenate", OutputKind::Concatenate),
            ("reverse", OutputKind::Reverse),
        ];
        let kind = self.word(json, "kind", &kinds)?;
        let input = self.required(json, "input")?;
        Ok(LayerKind::LoopOutput { of, kind, input, axis: self.axis(json)?, length: self.optional(json, "length")? })
    }

    fn operation(&mut self, json: &Json, name: &str) -> ReadResult<LayerKind> {
        let Some(op) = Op::find(name) else {
            let at = json.get("op").map_or(json.at, |op| op.at);
            let known = Op::names().chain(BOUNDARY.iter().map(|(name, ..)| *name));
            let hint = suggest::nearest(name, known).map(|near| format!("; did you mean `{near}`?"));
            return self.wrong(at, format!("unknown operation `{name}`{}", hint.unwrap_or_default()));
        };
        let given = self.member(json, "inputs", json.at)?;
        let items = self.items(given, "the inputs")?;
        let inputs = items.iter().map(|input| self.tensor(input)).collect::<ReadResult<_>>()?;
        let mut attributes = Attributes::default();
        let mut known: Vec<&str> = vec!["inputs"];
        for (names, field) in op.spec().attributes {
            known.extend(*names);
            for value in names.iter().filter_map(|name| json.get(name)).filter(|value| value.value != JsonValue::Null) {
                self.attribute(*field, value, &mut attributes)?;
            }
        }
        self.only(json, &[LAYER, &known]);
        Ok(LayerKind::Operation { op, inputs, attributes: Box::new(attributes) })
    }

    /// Reads the value of an attribute into its field.
    fn attribute(&mut self, field: Field, json: &Json, to: &mut Attributes) -> ReadResult<()> {
        match field {
            Field::Bool(field) => *field(to) = self.expect(json, truth(json), "true or false")?,
            Field::Number(field) => *field(to) = Some(self.expect(json, number(json), "a number")?),
            Field::Type(field) => *field(to) = Some(self.type_name(json)?),
            Field::Ints(field) => *field(to) = Some(self.expect(json, integers(json), "integers")?),
            Field::Int(field) => {
                let single = integers(json).filter(|integers| integers.len() == 1);
                *field(to) = self.expect(json, single, "integers")?.pop();
            }
        }
        Ok(())
    }
}

fn truth(json: &Json) -> Option<bool> {
    if let JsonValue::Bool(truth) = json.value { Some(truth) } else { None }
}

fn integer(json: &Json) -> Option<i64> {
    if let JsonValue::Int(integer) = json.value { Some(integer) } else { None }
}

/// An integer or a float.
fn number(json: &Json) -> Option<f64> {
    match json.value {
        JsonValue::Int(number) => Some(number as f64),
        JsonValue::Float(number) => Some(number),
        _ => None,
    }
}

/// An integer or an array of integers.
fn integers(json: &Json) -> Option<Vec<i64>> {
    match json.as_array() {
        Some(items) => items.iter().map(integer).collect(),
        None => integer(json).map(|int| vec![int]),
    }
}
