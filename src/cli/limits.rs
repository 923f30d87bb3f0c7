//! The options that limit the resources for an input.

use clap::{Args, ValueEnum};

use super::args::size;
use crate::sink::OutputLimit;
use crate::{Options, eval, model};

/// The limits of a run: a profile, and single limits that replace its own.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RunLimits {
    /// A set of limits; the other options replace single ones [default: default].
    #[arg(long, value_name = "PROFILE")]
    limits: Option<Profile>,
    /// The maximum number of emitted operations [default: 10000000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_ops: Option<u64>,
    /// The maximum depth of nested calls [default: 1048576].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_depth: Option<u64>,
    /// The maximum number of items of an array that is computed or written, and of characters of such a string [default:
    /// 10000000].
    #[arg(long, value_name = "N")]
    max_length: Option<usize>,
    /// The maximum memory in use by all that is done with an input [default: 768MiB].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,
    /// The maximum size of a text [default: 2GiB].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_text: Option<u64>,
    /// The maximum number of files and folders of an archive, and of a folder whose files are all listed [default:
    /// 200000].
    #[arg(long, value_name = "N")]
    max_files: Option<usize>,
    /// The size that a compressed model may unpack to, whatever its own size [default: 8GiB].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_unpacked: Option<u64>,
    /// The maximum size of each file that is written, and of standard output [default: 1TiB].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_output: Option<u64>,
    /// The maximum number of tensor items at a time in an evaluation, 8 bytes each [default: those of --max-memory, and of
    /// the data].
    #[arg(long, value_name = "N")]
    max_items: Option<u64>,
    /// The maximum number of elementary steps of an evaluation [default: 200000000000].
    #[arg(long, value_name = "N")]
    max_work: Option<u64>,
}

/// Sets of limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// For trusted models, as large as a workstation holds.
    #[default]
    Default,
    /// For inputs from unknown sources, as a service reads them.
    Untrusted,
}

/// Replaces a limit where an option gives one.
fn set<T: Copy>(limit: &mut T, given: Option<T>) {
    *limit = given.unwrap_or(*limit);
}

impl RunLimits {
    /// These limits, with those for unknown sources as the profile if none is given.
    #[cfg(feature = "lsp")]
    pub(crate) fn or_untrusted(self) -> RunLimits {
        RunLimits { limits: self.limits.or(Some(Profile::Untrusted)), ..self }
    }

    /// These limits, replaced by those after a subcommand.
    pub(crate) fn merge(self, later: RunLimits) -> RunLimits {
        RunLimits {
            limits: later.limits.or(self.limits),
            max_ops: later.max_ops.or(self.max_ops),
            max_depth: later.max_depth.or(self.max_depth),
            max_length: later.max_length.or(self.max_length),
            max_memory: later.max_memory.or(self.max_memory),
            max_text: later.max_text.or(self.max_text),
            max_files: later.max_files.or(self.max_files),
            max_unpacked: later.max_unpacked.or(self.max_unpacked),
            max_output: later.max_output.or(self.max_output),
            max_items: later.max_items.or(self.max_items),
            max_work: later.max_work.or(self.max_work),
        }
    }

    fn of<T>(&self, default: T, untrusted: T) -> T {
        match self.limits.unwrap_or_default() {
            Profile::Default => default,
            Profile::Untrusted => untrusted,
        }
    }

    /// Options of the library with these limits.
    pub(crate) fn options(&self) -> Options {
        let mut options = self.of(Options::default(), Options::untrusted());
        set(&mut options.max_ops, self.max_ops);
        set(&mut options.max_depth, self.max_depth);
        set(&mut options.max_length, self.max_length);
        set(&mut options.max_memory, self.max_memory);
        // Offsets in texts have 32 bits.
        set(&mut options.max_text, self.max_text.map(|bytes| bytes.min(u32::MAX.into())));
        // Networks with loops count steps of layers; their limit grows with that of operations.
        set(&mut options.max_steps, self.max_ops.map(|operations| operations.saturating_mul(20)));
        set(&mut options.max_bytes, self.max_memory);
        options
    }

    /// The longest text of a document.
    pub(crate) fn text(&self) -> u64 {
        self.options().max_text
    }

    /// The limits on models.
    pub(crate) fn model(&self) -> model::Limits {
        let mut limits = self.of(model::Limits::default(), model::Limits::untrusted());
        set(&mut limits.graph, self.max_text);
        set(&mut limits.text, self.max_text);
        set(&mut limits.entries, self.max_files);
        set(&mut limits.names, self.max_files.map(|files| files.saturating_mul(model::Limits::NAME)));
        set(&mut limits.unpacked, self.max_unpacked);
        limits
    }

    /// The maximum size of an output.
    pub(crate) fn output(&self) -> OutputLimit {
        OutputLimit(self.max_output.unwrap_or(self.of(1 << 40, 256 << 20)))
    }

    /// The maximum size of files of arrays in bytes: 8 for each item that an evaluation may have.
    pub(crate) fn arrays(&self) -> u64 {
        self.evaluation().max_items.saturating_mul(8)
    }

    /// Whether the data of a model count in addition to the limit of items: unless an option gives that.
    pub(crate) fn data_count(&self) -> bool {
        self.max_items.is_none()
    }

    /// The limits on evaluation.
    pub(crate) fn evaluation(&self) -> eval::Limits {
        let mut limits = self.of(eval::Limits::default(), eval::Limits::untrusted());
        set(&mut limits.max_items, self.max_memory.map(eval::Limits::items_of));
        set(&mut limits.max_items, self.max_items);
        set(&mut limits.max_work, self.max_work);
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_limits_replace_those_of_the_profile_whatever_their_order() {
        let untrusted = RunLimits { limits: Some(Profile::Untrusted), ..RunLimits::default() };
        assert_eq!(untrusted.options(), Options::untrusted());
        assert_eq!(untrusted.model(), model::Limits::untrusted());
        assert_eq!(untrusted.evaluation(), eval::Limits::untrusted());
        assert_eq!(RunLimits::default().options(), Options::default());
        let single = RunLimits { max_ops: Some(7), max_items: Some(8), max_files: Some(9), ..RunLimits::default() };
        for merged in [untrusted.clone().merge(single.clone()), single.merge(untrusted)] {
            assert_eq!(merged.options(), Options { max_ops: 7, max_steps: 140, ..Options::untrusted() });
            assert_eq!(RunLimits { max_text: Some(u64::MAX), ..merged.clone() }.text(), u64::from(u32::MAX));
            assert_eq!(merged.evaluation().max_items, 8);
            let less = RunLimits { max_items: None, max_memory: Some(1 << 20), ..merged.clone() };
            assert_eq!(less.evaluation().max_items, (1 << 20) / 12, "an item takes 8 bytes, its index 4");
            assert_eq!(merged.evaluation().max_work, eval::Limits::untrusted().max_work);
            assert_eq!((merged.model().entries, merged.model().graph), (9, model::Limits::untrusted().graph));
        }
    }
}
