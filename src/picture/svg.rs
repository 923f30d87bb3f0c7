//! Pictures as SVG.

use std::io::{self, Write};

use super::category::{Category, STYLES, style};
use super::label;
use super::layout::Arrangement;
use super::layout::frame::{self, BOX_PAD, NOTE_SIZE, Placed, ROW_LINE, Rect, Route, TITLE_LINE, TITLE_SIZE};
use super::scene::{Node, Scene, Subject};
use super::sheet::{Sheet, escape};
use crate::source::Sources;
use crate::source::places::Places;

const FONT: &str = "Inter,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif";
/// The space around the picture.
const MARGIN: f64 = 8.0;

/// Writes an arranged scene.
pub(crate) fn write(
    scene: &Scene,
    arrangement: &Arrangement,
    sources: &Sources,
    out: &mut dyn Write,
) -> io::Result<()> {
    let placed = frame::place(scene, arrangement);
    let places = Places::new(sources, scene.graph.operations.iter().map(|operation| operation.at));
    let mut svg = Svg { scene, placed: &placed, sources, places, sheet: Sheet::default() };
    svg.head();
    for group in 1..scene.groups.len() {
        svg.group(group);
        svg.sheet.flush(out)?;
    }
    svg.sheet.text.push_str("<g class=\"lines\">\n");
    for route in &placed.routes {
        svg.route(route);
        svg.sheet.flush(out)?;
    }
    svg.sheet.text.push_str("</g>\n");
    for group in 1..scene.groups.len() {
        svg.title(group);
        svg.sheet.flush(out)?;
    }
    for node in 0..scene.nodes.len() {
        svg.node(node);
        svg.sheet.flush(out)?;
    }
    svg.sheet.text.push_str("</svg>\n");
    out.write_all(svg.sheet.text.as_bytes())
}

struct Svg<'s> {
    scene: &'s Scene<'s>,
    placed: &'s Placed,
    sources: &'s Sources,
    places: Places,
    sheet: Sheet,
}

