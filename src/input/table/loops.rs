//! Networks with loops.

use crate::diagnostics::Diagnostics;
use crate::input::opened::Opened;
use crate::input::settings::Settings;
use crate::input::source::{Backing, Evaluable, Expanded, Flat, Source, Values};
use crate::input::text::Text;
use crate::input::{Findings, Refusal};
use crate::loops::{Evaluation, Network};
use crate::progress::{self, Phase};
use crate::source::facts::Facts;
use crate::source::{FileId, Sources};
use crate::tensor::Tensor;
use crate::{Graph, Lower, Options};

/// Reads the text of a network.
pub(super) fn read(opened: Opened, settings: &Settings) -> Result<Box<dyn Source>, Refusal> {
    Ok(Box::new(NetworkText(opened.text(settings.options.max_text)?)))
}

/// The text of a network.
struct NetworkText(Text);

impl NetworkText {
    fn network(self, settings: &Settings) -> (Networks, Diagnostics) {
        let mut sources = Sources::new();
        let (net, found) = Network::read_under(&self.0.name, self.0.text, &mut sources, settings.options.policy());
        (Networks { sources, net }, found)
    }
}

/// The options for networks: a value that no output needs is never computed. Those that do not apply are refused.
fn options(settings: &Settings) -> Options {
    // Compounds are lowered behind the loops, as the output notation wants it. Networks have no fragments to name.
    settings.options.clone().with(|options| {
        options.keep_unused = false;
        if options.lower == Lower::All {
            options.lower = Lower::Custom;
        }
    })
}

/// The flat graph of a network, with warnings, or the errors.
fn unrolled(net: &Network, settings: &Settings) -> Expanded {
    progress::enter(Phase::Expanding);
    net.unroll(&options(settings)).map(|expansion| (expansion.graph, expansion.diagnostics))
}

impl Source for NetworkText {
    /// Loops are unrolled only if that is asked for.
    fn check(self: Box<Self>, settings: &Settings) -> Result<Findings, Refusal> {
        let (networks, mut found) = self.network(settings);
        if let Some(net) = networks.net {
            found.extend(match net.check_under(settings.options.policy()) {
                checked if settings.options.unroll && !checked.has_errors() => {
                    unrolled(&net, settings).map_or_else(|errors| errors, |(_, found)| found)
                }
                checked => checked,
            });
        }
        Ok(Findings::new(networks.sources, found))
    }

    fn graph(self: Box<Self>, settings: &Settings) -> Result<Flat, Refusal> {
        let (mut networks, mut found) = self.network(settings);
        networks.net = networks.net.filter(|_| !found.has_errors());
        let result = networks.net.as_ref().and_then(|net| found.take(unrolled(net, settings)));
        let result = match result {
            Some(graph) => Ok((graph, found)),
            None => Err(found),
        };
        Ok(Flat::new(networks, result))
    }

    fn evaluable(self: Box<Self>, settings: &Settings) -> Result<Evaluable, Refusal> {
        let (networks, found) = self.network(settings);
        Ok(Evaluable::Network(Box::new(networks), found))
    }

    fn again(&self) -> Box<dyn Source> {
        Box::new(NetworkText(self.0.clone()))
    }
}

/// A network, as far as it could be read.
pub(crate) struct Networks {
    pub(crate) sources: Sources,
    pub(crate) net: Option<Network>,
}

impl Networks {
    /// Evaluates a network on inputs in a text, if there is one.
    pub(crate) fn evaluate(&mut self, given: Option<Text>, settings: &Settings) -> Result<Evaluation, Diagnostics> {
        let Some(net) = &self.net else { return Err(Diagnostics::default()) };
        let inputs = match given {
            Some(given) => net.read_inputs(&given.name, given.text, &mut self.sources)?,
            None => Vec::new(),
        };
        progress::enter(Phase::Evaluating);
        net.evaluate(inputs, &options(settings))
    }
}

impl Networks {
    /// The outputs of a network on inputs.
    ///
    /// # Errors
    ///
    /// The network is refused, an input is missing or has another type, or a computation fails.
    pub(in crate::input) fn outputs(
        &self,
        inputs: &[(String, Tensor)],
        settings: &Settings,
    ) -> Result<Evaluation, Diagnostics> {
        let Some(net) = &self.net else { return Err(Diagnostics::default()) };
        // Values get the types that the network declares, if that does not change them.
        let typed = |(name, value): &(String, Tensor)| {
            let dtype = net.input_type(name).map(|ty| ty.dtype);
            let converted = dtype.and_then(|dtype| value.clone().into_type(dtype).ok());
            (name.clone(), converted.unwrap_or_else(|| value.clone()))
        };
        net.evaluate(inputs.iter().map(typed), &options(settings))
    }

    /// The outputs of a network on given inputs, with all findings; `found` are those of reading it.
    pub(in crate::input) fn evaluated(
        self,
        inputs: &[(String, Tensor)],
        mut found: Diagnostics,
        settings: &Settings,
    ) -> Result<(Vec<(String, Tensor)>, Findings), Refusal> {
        let outputs = match found.has_errors() {
            true => None,
            false => {
                let evaluated = self.outputs(inputs, settings);
                found.take(evaluated.map(|evaluation| (evaluation.outputs, evaluation.diagnostics)))
            }
        };
        let findings = Findings::new(self.sources, found);
        match outputs {
            Some(outputs) => Ok((outputs, findings)),
            None => Err(Refusal::Found(Box::new(findings))),
        }
    }
}

impl Backing for Networks {
    fn sources(&self) -> &Sources {
        &self.sources
    }

    fn add_source(&mut self, name: &str, text: String) -> FileId {
        self.sources.add(name, text)
    }

    fn facts(&self) -> Facts {
        Facts::of_notation("a network with loops")
    }

    fn values(&mut self, _: &Graph, _: &Settings) -> Result<Values<'_>, Refusal> {
        Ok(Values::of(&self.sources, None))
    }
}
