//! Every option × input notation × output notation × subcommand: the option changes the outcome on a sample made for
//! it, or it is refused by its name with exit status 2. Nothing is accepted and ignored.
//!
//! The options, the notations and the subcommands are those that the command itself lists for completion; each option
//! needs a row in `trials.rs`, each input notation a row in `samples.rs`.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "../common/mod.rs"]
mod common;
mod samples;
mod trials;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::command::fast;
use samples::Samples;
use trials::{Effect, TRIALS, Trial};

/// What a run of the command leaves: its status, its messages, its output, and the files that it wrote.
#[derive(Clone, PartialEq, Eq)]
struct Outcome {
    status: i32,
    told: String,
    output: Vec<u8>,
    files: BTreeMap<String, Vec<u8>>,
}

/// Runs the command in a new folder.
fn run(words: &[String]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (stdin, words): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.starts_with('<'));
    let stdin = stdin.first().map_or(Stdio::null(), |file| fs::File::open(&file[1..]).unwrap().into());
    let output =
        fast::call(&words).within(folder.path()).command().env_remove("NO_COLOR").stdin(stdin).output().unwrap();
    let mut files = BTreeMap::new();
    collect(folder.path(), folder.path(), &mut files);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code().is_some_and(|code| code < 3), "{words:?}: {told}");
    Outcome { status: output.status.code().unwrap(), told, output: output.stdout, files }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => collect(root, &path, files),
            false => {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
}

/// The words that the command completes after others.
fn completions(words: &str) -> Vec<String> {
    let words: Vec<String> = ["complete", "--"].into_iter().chain(words.split(' ')).map(str::to_owned).collect();
    let listed = String::from_utf8(run(&words).output).unwrap();
    listed.lines().skip(1).map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

/// A run with an option, and the same one without it.
struct Pair {
    option: &'static str,
    effect: Effect,
    base: Vec<String>,
    words: Vec<String>,
}

fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
}

/// An output of each kind, for options whose effect is the same in all notations of a kind: graphs, models of ONNX,
/// files of PNNX, pictures, folders.
const KINDS: &[&str] = &["--to nnef", "--to json", "--to onnx", "--to pnnx", "--to svg", "-o model/"];

/// The pairs of a subcommand (none for flattening) with an input, its notation, and an output.
fn pairs(subcommand: &str, (notation, output): (&str, &str), samples: &Samples, found: &mut Vec<Pair>) {
    for trial in TRIALS.iter().filter(|trial| trial.of(subcommand, notation)) {
        let chooses_output = ["--to", "--output"].contains(&trial.option);
        let output = if chooses_output { "" } else { output };
        let known: &[&str] = match trial.option {
            // Texts of megabytes are refused before anything is written.
            "--limits" => &["", "--to json"],
            option if option.starts_with("--max-") && option != "--max-trips" => KINDS,
            "--from" | "--production" | "--strict" | "--fragments" | "--keep" | "--set" | "--input-shape" => KINDS,
            "--message-format" | "--color" | "--quiet" | "--warnings" | "--allow" | "--deny" => KINDS,
            _ => &[],
        };
        if subcommand.is_empty() && !known.is_empty() && !known.contains(&output) {
            continue;
        }
        let input = samples.inputs(trial, (subcommand, notation));
        let texts = [subcommand, &input, output, trial.with];
        let replaced = |texts: &[&str]| words(texts).iter().map(|word| samples.replaced(word)).collect::<Vec<_>>();
        found.push(Pair {
            option: trial.option,
            effect: trial.effect,
            base: replaced(&texts),
            words: replaced(&[&texts[..], &[trial.option, trial.value]].concat()),
        });
    }
}

/// The words of a pair that a refusal may name: the option, or what stands in its place in the run without it.
fn is_refusal(outcome: &Outcome, words: &[String]) -> bool {
    let named = |word: &&String| word.starts_with('-') && outcome.told.contains(word.as_str());
    outcome.status == 2 && (words.iter().any(|word| named(&word)) || outcome.told.contains(&format!("`{}`", words[0])))
}

