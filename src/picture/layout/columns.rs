//! The positions of vertices in their rows, by the method of Brandes and Köpf, extended to lines that do not end in the
//! middle of a vertex.
//!
//! Vertices are aligned with a neighbour in the preceding row, so that long lines are straight; aligned vertices are
//! moved together to one side as far as possible. This is done from all four corners, and each vertex gets the mean
//! of the middle two of its four positions. Then [`super::settle`] improves them. `page/columns.js` has the same
//! algorithm.

use super::order::Incident;
use super::ranks::{Rows, Vertex};
use super::settle::Settling;

/// The sizes of the items and lines of a level.
pub(crate) struct Sizes<'s> {
    /// The width of each item.
    pub(crate) widths: &'s [f64],
    /// The upper and lower end of each line, relative to the middle of its vertex.
    pub(crate) ends: &'s [(f64, f64)],
}

/// The space between two items in a row.
pub(crate) const GAP: f64 = 26.0;
/// The space beside a line.
pub(crate) const LINE_GAP: f64 = 13.0;
/// The maximum distance of an aligned vertex from the first one of its block. Without it, a chain of groups whose lines
/// enter on the left and leave on the right is a long diagonal.
const DRIFT: f64 = 150.0;

/// The middle of each vertex, where the leftmost side is 0, and the total width.
pub(crate) fn columns(rows: &Rows, sizes: &Sizes) -> (Vec<f64>, f64) {
    let layout = Columns::new(rows, sizes);
    let conflicts = layout.conflicts();
    let mut all: Vec<Vec<f64>> = Vec::with_capacity(4);
    for down in [true, false] {
        for left in [true, false] {
            all.push(layout.run(&conflicts, down, left));
        }
    }
    layout.balance(all)
}

struct Columns<'r> {
    rows: &'r Rows,
    sizes: &'r Sizes<'r>,
    position: Vec<u32>,
    up: Incident,
    down: Incident,
    /// Whether each line branches off a long line, which goes straight on.
    branches: Vec<bool>,
}

/// Blocks of aligned vertices: the first vertex of each block, and the offset of each vertex from it.
struct Blocks {
    root: Vec<u32>,
    shift: Vec<f64>,
}

impl<'r> Columns<'r> {
    fn new(rows: &'r Rows, sizes: &'r Sizes<'r>) -> Self {
        let count = rows.vertices.len();
        let mut position = vec![0; count];
        for row in &rows.rows {
            row.iter().enumerate().for_each(|(i, vertex)| position[*vertex as usize] = i as u32);
        }
        let up = Incident::new(count, rows.edges.iter().map(|edge| edge.lower));
        let down = Incident::new(count, rows.edges.iter().map(|edge| edge.upper));
        let mut columns = Columns { rows, sizes, position, up, down, branches: Vec::new() };
        columns.branches = columns.branches();
        columns
    }

    fn branches(&self) -> Vec<bool> {
        let (edges, vertices) = (&self.rows.edges, &self.rows.vertices);
        let mut straight = vec![false; vertices.len()];
        let inner = (0..edges.len()).filter(|edge| self.is_inner(*edge));
        inner.for_each(|edge| straight[edges[edge].upper as usize] = true);
        let is_lane = |vertex: u32| matches!(vertices[vertex as usize], Vertex::Lane(_));
        let branches = |edge: usize| {
            let upper = edges[edge].upper;
            is_lane(upper) && straight[upper as usize] && !self.is_inner(edge)
        };
        (0..edges.len()).map(branches).collect()
    }

    fn is_item(&self, vertex: u32) -> bool {
        matches!(self.rows.vertices[vertex as usize], Vertex::Item(_))
    }

    fn half(&self, vertex: u32) -> f64 {
        match self.rows.vertices[vertex as usize] {
            Vertex::Item(item) => self.sizes.widths[item as usize] / 2.0,
            _ => 0.0,
        }
    }

    /// The minimum distance between the middles of neighbours.
    fn distance(&self, a: u32, b: u32) -> f64 {
        let gap = if self.is_item(a) && self.is_item(b) { GAP } else { LINE_GAP };
        self.half(a) + gap + self.half(b)
    }

