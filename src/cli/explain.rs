//! `nnef-flatten explain`: what a diagnostic code means.

use std::io::Write;

use crate::diagnostics::{Code, suggest};
use crate::onnx::{RULES, SimplifyRule};
use crate::sink::OutputLimit;

use super::io;
use super::outcome::{Failure, RunResult, Status};

/// The explanations: one section for every code.
const DOCUMENT: &str = include_str!("../../docs/diagnostics.md");

/// Explains a code, or lists the codes of a rule.
pub(crate) fn run(wanted: &str) -> RunResult {
    if let Some(code) = find(wanted) {
        io::write_stdout(OutputLimit::NONE, &mut |out| explain(out, code))?;
        return Ok(Status::Done);
    }
    let of_rule: Vec<Code> = Code::ALL
        .iter()
        .copied()
        .filter(|code| code.info().rule.is_some_and(|rule| rule.eq_ignore_ascii_case(wanted)))
        .collect();
    if !of_rule.is_empty() {
        io::write_stdout(OutputLimit::NONE, &mut |out| list(out, &of_rule))?;
        return Ok(Status::Done);
    }
    if let Some(rule) = RULES.iter().find(|rule| rule.name == wanted) {
        io::write_stdout(OutputLimit::NONE, &mut |out| describe(out, rule))?;
        return Ok(Status::Done);
    }
    let upper = wanted.to_ascii_uppercase();
    let known = Code::ALL.iter().flat_map(|code| [Some(code.as_str()), code.info().rule]).flatten();
    let names = || suggest::did_you_mean(&wanted.to_ascii_lowercase(), RULES.iter().map(|rule| rule.name));
    let forms = || "codes look like E0401, rules like A1, those of --simplify like batch-norm".into();
    let suggestion = suggest::did_you_mean(&upper, known).or_else(names).unwrap_or_else(forms);
    Err(Failure::Message(format!("no diagnostic code or rule `{wanted}`; {suggestion}")))
}

/// A code in upper or lower case, with or without its letter.
fn find(wanted: &str) -> Option<Code> {
    Code::from_text(wanted).or_else(|| Code::from_text(&format!("E{wanted:0>4}")).filter(|_| !wanted.is_empty()))
}

fn explain(out: &mut dyn Write, code: Code) -> std::io::Result<()> {
    writeln!(out, "{}\n", heading(code))?;
    writeln!(out, "{}", body(code))
}

/// The explanation of a code.
pub(crate) fn body(code: Code) -> &'static str {
    let section = sections().find(|(heading, _)| heading.starts_with(code.as_str()));
    section.map_or("", |(_, body)| body.trim())
}

/// What a rule of `--simplify` or `--merge` does.
fn describe(out: &mut dyn Write, rule: &SimplifyRule) -> std::io::Result<()> {
    let option = if rule.merges { "--merge" } else { "--simplify" };
    writeln!(out, "{} — a rule of {option}\n", rule.name)?;
    writeln!(out, "{}\nbecomes {}", rule.pattern, rule.left)?;
    if !rule.condition.is_empty() {
        writeln!(out, "if: {}", rule.condition)?;
    }
    let what = if rule.merges { "rounded otherwise" } else { "exact because" };
    writeln!(out, "{what}: {}", rule.exact)
}

fn list(out: &mut dyn Write, codes: &[Code]) -> std::io::Result<()> {
    codes.iter().try_for_each(|code| writeln!(out, "{}  {}", code.as_str(), code.info().title))
}

/// The heading of a code's section.
fn heading(code: Code) -> String {
    let info = code.info();
    match info.rule {
        Some(rule) => format!("{} — {} (rule {rule})", info.code, info.title),
        None => format!("{} — {}", info.code, info.title),
    }
}

/// Heading and body of every section.
fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    DOCUMENT.split("\n## ").skip(1).map(|section| section.split_once('\n').unwrap_or((section, "")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Severity;

    #[test]
    fn sections_say_what_is_only_a_warning() {
        for (code, (heading, body)) in Code::ALL.iter().zip(sections()) {
            let said = body.lines().find(|line| !line.is_empty()).filter(|line| line.starts_with("A warning"));
            let wanted = match (code.severity(false), code.severity(true)) {
                (Severity::Error, _) => None,
                _ if code.is_undefined() => {
                    Some("A warning of flattening; an error of `check` and `run`, and under `--strict`.")
                }
                (Severity::Warning, Severity::Error) => Some("A warning; an error under `--strict`."),
                (Severity::Warning, Severity::Warning) => Some("A warning."),
            };
            assert_eq!(said, wanted, "{heading}");
        }
    }

    #[test]
    fn every_code_has_its_section_in_order() {
        let found: Vec<&str> = sections().map(|(heading, _)| heading).collect();
        let wanted: Vec<String> = Code::ALL.iter().map(|code| heading(*code)).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn every_section_says_something() {
        for (heading, body) in sections() {
            assert!(body.trim().len() > 60, "{heading}");
            for fence in body.lines().filter(|line| line.starts_with("```") && line.len() > 3) {
                let kind = fence.split(' ').nth(1);
                assert!(matches!(kind, Some("wrong" | "right")), "{heading}: {fence}");
            }
            assert_eq!(body.matches("```").count() % 2, 0, "{heading}");
        }
    }

    #[test]
    fn codes_are_found_as_people_write_them() {
        for wanted in ["E0401", "e0401", "0401", "401"] {
            assert_eq!(find(wanted), Some(Code::UnknownOperation), "{wanted}");
        }
        assert_eq!(find(""), None);
        assert_eq!(find("A1"), None);
    }
}
