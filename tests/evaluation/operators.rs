//! Operators of ONNX: what they compute, with which types and shapes, and that no translation changes it.
//!
//! `tests/operators/README.md` describes the models and where their results come from. With `UPDATE_SNAPSHOTS=1` in the
//! environment, the files of `tests/operators/limits` are rewritten: what is not known of a model, and which models have no
//! translation.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::common::command::fast::feed;
use crate::common::command::{has_variables, printed, stderr, told};
use crate::common::near;
use crate::common::operators::text_of;
use nnef_flatten::diagnostics::Severity;
use nnef_flatten::graph::Extent;
use nnef_flatten::input::{Given, Input, Refusal};
use nnef_flatten::tensor::{DType, Data, SmallInt, Tensor};
use nnef_flatten::{Lower, Options, open};
use serde_json::Value;

type Tensors = BTreeMap<String, Tensor>;

struct Model {
    text: String,
    inputs: Tensors,
    outputs: Tensors,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/operators")
}

fn items<T>(data: &[Value], item: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    data.iter().map(|value| item(value).unwrap()).collect()
}

/// A number, or the name of one that JSON does not have.
fn float(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn small(integer: SmallInt, data: &[Value]) -> Data {
    Data::Small(integer, items(data, |value| i32::try_from(value.as_i64()?).ok()))
}

fn tensor(form: &Value) -> Tensor {
    let data = form["data"].as_array().unwrap();
    let data = match form["dtype"].as_str().unwrap() {
        "float32" => Data::Float32(items(data, |value| float(value).map(|x| x as f32))),
        "float64" => Data::Float64(items(data, float)),
        "float16" => {
            let DType::Narrow(format) = DType::FLOAT16 else { panic!("float16 is a narrow float") };
            Data::Narrow(format, items(data, |value| float(value).map(|x| x as f32)))
        }
        "int64" => Data::Int64(items(data, Value::as_i64)),
        "int32" => Data::Int32(items(data, |value| i32::try_from(value.as_i64()?).ok())),
        "uint8" => small(SmallInt::Uint8, data),
        "uint16" => small(SmallInt::Uint16, data),
        "uint32" => Data::Uint32(items(data, |value| u32::try_from(value.as_u64()?).ok())),
        "uint64" => Data::Uint64(items(data, Value::as_u64)),
        "int8" => small(SmallInt::Int8, data),
        "int16" => small(SmallInt::Int16, data),
        "bool" => Data::Bool(items(data, Value::as_bool)),
        "string" => Data::Text(items(data, |value| value.as_str().map(Into::into))),
        other => panic!("{other}"),
    };
    let shape: Vec<usize> = items(form["shape"].as_array().unwrap(), |extent| usize::try_from(extent.as_u64()?).ok());
    Tensor::new(&shape, data).unwrap()
}

fn tensors(form: &Value) -> Tensors {
    form.as_object().unwrap().iter().map(|(name, form)| (name.clone(), tensor(form))).collect()
}

/// All models, by name.
fn models() -> &'static BTreeMap<String, Model> {
    static MODELS: OnceLock<BTreeMap<String, Model>> = OnceLock::new();
    MODELS.get_or_init(|| {
        let expected: Value =
            serde_json::from_str(&std::fs::read_to_string(folder().join("expected.json")).unwrap()).unwrap();
        let mut texts: Vec<String> = Vec::new();
        for entry in std::fs::read_dir(folder()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "txt") {
                continue;
            }
            for line in std::fs::read_to_string(path).unwrap().lines() {
                match line.starts_with(' ') {
                    true => *texts.last_mut().unwrap() += &format!("\n{line}"),
                    false => texts.push(line.to_owned()),
                }
            }
        }
        let model = |line: &String| {
            let (head, graph) = line.split_once(": ").unwrap();
            let (name, sets) = head.split_once(' ').unwrap();
            let case = &expected[name];
            let (inputs, outputs) = (tensors(&case["inputs"]), tensors(&case["outputs"]));
            (name.to_owned(), Model { text: text_of(sets, graph), inputs, outputs })
        };
        let models: BTreeMap<String, Model> = texts.iter().map(model).collect();
        assert_eq!(models.len(), expected.as_object().unwrap().len());
        models
    })
}

