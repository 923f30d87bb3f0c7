//! The passes in their order: what each one takes, what it changes, and what does it to a flat graph or to a model of ONNX.

use super::work::{GraphWork, ModelWork, Passing, Stopped};
use crate::input::settings::Settings;
use crate::input::{Refusal, layouts};
use crate::layout::Removed;
use crate::nnef::reserved::is_reserved;
use crate::onnx::RuleCounts;
#[cfg(feature = "kernels")]
use crate::onnx::UsedRules;
use crate::parts::{KERNELS, OUTLINING, Part, VERSIONS};

/// When a pass runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// First: what is given for the input.
    Given,
    /// Then: what belongs to the part that is wanted.
    Part,
    /// What computes or removes something.
    Change,
    /// What says more about the result.
    Note,
    /// The form in which the result is written; statistics and source maps are of the result before it.
    Form,
}

/// What a pass did.
#[derive(Debug, Default)]
pub(crate) struct Did {
    /// How many operations it changed, if it counts them.
    pub(crate) count: Option<usize>,
    /// The bitcasts that it removed.
    pub(crate) removed: Option<Removed>,
    /// How often each rule was applied.
    pub(crate) simplified: Option<RuleCounts>,
}

/// How a pass works on something.
#[derive(Clone, Copy)]
pub(crate) enum PassStep<F> {
    Runs(F),
    /// It is a part of the expansion, which needs it.
    Expansion,
    /// The option is refused.
    Refused,
}

/// A pass.
pub(crate) struct PassRow {
    /// Its option.
    pub(crate) option: &'static str,
    pub(crate) stage: Stage,
    /// What it takes, and what it changes.
    pub(crate) takes: &'static str,
    pub(crate) changes: &'static str,
    /// What its count is told as.
    pub(crate) counts: &'static str,
    pub(super) is_asked: fn(&Settings) -> bool,
    pub(crate) on_graph: PassStep<fn(&mut GraphWork, &Settings) -> Passing<Did>>,
    pub(crate) on_model: PassStep<fn(&mut ModelWork, &Settings) -> Passing<Did>>,
}

const fn row(option: &'static str, stage: Stage, takes: &'static str, changes: &'static str) -> PassRow {
    let (on_graph, on_model) = (PassStep::Refused, PassStep::Refused);
    PassRow { option, stage, takes, changes, counts: "", is_asked: |_| true, on_graph, on_model }
}

impl PassRow {
    const fn asked(self, is_asked: fn(&Settings) -> bool) -> Self {
        PassRow { is_asked, ..self }
    }

    const fn counting(self, counts: &'static str) -> Self {
        PassRow { counts, ..self }
    }

    const fn graphs(self, step: fn(&mut GraphWork, &Settings) -> Passing<Did>) -> Self {
        PassRow { on_graph: PassStep::Runs(step), ..self }
    }

    const fn models(self, step: fn(&mut ModelWork, &Settings) -> Passing<Did>) -> Self {
        PassRow { on_model: PassStep::Runs(step), ..self }
    }

    const fn expanding_graphs(self) -> Self {
        PassRow { on_graph: PassStep::Expansion, ..self }
    }

    const fn expanding_models(self) -> Self {
        PassRow { on_model: PassStep::Expansion, ..self }
    }
}

