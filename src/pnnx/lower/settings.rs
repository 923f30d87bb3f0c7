//! Settings of an operator that is being lowered: its parameters, and operands that are literals.
//!
//! A rule gets a setting as a type. What has another type is a [`Refusal`], never a default; settings that no rule has
//! read are found by [`Line::unread`].

use std::borrow::Cow;
use std::fmt;

use super::{Line, Operand};
use crate::extents::from_start;
use crate::graph::TensorId;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::model::Setting;
use crate::pnnx::tokens::Literal;
use crate::pnnx::tree::{Term, push_leaf};

/// Why an operator is not lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A setting.
    Setting {
        /// Its key.
        key: String,
        /// Its text; none if it is missing.
        text: Option<String>,
        /// What is expected.
        expected: String,
    },
    /// Any other reason: a clause.
    Because(Cow<'static, str>),
}

/// The result of a rule or a part of it.
pub(crate) type Lowered<T> = Result<T, Refusal>;

impl Refusal {
    pub(crate) const SHAPE: Refusal = Refusal::Because(Cow::Borrowed("the shapes of its operands are not known"));
    pub(crate) const UNFIT: Refusal =
        Refusal::Because(Cow::Borrowed("its operands have shapes for which NNEF has no counterpart"));
}

/// The clause of a message.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Refusal::Setting { key, text: Some(text), expected } => {
                write!(f, "its setting `{key}` is `{text}`, expected {expected}")
            }
            Refusal::Setting { key, text: None, expected } => {
                write!(f, "its setting `{key}` is missing, expected {expected}")
            }
            Refusal::Because(reason) => f.write_str(reason),
        }
    }
}

/// A type of settings.
pub(super) trait SettingKind: Sized {
    /// What is expected, for messages.
    const EXPECTED: &'static str;

    /// The value of a setting; none if it has another type.
    fn of(setting: &Setting) -> Option<Self>;
}

macro_rules! setting_kinds {
    ($($kind:ty: $expected:literal { $($setting:pat => $value:expr,)* })*) => {$(
        impl SettingKind for $kind {
            const EXPECTED: &'static str = $expected;

            fn of(setting: &Setting) -> Option<Self> {
                match setting {
                    $($setting => $value,)*
                    _ => None,
                }
            }
        }
    )*};
}

setting_kinds! {
    i64: "an integer" { Setting::Literal(Literal::Int(value)) => Some(*value), }
    f64: "a finite number" {
        Setting::Literal(Literal::Int(value)) => Some(*value as f64),
        Setting::Literal(Literal::Float(value)) => Some(*value).filter(|value| value.is_finite()),
    }
    bool: "`True` or `False`" { Setting::Literal(Literal::Bool(value)) => Some(*value), }
    String: "a word" { Setting::Word(word) => Some(word.clone()), }
}

/// A number that may be infinite, or not a number.
pub(super) struct AnyNumber(pub(super) f64);

impl SettingKind for AnyNumber {
    const EXPECTED: &'static str = "a number";

    fn of(setting: &Setting) -> Option<Self> {
        match setting {
            Setting::Literal(Literal::Float(value)) => Some(AnyNumber(*value)),
            Setting::Word(word) if ["inf", "-inf", "nan"].contains(&word.as_str()) => word.parse().ok().map(AnyNumber),
            other => f64::of(other).map(AnyNumber),
        }
    }
}

/// `None` within a list.
impl<T: SettingKind> SettingKind for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn of(setting: &Setting) -> Option<Self> {
        match setting {
            Setting::Literal(Literal::None) => Some(None),
            other => T::of(other).map(Some),
        }
    }
}

/// A type with a name for lists of it.
pub(super) trait Listed: SettingKind {
    /// What is expected of a list.
    const LIST: &'static str;
}

impl Listed for i64 {
    const LIST: &'static str = "a list of integers";
}

impl Listed for Option<i64> {
    const LIST: &'static str = "a list of integers and `None`";
}

impl Listed for f64 {
    const LIST: &'static str = "a list of finite numbers";
}

/// A single item is a list of one.
impl<T: Listed> SettingKind for Vec<T> {
    const EXPECTED: &'static str = T::LIST;

    fn of(setting: &Setting) -> Option<Self> {
        match setting {
            Setting::List(items) => items.iter().map(T::of).collect(),
            single => T::of(single).map(|item| vec![item]),
        }
    }
}

/// The longest text of a setting in a message, in characters.
const SHOWN: usize = 60;

fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// The text and the value of an operand; no value if it has tensors.
fn of_item(item: &ExpandedItem) -> (String, Option<Setting>) {
    match item {
        ExpandedItem::Literal(literal) => {
            let mut text = String::new();
            push_leaf(&mut text, Term::Literal(*literal));
            (text, Some(Setting::Literal(*literal)))
        }
        ExpandedItem::Text(text) => (text.as_ref().to_owned(), Some(Setting::Word(text.as_ref().to_owned()))),
        ExpandedItem::List(items) => {
            let (texts, values): (Vec<_>, Vec<_>) = items.iter().map(of_item).unzip();
            (format!("({})", texts.join(",")), values.into_iter().collect::<Option<_>>().map(Setting::List))
        }
        ExpandedItem::Tensor(_) | ExpandedItem::Refused => ("a tensor".to_owned(), None),
    }
}