    /// Whether a line is an inner part of a long line, which should be straight.
    fn is_inner(&self, edge: usize) -> bool {
        let edge = self.rows.edges[edge];
        !self.is_item(edge.upper) && !self.is_item(edge.lower)
    }

    /// The lines that cross inner parts of long lines.
    fn conflicts(&self) -> Vec<bool> {
        let mut found = vec![false; self.rows.edges.len()];
        for row in self.rows.rows.iter().skip(1) {
            let above = |edge: &u32| self.position[self.rows.edges[*edge as usize].upper as usize];
            let inner = |vertex: u32| self.up.of(vertex).iter().find(|edge| self.is_inner(**edge as usize)).map(above);
            let (mut from, mut low) = (0, 0);
            for (i, &vertex) in row.iter().enumerate() {
                let high = match inner(vertex) {
                    Some(high) => high,
                    None if i + 1 == row.len() => u32::MAX,
                    None => continue,
                };
                for &edge in row[from..=i].iter().flat_map(|vertex| self.up.of(*vertex)) {
                    let at = above(&edge);
                    if (at < low || at > high) && !self.is_inner(edge as usize) {
                        found[edge as usize] = true;
                    }
                }
                (from, low) = (i + 1, high);
            }
        }
        found
    }

    /// One of the four layouts.
    fn run(&self, conflicts: &[bool], down: bool, left: bool) -> Vec<f64> {
        let blocks = self.align(conflicts, down, left);
        let x = self.compact(&blocks, left);
        let sign = if left { 1.0 } else { -1.0 };
        (0..x.len()).map(|v| sign * (x[blocks.root[v] as usize] + blocks.shift[v])).collect()
    }

    /// Aligns each vertex with the middle one of its neighbours in the preceding row, unless the line between
    /// them crosses another alignment.
    fn align(&self, conflicts: &[bool], down: bool, left: bool) -> Blocks {
        let count = self.rows.vertices.len();
        let mut blocks = Blocks { root: (0..count as u32).collect(), shift: vec![0.0; count] };
        let mut taken = vec![false; count];
        let mut near: Vec<(u32, u32)> = Vec::new();
        for i in 0..self.rows.rows.len() {
            let row = &self.rows.rows[if down { i } else { self.rows.rows.len() - 1 - i }];
            let mut last = i64::MIN;
            for j in 0..row.len() {
                let vertex = row[if left { j } else { row.len() - 1 - j }];
                self.neighbours(vertex, down, &mut near);
                let place = |at: u32| if left { i64::from(at) } else { -i64::from(at) };
                for middle in middles(near.len(), left) {
                    let (at, edge) = near[middle];
                    let other = self.other(edge, down);
                    let sign = if left == down { 1.0 } else { -1.0 };
                    let (upper, lower) = self.sizes.ends[edge as usize];
                    let shift = blocks.shift[other as usize] + sign * (upper - lower);
                    let far = upper != lower && shift.abs() > DRIFT;
                    if conflicts[edge as usize] || place(at) <= last || taken[other as usize] || far {
                        continue;
                    }
                    taken[other as usize] = true;
                    last = place(at);
                    blocks.root[vertex as usize] = blocks.root[other as usize];
                    blocks.shift[vertex as usize] = shift;
                    break;
                }
            }
        }
        blocks
    }

    fn other(&self, edge: u32, down: bool) -> u32 {
        let edge = self.rows.edges[edge as usize];
        if down { edge.upper } else { edge.lower }
    }

    /// The neighbours in the preceding row, from the left: position and line. A line that branches off a long line is
    /// left out, since the long line has to be straight.
    fn neighbours(&self, vertex: u32, down: bool, near: &mut Vec<(u32, u32)>) {
        let edges = if down { self.up.of(vertex) } else { self.down.of(vertex) };
        let edges = edges.iter().filter(|edge| !self.branches[**edge as usize]);
        near.clear();
        near.extend(edges.map(|&edge| (self.position[self.other(edge, down) as usize], edge)));
        near.sort_unstable();
    }

