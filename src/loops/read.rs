//! Networks and inputs from JSON.

use rustc_hash::FxHashMap;

use super::network::{LayerKind, Limit, LoopId, Network, Origin, Output, Type, Use, volume};
use super::ops::{Attributes, Op, ROLES, Wanted};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::source::json::{Json, Member, SyntaxError, Value, parse};
use crate::source::{FileId, Location, Span};
use crate::tensor::json::{shape_of, typed};
use crate::tensor::{DType, MAX_RANK, Tensor};

/// A tensor from a number or nested arrays of numbers.
fn tensor(json: &Json, dtype: DType) -> Result<Tensor, (Span, String)> {
    let tensor = typed(json, dtype)?;
    if volume(tensor.shape()).is_none() { Err((json.at, "the tensor is too large".to_owned())) } else { Ok(tensor) }
}

/// What stopped the reading of a part; it is reported already.
struct Refused;

type Outcome<T> = Result<T, Refused>;

/// Reads a network. What could be read of a broken one is there too.
pub(crate) fn network(text: &str, file: FileId, diagnostics: &mut Diagnostics) -> Option<Network> {
    let json = match parse(text) {
        Ok(json) => json,
        Err(error) => {
            diagnostics.report(syntax(error, file));
            return None;
        }
    };
    let mut net = Network::new("net");
    net.file = file;
    let mut reader = Reader { net, diagnostics, loops: FxHashMap::default() };
    reader.network(&json).ok()?;
    Some(reader.net)
}

