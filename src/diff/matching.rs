//! Which operation of one graph is which of the other.

use rustc_hash::FxHashMap;

use super::align;
use super::hashes::{GraphHashes, OperandPlace};
use crate::graph::TensorId;

/// No counterpart.
const ALONE: u32 = u32::MAX;

/// The operations that belong together.
pub(super) struct Matching {
    /// The counterpart of each operation of the first and of the second graph.
    other: [Vec<u32>; 2],
    /// How many operations are left of each graph.
    left: [usize; 2],
}

/// Matches operations: equal ones first, then those that differ in one thing, then those beside others that are matched.
pub(super) fn of(hashes: &[GraphHashes; 2]) -> Matching {
    let [a, b] = hashes;
    let other = [vec![ALONE; a.len()], vec![ALONE; b.len()]];
    let mut matching = Matching { other, left: [a.len(), b.len()] };
    let mixed = |x: u64, y: u64| x.wrapping_add(y.rotate_left(23));
    // What is computed in the same way and used in the same way, then what has one of both. Names decide between several.
    let own = |of: &GraphHashes, i: usize| of.label[i].wrapping_add(of.below[i].rotate_left(41));
    matching.pair_by(hashes, |of, i| mixed(mixed(of.forward[i], of.below[i]), of.hint[i]));
    matching.pair_by(hashes, |of, i| mixed(of.forward[i], of.below[i]));
    matching.pair_by(hashes, |of, i| mixed(of.forward[i], of.hint[i]));
    matching.pair_by(hashes, |of, i| mixed(own(of, i), of.hint[i]));
    matching.pair_by(hashes, |of, i| of.forward[i]);
    matching.pair_by(hashes, own);
    // Operations that differ in attributes only.
    matching.pair_by(hashes, |of, i| mixed(mixed(of.kind[i], of.above[i]), of.below[i]));
    if matching.is_done() {
        return matching;
    }
    let mut spread = Spread::new(hashes);
    spread.spread(&mut matching, |of, i| of.label[i]);
    matching.pair_by(hashes, |of, i| mixed(of.label[i], of.hint[i]));
    spread.spread(&mut matching, |of, i| of.kind[i]);
    matching.pair_by(hashes, |of, i| of.hint[i]);
    // Data that share nothing but their kind and type are not one that has changed.
    matching.align(hashes, |of, i| of.has_operands(i).then(|| of.label[i]));
    spread.spread(&mut matching, |of, i| of.kind[i]);
    matching.align(hashes, |of, i| of.has_operands(i).then(|| of.kind[i]));
    matching
}

impl Matching {
    /// The counterpart of an operation of a side.
    pub(super) fn counterpart(&self, side: usize, operation: usize) -> Option<usize> {
        let other = *self.other[side].get(operation)?;
        (other != ALONE).then_some(other as usize)
    }

    /// Whether all operations of a graph have a counterpart.
    fn is_done(&self) -> bool {
        self.left.contains(&0)
    }

    fn pair(&mut self, a: usize, b: usize) {
        (self.other[0][a], self.other[1][b]) = (b as u32, a as u32);
        self.left = self.left.map(|left| left - 1);
    }

    /// Pairs two operations unless one of them has a counterpart. Returns a new pair.
    fn pair_if_free(&mut self, a: usize, b: usize) -> Option<(usize, usize)> {
        let free = self.counterpart(0, a).is_none() && self.counterpart(1, b).is_none();
        free.then(|| {
            self.pair(a, b);
            (a, b)
        })
    }

