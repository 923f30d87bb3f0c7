//! Where nodes come from in the program that a model was exported from: metadata with the modules around a node, and the
//! lines of the source, as the exporter of torch writes them.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::model::{EncodedField, Fields, Wire};
use super::protobuf::decode_entry;
use super::protobuf::fields::node;
use crate::graph::ModulePath;

/// The maximum number of modules around a node; those inside of more are left out.
const MAX_MODULES: usize = 64;

const NAMES: &str = "pkg.torch.onnx.name_scopes";
const CLASSES: &str = "pkg.torch.onnx.class_hierarchy";
const NAMESPACE: &str = "namespace";
const TRACE: &str = "pkg.torch.onnx.stack_trace";

/// Where a node comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeScope {
    /// The modules around it; none for the whole model.
    pub(super) module: Option<Arc<ModulePath>>,
    /// The file and the line of its source.
    pub(super) source: Option<Arc<str>>,
}

impl NodeScope {
    /// The scope that metadata among the fields of a node tell.
    pub(super) fn of(fields: &Fields) -> NodeScope {
        let (mut names, mut classes, mut namespace, mut source) = (None, None, None, None);
        for entry in entries(fields).filter_map(|field| decode_entry(&field.bytes)) {
            match (entry.key.as_deref(), entry.value) {
                (Some(NAMES), Some(value)) => names = texts(&value),
                (Some(CLASSES), Some(value)) => classes = texts(&value),
                (Some(NAMESPACE), Some(value)) => namespace = Some(value),
                (Some(TRACE), Some(value)) => source = innermost(&value),
                _ => {}
            }
        }
        let mut scopes: Vec<(String, String)> = match (names, namespace) {
            (Some(names), _) => {
                let classes = classes.filter(|classes| classes.len() == names.len());
                let classes = classes.unwrap_or_else(|| vec![String::new(); names.len()]);
                names.into_iter().zip(classes).collect()
            }
            (None, Some(namespace)) => namespace.split('/').map(named).collect(),
            (None, None) => Vec::new(),
        };
        // The last one is the operation itself.
        scopes.pop();
        scopes.truncate(MAX_MODULES);
        NodeScope { module: modules(scopes).map(Arc::new), source }
    }

    /// The path of the module that it is in; none for the whole model.
    pub(super) fn path(&self) -> Option<&str> {
        self.module.as_deref().map(ModulePath::text)
    }

    /// The modules around a node whose name is a path, as in `/layer.0/attention/MatMul`; none for other names.
    pub(super) fn module_of_name(name: &str) -> Option<Arc<ModulePath>> {
        let (around, _) = name.rsplit_once('/')?;
        let mut path = String::new();
        for name in around.split('/').filter(|name| !name.is_empty()).take(MAX_MODULES) {
            // A name may be that in the whole model, as in `/layer1/layer1.0/Conv`.
            if name.strip_prefix(&*path).is_some_and(|rest| rest.starts_with('.')) {
                path.clear();
            }
            path.push_str(if path.is_empty() { "" } else { "." });
            path.push_str(name);
        }
        (!path.is_empty()).then(|| Arc::new(ModulePath::of_text(path)))
    }

    /// What messages tell: the module and the line of the source, each after a comma.
    pub(super) fn told(&self) -> String {
        let module = self.path().map(|path| format!(", module {path}")).unwrap_or_default();
        let source = self.source.as_ref().map(|source| format!(", {source}")).unwrap_or_default();
        module + &source
    }

    /// Whether fields of a node have metadata.
    pub(super) fn has_metadata(fields: &Fields) -> bool {
        entries(fields).next().is_some()
    }
}

fn entries(fields: &Fields) -> impl Iterator<Item = &EncodedField> {
    let fields = fields.iter().flat_map(|fields| fields.iter());
    fields.filter(|field| field.number == node::METADATA && field.wire == Wire::Bytes)
}

/// A part of a namespace, `name: class`.
fn named(part: &str) -> (String, String) {
    let (name, class) = part.split_once(": ").unwrap_or((part, ""));
    (name.to_owned(), class.to_owned())
}

/// The modules of scopes with their classes; none of the whole model.
fn modules(scopes: Vec<(String, String)>) -> Option<ModulePath> {
    let mut path = ModulePath::default();
    for (name, class) in scopes.iter().filter(|(name, _)| !name.is_empty()) {
        path.push(name, class.rsplit('.').next().unwrap_or_default());
    }
    (!path.text().is_empty()).then_some(path)
}

/// The texts of a list as Python writes it; none for other texts.
fn texts(list: &str) -> Option<Vec<String>> {
    let mut rest = list.trim().strip_prefix('[')?.strip_suffix(']')?.trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (text, after) = quoted(&rest[1..], quote)?;
        found.push(text);
        rest = after.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some(found)
}