/// Reads the values of a network's inputs: an object, name to nested arrays.
pub(crate) fn inputs(
    text: &str,
    file: FileId,
    net: &Network,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<(String, Tensor)>> {
    let json = match parse(text) {
        Ok(json) => json,
        Err(error) => {
            diagnostics.report(syntax(error, file));
            return None;
        }
    };
    let mut wrong = |at: Span, message: String| {
        diagnostics.report(Diagnostic::new(Code::LoopInput, Location::new(file, at), message));
    };
    let Some(members) = json.as_object() else {
        wrong(json.at, format!("expected an object of inputs, not {}", json.kind()));
        return None;
    };
    let mut found = Vec::new();
    let mut complete = true;
    let by_name: FxHashMap<&str, _> = declared(net).collect();
    for Member { key, at, value } in members {
        let Some(declared) = by_name.get(key.as_str()) else {
            let known = declared(net).map(|(name, _)| name);
            let hint = suggest::nearest(key, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            wrong(*at, format!("the network has no input `{key}`{hint}"));
            complete = false;
            continue;
        };
        match tensor(value, declared.dtype) {
            Ok(tensor) => found.push((key.clone(), tensor)),
            Err((at, message)) => {
                wrong(at, format!("input `{key}`: {message}"));
                complete = false;
            }
        }
    }
    complete.then_some(found)
}

/// The inputs of a network with their types.
pub(crate) fn declared(net: &Network) -> impl Iterator<Item = (&str, &Type)> {
    net.inputs.iter().filter_map(|input| match &net.tensors[input.index()].origin {
        Origin::Input(ty) => Some((net.name_of(*input), ty)),
        _ => None,
    })
}

fn syntax(error: SyntaxError, file: FileId) -> Diagnostic {
    let code = if error.depth { Code::TooDeep } else { Code::LoopFormat };
    Diagnostic::new(code, Location::new(file, error.at), error.message)
}

struct Reader<'d> {
    net: Network,
    diagnostics: &'d mut Diagnostics,
    loops: FxHashMap<String, LoopId>,
}

/// The members of the whole, of inputs, of constants.
const PARTS: &[&str] = &["name", "inputs", "constants", "layers", "outputs"];
const INPUT: &[&str] = &["dtype", "shape"];
const CONSTANT: &[&str] = &["dtype", "shape", "data"];
/// Members that every layer may have.
const LAYER: &[&str] = &["op", "name"];
/// The boundary layers and their members.
const BOUNDARY: &[(&str, &[&str])] = &[
    ("trip_limit", &["loop", "kind", "input"]),
    ("iterator", &["loop", "input", "axis", "reverse"]),
    ("recurrence", &["loop", "initial", "next"]),
    ("loop_output", &["loop", "kind", "input", "axis", "length"]),
];
/// Members for remarks, which every object may have.
const REMARKS: &[&str] = &["note", "comment"];

impl Reader<'_> {
    fn wrong<T>(&mut self, at: Span, message: impl Into<String>) -> Outcome<T> {
        self.diagnostics.report(Diagnostic::new(Code::LoopFormat, self.net.location(at), message));
        Err(Refused)
    }

    fn members<'j>(&mut self, json: &'j Json, what: &str) -> Outcome<&'j [Member]> {
        match json.as_object() {
            Some(members) => Ok(members),
            None => self.wrong(json.at, format!("expected {what} as an object, not {}", json.kind())),
        }
    }

    fn items<'j>(&mut self, json: &'j Json, what: &str) -> Outcome<&'j [Json]> {
        match json.as_array() {
            Some(items) => Ok(items),
            None => self.wrong(json.at, format!("expected {what} as an array, not {}", json.kind())),
        }
    }

    /// Warns of members that mean nothing.
    fn only(&mut self, json: &Json, known: &[&[&str]]) {
        let all = || known.iter().flat_map(|names| names.iter().copied());
        for member in json.as_object().unwrap_or_default() {
            if !all().chain(REMARKS.iter().copied()).any(|name| name == member.key) {
                let hint = suggest::did_you_mean(&member.key, all());
                let message = format!("the member `{}` means nothing here", member.key);
                let diagnostic = Diagnostic::new(Code::LoopUnknownMember, self.net.location(member.at), message);
                self.diagnostics.report(diagnostic.help_if(hint));
            }
        }
    }

    fn network(&mut self, json: &Json) -> Outcome<()> {
        self.members(json, "a network")?;
        self.only(json, &[PARTS]);
        if let Some(name) = json.get("name").and_then(Json::as_str) {
            self.net.name = name.to_owned();
        }
        for (part, read) in
            [("inputs", Self::input as fn(&mut Self, &Member) -> Outcome<()>), ("constants", Self::constant)]
        {
            let Some(all) = json.get(part) else { continue };
            if let Ok(members) = self.members(all, part) {
                // What is wrong with one is reported, and the others are read all the same.
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
        match json.get("outputs") {
            Some(outputs) => {
                for output in self.items(outputs, "the outputs")? {
                    let output = self.tensor(output)?;
                    self.net.outputs.push(output);
                }
                if self.net.outputs.is_empty() { self.wrong(outputs.at, "the network has no outputs") } else { Ok(()) }
            }
            None => self.wrong(json.at, "the network has no `outputs`"),
        }
    }

    fn dtype(&mut self, json: &Json, at: Span) -> Outcome<DType> {
        let Some(given) = json.get("dtype") else { return self.wrong(at, "the member `dtype` is missing") };
        self.type_name(given)
    }

    fn type_name(&mut self, given: &Json) -> Outcome<DType> {
        match given.as_str().and_then(DType::from_name) {
            Some(dtype) => Ok(dtype),
            None => {
                let known: Vec<&str> = DType::names().collect();
                self.wrong(given.at, format!("expected a type of elements: {}", known.join(", ")))
            }
        }
    }

    fn input(&mut self, member: &Member) -> Outcome<()> {
        self.members(&member.value, "an input")?;
        self.only(&member.value, &[INPUT]);
        let dtype = self.dtype(&member.value, member.at)?;
        let Some(shape) = member.value.get("shape") else {
            return self.wrong(member.at, "the member `shape` is missing");
        };
        let mut dims = Vec::new();
        for extent in self.items(shape, "a shape")? {
            dims.push(match extent.value {
                Value::Int(-1) | Value::Null => None,
                Value::Int(known) if (0..=1 << 48).contains(&known) => Some(known as usize),
                _ => return self.wrong(extent.at, "expected an extent, or -1 for one that is open"),
            });
        }
        if dims.len() > MAX_RANK {
            return self.wrong(shape.at, format!("a tensor has at most {MAX_RANK} axes"));
        }
        let id = self.net.define(&member.key, Origin::Input(Type { dtype, dims }), member.at);
        self.net.inputs.push(id);
        Ok(())
    }

    fn constant(&mut self, member: &Member) -> Outcome<()> {
        self.members(&member.value, "a constant")?;
        self.only(&member.value, &[CONSTANT]);
        let dtype = self.dtype(&member.value, member.at)?;
        let Some(data) = member.value.get("data") else { return self.wrong(member.at, "the member `data` is missing") };
        let value = match tensor(data, dtype) {
            Ok(value) => value,
            Err((at, message)) => return self.wrong(at, message),
        };
        let value = match member.value.get("shape") {
            None => Some(value),
            Some(shape) => shape_of(shape).and_then(|extents| value.reshaped(&extents).ok()),
        };
        let Some(value) = value else { return self.wrong(data.at, "the data do not fill the shape") };
        self.net.define(&member.key, Origin::Constant(value.into()), member.at);
        Ok(())
    }

    fn layer(&mut self, json: &Json) -> Outcome<()> {
        self.members(json, "a layer")?;
        let op = self.text(json, "op")?;
        let kind = match op {
            "trip_limit" => self.trip_limit(json),
            "iterator" => self.iterator(json),
            "recurrence" => self.recurrence(json),
            "loop_output" => self.loop_output(json),
            _ => self.operation(json, op),
        };
        if let Some((_, members)) = BOUNDARY.iter().find(|(name, _)| *name == op) {
            self.only(json, &[LAYER, members]);
        }
        let (name, at) = match json.get("name") {
            Some(name) if op != "trip_limit" => (Some(self.text(json, "name")?), name.at),
            None if op != "trip_limit" => return self.wrong(json.at, "the layer has no `name`"),
            _ => (None, json.at),
        };
        match (kind, name) {
            (Ok(kind), name) => {
                let place = if name.is_some() { at } else { json.at };
                self.net.push(name, kind, place);
                Ok(())
            }
            // So that what uses it is not reported too.
            (Err(refused), Some(name)) => {
                self.net.tensor(name);
                Err(refused)
            }
            (Err(refused), None) => Err(refused),
        }
    }

    fn text<'j>(&mut self, json: &'j Json, key: &str) -> Outcome<&'j str> {
        match json.get(key) {
            None => self.wrong(json.at, format!("the member `{key}` is missing")),
            Some(value) => match value.as_str() {
                Some(text) => Ok(text),
                None => self.wrong(value.at, format!("expected a string, not {}", value.kind())),
            },
        }
    }

    fn tensor(&mut self, json: &Json) -> Outcome<Use> {
        match json.as_str() {
            Some(name) => Ok(Use { tensor: self.net.tensor(name), at: json.at }),
            None => self.wrong(json.at, format!("expected the name of a tensor, not {}", json.kind())),
        }
    }

    /// A tensor that may be left out, or null.
    fn optional(&mut self, json: &Json, key: &str) -> Outcome<Option<Use>> {
        match json.get(key) {
            None => Ok(None),
            Some(value) if value.value == Value::Null => Ok(None),
            Some(value) => self.tensor(value).map(Some),
        }
    }

    fn required(&mut self, json: &Json, key: &str) -> Outcome<Use> {
        match json.get(key) {
            Some(value) => self.tensor(value),
            None => self.wrong(json.at, format!("the member `{key}` is missing")),
        }
    }

    fn loop_of(&mut self, json: &Json) -> Outcome<LoopId> {
        let name = self.text(json, "loop")?;
        if let Some(&known) = self.loops.get(name) {
            return Ok(known);
        }
        let id = self.net.add_loop(name);
        self.loops.insert(name.to_owned(), id);
        Ok(id)
    }

    /// One of several words.
    fn word<T: Copy>(&mut self, json: &Json, key: &str, words: &[(&str, T)]) -> Outcome<T> {
        let found = self.text(json, key)?;
        match words.iter().find(|(word, _)| *word == found) {
            Some((_, value)) => Ok(*value),
            None => {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                let at = json.get(key).map_or(json.at, |value| value.at);
                self.wrong(at, format!("expected one of {}", known.join(", ")))
            }
        }
    }

    fn axis(&mut self, json: &Json) -> Outcome<i64> {
        match json.get("axis").map(|axis| (&axis.value, axis.at)) {
            None => Ok(0),
            Some((Value::Int(axis), _)) => Ok(*axis),
            Some((_, at)) => self.wrong(at, "expected an axis: an integer"),
        }
    }

    fn trip_limit(&mut self, json: &Json) -> Outcome<LayerKind> {
        let of = self.loop_of(json)?;
        let limit = self.word(json, "kind", &[("count", Limit::Count), ("while", Limit::While)])?;
        Ok(LayerKind::TripLimit { of, limit, input: self.required(json, "input")? })
    }

    fn iterator(&mut self, json: &Json) -> Outcome<LayerKind> {
        let of = self.loop_of(json)?;
        let reverse = match json.get("reverse").map(|reverse| (&reverse.value, reverse.at)) {
            None => false,
            Some((Value::Bool(reverse), _)) => *reverse,
            Some((_, at)) => return self.wrong(at, "expected true or false"),
        };
        Ok(LayerKind::Iterator { of, input: self.required(json, "input")?, axis: self.axis(json)?, reverse })
    }

    fn recurrence(&mut self, json: &Json) -> Outcome<LayerKind> {
        let of = self.loop_of(json)?;
        Ok(LayerKind::Recurrence { of, initial: self.optional(json, "initial")?, next: self.optional(json, "next")? })
    }

    fn loop_output(&mut self, json: &Json) -> Outcome<LayerKind> {
        let of = self.loop_of(json)?;
        let kinds =
            [("last_value", Output::LastValue), ("concatenate", Output::Concatenate), ("reverse", Output::Reverse)];
        let kind = self.word(json, "kind", &kinds)?;
        let input = self.required(json, "input")?;
        Ok(LayerKind::LoopOutput { of, kind, input, axis: self.axis(json)?, length: self.optional(json, "length")? })
    }

    fn operation(&mut self, json: &Json, name: &str) -> Outcome<LayerKind> {
        let Some(op) = Op::find(name) else {
            let at = json.get("op").map_or(json.at, |op| op.at);
            let known = Op::names().chain(BOUNDARY.iter().map(|(name, _)| *name));
            let hint = suggest::nearest(name, known).map(|near| format!("; did you mean `{near}`?"));
            return self.wrong(at, format!("there is no operation `{name}`{}", hint.unwrap_or_default()));
        };
        let Some(given) = json.get("inputs") else { return self.wrong(json.at, "the member `inputs` is missing") };
        let mut inputs = Vec::new();
        for input in self.items(given, "the inputs")? {
            inputs.push(self.tensor(input)?);
        }
        let mut attributes = Attributes::default();
        let mut known: Vec<&str> = vec!["inputs"];
        for (role, wanted, names) in ROLES.iter().filter(|(role, ..)| op.spec().roles.contains(role)) {
            known.extend(*names);
            for value in names.iter().filter_map(|name| json.get(name)).filter(|value| value.value != Value::Null) {
                match wanted {
                    Wanted::Bool => match value.value {
                        Value::Bool(truth) => attributes.set_bool(*role, truth),
                        _ => return self.wrong(value.at, "expected true or false"),
                    },
                    Wanted::Number => match value.value {
                        Value::Int(number) => attributes.set_number(*role, number as f64),
                        Value::Float(number) => attributes.set_number(*role, number),
                        _ => return self.wrong(value.at, "expected a number"),
                    },
                    Wanted::Type => attributes.to = Some(self.type_name(value)?),
                    Wanted::Int | Wanted::Ints => match integers(value) {
                        Some(values) if *wanted == Wanted::Ints || values.len() == 1 => {
                            attributes.set_ints(*role, values);
                        }
                        _ => return self.wrong(value.at, "expected integers"),
                    },
                }
            }
        }
        self.only(json, &[LAYER, &known]);
        Ok(LayerKind::Operation { op, inputs, attributes: Box::new(attributes) })
    }
}

/// An integer or an array of such.
fn integers(json: &Json) -> Option<Vec<i64>> {
    let one = |json: &Json| match json.value {
        Value::Int(int) => Some(int),
        _ => None,
    };
    match json.as_array() {
        Some(items) => items.iter().map(one).collect(),
        None => one(json).map(|int| vec![int]),
    }
}
