//! Ranks: the row of each item of a level, and the lanes in which nets pass other items.
//!
//! A net is a tensor with one source and some targets. Its line runs down from the source through one lane in each row
//! that it passes, whatever the number of targets, and branches off above each target. The number of lanes is limited:
//! if a target is too far away, or above the source, the tensor is named in the box of the target instead.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The contents of a level: items and nets between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Level {
    /// The items: the number of columns that each needs. Items with smaller numbers are placed first.
    pub(crate) items: Vec<u32>,
    /// The nets.
    pub(crate) nets: Vec<Net>,
}

/// A tensor on a level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Net {
    /// The item whose result it is; none if it comes from outside.
    pub(crate) source: Option<u32>,
    /// The items that use it.
    pub(crate) targets: Vec<u32>,
    /// Whether it is used outside of the level.
    pub(crate) leaves: bool,
}

/// A vertex of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Vertex {
    /// An item.
    Item(u32),
    /// A lane: a point of a net's line that passes the row.
    Lane(u32),
    /// The port where a net enters the level.
    In(u32),
    /// The port where a net leaves the level.
    Out(u32),
}

/// A line between neighbouring rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The vertex above.
    pub(crate) upper: u32,
    /// The vertex below.
    pub(crate) lower: u32,
    /// The net.
    pub(crate) net: u32,
}

/// The rows of a level.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// The vertices; items come first, in order of their numbers.
    pub(crate) vertices: Vec<Vertex>,
    /// The vertices of each row, from the left.
    pub(crate) rows: Vec<Vec<u32>>,
    /// The lines.
    pub(crate) edges: Vec<Edge>,
    /// Targets without a line: net and item.
    pub(crate) named: Vec<(u32, u32)>,
}

/// The maximum number of lanes: a number for each item, and a constant.
const LANES_PER_ITEM: usize = 4;
const LANES: usize = 2000;
/// The minimum of the maximum number of items in a row.
const MIN_WIDTH: usize = 12;
/// The number of columns of an item that counts as one, in this maximum.
const COLUMNS: u32 = 2;
/// The maximum number of lanes in a row: a number for each item that it may have, and a minimum.
const LANES_IN_ROW: u32 = 2;
const MIN_LANES_IN_ROW: u32 = 48;
/// The maximum number of rows that are searched for a free lane: a number for each item, and a constant.
const LOOKS_PER_ITEM: usize = 50;
const LOOKS: usize = 100_000;
/// The maximum number of rows that are tried for an item that could be moved down.
const TRIES: u32 = 64;

/// The row of each item of a level, its position in a topological order, and the number of columns of all rows.
pub(crate) struct Placed {
    rows: Vec<u32>,
    position: Vec<u32>,
    pub(crate) columns: u32,
}

/// Finds the rows of the items of a level.
pub(crate) fn place(level: &Level) -> Placed {
    let graph = Adjacency::new(level);
    let (order, position) = graph.order(level.items.len());
    let mut ranks = Ranks::new(level);
    ranks.assign(&graph, &order, &position);
    ranks.pull_down(&graph, &order, &position);
    let rows = ranks.close_gaps();
    let mut columns = vec![0u32; rows.len()];
    rows.iter().zip(&level.items).for_each(|(row, item)| columns[*row as usize] += item);
    Placed { rows, position, columns: columns.into_iter().max().unwrap_or(0) }
}

/// Finds the rows of a level whose items have rows.
pub(crate) fn rank(level: &Level, placed: Placed) -> Rows {
    Builder::new(level, placed.rows).build(&placed.position)
}

/// The neighbours of each item, as ranges of one table.
pub(crate) struct Adjacency {
    pub(crate) after: Table,
    pub(crate) before: Table,
}