impl Line<'_> {
    pub(super) fn operand(&self, key: &str) -> Option<&Operand> {
        self.operands.iter().find(|operand| operand.name == key)
    }

    /// The only operand that is a tensor, which is the input regardless of its key: pnnx writes `$mask`.
    pub(super) fn sole(&self) -> Option<&Operand> {
        let mut tensors = self.operands.iter().filter(|operand| matches!(operand.item, ExpandedItem::Tensor(_)));
        tensors.next().filter(|_| tensors.next().is_none())
    }

    /// The text and the value of a setting, which then counts as read. An operand takes precedence over a parameter.
    fn stands(&self, key: &str) -> Option<(String, Option<Setting>)> {
        if let Some(operand) = self.operand(key) {
            let stands = of_item(&operand.item);
            operand.used.set(operand.used.get() || stands.1.is_some());
            return Some(stands);
        }
        let (param, used) = self.params.iter().find(|(param, _)| param.key == key)?;
        used.set(true);
        Some((param.text.clone(), Some(param.setting())))
    }

    /// Refuses a setting.
    pub(super) fn refuse(&self, key: &str, expected: impl Into<String>) -> Refusal {
        let text = self.stands(key).map(|(text, _)| shown(&text));
        Refusal::Setting { key: key.to_owned(), text, expected: expected.into() }
    }

    /// Refuses a setting unless a condition holds.
    pub(super) fn require(&self, key: &str, holds: bool, expected: &str) -> Lowered<()> {
        if holds { Ok(()) } else { Err(self.refuse(key, expected)) }
    }

    /// A setting, if it is given.
    fn given<T: SettingKind>(&self, key: &str) -> Lowered<Option<T>> {
        match self.stands(key) {
            None => Ok(None),
            Some((_, setting)) => match setting.as_ref().and_then(T::of) {
                Some(value) => Ok(Some(value)),
                None => Err(self.refuse(key, T::EXPECTED)),
            },
        }
    }

    /// A setting that may be left out, or be `None`.
    pub(super) fn optional<T: SettingKind>(&self, key: &str) -> Lowered<Option<T>> {
        match self.stands(key) {
            Some((_, Some(Setting::Literal(Literal::None)))) => Ok(None),
            _ => self.given(key),
        }
    }

    /// A setting that has to be given.
    pub(super) fn required<T: SettingKind>(&self, key: &str) -> Lowered<T> {
        self.given(key)?.ok_or_else(|| self.refuse(key, T::EXPECTED))
    }

    /// A setting that has a default.
    pub(super) fn setting_or<T: SettingKind>(&self, key: &str, default: T) -> Lowered<T> {
        Ok(self.given(key)?.unwrap_or(default))
    }

    /// A truth value that is false by default.
    pub(super) fn flag(&self, key: &str) -> Lowered<bool> {
        Ok(self.optional(key)?.unwrap_or(false))
    }

    /// Refuses a truth value that is not false.
    pub(super) fn off(&self, key: &str) -> Lowered<()> {
        let off = !self.flag(key)?;
        self.require(key, off, "`False`")
    }

    /// The first one of several keys that is given; the first key if none is.
    pub(super) fn key_of<'k>(&self, keys: &[&'k str]) -> &'k str {
        let is_given =
            |key: &&&str| self.operand(key).is_some() || self.params.iter().any(|(param, _)| param.key == **key);
        keys.iter().find(is_given).or(keys.first()).copied().unwrap_or_default()
    }

    /// Whether a setting is a list.
    pub(super) fn is_list(&self, key: &str) -> bool {
        matches!(self.stands(key), Some((_, Some(Setting::List(_)))))
    }

    /// Whether a setting is a word.
    pub(super) fn is_word(&self, key: &str) -> bool {
        matches!(self.stands(key), Some((_, Some(Setting::Word(_)))))
    }

    /// An integer that is not less than another one; without a default, it has to be given.
    pub(super) fn at_least(&self, key: &str, least: i64, default: Option<i64>) -> Lowered<i64> {
        let value = self.given(key)?.or(default).filter(|value| *value >= least);
        value.ok_or_else(|| self.refuse(key, format!("an integer of at least {least}")))
    }

    /// The meaning of a word.
    pub(super) fn choice<T: Copy>(&self, key: &str, words: &[(&str, T)], default: Option<T>) -> Lowered<T> {
        let expected = || {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.refuse(key, words.join(" or "))
        };
        match self.given::<String>(key).map_err(|_| expected())? {
            None => default.ok_or_else(expected),
            Some(given) => words.iter().find(|(word, _)| *word == given).map(|(_, of)| *of).ok_or_else(expected),
        }
    }

    /// Integers for some axes, from a list or from one integer for all of them; without a default, they have to be
    /// given.
    pub(super) fn per_axis(&self, key: &str, count: usize, least: i64, default: Option<i64>) -> Lowered<Vec<i64>> {
        let expected = || {
            let one = format!("an integer of at least {least}");
            self.refuse(key, if count == 1 { one } else { format!("{one}, or a list of {count}") })
        };
        let given = self.given::<Vec<i64>>(key).map_err(|_| expected())?.or(default.map(|default| vec![default]));
        let values = match given.as_deref() {
            Some([one]) => vec![*one; count],
            Some(several) if several.len() == count => several.to_vec(),
            _ => return Err(expected()),
        };
        if values.iter().all(|value| *value >= least) { Ok(values) } else { Err(expected()) }
    }

    /// Refuses integers that contradict the extents of a tensor, as far as these are known. One integer may stand for
    /// all of them.
    pub(super) fn agrees(&self, key: &str, known: &[Option<i64>]) -> Lowered<()> {
        let fits = |(given, known): (&i64, &Option<i64>)| known.is_none_or(|known| known == *given);
        let same = match self.optional::<Vec<i64>>(key)?.as_deref() {
            None => true,
            Some([one]) => known.iter().all(|known| fits((one, known))),
            Some(several) => several.len() == known.len() && several.iter().zip(known).all(fits),
        };
        let text = |extent: &Option<i64>| extent.map_or("?".to_owned(), |extent| extent.to_string());
        let text: Vec<String> = known.iter().map(text).collect();
        self.require(key, same, &format!("`{}`", text.join(",")))
    }

    /// Refuses a truth value that contradicts what follows from other properties.
    pub(super) fn agrees_with(&self, key: &str, known: bool) -> Lowered<()> {
        let same = self.optional(key)?.is_none_or(|given: bool| given == known);
        self.require(key, same, if known { "`True`" } else { "`False`" })
    }

    /// Stored data, or the operand with this name. A setting of the same name says whether there are any.
    pub(super) fn weights(&self, key: &str) -> Lowered<Option<TensorId>> {
        let operand = || self.operand(key).and_then(|_| self.tensor(key).ok());
        let found = self.stored(key).or_else(operand);
        let is_tensor = self.operand(key).is_some_and(|operand| matches!(operand.item, ExpandedItem::Tensor(_)));
        if !is_tensor {
            self.agrees_with(key, found.is_some())?;
        }
        Ok(found)
    }

    /// Stored data, or the operand with this name, that an operator needs.
    pub(super) fn data(&self, key: &str) -> Lowered<TensorId> {
        let missing = || Refusal::Because(format!("it has no data `{key}`").into());
        self.weights(key)?.ok_or_else(missing)
    }

    /// An axis as an index; a negative axis counts from the end.
    pub(super) fn axis(&self, key: &str, rank: i64, default: Option<i64>) -> Lowered<i64> {
        let axis = self.given(key)?.or(default).and_then(|axis| index(axis, rank));
        axis.ok_or_else(|| self.refuse(key, axis_of(rank)))
    }

    /// Distinct axes as indices, if they are given.
    pub(super) fn axes(&self, key: &str, rank: i64) -> Lowered<Option<Vec<i64>>> {
        let Some(axes) = self.optional::<Vec<i64>>(key)? else { return Ok(None) };
        let axes: Option<Vec<i64>> = axes.into_iter().map(|axis| index(axis, rank)).collect();
        let mut seen = vec![false; rank as usize];
        let mut is_new = |axis: &i64| seen.get_mut(*axis as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        let distinct = axes.filter(|axes| axes.iter().all(&mut is_new));
        distinct.map(Some).ok_or_else(|| self.refuse(key, format!("{}, or a list of distinct ones", axis_of(rank))))
    }

    /// Permits that an operand or a setting is not read, because it has no effect on the results.
    pub(super) fn ignore(&self, key: &str) {
        match self.operand(key) {
            Some(operand) => operand.used.set(true),
            None => drop(self.stands(key)),
        }
    }

    /// The refusal of the first operand or setting that no rule has read. `None` stands for a default.
    pub(super) fn unread(&self) -> Option<Refusal> {
        let operand = self
            .operands
            .iter()
            .find(|operand| !operand.used.get() && operand.item != ExpandedItem::Literal(Literal::None));
        if let Some(Operand { name, item, .. }) = operand {
            let text = Some(shown(&of_item(item).0));
            return Some(Refusal::Setting { key: name.clone(), text, expected: "`None`".to_owned() });
        }
        let inert = |key: &str| INERT.contains(&key);
        let (param, _) = self.params.iter().find(|(param, used)| {
            !used.get() && !inert(&param.key) && param.setting() != Setting::Literal(Literal::None)
        })?;
        let (key, text) = (param.key.clone(), Some(shown(&param.text)));
        Some(Refusal::Setting { key, text, expected: "`None`".to_owned() })
    }
}

/// Settings that have no effect on the results of any operator.
const INERT: &[&str] = &["inplace"];

/// The place of an item; a negative place counts from the end.
pub(super) fn index(place: i64, count: i64) -> Option<i64> {
    let place = from_start(place, count);
    (0..count).contains(&place).then_some(place)
}

fn axis_of(rank: i64) -> String {
    format!("an integer from {} to {}", rank.saturating_neg(), rank.saturating_sub(1))
}
