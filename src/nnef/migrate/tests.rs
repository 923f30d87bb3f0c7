use super::migration::renamed;
use super::migration_table::{self, ParameterChange};
use crate::{Options, parse};

fn library(text: &str) -> Vec<(String, Vec<String>, bool)> {
    let parsed = parse("t", text.to_string(), &Options::default());
    let names = parsed.document.names();
    let of = |name| names.text(name).to_string();
    let fragments = &parsed.document.modules()[0].fragments;
    fragments
        .iter()
        .map(|f| (of(f.name.name), f.params.iter().map(|p| of(p.name.name)).collect(), f.body.is_some()))
        .collect()
}

#[test]
fn every_operation_has_one_row_that_fits() {
    let draft = library("version 1.0\ngraph G( x ) -> ( x ) { x = external(shape = [1]) }");
    let one = library("version 1.0; graph G( x ) -> ( x ) { x = external(shape = [1]); }");
    let listed = || migration_table::ROWS.iter().flat_map(|row| row.draft.split_ascii_whitespace());
    for (name, params, body) in &draft {
        let rows = listed().filter(|known| known == name).count();
        let expanded = migration_table::EXPANDED.contains(&name.as_str());
        assert_eq!(rows + usize::from(expanded), 1, "{name}");
        assert!(!expanded || *body, "{name} cannot be expanded");
        let Some((counterpart, steps)) = migration_table::find(name) else {
            assert!(expanded, "{name} is not found");
            continue;
        };
        let (_, new, _) = one.iter().find(|(of, ..)| of == counterpart).unwrap();
        for param in params {
            assert!(new.iter().any(|known| known == renamed(steps, param)), "{name}.{param}");
        }
        for step in steps {
            match step {
                ParameterChange::Rename(from, _)
                | ParameterChange::If(from, _)
                | ParameterChange::FillOnes(from, _) => {
                    assert!(params.iter().any(|known| known == from), "{name}.{from}");
                }
                ParameterChange::Add(to, _) => assert!(new.iter().any(|known| known == to), "{name}.{to}"),
                ParameterChange::TypeArgument => {}
            }
        }
    }
    assert_eq!(draft.len(), listed().count() + migration_table::EXPANDED.len());
}
