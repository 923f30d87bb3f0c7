//! What equal windows of a text have in common: the parameters and results of their body.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::listing::{ClassId, ValueId};
use super::text::{CALL, NAME, NOWHERE, OutlineText, TextStep, declaration};

/// An operand of a step in a window: the number of the step and of its operand.
type Place = (u32, u32);

/// Where a step of a body takes an operand from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum BodyOperand {
    /// The step of the body and the number of its result.
    Step(u32, u32),
    /// A parameter, by its number.
    Param(u32),
    /// An operation without operands that moves to the body, by its number.
    Sunk(u32),
}

/// Equal windows, and the body that they are calls of.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    pub(super) positions: Vec<u32>,
    pub(super) length: u32,
    /// Where each operand of each step comes from.
    pub(super) operands: Vec<BodyOperand>,
    /// An operand with each parameter.
    pub(super) params: Vec<Place>,
    /// An operand with each operation that moves to the body.
    pub(super) sunk: Vec<Place>,
    /// The results: step, and number of the result of the step.
    pub(super) results: Vec<Place>,
    /// The bytes that the body saves; none or less if it saves nothing.
    pub(super) saved: i64,
}

impl Interface {
    /// What most of some windows with equal tokens have in common; none if no two are equal.
    pub(super) fn of(text: &OutlineText, positions: &[u32], length: u32) -> Option<Interface> {
        let mut groups: Vec<(Vec<Option<Place>>, Vec<u32>)> = Vec::new();
        let mut known: FxHashMap<Vec<Option<Place>>, usize> = FxHashMap::default();
        for &position in positions {
            let inner = inner_links(text, position, length);
            let new = groups.len();
            match known.get(&inner) {
                Some(&group) => groups[group].1.push(position),
                None => {
                    known.insert(inner.clone(), new);
                    groups.push((inner, vec![position]));
                }
            }
        }
        // Of groups of the same size the first.
        let (inner, positions) = groups.into_iter().rev().max_by_key(|(_, positions)| positions.len())?;
        let is_unit = positions.len() > 1 && !is_sequence(text, positions[0], length);
        is_unit.then(|| EqualWindows { text, positions, length }.interface(&inner))
    }

    /// The number of the first operand of each step.
    pub(super) fn steps<'t>(&self, text: &'t OutlineText, position: u32) -> &'t [TextStep] {
        window(text, position, self.length)
    }
}

fn window<'t>(text: &'t OutlineText, position: u32, length: u32) -> &'t [TextStep] {
    &text.steps[position as usize..][..length as usize]
}

/// Which operands of a window are computed in it, and by what.
fn inner_links(text: &OutlineText, position: u32, length: u32) -> Vec<Option<Place>> {
    let operands = window(text, position, length).iter().flat_map(|step| text.operands(step));
    let inner = operands.map(|value| {
        let (at, slot) = text.made[*value as usize];
        let step = at.checked_sub(position).filter(|step| at != NOWHERE && *step < length)?;
        Some((step, slot))
    });
    inner.collect()
}

/// Whether a window is a sequence of equal parts, such as several layers. The parts are what readers know, so that such
/// windows have no body of their own. Chains of one operation have no better parts.
pub(super) fn is_sequence(text: &OutlineText, position: u32, length: u32) -> bool {
    let part = period(window(text, position, length));
    let is_chain = part == 1 && text.called(&text.steps[position as usize]).is_none();
    if part == length || is_chain {
        return false;
    }
    let links = |part_at: u32| inner_links(text, position + part_at, part);
    let first = links(0);
    (part..length).step_by(part as usize).all(|at| links(at) == first)
}

/// The length of the shortest part that steps are a sequence of; their number if they are not a sequence.
fn period(steps: &[TextStep]) -> u32 {
    // For each beginning, the length of its longest proper start that is its end, too.
    let mut ends: Vec<usize> = vec![0; steps.len()];
    let mut matched = 0;
    for at in 1..steps.len() {
        while matched > 0 && steps[at].token != steps[matched].token {
            matched = ends[matched - 1];
        }
        matched += usize::from(steps[at].token == steps[matched].token);
        ends[at] = matched;
    }
    let part = steps.len() - ends.last().copied().unwrap_or(0);
    (if steps.len().is_multiple_of(part.max(1)) { part } else { steps.len() }) as u32
}

/// Windows that use what they compute in the same way.
struct EqualWindows<'t, 'l> {
    text: &'t OutlineText<'l>,
    positions: Vec<u32>,
    length: u32,
}