/// All passes, in the order in which they run. Two of them in one command give what two commands give.
pub(crate) const PASSES: &[PassRow] = &[
    row("bind", Stage::Given, "an input and a value", "the input is a constant")
        .asked(|settings| !settings.bound.is_empty())
        .graphs(|work, settings| work.bind(settings))
        .models(|work, settings| work.bind(settings)),
    row("set", Stage::Part, "symbols, and shapes of inputs", "extents have values")
        .expanding_graphs()
        .expanding_models(),
    row("lower", Stage::Part, "operations with bodies, loops, branches", "their bodies stand for them")
        .expanding_graphs()
        .models(|work, settings| work.expand(settings)),
    row("outputs", Stage::Part, "names of tensors", "only what is between them is left")
        .graphs(|work, settings| work.cut(settings))
        .expanding_models(),
    row("fold", Stage::Change, "operations on constants and known extents", "constants stand for them")
        .asked(|settings| settings.passes.fold)
        .counting("operations that became constants")
        .graphs(|work, settings| work.fold(settings))
        .models(|work, settings| work.fold(settings)),
    row("simplify", Stage::Change, "operations that change no result", "what uses them uses their operands")
        .asked(|settings| settings.passes.simplify.is_some())
        .counting("times that a rule was applied")
        .graphs(|work, settings| work.simplify(settings))
        .models(|work, settings| work.simplify(settings)),
    row("merge", Stage::Change, "normalizations, scales and sums beside products", "weights have them")
        .asked(|settings| settings.passes.merge.is_some())
        .models(|work, settings| work.merge(settings)),
    row("share", Stage::Change, "equal operations", "the first one stands for them")
        .asked(|settings| settings.passes.share)
        .counting("operations merged with equal ones")
        .graphs(|work, settings| work.share(settings))
        .models(|work, _| work.share()),
    row("opset", Stage::Change, "operators of a version of the standard", "those of another version stand for them")
        .asked(|settings| settings.passes.opset.is_some())
        .models(|work, settings| work.convert_opset(settings)),
    row("layout", Stage::Change, "tensors and layouts", "tensors have layouts")
        .asked(|settings| !settings.layouts.is_empty())
        .graphs(|work, settings| work.lay_out(settings)),
    row(
        "drop-bitcasts",
        Stage::Change,
        "reshapes and transposes that move nothing",
        "what uses them uses their operands",
    )
    .asked(|settings| settings.passes.drop_bitcasts)
    .graphs(|work, _| work.drop_bitcasts()),
    row("annotate", Stage::Note, "types, shapes, modules, places", "they are written beside operations")
        .asked(|settings| settings.passes.annotate)
        .graphs(|work, _| work.annotate())
        .models(|work, _| work.annotate()),
    row("outline", Stage::Form, "repeated structure", "fragments or functions, and calls of them")
        .asked(|settings| settings.passes.outline)
        .graphs(|work, settings| work.outline(settings))
        .models(|work, _| work.outline()),
];

/// The number of rounds after which a graph is simple enough: each one may leave something for the next one.
#[cfg(feature = "kernels")]
const ROUNDS: usize = 24;

/// The rules for flat graphs that are passes of their own.
#[cfg(feature = "kernels")]
const MOVEMENTS: &str = "reshapes";
#[cfg(feature = "kernels")]
const EQUAL: &str = "share";
#[cfg(feature = "kernels")]
const UNUSED: &str = "unused";

fn nothing() -> Passing<Did> {
    Ok(Did::default())
}

/// Refuses a pass whose part this build does not have; what follows in it is not built then.
#[inline(always)]
fn needs(part: &'static Part) -> Passing<()> {
    // Without a closure, which the compiler would call: it has to see that what follows is never reached.
    match part.missing() {
        Some(part) => Err(Refusal::Unfit(part.reason()).into()),
        None => Ok(()),
    }
}

