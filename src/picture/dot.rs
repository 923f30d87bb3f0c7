//! Pictures in the DOT language of Graphviz: boxes, clusters for groups, lines.

use std::io::{self, Write};

use super::category::{Category, style};
use super::scene::{Item, Node, Scene, Subject};
use super::sheet::{Sheet, shown};

const HEAD: &str = " {
  graph [rankdir=TB, nodesep=0.25, ranksep=0.35, fontname=\"Helvetica\", fontsize=11, fontcolor=\"#4b5563\"];
  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11, margin=\"0.12,0.06\"];
  edge [color=\"#606b79\", arrowsize=0.6];
";

/// Writes a scene.
pub(crate) fn write(scene: &Scene, out: &mut dyn Write) -> io::Result<()> {
    let mut dot = Dot { scene, sheet: Sheet { text: String::from("digraph ") } };
    dot.quoted(scene.graph.text_of(scene.graph.name));
    dot.sheet.text.push_str(HEAD);
    dot.clusters(out)?;
    dot.edges(out)?;
    dot.sheet.text.push_str("}\n");
    out.write_all(dot.sheet.text.as_bytes())
}

struct Dot<'s> {
    scene: &'s Scene<'s>,
    sheet: Sheet,
}

impl Dot<'_> {
    fn indent(&mut self, depth: u32) {
        (0..=depth).for_each(|_| self.sheet.text.push_str("  "));
    }

    fn quoted(&mut self, text: &str) {
        self.sheet.text.push('"');
        escape(&mut self.sheet.text, text);
        self.sheet.text.push('"');
    }

    /// Writes the boxes in nested clusters.
    fn clusters(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut open: Vec<(u32, usize)> = vec![(0, 0)];
        while let Some((group, next)) = open.last_mut() {
            let (id, of) = (*group, &self.scene.groups[*group as usize]);
            let depth = self.scene.depth(id);
            let Some(item) = of.items.get(*next) else {
                open.pop();
                if id != 0 {
                    self.indent(depth - 1);
                    self.sheet.text.push_str("}\n");
                }
                continue;
            };
            *next += 1;
            match *item {
                Item::Node(node) => self.node(node, depth),
                Item::Group(within) => {
                    self.indent(depth);
                    self.sheet.push(&["subgraph cluster_", &within.to_string(), " {\n"]);
                    self.indent(depth + 1);
                    self.sheet.text.push_str("label=");
                    self.quoted(&self.scene.groups[within as usize].title);
                    let fill = if depth.is_multiple_of(2) { "#f6f8fa" } else { "#eef1f5" };
                    self.sheet.push(&[
                        "; labeljust=l; style=\"rounded,filled\"; color=\"#cfd6de\"; fillcolor=\"",
                        fill,
                        "\";\n",
                    ]);
                    open.push((within, 0));
                }
            }
            self.sheet.flush(out)?;
        }
        Ok(())
    }

    fn node(&mut self, id: u32, depth: u32) {
        let node = &self.scene.nodes[id as usize];
        let (fill, line) = style(node.category).light;
        self.indent(depth);
        self.sheet.push(&["n", &id.to_string(), " [label="]);
        self.label(node);
        self.sheet.push(&[", fillcolor=\"", fill, "\", color=\"", line, "\""]);
        if node.category == Category::Port {
            self.sheet.text.push_str(", shape=oval");
        }
        self.sheet.text.push_str(", tooltip=");
        let tooltip = self.tooltip(node);
        self.quoted(&tooltip);
        self.sheet.text.push_str("];\n");
    }

    /// Writes the label of a box: title and note, then left-aligned text rows. Those that stand for lines are left out,
    /// since all lines are written.
    fn label(&mut self, node: &Node) {
        self.sheet.text.push('"');
        let rows = &node.rows[..node.rows.len() - node.told];
        let lines = std::iter::once((&node.title, &node.note)).chain(rows.iter().map(|row| (&row.0, &row.1)));
        for (left, right) in lines {
            escape(&mut self.sheet.text, left);
            self.sheet.text.push_str(if left.is_empty() || right.is_empty() { "" } else { "  " });
            escape(&mut self.sheet.text, right);
            self.sheet.text.push_str(if rows.is_empty() { "" } else { "\\l" });
        }
        self.sheet.text.push('"');
    }

    fn tooltip(&self, node: &Node) -> String {
        let graph = self.scene.graph;
        match node.subject {
            Subject::Input(tensor) | Subject::Output(tensor) => graph.tensor_name(tensor),
            Subject::Operation(id) => {
                let results = graph.tensors_of(&graph.operations[id.index()]).take(8);
                results.map(|tensor| graph.tensor_name(tensor)).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Writes the lines: one for each tensor from its source to each box that uses it.
    fn edges(&mut self, out: &mut dyn Write) -> io::Result<()> {
        for (id, node) in self.scene.nodes.iter().enumerate() {
            for tensor in self.scene.used(node.subject) {
                if let Some(source) = self.scene.source(tensor) {
                    self.sheet.push(&["  n", &source.to_string(), " -> n", &id.to_string(), ";\n"]);
                }
            }
            self.sheet.flush(out)?;
        }
        Ok(())
    }
}

/// Adds text to a DOT string. Backslashes, quotes and HTML entities are escaped.
fn escape(out: &mut String, text: &str) {
    for c in text.chars().map(shown) {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
}
