//! Positions and sizes of boxes, groups and lines.
//!
//! Sizes of groups are computed from the inside out, final positions from the outside in. `page/frame.js` has the same
//! algorithm for groups that are open or closed.

use rustc_hash::FxHashMap;

use super::columns::{self, Sizes};
use super::ranks::Vertex;
use super::{Arranged, Arrangement};
use crate::graph::TensorId;
use crate::picture::label;
use crate::picture::scene::{Group, Item, Node, Scene};

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rect {
    /// Its left side.
    pub(crate) x: f64,
    /// Its upper side.
    pub(crate) y: f64,
    /// Its width.
    pub(crate) width: f64,
    /// Its height.
    pub(crate) height: f64,
}

/// A line between two rows: a straight part, a curve, a straight part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Route {
    /// The start.
    pub(crate) from: (f64, f64),
    /// The y coordinates where the curve starts and ends.
    pub(crate) bend: (f64, f64),
    /// The end.
    pub(crate) to: (f64, f64),
    /// Whether it ends at a box.
    pub(crate) arrow: bool,
    /// The tensor.
    pub(crate) tensor: TensorId,
}

/// A complete layout of a picture.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    /// The boxes.
    pub(crate) nodes: Vec<Rect>,
    /// The groups.
    pub(crate) groups: Vec<Rect>,
    /// The titles of the groups.
    pub(crate) titles: Vec<Rect>,
    /// The lines.
    pub(crate) routes: Vec<Route>,
}

/// Sizes of fonts.
pub(crate) const TITLE_SIZE: f64 = 12.0;
/// The font size of texts beside and below titles.
pub(crate) const NOTE_SIZE: f64 = 10.5;
/// The space beside and above the text of a box.
pub(crate) const BOX_PAD: (f64, f64) = (12.0, 5.0);
/// The height of the title line of a box.
pub(crate) const TITLE_LINE: f64 = 18.0;
/// The height of the text rows of a box.
pub(crate) const ROW_LINE: f64 = 14.5;
/// The space between the parts of a line of text.
const WORD_GAP: f64 = 12.0;
/// The width of the sign before the title of a closed group.
const CLOSED_SIGN: f64 = 16.0;
/// The space inside the sides of a group.
const PAD: f64 = 16.0;
/// The height of the upper edge of a group; the top and the height of the title in it.
const HEAD: f64 = 30.0;
const CHIP: (f64, f64) = (5.0, 20.0);
/// The width of a title without its text.
const CHIP_PAD: f64 = 30.0;
/// The maximum width that is added to each half of a group to place its title on the left.
const WIDER: f64 = 60.0;
/// The space between rows: the minimum, the addition for each unit of the horizontal distance of a line, the maximum.
const ROW_GAP: (f64, f64, f64) = (20.0, 0.08, 96.0);
/// The length of the straight end of a line that an arrowhead needs.
const TIP: f64 = 8.0;

/// A group with its items, relative to its upper left corner.
#[derive(Debug, Default)]
struct Frame {
    width: f64,
    height: f64,
    /// The middle of each vertex.
    x: Vec<f64>,
    /// The top and the bottom of each row.
    rows: Vec<(f64, f64)>,
    /// The upper and lower end of each line, relative to the middle of its item.
    ends: Vec<(f64, f64)>,
    /// The title.
    title: Rect,
    ins: FxHashMap<TensorId, f64>,
    outs: FxHashMap<TensorId, f64>,
}

/// The size of a box.
pub(crate) fn box_size(node: &Node) -> (f64, f64) {
    let title = label::bold_width(&node.title) * TITLE_SIZE;
    let note = label::width(&node.note) * NOTE_SIZE;
    let beside = |a: f64, b: f64| if a > 0.0 && b > 0.0 { a + WORD_GAP + b } else { a + b };
    let row = |row: &(String, String)| beside(label::width(&row.0) * NOTE_SIZE, label::width(&row.1) * NOTE_SIZE);
    let text = node.rows.iter().map(row).fold(beside(title, note), f64::max);
    let height = TITLE_LINE + ROW_LINE * node.rows.len() as f64 + 2.0 * BOX_PAD.1;
    ((text + 2.0 * BOX_PAD.0).max(56.0).ceil(), height.ceil())
}

/// The size of a closed group on a page: its title with the number of its operations, and a line of text, if it has one.
pub(crate) fn closed_size(group: &Group, line: &(String, String)) -> (f64, f64) {
    let title = label::bold_width(&group.title) * TITLE_SIZE + CLOSED_SIGN;
    let count = match group.operations.checked_div(group.run) {
        Some(each) => format!("{each} operations each"),
        None => format!("{} operations", group.operations),
    };
    let texts = [label::width(&count), label::width(&line.0), label::width(&line.1)].map(|width| width * NOTE_SIZE);
    let width = (title + WORD_GAP + texts[0]).max(texts[1] + WORD_GAP + texts[2]);
    let rows = if line.0.is_empty() && line.1.is_empty() { 0.0 } else { ROW_LINE };
    ((width + 2.0 * BOX_PAD.0).ceil(), TITLE_LINE + rows + 2.0 * BOX_PAD.1 + 5.0)
}