impl Model {
    fn opened(&self, options: &Options) -> Input {
        open(Given::from(("model", self.text.as_str())).notation("onnxtxt"), options).unwrap()
    }

    fn evaluated(&self, input: Input) -> Result<Tensors, Refusal> {
        let inputs: Vec<(String, Tensor)> = self.inputs.clone().into_iter().collect();
        Ok(input.evaluate(&inputs)?.0.into_iter().collect())
    }

    /// The difference of outputs to those that are expected.
    fn difference(&self, outputs: Result<Tensors, Refusal>) -> Option<String> {
        let outputs = match outputs {
            Ok(outputs) => outputs,
            Err(refusal) => return Some(told(&refusal)),
        };
        if outputs.keys().ne(self.outputs.keys()) {
            return Some(format!("the outputs are {:?}", outputs.keys()));
        }
        self.outputs.iter().find_map(|(name, wanted)| {
            let found = &outputs[name];
            (!close(found, wanted)).then(|| format!("{name} is {found:?}\nright is {wanted:?}"))
        })
    }

    /// [`Self::difference`], or other element types, which NNEF has fewer of.
    fn typed_difference(&self, outputs: Result<Tensors, Refusal>) -> Option<String> {
        let types = |outputs: &Tensors| outputs.values().map(Tensor::dtype).collect::<Vec<_>>();
        match &outputs {
            Ok(outputs) if types(outputs) != types(&self.outputs) => {
                Some(format!("the types are {:?}", types(outputs)))
            }
            _ => self.difference(outputs),
        }
    }
}

/// Whether tensors are equal, floats up to the order of sums in 32 bits.
fn close(found: &Tensor, wanted: &Tensor) -> bool {
    if found.shape() != wanted.shape() {
        return false;
    }
    if matches!(wanted.data(), Data::Text(_)) {
        return found.data() == wanted.data();
    }
    if !wanted.dtype().name().starts_with("float") {
        return found.to_scalars().into_iter().zip(wanted.to_scalars()).all(|(a, b)| near(a, b, 0.0));
    }
    let scale = wanted.to_scalars().into_iter().filter(|x| x.is_finite()).fold(0.0, |most: f64, x| most.max(x.abs()));
    let least = (scale * 1e-5).max(1e-5);
    found.to_scalars().into_iter().zip(wanted.to_scalars()).all(|(a, b)| near(a, b, least.max(b.abs() * 1e-4)))
}

