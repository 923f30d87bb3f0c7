//! The law of independent errors: statements of a graph that cannot be expanded are told in one run, each as if it were the
//! only one, and nothing is told of those that need their results.

use proptest::collection::vec;

use crate::common::{HEADER, run};
use crate::tape::checked;
use nnef_flatten::{Diagnostic, Options};

/// Statements that can be expanded: `T` is the result, `S` its operand, `N` the number of the statement.
const SOUND: [&str; 4] = [
    "T = relu(S);",
    "T = S + 1.0;",
    "[T, restN] = split(concat([S, S], axis = 1), axis = 1, ratios = [1, 1]);",
    "T = tripled(S, times = 3);",
];

/// Statements that cannot, with the codes of their errors and the fragments that they call.
const FAILING: [(&str, &str, &str); 7] = [
    ("T = S * (1.0 / 0.0);", "E0802", ""),
    ("T = tile(S, repeats = [3 / 0, 1]);", "E0802", ""),
    ("T = S * scalar('one');", "E0714", ""),
    (
        "T = pickN([S, S], at = 7);",
        "E0715",
        "fragment pickN( x: tensor<scalar>[], at: integer ) -> ( y: tensor<scalar> ) { y = relu(x[at]); }",
    ),
    (
        "T = pairN([S, S, S]);",
        "E0503",
        "fragment pairN( x: tensor<scalar>[] ) -> ( y: tensor<scalar> ) { [a, b] = x; y = a + b; }",
    ),
    (
        "T = endlessN(S, depth = 0);",
        "E0801",
        "fragment endlessN( x: tensor<scalar>, depth: integer ) -> ( y: tensor<scalar> )\n\
         { y = relu(endlessN(x + 1.0, depth = depth + 1)); }",
    ),
    (
        "T = partsN(S, sizes = [2, 1, 0]);",
        "E0802",
        "fragment partsN( x: tensor<scalar>, sizes: integer[] ) -> ( y: tensor<scalar> )\n\
         { parts = [for size in sizes yield tripled(x * scalar(6 / size), times = 2)]; y = add_n(parts); }",
    ),
];

/// Calls itself, so that a failure leaves calls behind in which others are open.
const TRIPLED: &str = "fragment tripled( x: tensor<scalar>, times: integer ) -> ( y: tensor<scalar> )
{ y = x if times == 0 else tripled(x + x + x, times = times - 1); }
";

/// A statement: which one, and which of the tensors before it is its operand.
type Choice = (usize, usize);

/// A document as lines: those of its statements, whether each has a value, and the code of an error of its own.
struct Document {
    head: String,
    statements: Vec<(String, bool, Option<&'static str>)>,
}

impl Document {
    fn new(choices: &[Choice]) -> Self {
        let mut head = format!("{HEADER}{TRIPLED}");
        let mut statements: Vec<(String, bool, Option<&'static str>)> = Vec::new();
        for (number, (kind, operand)) in choices.iter().enumerate() {
            let (source, is_made) = match (operand % (number + 1)).checked_sub(1) {
                Some(at) => (format!("t{at}"), statements[at].1),
                None => ("x".to_owned(), true),
            };
            let (text, code, fragment) = match kind.checked_sub(SOUND.len()) {
                Some(at) => (FAILING[at].0, Some(FAILING[at].1), FAILING[at].2),
                None => (SOUND[*kind], None, ""),
            };
            head += &format!("{}\n", fragment.replace('N', &number.to_string()));
            let name = format!("t{number}");
            let text = text.replace('N', &number.to_string()).replace('S', &source).replace('T', &name);
            statements.push((text, is_made && code.is_none(), code.filter(|_| is_made)));
        }
        Document { head, statements }
    }

    /// The text; statements without a value are blank, but one of them.
    fn text(&self, but: impl Fn(usize) -> bool) -> String {
        let mut body = String::new();
        for (at, (text, is_made, _)) in self.statements.iter().enumerate() {
            body += &if *is_made || but(at) { text.clone() } else { " ".repeat(text.len()) };
            body += "\n";
        }
        format!("{}graph G( x ) -> ( y )\n{{\nx = external(shape = [2, 4]);\n{body}y = x + 1.0;\n}}\n", self.head)
    }
}

/// The errors of a text.
fn errors(text: &str) -> Vec<Diagnostic> {
    let options = Options::default().with(|options| options.max_depth = 40);
    match run(text, &options) {
        Ok(_) => Vec::new(),
        Err(found) => found.into_iter().filter(Diagnostic::is_error).collect(),
    }
}

/// Returns whether there were several errors.
fn are_independent(document: &Document) -> Result<bool, String> {
    let all = document.text(|_| true);
    let found = errors(&all);
    let own: Vec<(usize, &str)> =
        document.statements.iter().enumerate().filter_map(|(at, (_, _, code))| Some((at, (*code)?))).collect();
    let codes: Vec<&str> = found.iter().map(|error| error.code.as_str()).collect();
    let wanted: Vec<&str> = own.iter().map(|(_, code)| *code).collect();
    if codes != wanted {
        return Err(format!("{codes:?}, not {wanted:?}:\n{all}"));
    }
    for (error, (at, _)) in found.iter().zip(&own) {
        let alone = document.text(|other| other == *at);
        let told = errors(&alone);
        if told.len() != 1 || format!("{:?}", told[0]) != format!("{error:?}") {
            return Err(format!("alone {told:#?}, with others {error:#?}:\n{all}"));
        }
    }
    Ok(found.len() > 1)
}

#[test]
fn statements_fail_as_if_each_were_alone() {
    let choice = (0..SOUND.len() + FAILING.len(), 0..12usize);
    checked(200, vec(choice, 1..12), 2, |choices| are_independent(&Document::new(&choices)));
}

/// Statements are expanded in groups; a group in which one fails is followed by others.
#[test]
fn errors_are_told_across_groups() {
    let sound = || (0..3_000).map(|at| (at % SOUND.len(), 0));
    let failing = |at: usize| (SOUND.len() + at, 0);
    let mut choices = vec![failing(0)];
    choices.extend(sound());
    choices.extend([failing(3), failing(2)]);
    choices.extend(sound());
    choices.push(failing(6));
    assert_eq!(are_independent(&Document::new(&choices)), Ok(true));
}

/// A limit of the whole expansion ends it.
#[test]
fn limits_end_the_expansion() {
    let text = format!(
        "{HEADER}{TRIPLED}graph G( x ) -> ( y )\n{{\nx = external(shape = [2]);\na = x * (1.0 / 0.0);\n\
         b = tripled(x, times = 200);\nc = x * (2.0 / 0.0);\ny = x + 1.0;\n}}\n"
    );
    let options = Options::default().with(|options| options.max_ops = 300);
    let found = run(&text, &options).map(drop).unwrap_err();
    let codes: Vec<&str> = found.iter().map(|found| found.code.as_str()).collect();
    assert_eq!(codes, ["E0802", "E0811"]);
}