/// A text up to a quote, and what follows.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut found = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => found.push(chars.next()?.1),
            c if c == quote => return Some((found, &text[at + c.len_utf8()..])),
            c => found.push(c),
        }
    }
    None
}

/// The innermost place of a stack trace of Python, `FILE:LINE`.
fn innermost(trace: &str) -> Option<Arc<str>> {
    let place = |line: &str| {
        let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
        let line: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (!line.is_empty()).then(|| format!("{file}:{line}").into())
    };
    trace.lines().rev().find_map(place)
}

/// The scopes of nodes. Copies share metadata, which are read once.
#[derive(Default)]
pub(super) struct NodeScopes {
    /// By the places of the metadata in memory.
    known: FxHashMap<SmallVec<[usize; 6]>, Rc<NodeScope>>,
    none: Rc<NodeScope>,
}

impl NodeScopes {
    /// The scope of a node with fields.
    pub(super) fn of(&mut self, fields: &Fields) -> Rc<NodeScope> {
        if fields.is_none() {
            return self.none.clone();
        }
        let held = entries(fields).filter_map(|field| field.bytes.held());
        let places: SmallVec<[usize; 6]> = held.map(|bytes| bytes.as_ptr() as usize).collect();
        if places.is_empty() {
            return self.none.clone();
        }
        self.known.entry(places).or_insert_with(|| Rc::new(NodeScope::of(fields))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx::protobuf::fields::entry;
    use crate::onnx::protobuf::writer;

    fn scope(metadata: &[(&str, &str)]) -> NodeScope {
        let field = |(key, value): &(&str, &str)| {
            let bytes = writer::to_vec(|writer| {
                writer.text(entry::KEY, key);
                writer.text(entry::VALUE, value);
            });
            EncodedField { number: node::METADATA, wire: Wire::Bytes, bytes: bytes.unwrap().into() }
        };
        NodeScope::of(&Some(Box::new(metadata.iter().map(field).collect())))
    }

    #[test]
    fn modules_have_paths_and_classes() {
        let names = (NAMES, r"['', 'layers.0', 'layers.0.a', 'q\'', 'add']");
        let classes = (CLASSES, r#"['m.Net', "m.Block", 'm.Attention', '', 'aten.add.Tensor']"#);
        let titles = |scope: &NodeScope| {
            let steps = scope.module.iter().flat_map(|module| module.steps());
            steps.map(|(name, class)| format!("{name}: {class}")).collect::<Vec<_>>()
        };
        let found = scope(&[names, classes]);
        assert_eq!(titles(&found), ["layers.0: Block", "a: Attention", "q': "]);
        assert_eq!(found.path(), Some("layers.0.a.q'"));
        assert_eq!(titles(&scope(&[names, (CLASSES, "['m.Net']")])), ["layers.0: ", "a: ", "q': "]);
        let found = scope(&[(NAMESPACE, ": m.Net/b: m.Block/add: aten.add.Tensor")]);
        assert_eq!(titles(&found), ["b: Block"]);
        for malformed in ["", "['a'", "[a, b]", "['a', 'b]", "[']", "[\"a\\"] {
            assert_eq!(scope(&[(NAMES, malformed)]), NodeScope::default(), "{malformed}");
        }
        let deep = format!("[{}]", vec!["'a'"; 1000].join(", "));
        assert_eq!(titles(&scope(&[(NAMES, &deep)])).len(), MAX_MODULES);
    }

    #[test]
    fn names_that_are_paths_have_modules() {
        let path = |name: &str| NodeScope::module_of_name(name).map(|path| path.text().to_owned());
        assert_eq!(path("/layer.0/attention/MatMul").as_deref(), Some("layer.0.attention"));
        assert_eq!(path("/layer1/layer1.0/conv1/Conv").as_deref(), Some("layer1.0.conv1"));
        assert_eq!(path("bert/encoder/MatMul").as_deref(), Some("bert.encoder"));
        assert_eq!(["MatMul", "/MatMul", "//", ""].map(path), [const { None }; 4]);
        assert_eq!(path(&"a/".repeat(1000)).map(|path| path.len()), Some(2 * MAX_MODULES - 1));
    }

    #[test]
    fn the_source_is_the_innermost_line() {
        let trace = "File \"a.py\", line 3, in forward\n    x = f(x)\n  File \"b.py\", line 12, in f\n    y";
        assert_eq!(scope(&[(TRACE, trace)]).source.as_deref(), Some("b.py:12"));
        assert_eq!(scope(&[(TRACE, "File \"a.py\", line x")]).source, None);
    }
}
