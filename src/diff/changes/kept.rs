//! Fragments that are kept.

use rustc_hash::FxHashMap;

use super::{Finder, Told};
use crate::Graph;
use crate::diff::compare;
use crate::diff::difference::{Compared, What};
use crate::graph::KeptFragment;

impl Finder<'_, '_> {
    /// The fragments that are kept, by their names: the changes of their bodies are those of graphs.
    pub(super) fn fragments(&mut self) {
        let named =
            |side: usize| self.graph(side).fragments.iter().map(|fragment| (fragment.declared_name(), fragment));
        let mut others: FxHashMap<&str, &KeptFragment> = named(1).collect();
        let mut found: Vec<(&str, Option<&KeptFragment>, Option<&KeptFragment>)> =
            named(0).map(|(name, of_a)| (name, Some(of_a), others.remove(name))).collect();
        found.extend(
            named(1).filter(|(name, _)| others.contains_key(name)).map(|(name, of_b)| (name, None, Some(of_b))),
        );
        for (at, (name, of_a, of_b)) in found.into_iter().enumerate() {
            match (of_a, of_b) {
                (Some(KeptFragment::Verbatim(a)), Some(KeptFragment::Verbatim(b))) if a == b => {}
                (Some(KeptFragment::Flat(_, a)), Some(KeptFragment::Flat(_, b))) => self.body(at, name, [a, b]),
                _ => {
                    let [old, new] = [of_a, of_b].map(|of| of.map(|_| name.to_owned()));
                    self.report(3, at, 0, [None, None], Told::new(What::Fragment, "", old, new));
                }
            }
        }
    }

    /// The changes in the body of a fragment.
    fn body(&mut self, at: usize, name: &str, bodies: [&Graph; 2]) {
        let side = |side: usize| Compared { sources: self.sides[side].sources, ..Compared::of(bodies[side]) };
        let inner = compare([side(0), side(1)]);
        for mut change in inner.changes {
            let inside = if change.module.is_empty() { String::new() } else { format!("/{}", change.module) };
            change.module = format!("{name}{inside}");
            self.found.push(((3, at, 0, self.found.len()), change));
        }
        self.difference.renamed += inner.renamed;
        self.difference.renames.extend(inner.renames);
        self.difference.following += inner.following;
    }
}
