//! The arguments of `tract_core_scan`, an operation that runs a fragment once for each step along an axis.
//!
//! `scan` has `(parameter, tensor, axis, chunk)` for each input that is divided into sections, one for each
//! step. `full` has `(parameter, tensor)` for each input that is passed to every step as a whole. `state` has
//! `(parameter, initial, result)` for each recurrence: a value that one step passes to the next. `output` has
//! `(result, "full" or "last", axis, chunk)`. A negative chunk means that the first step gets the last section.
//! `skip` is the number of steps whose outputs are omitted. `reset_every_turn` and `external_state` concern
//! several runs of a model and are ignored.

use super::Value;

/// The name of the operation.
pub(crate) const NAME: &str = "tract_core_scan";

/// Its parameters, by position.
const PARAMS: &[&str] = &["body", "scan", "full", "state", "output", "skip"];

/// A value of an argument: a value of the graph, or a compile-time value.
pub(crate) trait ScanValue: Clone {
    /// The items of an array or tuple.
    fn items(&self) -> Option<Vec<Self>>;
    /// The text of a string.
    fn text(&self) -> Option<String>;
    /// The integer, also of a scalar that is a whole number.
    fn integer(&self) -> Option<i64>;
}

impl ScanValue for Value {
    fn items(&self) -> Option<Vec<Self>> {
        match self {
            Value::Array(items) | Value::Tuple(items) => Some(items.to_vec()),
            Value::Integers(items) => Some(items.iter().map(|&item| Value::Int(item)).collect()),
            Value::Scalars(items) => Some(items.iter().map(|&item| Value::Scalar(item)).collect()),
            _ => None,
        }
    }

    fn text(&self) -> Option<String> {
        match self {
            Value::String(text) => Some(text.to_string()),
            _ => None,
        }
    }

    fn integer(&self) -> Option<i64> {
        match self {
            Value::Int(item) => Some(*item),
            Value::Scalar(item) => whole(*item),
            _ => None,
        }
    }
}

/// Converts a scalar that is a whole number to an integer.
pub(crate) fn whole(item: f64) -> Option<i64> {
    (item.fract() == 0.0 && item.abs() < 9e15).then_some(item as i64)
}

/// An input that is divided into sections, one for each step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scanned<V> {
    /// The parameter of the body.
    pub(crate) param: String,
    /// The tensor.
    pub(crate) tensor: V,
    /// The axis.
    pub(crate) axis: usize,
    /// The extent of a section; negative if the first step gets the last section. Never 0.
    pub(crate) chunk: i64,
}

/// A recurrence: a value that one step passes to the next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State<V> {
    /// The parameter of the body.
    pub(crate) param: String,
    /// The value for the first step.
    pub(crate) initial: V,
    /// The result of the body that is the value for the next step.
    pub(crate) result: String,
}

/// An output of the scan, collected from a result of the body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Collected {
    /// The result of the body.
    pub(crate) result: String,
    /// Whether it is only the result of the last step. The axis has no meaning then.
    pub(crate) last: bool,
    /// The axis.
    pub(crate) axis: usize,
    /// Whether the result of the last step comes first.
    pub(crate) reverse: bool,
}

/// All arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scan<V> {
    /// The fragment.
    pub(crate) body: String,
    /// The inputs that are divided into sections.
    pub(crate) scanned: Vec<Scanned<V>>,
    /// The inputs that are passed to every step as a whole: parameter and tensor.
    pub(crate) full: Vec<(String, V)>,
    /// The recurrences.
    pub(crate) states: Vec<State<V>>,
    /// The outputs.
    pub(crate) outputs: Vec<Collected>,
    /// The number of steps whose outputs are omitted.
    pub(crate) skip: i64,
}

/// The message for a malformed argument.
pub(crate) fn malformed(what: &str) -> String {
    format!("`{what}` of `{NAME}` is malformed")
}