/// Holds all models to a rule, which returns what is wrong.
fn all(mut rule: impl FnMut(&str, &Model) -> Option<String>) {
    let wrong: Vec<String> =
        models().iter().filter_map(|(name, model)| Some(format!("{name}: {}", rule(name, model)?))).collect();
    assert!(wrong.is_empty(), "{} models:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_evaluator_has_the_results_of_onnxruntime() {
    all(|_, model| model.typed_difference(model.evaluated(model.opened(&Options::default()))));
}

#[test]
fn expanding_standard_functions_changes_no_result() {
    let lowering = |lower: Lower| Options::default().with(|options| options.lower = lower);
    let (options, none, mut expanded) = (lowering(Lower::All), lowering(Lower::None), 0);
    all(|_, model| {
        let lowered = match printed(model.opened(&options), "onnx") {
            Ok(lowered) => lowered,
            Err(refusal) => return Some(told(&refusal)),
        };
        expanded += usize::from(printed(model.opened(&none), "onnx").is_ok_and(|kept| kept != lowered));
        model.typed_difference(model.evaluated(open(("lowered", lowered), &Options::default()).unwrap()))
    });
    assert!(expanded > 60, "only {expanded} models have functions");
}

#[test]
fn folding_of_inputs_that_are_bound_changes_no_result() {
    all(|_, model| {
        let bound = model
            .inputs
            .iter()
            .fold(model.opened(&Options::default()).fold(true), |input, (name, value)| input.bind(name, value.clone()));
        let folded = match printed(bound, "onnx") {
            Ok(folded) => folded,
            Err(refusal) => return Some(told(&refusal)),
        };
        let outputs = open(("folded", folded), &Options::default()).unwrap().evaluate(&[]);
        model.typed_difference(outputs.map(|(outputs, _)| outputs.into_iter().collect()))
    });
}

/// The inputs, the outputs, the initializers and the nodes in the text of a model.
fn sections(text: &str) -> [&str; 4] {
    let (inputs, rest) = text.split_once(" => (").unwrap();
    let (outputs, rest) = rest.split_once(") ").unwrap();
    let (initializers, nodes) = match rest.strip_prefix('<') {
        Some(rest) => rest.split_once("> {").unwrap(),
        None => ("", rest.split_once('{').unwrap().1),
    };
    [inputs.strip_suffix(')').unwrap(), outputs, initializers, nodes]
}

/// The letter that stands for an extent: A for 0, B for 1, and so on.
fn symbol(extent: u8) -> char {
    char::from(b'A' + extent)
}

/// How the symbols begin that stand for extents which are not known.
const INVENTED: &str = "unk__";

/// An extent without its symbols.
fn value(extent: &Extent) -> Option<usize> {
    let text: String = extent.to_string();
    let text = text.chars().map(|c| match c {
        'A'..='Z' => (c as u8 - b'A').to_string(),
        other => other.to_string(),
    });
    let extent: Extent = text.collect::<String>().parse().ok()?;
    usize::try_from(extent.known()?).ok()
}

impl Model {
    /// The same with symbols for the extents of inputs.
    fn with_symbols(&self) -> Model {
        let [inputs, outputs, initializers, nodes] = sections(&self.text);
        let (head, inputs) = inputs.split_once("g (").unwrap();
        let (mut text, mut within) = (String::new(), false);
        for part in inputs.split_inclusive(['[', ',', ']']) {
            match (within, part[..part.len() - 1].trim().parse::<u8>()) {
                (true, Ok(extent)) => text.extend([symbol(extent), part.chars().last().unwrap()]),
                _ => text.push_str(part),
            }
            within = part.ends_with('[') || within && part.ends_with(',');
        }
        let text = format!("{head}g ({text}) => ({outputs}) <{initializers}> {{{nodes}");
        Model { text, inputs: self.inputs.clone(), outputs: self.outputs.clone() }
    }

    /// The same with inputs whose ranks are not known.
    fn without_ranks(&self) -> Model {
        let (head, rest) = self.text.split_once("g (").unwrap();
        let (inputs, rest) = rest.split_once(") => ").unwrap();
        let ends = inputs.split('[').map(|part| part.split_once(']').map_or(part, |(_, behind)| behind));
        let text = format!("{head}g ({}) => {rest}", ends.collect::<Vec<_>>().join("[]"));
        Model { text, inputs: self.inputs.clone(), outputs: self.outputs.clone() }
    }

    /// The same with less known of its inputs and initializers.
    fn less_known(&self) -> [Model; 4] {
        let symbols = self.with_symbols();
        [self.without_ranks(), self.with_defaults(), symbols.with_defaults(), symbols]
    }

    /// The same with inputs that have the initializers as their defaults, so that these are no constants.
    fn with_defaults(&self) -> Model {
        let [inputs, outputs, initializers, nodes] = sections(&self.text);
        let comma = if initializers.is_empty() { "" } else { ", " };
        let text = format!("{inputs}{comma}{initializers}) => ({outputs}) {{{nodes}");
        Model { text, inputs: self.inputs.clone(), outputs: self.outputs.clone() }
    }

    /// The model in NNEF: exactly where NaN is among the results, for which operations of NNEF differ, if that is possible.
    fn in_nnef(&self) -> Result<Vec<u8>, Refusal> {
        let (plain, strict) = (Options::default(), Options::default().with(|options| options.strict = true));
        let has_nan = self.outputs.values().any(|tensor| tensor.to_scalars().iter().any(|item| item.is_nan()));
        let is_number = |tensor: &Tensor| !matches!(tensor.data(), Data::Text(_));
        let exact = has_nan && self.outputs.values().all(is_number);
        let exact = exact.then(|| printed(self.opened(&strict), "nnef").ok()).flatten();
        exact.map_or_else(|| printed(self.opened(&plain), "nnef"), Ok)
    }

    /// An output whose shape that is inferred is not that of the result.
    fn misfit(&self) -> Option<String> {
        let graph = match self.opened(&Options::default()).graph() {
            Ok((graph, _)) => graph,
            Err(refusal) => return Some(told(&refusal)),
        };
        graph.outputs().iter().find_map(|output| {
            let name = graph.tensor_name(*output);
            let (wanted, shape) = (self.outputs[&name].shape(), graph.shape(*output)?);
            let is_open = |extent: &Extent| extent.is_unknown() || extent.to_string().contains(INVENTED);
            let fits = |(found, wanted): (&Extent, &usize)| is_open(found) || value(found) == Some(*wanted);
            let fits = shape.extents().len() == wanted.len() && shape.extents().iter().zip(wanted).all(fits);
            (!fits).then(|| format!("{name} has the shape {shape:?}, right is {wanted:?}"))
        })
    }
}

#[test]
fn inferred_shapes_hold_for_symbols_and_without_constants() {
    all(|_, model| model.less_known().iter().find_map(|form| Some(format!("{}\nof {}", form.misfit()?, form.text))));
}

#[test]
fn symbols_and_defaults_change_no_result() {
    let options = Options::default();
    all(|_, model| {
        model.less_known().iter().find_map(|form| {
            let found = form.difference(form.evaluated(form.opened(&options)));
            // A translation that needs what is not known is refused.
            let nnef = form.in_nnef().ok().filter(|nnef| !has_variables(nnef));
            let of_nnef = |nnef| model.difference(form.evaluated(open(("nnef", nnef), &options).unwrap()));
            Some(format!("{}\nof {}", found.or_else(|| of_nnef(nnef?))?, form.text))
        })
    });
}

/// Lines about models: what is not known of a model, or why it has no translation.
type Limits = BTreeSet<String>;

/// Compares with the lines of a file in `limits`.
fn recorded(file: &str, found: &Limits) {
    let path = folder().join("limits").join(file);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, found.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        return;
    }
    let before: Limits = std::fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    let (more, fewer): (Vec<_>, Vec<_>) = (found.difference(&before).collect(), before.difference(found).collect());
    assert!(more.is_empty() && fewer.is_empty(), "{file}: new are {more:#?}\nno more there are {fewer:#?}");
}