    /// Moves blocks to one side as far as possible, then back if that does not increase the width.
    fn compact(&self, blocks: &Blocks, left: bool) -> Vec<f64> {
        let count = self.rows.vertices.len();
        let mut constraints: Vec<(u32, u32, f64)> = Vec::with_capacity(count);
        for row in &self.rows.rows {
            for pair in row.windows(2) {
                let (a, b) = if left { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
                let distance = self.distance(a, b) + blocks.shift[a as usize] - blocks.shift[b as usize];
                constraints.push((blocks.root[a as usize], blocks.root[b as usize], distance));
            }
        }
        let after = Incident::new(count, constraints.iter().map(|constraint| constraint.0));
        let mut waiting = vec![0u32; count];
        constraints.iter().for_each(|constraint| waiting[constraint.1 as usize] += 1);
        let mut order: Vec<u32> =
            (0..count as u32).filter(|&v| blocks.root[v as usize] == v && waiting[v as usize] == 0).collect();
        let mut x = vec![0.0f64; count];
        let mut next = 0;
        while next < order.len() {
            let block = order[next];
            for &constraint in after.of(block) {
                let (_, to, distance) = constraints[constraint as usize];
                x[to as usize] = x[to as usize].max(x[block as usize] + distance);
                waiting[to as usize] -= 1;
                if waiting[to as usize] == 0 {
                    order.push(to);
                }
            }
            next += 1;
        }
        for &block in order.iter().rev() {
            let room = after.of(block).iter().map(|&constraint| {
                let (_, to, distance) = constraints[constraint as usize];
                x[to as usize] - distance
            });
            let room = room.fold(f64::INFINITY, f64::min);
            if room.is_finite() {
                x[block as usize] = x[block as usize].max(room);
            }
        }
        x
    }

    /// Aligns the four layouts with the narrowest one, and takes the mean of the middle two positions of each
    /// vertex.
    fn balance(&self, mut all: Vec<Vec<f64>>) -> (Vec<f64>, f64) {
        let count = self.rows.vertices.len();
        let side = |x: &[f64], sign: f64| {
            (0..count).map(|v| sign * x[v] + self.half(v as u32)).fold(f64::NEG_INFINITY, f64::max)
        };
        let bounds: Vec<(f64, f64)> = all.iter().map(|x| (-side(x, -1.0), side(x, 1.0))).collect();
        let width = |bounds: &(f64, f64)| bounds.1 - bounds.0;
        let narrowest = bounds.iter().copied().min_by(|a, b| width(a).total_cmp(&width(b)));
        let Some((low, high)) = narrowest.filter(|_| count > 0) else { return (Vec::new(), 0.0) };
        for (i, x) in all.iter_mut().enumerate() {
            // The first and the third layout are aligned to the left.
            let by = if i % 2 == 0 { low - bounds[i].0 } else { high - bounds[i].1 };
            x.iter_mut().for_each(|x| *x += by);
        }
        let mut middle: Vec<f64> = (0..count)
            .map(|v| {
                let mut places = [all[0][v], all[1][v], all[2][v], all[3][v]];
                places.sort_unstable_by(f64::total_cmp);
                (places[1] + places[2]) / 2.0
            })
            .collect();
        let Columns { rows, sizes, position, up, down, .. } = self;
        let settling = Settling { rows, sizes, position, up, down };
        settling.settle(&mut middle, |a, b| self.distance(a, b));
        let (low, high) = (-side(&middle, -1.0), side(&middle, 1.0));
        middle.iter_mut().for_each(|x| *x -= low);
        (middle, high - low)
    }
}

/// The one or two middle neighbours, in the order in which they are tried.
fn middles(count: usize, left: bool) -> impl Iterator<Item = usize> {
    let (low, high) = (count.saturating_sub(1) / 2, count / 2);
    let (first, second) = if left { (low, high) } else { (high, low) };
    let second = (second != first).then_some(second);
    (count > 0).then_some(first).into_iter().chain(second.filter(|_| count > 0))
}