/// The width of the title of a group.
pub(crate) fn title_width(title: &str) -> f64 {
    (label::bold_width(title) * NOTE_SIZE + CHIP_PAD).ceil()
}

/// Computes all positions, with all groups open.
pub(crate) fn place(scene: &Scene, arrangement: &Arrangement) -> Placed {
    let sizes: Vec<(f64, f64)> = scene.nodes.iter().map(box_size).collect();
    let mut frames: Vec<Frame> = Vec::new();
    frames.resize_with(scene.groups.len(), Frame::default);
    for group in (0..frames.len()).rev() {
        frames[group] = frame(scene, &arrangement.levels[group], group, &sizes, &frames);
    }
    let mut placed = Placed {
        nodes: vec![Rect::default(); scene.nodes.len()],
        groups: vec![Rect::default(); scene.groups.len()],
        titles: vec![Rect::default(); scene.groups.len()],
        routes: Vec::new(),
    };
    placed.groups[0] = Rect { x: 0.0, y: 0.0, width: frames[0].width, height: frames[0].height };
    for group in 0..frames.len() {
        put(scene, &arrangement.levels[group], group, &sizes, &frames, &mut placed);
    }
    placed
}

/// The size of an item.
fn size_of(item: Item, sizes: &[(f64, f64)], frames: &[Frame]) -> (f64, f64) {
    match item {
        Item::Node(node) => sizes[node as usize],
        Item::Group(group) => (frames[group as usize].width, frames[group as usize].height),
    }
}

/// Computes the layout of a group; those of its inner groups have been computed.
fn frame(scene: &Scene, level: &Arranged, group: usize, sizes: &[(f64, f64)], frames: &[Frame]) -> Frame {
    let items = &scene.groups[group].items;
    let widths: Vec<f64> = items.iter().map(|item| size_of(*item, sizes, frames).0).collect();
    let port = |vertex: u32, net: u32, top: bool| match level.rows.vertices[vertex as usize] {
        Vertex::Item(item) => match items[item as usize] {
            Item::Group(within) => {
                let frame = &frames[within as usize];
                let ports = if top { &frame.ins } else { &frame.outs };
                ports.get(&level.tensors[net as usize]).map_or(0.0, |x| x - frame.width / 2.0)
            }
            Item::Node(_) => 0.0,
        },
        _ => 0.0,
    };
    let edges = level.rows.edges.iter();
    let ends: Vec<(f64, f64)> =
        edges.map(|edge| (port(edge.upper, edge.net, false), port(edge.lower, edge.net, true))).collect();
    let (mut x, mut width) = columns::columns(&level.rows, &Sizes { widths: &widths, ends: &ends });
    x.iter_mut().for_each(|x| *x += PAD);
    width += 2.0 * PAD;
    let title = if group == 0 { Rect::default() } else { title(scene, level, group, &mut x, &mut width) };
    let mut frame = Frame { width, x, ends, title, ..Frame::default() };
    frame.rows(level, group, |item| size_of(items[item as usize], sizes, frames).1);
    for (i, vertex) in level.rows.vertices.iter().enumerate() {
        match vertex {
            Vertex::In(net) => frame.ins.insert(level.tensors[*net as usize], frame.x[i]),
            Vertex::Out(net) => frame.outs.insert(level.tensors[*net as usize], frame.x[i]),
            _ => None,
        };
    }
    frame
}

/// Finds space for the title of a group between the incoming lines; makes the group wider if there is none.
fn title(scene: &Scene, level: &Arranged, group: usize, x: &mut [f64], width: &mut f64) -> Rect {
    let needed = title_width(&scene.groups[group].title);
    let least = needed + 12.0;
    if *width < least {
        let aside = (least - *width) / 2.0;
        x.iter_mut().for_each(|x| *x += aside);
        *width = least;
    }
    let is_in = |vertex: &&u32| matches!(level.rows.vertices[**vertex as usize], Vertex::In(_));
    let lines = level.rows.rows.first().map(Vec::as_slice).unwrap_or_default().iter().filter(is_in);
    let first = lines.clone().next().map_or(f64::INFINITY, |line| x[*line as usize]);
    let short = needed + 14.0 - first;
    if short > 0.0 && short <= WIDER {
        x.iter_mut().for_each(|x| *x += short);
        *width += 2.0 * short;
    }
    let mut left = 6.0;
    for &line in lines {
        if x[line as usize] - 8.0 - left >= needed {
            break;
        }
        left = x[line as usize] + 8.0;
    }
    *width = width.max(left + needed + 6.0);
    Rect { x: left, y: CHIP.0, width: needed, height: CHIP.1 }
}