impl GraphWork<'_> {
    fn bind(&mut self, settings: &Settings) -> Passing<Did> {
        match self.graph.bind(&settings.bound) {
            Ok(()) => nothing(),
            Err(error) => Err(Stopped::one(error.diagnostic(self.graph))),
        }
    }

    fn cut(&mut self, settings: &Settings) -> Passing<Did> {
        self.graph.cut(&settings.options.internal.cut)?;
        nothing()
    }

    #[cfg(feature = "kernels")]
    fn fold(&mut self, settings: &Settings) -> Passing<Did> {
        let apart = self.apart(settings)?;
        crate::progress::enter(crate::progress::Phase::Evaluating);
        let count = self.graph.fold(settings.evaluation, &apart, settings.options.keep_unused);
        Ok(Did { count: Some(count), ..Did::default() })
    }

    #[cfg(not(feature = "kernels"))]
    fn fold(&mut self, _: &Settings) -> Passing<Did> {
        needs(&KERNELS)?;
        nothing()
    }

    #[cfg(feature = "kernels")]
    fn simplify(&mut self, settings: &Settings) -> Passing<Did> {
        let Some(rules) = settings.passes.simplify else { return nothing() };
        crate::progress::enter(crate::progress::Phase::Evaluating);
        let mut counts = RuleCounts::default();
        for _ in 0..ROUNDS {
            let round = self.simplified(rules, settings)?;
            if round.total() == 0 {
                break;
            }
            counts.add(&round);
        }
        Ok(Did { count: usize::try_from(counts.total()).ok(), simplified: Some(counts), ..Did::default() })
    }

    /// Applies the rules once. Returns how often each was applied.
    #[cfg(feature = "kernels")]
    fn simplified(&mut self, rules: UsedRules, settings: &Settings) -> Passing<RuleCounts> {
        let mut counts = RuleCounts::default();
        let apart = self.apart(settings)?;
        for (rule, count) in self.graph.simplify(&|name| rules.uses(name), &apart) {
            counts.count_named(rule, count);
        }
        // Movements are joined without regard to tensors that are kept apart.
        if rules.uses(MOVEMENTS) && apart.is_empty() {
            let (before, after) = self.graph.remove_bitcasts().operations;
            counts.count_named(MOVEMENTS, before.saturating_sub(after) as u64);
        }
        if rules.folds() {
            let apart = self.apart(settings)?;
            counts.count_folded(self.graph.fold(settings.evaluation, &apart, settings.options.keep_unused) as u64);
        }
        if rules.uses(EQUAL) {
            let apart = self.apart(settings)?;
            counts.count_named(EQUAL, self.graph.share_all(&apart, false) as u64);
        }
        if rules.uses(UNUSED) && !settings.options.keep_unused {
            let apart = self.apart(settings)?;
            counts.count_named(UNUSED, self.graph.drop_unneeded(&apart));
        }
        Ok(counts)
    }

    #[cfg(not(feature = "kernels"))]
    fn simplify(&mut self, settings: &Settings) -> Passing<Did> {
        self.fold(settings)
    }

    fn share(&mut self, settings: &Settings) -> Passing<Did> {
        let apart = self.apart(settings)?;
        Ok(Did { count: Some(self.graph.share(&apart)), ..Did::default() })
    }

    fn lay_out(&mut self, settings: &Settings) -> Passing<Did> {
        layouts::assign(self.graph, &settings.layouts)?;
        nothing()
    }

    fn drop_bitcasts(&mut self) -> Passing<Did> {
        Ok(Did { removed: Some(self.graph.remove_bitcasts()), ..Did::default() })
    }

    fn annotate(&mut self) -> Passing<Did> {
        self.graph.annotate(self.backing.sources());
        nothing()
    }

    /// Makes a graph with fragments for repeated structure beside the flat one, unless that saves nothing.
    fn outline(&mut self, settings: &Settings) -> Passing<Did> {
        needs(&OUTLINING)?;
        let apart = self.apart(settings)?;
        self.outlined = self.graph.outlined(&apart, &is_reserved);
        nothing()
    }
}

impl ModelWork<'_> {
    fn bind(&mut self, settings: &Settings) -> Passing<Did> {
        self.document.bind(&settings.bound)?;
        nothing()
    }

    /// Expands the model, unless it is folded: what is computed decides control flow, which is expanded then.
    fn expand(&mut self, settings: &Settings) -> Passing<Did> {
        if !settings.passes.fold && settings.passes.simplify.is_none() {
            let warnings = self.document.flatten_within(&self.options, self.limits)?;
            self.found.extend(warnings);
        }
        nothing()
    }

    /// Folds the model, unless it is simplified, which does that, too.
    fn fold(&mut self, settings: &Settings) -> Passing<Did> {
        if settings.passes.simplify.is_none() {
            let warnings = self.document.fold(&self.options, self.limits)?;
            self.found.extend(warnings);
        }
        nothing()
    }

    fn simplify(&mut self, settings: &Settings) -> Passing<Did> {
        let Some(rules) = settings.passes.simplify else { return nothing() };
        let rules = if settings.passes.fold { rules.and_fold() } else { rules };
        let (warnings, applied) = self.document.simplify(&self.options, self.limits, rules)?;
        self.found.extend(warnings);
        self.simplified = Some(applied);
        nothing()
    }

    fn merge(&mut self, settings: &Settings) -> Passing<Did> {
        needs(&KERNELS)?;
        let Some(rules) = settings.passes.merge else { return nothing() };
        let applied = self.document.merge(&self.options, rules);
        self.simplified.get_or_insert_default().add(&applied);
        nothing()
    }

    fn convert_opset(&mut self, settings: &Settings) -> Passing<Did> {
        needs(&VERSIONS)?;
        if let Some(version) = settings.passes.opset {
            self.document.convert_opset(&self.options, version)?;
        }
        nothing()
    }

    fn share(&mut self) -> Passing<Did> {
        self.document.share();
        nothing()
    }

    fn annotate(&mut self) -> Passing<Did> {
        self.document.annotate(&self.options);
        nothing()
    }

    fn outline(&mut self) -> Passing<Did> {
        needs(&OUTLINING)?;
        self.document.outline();
        nothing()
    }
}
