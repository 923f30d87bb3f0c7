//! Laws of the table of operators, and its copy in the documentation.

use std::collections::BTreeSet;

use super::operator_table::OPERATORS;
use crate::onnx::schema::Schemas;
use crate::tests::is_table_of;

const DOMAINS: [&str; 4] = ["", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training"];

#[test]
fn every_operator_of_the_standard_has_one_row() {
    let schemas = Schemas::new();
    for domain in DOMAINS {
        let rows: Vec<&str> = OPERATORS.iter().filter(|row| row.domain == domain).map(|row| row.name).collect();
        assert!(rows.is_sorted_by(|a, b| a < b), "{domain}: {rows:?}");
        let of_standard = |name: &&str| !schemas.is_of_vendor(domain, name);
        let wanted: BTreeSet<&str> = schemas.operators(domain).filter(of_standard).collect();
        assert_eq!(rows.into_iter().collect::<BTreeSet<_>>(), wanted, "{domain}");
    }
}

#[test]
fn operators_with_a_meaning_run_by_it() {
    use crate::onnx::run::NodeKernel;
    let mut count = 0;
    for row in OPERATORS.iter().filter(|row| row.meaning.is_some()) {
        count += 1;
        assert!(matches!(row.kernel, Some(NodeKernel::Meaning(_) | NodeKernel::All(_))), "{}", row.name);
    }
    assert!(count > 30, "{count}");
}

fn documented() -> String {
    let mut text = "| Domain | Operators | Whose integers are followed |\n|---|---|---|\n".to_owned();
    for domain in DOMAINS {
        let rows = || OPERATORS.iter().filter(|row| row.domain == domain);
        let followed: Vec<String> = rows()
            .filter(|row| row.values.is_some() || row.followed().is_some())
            .map(|row| format!("`{}`", row.name))
            .collect();
        let name = if domain.is_empty() { "ai.onnx" } else { domain };
        text += &format!("| `{name}` | {} | {} |\n", rows().count(), followed.join(", "));
    }
    text
}

#[test]
fn the_documentation_has_the_operators() {
    is_table_of("onnx-types.md", &documented());
}