#[test]
fn inferred_shapes_are_those_of_the_results() {
    let mut open_extents = Limits::new();
    all(|name, model| {
        let graph = match model.opened(&Options::default()).graph() {
            Ok((graph, _)) => graph,
            Err(refusal) => return Some(told(&refusal)),
        };
        graph.outputs().iter().find_map(|output| {
            let output_name = graph.tensor_name(*output);
            let wanted = model.outputs[&output_name].shape();
            let known = |extent: &Extent| extent.known().and_then(|extent| usize::try_from(extent).ok());
            let found: Option<Vec<_>> = graph.shape(*output).map(|shape| shape.extents().iter().map(known).collect());
            if found.as_ref().is_none_or(|extents| extents.contains(&None)) {
                open_extents.insert(format!("{name} {output_name}"));
            }
            let found = found?;
            let fits = found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(extent, wanted)| extent.is_none_or(|extent| extent == *wanted));
            (!fits).then(|| format!("{output_name} has the shape {found:?}, right is {wanted:?}"))
        })
    });
    recorded("extents.txt", &open_extents);
}

/// The codes of a refusal, in order.
fn codes(refusal: Refusal) -> String {
    let Refusal::Found(found) = refusal else { return told(&refusal) };
    let codes: BTreeSet<&str> =
        found.diagnostics.clone().into_sorted().iter().map(|found| found.code.as_str()).collect();
    codes.into_iter().collect::<Vec<_>>().join(" ")
}