/// A list of items for each item.
pub(crate) struct Table {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Table {
    fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0u32; count + 1];
        pairs.iter().for_each(|(from, _)| starts[*from as usize + 1] += 1);
        (0..count).for_each(|i| starts[i + 1] += starts[i]);
        let mut next = starts.clone();
        let mut items = vec![0; pairs.len()];
        for (from, to) in pairs {
            items[next[*from as usize] as usize] = *to;
            next[*from as usize] += 1;
        }
        Table { starts, items }
    }

    /// The items of an item.
    pub(crate) fn of(&self, i: u32) -> &[u32] {
        &self.items[self.starts[i as usize] as usize..self.starts[i as usize + 1] as usize]
    }
}

impl Adjacency {
    /// The neighbours on a level.
    pub(crate) fn new(level: &Level) -> Self {
        let mut pairs = Vec::new();
        for net in &level.nets {
            if let Some(source) = net.source {
                pairs.extend(net.targets.iter().filter(|target| **target != source).map(|&target| (source, target)));
            }
        }
        let after = Table::new(level.items.len(), &pairs);
        pairs.iter_mut().for_each(|pair| *pair = (pair.1, pair.0));
        Adjacency { after, before: Table::new(level.items.len(), &pairs) }
    }

    /// A topological order, where smaller numbers come first, and the position of each item in it. In a cycle,
    /// the smallest remaining number comes first, so some nets lead against the order.
    pub(crate) fn order(&self, count: usize) -> (Vec<u32>, Vec<u32>) {
        let mut left: Vec<u32> = (0..count as u32).map(|i| self.before.of(i).len() as u32).collect();
        let mut ready: BinaryHeap<Reverse<u32>> =
            (0..count as u32).filter(|&i| left[i as usize] == 0).map(Reverse).collect();
        let (mut order, mut position) = (Vec::with_capacity(count), vec![u32::MAX; count]);
        let mut smallest = 0u32;
        while order.len() < count {
            let next = match ready.pop() {
                Some(Reverse(item)) => item,
                None => {
                    while position[smallest as usize] != u32::MAX {
                        smallest += 1;
                    }
                    smallest
                }
            };
            if position[next as usize] != u32::MAX {
                continue;
            }
            position[next as usize] = order.len() as u32;
            order.push(next);
            for &target in self.after.of(next) {
                left[target as usize] = left[target as usize].saturating_sub(1);
                if left[target as usize] == 0 && position[target as usize] == u32::MAX {
                    ready.push(Reverse(target));
                }
            }
        }
        (order, position)
    }
}

/// For each item, the number of nets that only this item uses, whose lines become longer if it moves down, and the
/// number of its result nets, whose lines become shorter.
fn lengths(level: &Level) -> (Vec<u32>, Vec<u32>) {
    let (mut alone, mut made) = (vec![0; level.items.len()], vec![0; level.items.len()]);
    for net in &level.nets {
        if let Some(&first) = net.targets.first()
            && net.targets.iter().all(|target| *target == first)
            && !net.leaves
        {
            alone[first as usize] += 1;
        }
        if let Some(source) = net.source {
            made[source as usize] += 1;
        }
    }
    (alone, made)
}

/// The maximum number of items in a row.
fn row_width(items: usize) -> u32 {
    items.isqrt().max(MIN_WIDTH) as u32
}

/// Assigns rows to items, with limited widths of the rows.
struct Ranks<'l> {
    level: &'l Level,
    of: Vec<u32>,
    /// For each row, the columns that are used.
    used: Vec<u32>,
    /// For each row, the next row that may have space.
    next: Vec<u32>,
    /// The number of used columns at which a row is full.
    width: u32,
}

impl<'l> Ranks<'l> {
    fn new(level: &'l Level) -> Self {
        let count = level.items.len();
        let width = COLUMNS * row_width(count);
        Ranks { level, of: vec![0; count], used: Vec::new(), next: Vec::new(), width }
    }

    /// The columns that an item uses.
    fn columns(&self, item: u32) -> u32 {
        self.level.items[item as usize].max(COLUMNS)
    }