    /// The operations of a side without a counterpart.
    fn alone(&self, side: usize) -> impl Iterator<Item = usize> + '_ {
        self.other[side].iter().enumerate().filter(|(_, other)| **other == ALONE).map(|(i, _)| i)
    }

    /// Pairs the operations that are left by a key; those with one key in their order.
    fn pair_by(&mut self, hashes: &[GraphHashes; 2], key: impl Fn(&GraphHashes, usize) -> u64) {
        if self.is_done() {
            return;
        }
        let key = &key;
        let keyed = |side: usize| self.alone(side).map(move |i| (i, key(&hashes[side], i)));
        // Most keys of most steps are of one graph only: those never come into the table.
        let of_a = KeyFilter::of(self.left[0], keyed(0));
        let left: Vec<(usize, u64)> = keyed(1).filter(|(_, key)| of_a.may_have(*key)).collect();
        if left.is_empty() {
            return;
        }
        let of_b = KeyFilter::of(left.len(), left.iter().copied());
        // The first operation of each key, and the next one after each with the same key.
        let mut first: FxHashMap<u64, u32> = FxHashMap::default();
        first.reserve(left.len());
        let mut next = vec![ALONE; left.len()];
        for (at, (_, key)) in left.iter().enumerate().rev() {
            if let Some(later) = first.insert(*key, at as u32) {
                next[at] = later;
            }
        }
        let candidates = keyed(0).filter(|(_, key)| of_b.may_have(*key));
        let counterpart = |(i, key)| {
            let at = first.get_mut(&key).filter(|at| **at != ALONE)?;
            let found = *at as usize;
            *at = next[found];
            Some((i, left[found].0))
        };
        let pairs: Vec<(usize, usize)> = candidates.filter_map(counterpart).collect();
        pairs.into_iter().for_each(|(a, b)| self.pair(a, b));
    }

    /// Pairs what is left and has a key in its order.
    fn align(&mut self, hashes: &[GraphHashes; 2], key: impl Fn(&GraphHashes, usize) -> Option<u64>) {
        if self.is_done() {
            return;
        }
        let keyed = |side: usize| self.alone(side).filter_map(|i| Some((i, key(&hashes[side], i)?))).unzip();
        let [(left_a, a), (left_b, b)]: [(Vec<usize>, Vec<u64>); 2] = [0, 1].map(keyed);
        for (i, j) in align::common(&a, &b) {
            self.pair(left_a[i], left_b[j]);
        }
    }

    /// Whether two tensors are the same: computed in the same way, or results of operations that belong together.
    pub(super) fn is_same(&self, [a, b]: &[GraphHashes; 2], x: TensorId, y: TensorId) -> bool {
        if a.value[x.index()] == b.value[y.index()] {
            return true;
        }
        let (Some(of_a), Some(of_b)) = (a.producer(x), b.producer(y)) else { return false };
        self.counterpart(0, of_a) == Some(of_b) && a.place[x.index()] == b.place[y.index()]
    }
}

/// Which keys are certainly not in a list. A processor keeps it at hand, unlike a table of the keys.
struct KeyFilter {
    bits: Vec<u64>,
}

impl KeyFilter {
    /// The number of bits for each key, at least.
    const BITS_PER_KEY: usize = 8;

    /// The filter of about as many operations with their keys.
    fn of(count: usize, keyed: impl Iterator<Item = (usize, u64)>) -> Self {
        let words = (count * Self::BITS_PER_KEY).next_power_of_two().max(64) / 64;
        let mut filter = KeyFilter { bits: vec![0; words] };
        keyed.for_each(|(_, key)| {
            let (word, bit) = filter.place(key);
            filter.bits[word] |= bit;
        });
        filter
    }

    /// The word and the bit of a key.
    fn place(&self, key: u64) -> (usize, u64) {
        ((key >> 6) as usize & (self.bits.len() - 1), 1 << (key & 63))
    }

    fn may_have(&self, key: u64) -> bool {
        let (word, bit) = self.place(key);
        self.bits[word] & bit != 0
    }
}

/// Operations that use a tensor: where each list begins, and the operations with the places of the tensor there.
struct Users {
    starts: Vec<u32>,
    entries: Vec<(u32, u64)>,
}

impl Users {
    fn new(of: &GraphHashes) -> Self {
        let graph = of.graph;
        let mut starts = vec![0u32; graph.tensors.len() + 1];
        for operation in &graph.operations {
            graph.each_operand_tensor(operation, |tensor| starts[tensor.index() + 1] += 1);
        }
        let mut slots: Vec<OperandPlace> = Vec::new();
        // Defaults of parameters have no tensors, so that both ways count the same.
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        let mut ends = starts.clone();
        let mut entries = vec![(0, 0); starts.last().map_or(0, |end| *end as usize)];
        for (i, operation) in graph.operations.iter().enumerate() {
            of.slots(operation, &mut slots);
            for (slot, tensor) in &slots {
                if let Some(entry) = entries.get_mut(ends[tensor.index()] as usize) {
                    *entry = (i as u32, *slot);
                }
                ends[tensor.index()] += 1;
            }
        }
        Users { starts, entries }
    }

    fn of(&self, tensor: TensorId) -> &[(u32, u64)] {
        let range = self.starts[tensor.index()] as usize..self.starts[tensor.index() + 1] as usize;
        self.entries.get(range).unwrap_or_default()
    }
}