#[test]
fn translations_to_nnef_and_back_have_the_results() {
    let (mut to_nnef, mut to_onnx) = (Limits::new(), Limits::new());
    let options = Options::default();
    all(|name, model| {
        let nnef = match model.in_nnef() {
            Ok(nnef) => nnef,
            Err(refusal) => {
                to_nnef.insert(format!("{name} {}", codes(refusal)));
                return None;
            }
        };
        // Large constants are data of variables, which lie beside the text.
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("model");
        let with_data = has_variables(&nnef);
        if with_data {
            let to = format!("{}/", folder.display());
            let output = feed(&["--from", "onnxtxt", "--to", "nnef", "-o", &to, "-"], &model.text);
            assert!(output.status.success(), "{name}: {}", stderr(&output));
        }
        let nnef = || match with_data {
            true => open(folder.as_path(), &options).unwrap(),
            false => open(("nnef", nnef.clone()), &options).unwrap(),
        };
        let onnx = match printed(nnef(), "onnx") {
            Ok(onnx) => Some(open(("onnx", onnx), &options).unwrap()),
            Err(refusal) => {
                to_onnx.insert(format!("{name} {}", codes(refusal)));
                None
            }
        };
        let difference = |input: Input| model.difference(model.evaluated(input));
        difference(nnef()).or_else(|| Some(format!("from NNEF to ONNX, {}", difference(onnx?)?)))
    });
    recorded("nnef.txt", &to_nnef);
    recorded("onnx.txt", &to_onnx);
}

/// The versions of the operator set that models are written for.
const VERSIONS: &[i64] = &[1, 6, 8, 9, 10, 11, 12, 13, 14, 17, 18, 20, 21, 23, 28];

/// The errors that a check finds.
fn mistakes(input: Input) -> Result<Vec<(String, String)>, Refusal> {
    let found = input.check()?.diagnostics.into_sorted();
    let errors = found.into_iter().filter(|found| found.severity == Severity::Error);
    Ok(errors.map(|found| (found.code.as_str().to_owned(), found.message)).collect())
}

impl Model {
    /// The version of the operator set.
    fn version(&self) -> i64 {
        let number = self.text.split_once("\"\" : ").unwrap().1;
        number[..number.find(|symbol: char| !symbol.is_ascii_digit()).unwrap()].parse().unwrap()
    }

    /// What is wrong with the model in another version: it is not right, or computes something else, there or once it is in
    /// its own version again. None if the version cannot express it.
    fn mistake_in(&self, version: i64) -> Result<Option<String>, Refusal> {
        let options = Options::default();
        let opened = |bytes: &[u8]| open(("other", bytes.to_vec()), &options).unwrap();
        let other = printed(self.opened(&options).opset(version), "onnx")?;
        // The models do not declare the types of their outputs, and one has an operator that is deprecated.
        let own: BTreeSet<String> = mistakes(self.opened(&options))?.into_iter().map(|mistake| mistake.0).collect();
        if let Some((code, message)) = mistakes(opened(&other))?.into_iter().find(|mistake| !own.contains(&mistake.0)) {
            return Ok(Some(format!("{code}: {message}")));
        }
        if let Some(difference) = self.difference(self.evaluated(opened(&other))) {
            return Ok(Some(difference));
        }
        // What one version says by a constant another one may not be able to read off a body.
        let Ok(back) = printed(opened(&other).opset(self.version()), "onnx") else { return Ok(None) };
        Ok(self.difference(self.evaluated(opened(&back))))
    }
}

#[test]
fn other_versions_of_the_operator_set_have_the_results() {
    let mut inexpressible = Limits::new();
    all(|name, model| {
        let mut versions = Vec::new();
        let wrong = VERSIONS.iter().find_map(|version| match model.mistake_in(*version) {
            Ok(mistake) => Some(format!("version {version}: {}", mistake?)),
            Err(refusal) => match codes(refusal).as_str() {
                "E2055" => {
                    versions.push(version.to_string());
                    None
                }
                other => Some(format!("version {version}: {other}")),
            },
        });
        if !versions.is_empty() {
            inexpressible.insert(format!("{name} {}", versions.join(" ")));
        }
        wrong
    });
    recorded("opset.txt", &inexpressible);
}