impl EqualWindows<'_, '_> {
    fn interface(self, inner: &[Option<Place>]) -> Interface {
        let outer = self.outer(inner);
        let kinds = self.kinds(&outer);
        let (mut params, mut sunk) = (Vec::new(), Vec::new());
        let first = window(self.text, self.positions[0], self.length);
        let mut places = Vec::with_capacity(inner.len());
        for (at, step) in first.iter().enumerate() {
            places.extend((0..step.operands).map(|operand| (at as u32, operand)));
        }
        let mut numbers: Vec<Option<BodyOperand>> = vec![None; kinds.len()];
        let mut operands = Vec::with_capacity(inner.len());
        for ((inner, outer), place) in inner.iter().zip(&outer).zip(places) {
            operands.push(match inner {
                Some((step, slot)) => BodyOperand::Step(*step, *slot),
                None => *numbers[*outer as usize].get_or_insert_with(|| {
                    let (list, from): (&mut Vec<Place>, fn(u32) -> BodyOperand) = match kinds[*outer as usize] {
                        Some(_) => (&mut sunk, BodyOperand::Sunk),
                        None => (&mut params, BodyOperand::Param),
                    };
                    list.push(place);
                    from(list.len() as u32 - 1)
                }),
            });
        }
        let results = self.results(inner);
        let leaves =
            kinds.into_iter().flatten().map(|class| u64::from(self.text.listing.classes[class as usize].bytes));
        let leaves = leaves.map(|bytes| bytes + NAME).sum::<u64>();
        let saved = self.saved((params.len() + results.len()) as u64, leaves);
        Interface { positions: self.positions, length: self.length, operands, params, sunk, results, saved }
    }

    /// The operands of a window.
    fn operands(&self, position: u32) -> impl Iterator<Item = ValueId> {
        let steps = window(self.text, position, self.length).iter();
        steps.flat_map(|step| self.text.operands(step).iter().copied())
    }

    /// The number of the outer value that each operand is. Operands that are the same value in all windows have one.
    fn outer(&self, inner: &[Option<Place>]) -> Vec<u32> {
        let mut numbers = vec![0; inner.len()];
        let mut known: FxHashMap<(u32, ValueId), u32> = FxHashMap::default();
        for position in &self.positions {
            known.clear();
            let operands = self.operands(*position).zip(inner).zip(&mut numbers);
            for ((value, _), number) in operands.filter(|((_, inner), _)| inner.is_none()) {
                let new = known.len() as u32;
                *number = *known.entry((*number, value)).or_insert(new);
            }
        }
        numbers
    }

    /// For each outer value the class of the operation that moves to the body; none if it is a parameter. In each window
    /// it has to be an operation of this class that nothing else uses.
    fn kinds(&self, outer: &[u32]) -> Vec<Option<ClassId>> {
        let count = outer.iter().max().map_or(0, |last| *last as usize + 1);
        let mut uses = vec![0; count];
        let inner = inner_links(self.text, self.positions[0], self.length);
        for (number, _) in outer.iter().zip(&inner).filter(|(_, inner)| inner.is_none()) {
            uses[*number as usize] += 1;
        }
        let mut kinds: Vec<Option<Option<ClassId>>> = vec![None; count];
        for position in &self.positions {
            let operands = self.operands(*position).zip(outer).zip(&inner);
            for ((value, number), _) in operands.filter(|(_, inner)| inner.is_none()) {
                let alone = self.text.uses[value as usize] == uses[*number as usize];
                let class = self.text.sinking(value).filter(|_| alone);
                let kind = kinds[*number as usize].get_or_insert(class);
                *kind = kind.filter(|known| Some(*known) == class);
            }
        }
        kinds.into_iter().map(Option::flatten).collect()
    }

    /// What is used outside any window, and what nothing uses: an operation without uses would be dropped in a body.
    fn results(&self, inner: &[Option<Place>]) -> Vec<Place> {
        let mut uses: FxHashMap<Place, u32> = FxHashMap::default();
        inner.iter().flatten().for_each(|place| *uses.entry(*place).or_default() += 1);
        let mut results = Vec::new();
        for at in 0..self.length {
            let slots = self.text.steps[(self.positions[0] + at) as usize].results;
            for place in (0..slots).map(|slot| (at, slot)) {
                let inside = uses.get(&place).copied().unwrap_or(0);
                let leaves = self.positions.iter().any(|position| {
                    let step = &self.text.steps[(position + at) as usize];
                    let value = self.text.results(step)[place.1 as usize] as usize;
                    let uses = self.text.uses[value];
                    self.text.values[value].fixed || uses != inside || uses == 0
                });
                if leaves {
                    results.push(place);
                }
            }
        }
        results
    }

    /// The bytes that a body saves, given the number of its parameters and results and the bytes of what moves there.
    fn saved(&self, ends: u64, leaves: u64) -> i64 {
        let count = self.positions.len() as u64;
        let steps = window(self.text, self.positions[0], self.length).iter();
        let body = steps.map(|step| self.text.bytes(step)).sum::<u64>() + leaves;
        let calls = count * (CALL + NAME * ends);
        (count * body) as i64 - (body + calls + declaration(ends)) as i64
    }
}