    /// The first row with space, from a row on.
    fn room(&mut self, from: u32) -> u32 {
        let mut row = from;
        while let Some(&next) = self.next.get(row as usize).filter(|next| **next != row) {
            let further = self.next.get(next as usize).copied().unwrap_or(next);
            self.next[row as usize] = further;
            row = next;
        }
        row
    }

    fn put(&mut self, item: u32, row: u32) {
        let needed = row as usize + 1;
        while self.used.len() < needed {
            self.next.push(self.used.len() as u32);
            self.used.push(0);
        }
        self.used[row as usize] += self.columns(item);
        if self.used[row as usize] >= self.width {
            self.next[row as usize] = row + 1;
        }
        self.of[item as usize] = row;
    }

    /// Puts each item below all items whose results it uses.
    fn assign(&mut self, graph: &Adjacency, order: &[u32], position: &[u32]) {
        for &item in order {
            let earlier = |source: &&u32| position[**source as usize] < position[item as usize];
            let above = graph.before.of(item).iter().filter(earlier).map(|source| self.of[*source as usize] + 1).max();
            let row = self.room(above.unwrap_or(0));
            self.put(item, row);
        }
    }

    /// Moves items down to just above their first user, if they have at least as many result nets as nets that
    /// only they use (see [`lengths`]), so that the total length of lines does not increase.
    fn pull_down(&mut self, graph: &Adjacency, order: &[u32], position: &[u32]) {
        let (alone, made) = lengths(self.level);
        for &item in order.iter().rev().filter(|item| made[**item as usize] >= alone[**item as usize]) {
            let later = |target: &&u32| position[**target as usize] > position[item as usize];
            let first = graph.after.of(item).iter().filter(later).map(|target| self.of[*target as usize]).min();
            let (Some(first), now) = (first, self.of[item as usize]) else { continue };
            let wanted = (now + 1..first).rev().take(TRIES as usize).find(|row| self.used[*row as usize] < self.width);
            if let Some(row) = wanted {
                self.used[now as usize] -= self.columns(item);
                self.put(item, row);
            }
        }
    }

    /// Removes empty rows.
    fn close_gaps(self) -> Vec<u32> {
        let mut new = Vec::with_capacity(self.used.len());
        let mut rows = 0;
        for used in &self.used {
            new.push(rows);
            rows += u32::from(*used > 0);
        }
        self.of.iter().map(|row| new[*row as usize]).collect()
    }
}

struct Builder<'l> {
    level: &'l Level,
    ranks: Vec<u32>,
    last: u32,
    rows: Rows,
    /// The number of lanes of each row, and the maximum.
    used: Vec<u32>,
    most: u32,
    /// The number of rows that may still be searched for a free lane.
    looks: usize,
}

impl<'l> Builder<'l> {
    fn new(level: &'l Level, mut ranks: Vec<u32>) -> Self {
        // Ports are in separate rows, the first and the last one.
        if level.nets.iter().any(|net| net.source.is_none()) {
            ranks.iter_mut().for_each(|rank| *rank += 1);
        }
        let leaves = level.nets.iter().any(|net| net.leaves);
        let last = ranks.iter().max().map_or(0, |rank| *rank) + u32::from(leaves);
        let mut rows = Rows { rows: vec![Vec::new(); last as usize + 1], ..Rows::default() };
        for (item, rank) in ranks.iter().enumerate() {
            rows.vertices.push(Vertex::Item(item as u32));
            rows.rows[*rank as usize].push(item as u32);
        }
        let most = (LANES_IN_ROW * row_width(ranks.len())).max(MIN_LANES_IN_ROW);
        let looks = LOOKS.saturating_add(LOOKS_PER_ITEM * ranks.len());
        Builder { level, ranks, last, rows, used: vec![0; last as usize + 1], most, looks }
    }