impl Svg<'_> {
    fn number(&mut self, value: f64) {
        number(&mut self.sheet.text, value);
    }

    /// Adds numeric attributes.
    fn numbers(&mut self, attributes: &[(&str, f64)]) {
        for (name, value) in attributes {
            self.sheet.push(&[" ", name, "=\""]);
            self.number(*value);
            self.sheet.text.push('"');
        }
    }

    fn escaped(&mut self, text: &str) {
        escape(&mut self.sheet.text, text);
    }

    fn head(&mut self) {
        let Rect { width, height, .. } = self.placed.groups[0];
        let (width, height) = (width + 2.0 * MARGIN, height + 2.0 * MARGIN);
        self.sheet.text.push_str("<svg xmlns=\"http://www.w3.org/2000/svg\"");
        self.numbers(&[("width", width), ("height", height)]);
        self.sheet.text.push_str(" viewBox=\"");
        for (i, value) in [-MARGIN, -MARGIN, width, height].into_iter().enumerate() {
            self.sheet.text.push_str(if i > 0 { " " } else { "" });
            self.number(value);
        }
        self.sheet.push(&["\" font-family=\"", FONT, "\">\n<title>"]);
        self.escaped(self.scene.graph.text_of(self.scene.graph.name));
        self.sheet.text.push_str("</title>\n<style>\n");
        self.sheet.text.push_str(include_str!("svg.css"));
        for style in STYLES {
            let (fill, line) = style.light;
            self.sheet.push(&[".", style.class, " rect{fill:", fill, ";stroke:", line, "}"]);
            self.sheet.push(&[".", style.class, " path{fill:", line, "}\n"]);
        }
        self.sheet.text.push_str("</style>\n<defs><marker id=\"tip\" markerWidth=\"7\" markerHeight=\"7\" refX=\"6\" refY=\"3.5\" orient=\"auto\"><path class=\"tip\" d=\"M0 .8 6.4 3.5 0 6.2z\"/></marker></defs>\n<rect class=\"page\"");
        self.numbers(&[("x", -MARGIN), ("y", -MARGIN), ("width", width), ("height", height)]);
        self.sheet.text.push_str("/>\n");
    }

    fn rect(&mut self, rect: Rect, radius: f64) {
        self.sheet.text.push_str("<rect");
        let Rect { x, y, width, height } = rect;
        self.numbers(&[("x", x), ("y", y), ("width", width), ("height", height), ("rx", radius)]);
        self.sheet.text.push_str("/>");
    }

    fn group(&mut self, group: usize) {
        let depth = self.scene.depth(group as u32) % 2;
        self.sheet.text.push_str(if depth == 0 { "<g class=\"group even\">" } else { "<g class=\"group\">" });
        self.rect(self.placed.groups[group], 9.0);
        self.sheet.text.push_str("</g>\n");
    }

    /// The title of a group.
    fn title(&mut self, group: usize) {
        let rect = self.placed.titles[group];
        let of = &self.scene.groups[group];
        self.sheet.text.push_str("<g class=\"head\"><title>");
        let count = of.operations.to_string();
        let title = of.title.clone();
        self.escaped(&title);
        self.sheet.push(&[": ", &count, " operations</title><text"]);
        self.numbers(&[("x", rect.x + 6.0), ("y", rect.y + 14.0), ("font-size", NOTE_SIZE)]);
        self.sheet.text.push('>');
        self.escaped(&title);
        self.sheet.text.push_str("</text></g>\n");
    }

    fn route(&mut self, route: &Route) {
        let Route { from, bend, to, arrow, .. } = *route;
        self.sheet.text.push_str(if arrow { "<path class=\"to\" d=\"M" } else { "<path d=\"M" });
        self.point(from.0, from.1);
        if (from.0 - to.0).abs() < 0.05 {
            self.sheet.text.push('V');
            self.number(to.1);
        } else {
            self.sheet.text.push('V');
            self.number(bend.0);
            let middle = (bend.0 + bend.1) / 2.0;
            self.sheet.text.push('C');
            self.point(from.0, middle);
            self.sheet.text.push(' ');
            self.point(to.0, middle);
            self.sheet.text.push(' ');
            self.point(to.0, bend.1);
            self.sheet.text.push('V');
            self.number(to.1);
        }
        self.sheet.text.push_str("\"/>\n");
    }

    fn point(&mut self, x: f64, y: f64) {
        self.number(x);
        self.sheet.text.push(' ');
        self.number(y);
    }

    fn node(&mut self, index: usize) {
        let (node, rect) = (&self.scene.nodes[index], self.placed.nodes[index]);
        self.sheet.push(&["<g class=\"", style(node.category).class, "\"><title>"]);
        let hint = self.hint(node);
        self.escaped(&hint);
        self.sheet.text.push_str("</title>");
        let round = if node.category == Category::Port { rect.height / 2.0 } else { 6.0 };
        self.rect(rect, round);
        if node.category != Category::Port {
            self.strip(rect);
        }
        let (left, right) = (rect.x + BOX_PAD.0, rect.x + rect.width - BOX_PAD.0);
        let mut y = rect.y + BOX_PAD.1 + 13.0;
        self.line("t", left, y, TITLE_SIZE, &node.title);
        self.line("n", right, y, NOTE_SIZE, &node.note);
        y += TITLE_LINE - 3.5;
        for (key, value) in &node.rows {
            self.line("k", left, y, NOTE_SIZE, key);
            self.line("v", right, y, NOTE_SIZE, value);
            y += ROW_LINE;
        }
        self.sheet.text.push_str("</g>\n");
    }

    /// The accent at the left side of a box.
    fn strip(&mut self, rect: Rect) {
        self.sheet.text.push_str("<path d=\"M");
        self.point(rect.x + 4.0, rect.y);
        self.sheet.text.push_str("h2a6 6 0 0 0-6 6v");
        self.number(rect.height - 12.0);
        self.sheet.text.push_str("a6 6 0 0 0 6 6h-2z\"/>");
    }

    fn line(&mut self, class: &str, x: f64, y: f64, size: f64, text: &str) {
        if text.is_empty() {
            return;
        }
        self.sheet.push(&["<text class=\"", class, "\""]);
        self.numbers(&[("x", x), ("y", y), ("font-size", size)]);
        self.sheet.text.push('>');
        self.escaped(text);
        self.sheet.text.push_str("</text>");
    }

    /// The tooltip of a box.
    fn hint(&self, node: &Node) -> String {
        let graph = self.scene.graph;
        let tensor = |tensor| {
            let shape = label::shape(graph, tensor);
            if shape.is_empty() { graph.tensor_name(tensor) } else { format!("{}: {shape}", graph.tensor_name(tensor)) }
        };
        match node.subject {
            Subject::Input(id) => format!("input {}", tensor(id)),
            Subject::Output(id) => format!("output {}", tensor(id)),
            Subject::Operation(id) => {
                let operation = &graph.operations[id.index()];
                let results: Vec<String> = graph.tensors_of(operation).take(8).map(tensor).collect();
                let at = self.places.start(operation.at);
                let file = self.sources.file(operation.at.file).short_name();
                let name = graph.operation_name(operation);
                let told = graph.note(id).map(|note| label::told(graph, note)).into_iter().flatten();
                let told: String = told.map(|(key, text)| format!("\n{key}: {text}")).collect();
                format!("{name}\n{}\n{file}:{}:{}{told}", results.join("\n"), at.line, at.column)
            }
        }
    }
}

/// A number with at most one digit after the point.
fn number(out: &mut String, value: f64) {
    let tenths = (value * 10.0).round() as i64;
    if tenths < 0 {
        out.push('-');
    }
    out.push_str(&(tenths.abs() / 10).to_string());
    if tenths % 10 != 0 {
        out.push('.');
        out.push_str(&(tenths.abs() % 10).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let text = |value| {
            let mut text = String::new();
            number(&mut text, value);
            text
        };
        assert_eq!([text(0.0), text(-8.0), text(12.34), text(-0.26), text(-0.01)], ["0", "-8", "12.3", "-0.3", "0"]);
    }
}