/// What is wrong with a pair; none if it does its work or is refused.
fn fault(pair: &Pair, base: &Outcome) -> Option<&'static str> {
    if base.status == 2 && pair.effect != Effect::Fails {
        return (!is_refusal(base, &pair.base)).then_some("the run without the option fails");
    }
    let with = run(&pair.words);
    match (with.status == 2, pair.effect) {
        (true, Effect::Fails) if with != *base => None,
        (true, _) if is_refusal(&with, &pair.words) => None,
        (true, _) => Some("is refused without its name"),
        (false, Effect::Speed | Effect::Usual) => (with != *base).then_some("changes the result"),
        (false, Effect::Shows | Effect::Fails) => (with == *base).then_some("is accepted and ignored"),
    }
}

/// The faults of all pairs, in their order.
fn faults(pairs: &[Pair]) -> Vec<String> {
    let bases: BTreeSet<&Vec<String>> = pairs.iter().map(|pair| &pair.base).collect();
    let bases: Vec<&Vec<String>> = bases.into_iter().collect();
    let outcomes = each(&bases, |base| run(base));
    let outcomes: BTreeMap<&Vec<String>, Outcome> = bases.into_iter().zip(outcomes).collect();
    let told = each(pairs, |pair| {
        fault(pair, &outcomes[&pair.base]).map(|why| format!("{} {why}: {}", pair.option, pair.words.join(" ")))
    });
    told.into_iter().flatten().collect()
}

/// Applies a function to all items, on all processors.
fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, std::num::NonZero::get) * 2 {
            scope.spawn(|| {
                while let Some((i, item)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, items.get(i)?)))
                {
                    let result = work(item);
                    done.lock().unwrap().push((i, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The subcommands that read inputs in any notation, each with its outputs.
const OF_INPUTS: &[(&str, &[&str])] =
    &[("check", &[""]), ("diff", &[""]), ("run", &["--to json"]), ("expr --fuse", &["--to text", "--to json"])];

/// The other subcommands, each with the outputs that it has; `in` is a sample for all its trials.
const OTHERS: &[(&str, &[&str])] = &[
    ("expr", &["--to text", "--to json", "--to nnef", "--to onnxtxt", "--to dot", "--to svg"]),
    ("layout", &["--to text", "--to json", "--to nnef"]),
    ("explain", &[""]),
    ("completions", &[""]),
    ("man", &[""]),
    ("lsp", &[""]),
];

#[test]
fn no_option_is_accepted_and_ignored() {
    let samples = Samples::new(run);
    let notations: Vec<String> = completions("--from ").into_iter().filter(|name| name != "auto").collect();
    let mut found = Vec::new();
    for notation in &notations {
        let outputs =
            completions("--to ").into_iter().map(|name| format!("--to {name}")).chain(["-o model/".to_owned()]);
        for output in outputs {
            pairs("", (notation, &output), &samples, &mut found);
        }
        for (subcommand, outputs) in OF_INPUTS {
            outputs.iter().for_each(|output| pairs(subcommand, (notation, output), &samples, &mut found));
        }
        pairs("fmt", (notation, ""), &samples, &mut found);
    }
    for (subcommand, outputs) in OTHERS {
        outputs.iter().for_each(|output| pairs(subcommand, ("", output), &samples, &mut found));
    }
    found.sort_by(|a, b| a.words.cmp(&b.words));
    found.dedup_by(|a, b| a.words == b.words);
    let faults = faults(&found);
    assert!(faults.is_empty(), "{} of {} pairs:\n{}", faults.len(), found.len(), faults.join("\n"));
}

#[test]
fn every_option_has_a_trial() {
    let subcommands = completions("").into_iter().filter(|name| name != "help");
    for subcommand in subcommands.chain([String::new()]) {
        let listed = completions(format!("{subcommand} --").trim_start());
        for option in listed.iter().filter(|option| !["--help", "--version"].contains(&option.as_str())) {
            let has = |trial: &&Trial| trial.option == option && trial.names(&subcommand);
            assert!(TRIALS.iter().any(|trial| has(&trial)), "{subcommand}: {option} has no row in trials.rs");
        }
    }
}