impl Frame {
    /// Computes the heights of the rows and the space between them.
    fn rows(&mut self, level: &Arranged, group: usize, height: impl Fn(u32) -> f64) {
        let rows = &level.rows;
        let aside = self.aside(level);
        let (ins, outs) = (!level.ins.is_empty(), !level.outs.is_empty());
        let mut y = if group == 0 { PAD } else { HEAD };
        for (i, row) in rows.rows.iter().enumerate() {
            if ins && i == 0 {
                self.rows.push((0.0, HEAD));
                continue;
            }
            let gap = (ROW_GAP.0 + aside[i] * ROW_GAP.1).min(ROW_GAP.2);
            // The row below the upper edge of a group needs less space.
            y += if i > usize::from(ins) {
                gap
            } else if ins {
                gap - 12.0
            } else {
                0.0
            };
            let tall = |vertex: &u32| match rows.vertices[*vertex as usize] {
                Vertex::Item(item) => height(item),
                _ => 0.0,
            };
            let tallest = row.iter().map(tall).fold(0.0, f64::max);
            self.rows.push((y, y + tallest));
            y += tallest;
        }
        self.height = if outs { y } else { y + PAD };
    }

    /// The maximum horizontal distance of the lines to each row.
    fn aside(&self, level: &Arranged) -> Vec<f64> {
        let mut row_of = vec![0u32; level.rows.vertices.len()];
        for (i, row) in level.rows.rows.iter().enumerate() {
            row.iter().for_each(|vertex| row_of[*vertex as usize] = i as u32);
        }
        let mut aside = vec![0.0f64; level.rows.rows.len()];
        for (edge, ends) in level.rows.edges.iter().zip(&self.ends) {
            let step = self.x[edge.upper as usize] + ends.0 - self.x[edge.lower as usize] - ends.1;
            let row = &mut aside[row_of[edge.lower as usize] as usize];
            *row = row.max(step.abs());
        }
        aside
    }
}

/// Computes the final positions of the items and lines of a group from the position of the group.
fn put(scene: &Scene, level: &Arranged, group: usize, sizes: &[(f64, f64)], frames: &[Frame], placed: &mut Placed) {
    let (frame, Rect { x, y, .. }) = (&frames[group], placed.groups[group]);
    placed.titles[group] = Rect { x: frame.title.x + x, y: frame.title.y + y, ..frame.title };
    let mut row_of = vec![0u32; level.rows.vertices.len()];
    let mut heights = vec![0.0; level.rows.vertices.len()];
    for (i, row) in level.rows.rows.iter().enumerate() {
        let (top, bottom) = frame.rows[i];
        for &vertex in row {
            row_of[vertex as usize] = i as u32;
            let Vertex::Item(item) = level.rows.vertices[vertex as usize] else { continue };
            let item = scene.groups[group].items[item as usize];
            let (width, height) = size_of(item, sizes, frames);
            heights[vertex as usize] = height;
            let (left, above) = (frame.x[vertex as usize] - width / 2.0, (top + bottom - height) / 2.0);
            let rect = Rect { x: x + left, y: y + above, width, height };
            match item {
                Item::Node(node) => placed.nodes[node as usize] = rect,
                Item::Group(within) => placed.groups[within as usize] = rect,
            }
        }
    }
    for (edge, ends) in level.rows.edges.iter().zip(&frame.ends) {
        let (upper, lower) = (edge.upper as usize, edge.lower as usize);
        let (above, below) = (frame.rows[row_of[upper] as usize], frame.rows[row_of[lower] as usize]);
        let start = match level.rows.vertices[upper] {
            Vertex::Item(_) => (above.0 + above.1 + heights[upper]) / 2.0,
            Vertex::In(_) => above.0,
            _ => above.1,
        };
        let (end, arrow) = match level.rows.vertices[lower] {
            Vertex::Item(item) => {
                let node = matches!(scene.groups[group].items[item as usize], Item::Node(_));
                ((below.0 + below.1 - heights[lower]) / 2.0, node)
            }
            Vertex::Out(_) => (frame.height, false),
            _ => (below.1, false),
        };
        placed.routes.push(Route {
            from: (x + frame.x[upper] + ends.0, y + start),
            bend: (y + above.1, y + below.0 - if arrow { TIP } else { 0.0 }),
            to: (x + frame.x[lower] + ends.1, y + end),
            arrow,
            tensor: level.tensors[edge.net as usize],
        });
    }
}