impl<V: ScanValue> Scan<V> {
    /// Reads the arguments. `argument` returns an argument by its position or name.
    ///
    /// # Errors
    ///
    /// A message that describes the error.
    pub(crate) fn read(argument: impl Fn(usize, &str) -> Option<V>) -> Result<Self, String> {
        let of = |place: usize| argument(place, PARAMS[place]);
        let tuples = |place: usize| match of(place) {
            None => Ok(Vec::new()),
            Some(value) => {
                let items: Option<Vec<Vec<V>>> =
                    value.items().and_then(|items| items.iter().map(ScanValue::items).collect());
                items.ok_or_else(|| malformed(PARAMS[place]))
            }
        };
        Ok(Scan {
            body: of(0).and_then(|body| body.text()).ok_or_else(|| malformed(PARAMS[0]))?,
            scanned: each(1, tuples(1)?, scanned)?,
            full: each(2, tuples(2)?, full)?,
            states: each(3, tuples(3)?, state)?,
            outputs: each(4, tuples(4)?, collected)?,
            skip: of(5).map_or(Some(0), |skip| skip.integer()).ok_or_else(|| malformed(PARAMS[5]))?,
        })
    }
}

/// Reads the tuples of an argument.
fn each<V, T>(place: usize, tuples: Vec<Vec<V>>, read: fn(&[V]) -> Option<T>) -> Result<Vec<T>, String> {
    tuples.iter().map(|tuple| read(tuple)).collect::<Option<_>>().ok_or_else(|| malformed(PARAMS[place]))
}

/// An axis and a chunk, which is not 0.
fn step<V: ScanValue>(axis: &V, chunk: &V) -> Option<(usize, i64)> {
    let axis = usize::try_from(axis.integer()?).ok()?;
    chunk.integer().filter(|&chunk| chunk != 0 && chunk != i64::MIN).map(|chunk| (axis, chunk))
}

fn scanned<V: ScanValue>(tuple: &[V]) -> Option<Scanned<V>> {
    let [param, tensor, axis, chunk] = tuple else { return None };
    let (axis, chunk) = step(axis, chunk)?;
    Some(Scanned { param: param.text()?, tensor: tensor.clone(), axis, chunk })
}

fn full<V: ScanValue>(tuple: &[V]) -> Option<(String, V)> {
    let [param, tensor] = tuple else { return None };
    Some((param.text()?, tensor.clone()))
}

fn state<V: ScanValue>(tuple: &[V]) -> Option<State<V>> {
    let [param, initial, result] = tuple else { return None };
    Some(State { param: param.text()?, initial: initial.clone(), result: result.text()? })
}

/// Reads an output. Models of older exporters omit the chunk. For the last value, axis and chunk have no meaning.
fn collected<V: ScanValue>(tuple: &[V]) -> Option<Collected> {
    let (result, kind, axis, chunk) = match tuple {
        [result, kind, axis, chunk] => (result, kind, axis, Some(chunk)),
        [result, kind, axis] => (result, kind, axis, None),
        _ => return None,
    };
    let result = result.text()?;
    match kind.text()?.as_str() {
        "last" => Some(Collected { result, last: true, axis: 0, reverse: false }),
        "full" => {
            let (axis, chunk) = match chunk {
                Some(chunk) => step(axis, chunk)?,
                None => (usize::try_from(axis.integer()?).ok()?, 1),
            };
            Some(Collected { result, last: false, axis, reverse: chunk < 0 })
        }
        _ => None,
    }
}

/// Whether a name in a string refers to a parameter or result. Exporters write the name of the tensor in their
/// own graph, which may contain characters that identifiers cannot.
pub(crate) fn is_named(written: &str, declared: &str) -> bool {
    written == declared || escaped(written) == declared
}

/// Turns a name into an identifier: other characters become underscores, and one is added before a leading digit.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 1);
    if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        text.push('_');
    }
    text.extend(name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }));
    text
}

/// The number of steps, given the extents of the inputs along their scanned axes. It must be the same for all inputs.
///
/// # Errors
///
/// A message that describes the error.
pub(crate) fn steps<V>(scanned: &[Scanned<V>], extents: &[usize]) -> Result<usize, String> {
    let count = |(scanned, extent): (&Scanned<V>, &usize)| {
        let chunk = usize::try_from(scanned.chunk.unsigned_abs()).ok()?;
        (extent % chunk == 0).then_some(extent / chunk)
    };
    let counts: Option<Vec<usize>> = scanned.iter().zip(extents).map(count).collect();
    match counts.as_deref() {
        Some([first, rest @ ..]) if rest.iter().all(|count| count == first) => Ok(*first),
        Some([]) => Err("a scan without scanned inputs does not say how many steps it has".to_owned()),
        _ => Err("the scanned inputs of a scan do not have the same number of whole steps".to_owned()),
    }
}