    fn build(mut self, position: &[u32]) -> Rows {
        let mut lanes = LANES.saturating_add(LANES_PER_ITEM * self.ranks.len());
        for (i, targets, leaves) in self.drawn(position) {
            self.net(i, &targets, leaves, &mut lanes);
        }
        self.rows.named.sort_unstable();
        self.rows
    }

    /// The nets with the targets below their sources; nets that pass few rows for each target come first.
    fn drawn(&mut self, position: &[u32]) -> Vec<(u32, Vec<u32>, bool)> {
        let mut nets = Vec::with_capacity(self.level.nets.len());
        for (i, net) in self.level.nets.iter().enumerate() {
            let down = |target: &u32| match net.source {
                Some(source) => position[source as usize] < position[*target as usize],
                None => true,
            };
            let (mut down, up): (Vec<u32>, Vec<u32>) = net.targets.iter().partition(|target| down(target));
            self.rows.named.extend(up.into_iter().map(|target| (i as u32, target)));
            down.sort_unstable_by_key(|target| (self.ranks[*target as usize], *target));
            down.dedup();
            nets.push((i as u32, down, net.leaves));
        }
        let length = |(i, targets, leaves): &(u32, Vec<u32>, bool)| {
            let end = if *leaves { self.last } else { targets.last().map_or(0, |target| self.ranks[*target as usize]) };
            let users = targets.len() as u32 + u32::from(*leaves);
            (end.saturating_sub(self.start(*i)).div_ceil(users.max(1)), *i)
        };
        nets.sort_by_cached_key(length);
        nets
    }

    fn start(&self, net: u32) -> u32 {
        self.level.nets[net as usize].source.map_or(0, |source| self.ranks[source as usize])
    }

    fn add(&mut self, vertex: Vertex, row: u32) -> u32 {
        self.rows.vertices.push(vertex);
        let id = self.rows.vertices.len() as u32 - 1;
        self.rows.rows[row as usize].push(id);
        id
    }

    /// The first row without a free lane, or the end of the searched range.
    fn first_full(&mut self, from: u32, to: u32) -> u32 {
        let rows = (to.saturating_sub(from) as usize).min(self.looks);
        let full = (from..to).take(rows).position(|row| self.used[row as usize] >= self.most);
        self.looks -= full.unwrap_or(rows);
        from + full.unwrap_or(rows) as u32
    }

    /// Draws a net as far as lanes are free; the tensor is named in its other targets.
    fn net(&mut self, i: u32, targets: &[u32], leaves: bool, lanes: &mut usize) {
        let start = self.start(i);
        let end = if leaves { self.last } else { targets.last().map_or(start, |target| self.ranks[*target as usize]) };
        let full = self.first_full(start + 1, end.min(start.saturating_add(*lanes as u32).saturating_add(1)));
        let near = targets.partition_point(|target| self.ranks[*target as usize] <= full);
        let (near, far) = targets.split_at(near);
        self.rows.named.extend(far.iter().map(|target| (i, *target)));
        let leaves = leaves && far.is_empty() && self.last <= full;
        if near.is_empty() && !leaves {
            return;
        }
        let mut at = match self.level.nets[i as usize].source {
            Some(source) => source,
            None => self.add(Vertex::In(i), 0),
        };
        let mut row = start;
        let mut lead = |builder: &mut Self, to: u32| {
            while row + 1 < to {
                row += 1;
                let lane = builder.add(Vertex::Lane(i), row);
                builder.used[row as usize] += 1;
                builder.rows.edges.push(Edge { upper: at, lower: lane, net: i });
                at = lane;
                *lanes = lanes.saturating_sub(1);
            }
            at
        };
        for &target in near {
            let upper = lead(self, self.ranks[target as usize]);
            self.rows.edges.push(Edge { upper, lower: target, net: i });
        }
        if leaves {
            let upper = lead(self, self.last);
            let port = self.add(Vertex::Out(i), self.last);
            self.rows.edges.push(Edge { upper, lower: port, net: i });
        }
    }
}