/// Matches what is beside pairs: the operations of their operands, and those that use their results.
struct Spread<'h, 'g> {
    hashes: &'h [GraphHashes<'g>; 2],
    users: [Users; 2],
    /// The operands of the current pair.
    slots: [Vec<OperandPlace>; 2],
}

impl<'h, 'g> Spread<'h, 'g> {
    fn new(hashes: &'h [GraphHashes<'g>; 2]) -> Self {
        Spread { hashes, users: [0, 1].map(|side| Users::new(&hashes[side])), slots: Default::default() }
    }

    /// Matches operations with equal keys from all pairs beside operations without a counterpart.
    fn spread(&mut self, matching: &mut Matching, key: impl Fn(&GraphHashes, usize) -> u64) {
        if matching.is_done() {
            return;
        }
        let mut open = self.pairs_beside(matching);
        while let Some((a, b)) = open.pop() {
            if matching.is_done() {
                return;
            }
            self.operands(matching, a, b, &key, &mut open);
            self.users(matching, a, b, &key, &mut open);
        }
    }

    /// The pairs beside operations of the first graph that have no counterpart, each once.
    fn pairs_beside(&mut self, matching: &Matching) -> Vec<(usize, usize)> {
        let [a, _] = self.hashes;
        let mut beside = vec![false; a.len()];
        let mut slots = Vec::new();
        for i in matching.alone(0) {
            let operation = &a.graph.operations[i];
            a.slots(operation, &mut slots);
            slots.iter().filter_map(|(_, tensor)| a.producer(*tensor)).for_each(|producer| beside[producer] = true);
            for tensor in a.graph.tensors_of(operation) {
                self.users[0].of(tensor).iter().for_each(|(user, _)| beside[*user as usize] = true);
            }
        }
        let marked = beside.iter().enumerate().filter(|(_, beside)| **beside);
        let mut pairs: Vec<_> = marked.filter_map(|(i, _)| Some((i, matching.counterpart(0, i)?))).collect();
        // The first is the next.
        pairs.reverse();
        pairs
    }

    fn operands(
        &mut self,
        matching: &mut Matching,
        a: usize,
        b: usize,
        key: &impl Fn(&GraphHashes, usize) -> u64,
        open: &mut Vec<(usize, usize)>,
    ) {
        let [of_a, of_b] = self.hashes;
        of_a.slots(&of_a.graph.operations[a], &mut self.slots[0]);
        of_b.slots(&of_b.graph.operations[b], &mut self.slots[1]);
        for ((_, x), (_, y)) in self.slots[0].iter().zip(&self.slots[1]).filter(|((one, _), (other, _))| one == other) {
            let (Some(p), Some(q)) = (of_a.producer(*x), of_b.producer(*y)) else { continue };
            if of_a.place[x.index()] == of_b.place[y.index()] && key(of_a, p) == key(of_b, q) {
                open.extend(matching.pair_if_free(p, q));
            }
        }
    }

    /// Operations that use results of both in the same place are matched if there is one such operation of each graph.
    fn users(
        &mut self,
        matching: &mut Matching,
        a: usize,
        b: usize,
        key: &impl Fn(&GraphHashes, usize) -> u64,
        open: &mut Vec<(usize, usize)>,
    ) {
        let [of_a, of_b] = self.hashes;
        let (x, y) =
            (of_a.graph.tensors_of(&of_a.graph.operations[a]), of_b.graph.tensors_of(&of_b.graph.operations[b]));
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (x, y) in x.zip(y) {
            let mut candidates: FxHashMap<(u64, u64), [(u32, u32); 2]> = FxHashMap::default();
            for (side, tensor) in [x, y].into_iter().enumerate() {
                let users = self.users[side].of(tensor).iter();
                for (user, slot) in users.filter(|(user, _)| matching.counterpart(side, *user as usize).is_none()) {
                    let key = key(&self.hashes[side], *user as usize);
                    let one = &mut candidates.entry((*slot, key)).or_default()[side];
                    *one = (one.0 + 1, *user);
                }
            }
            let single = candidates.into_values().filter(|one| one[0].0 == 1 && one[1].0 == 1);
            found.extend(single.map(|one| (one[0].1 as usize, one[1].1 as usize)));
        }
        found.sort_unstable();
        open.extend(found.into_iter().filter_map(|(a, b)| matching.pair_if_free(a, b)));
    }
}
