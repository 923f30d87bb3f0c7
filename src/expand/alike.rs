//! Fragments that are told by their spelling run the code of the one that they are like. What differs is
//! where it stands, and which fragments are called.

use super::code::Site;
use super::machine::Machine;
use crate::graph::Primitive;
use crate::nnef::check::FragmentId;
use crate::source::names::Name;

impl Machine<'_, '_> {
    /// A site of the running body. That of a fragment that is told by its spelling is the site of
    /// the one that it is like, in another place, and may call another fragment.
    #[inline]
    pub(super) fn site(&self, index: u32) -> Site {
        self.site_in(self.frames.last().and_then(|frame| frame.fragment), index)
    }

    /// What a site of the running body calls: the fragment, its name, and the type argument.
    #[inline]
    pub(super) fn called_at(&self, index: u32) -> (Option<FragmentId>, Name, Option<Primitive>) {
        let site = &self.program.sites[index as usize];
        let (fragment, name) = match self.frames.last().and_then(|frame| self.checked.alike_index(frame.fragment?)) {
            Some(alike) => self.called_by(site, alike),
            None => (site.fragment, site.name),
        };
        (fragment, name, site.generic)
    }

    /// A site of the body of a fragment.
    #[inline]
    pub(super) fn site_in(&self, fragment: Option<FragmentId>, index: u32) -> Site {
        let site = self.program.sites[index as usize];
        match fragment.and_then(|id| self.checked.alike_index(id)) {
            Some(alike) => self.moved(site, alike),
            None => site,
        }
    }

    fn moved(&self, site: Site, alike: usize) -> Site {
        let span = self.checked.alike().place(alike, site.span, self.checked.document.names());
        let (fragment, name) = self.called_by(&site, alike);
        Site { fragment, name, span, ..site }
    }

    /// What a site calls in a fragment that is told by its spelling, and its name.
    fn called_by(&self, site: &Site, alike: usize) -> (Option<FragmentId>, Name) {
        let checked = self.checked;
        match checked.alike().called(alike, site.name) {
            Some(name) => (checked.find(checked.document.main_id(), name), name),
            None => (site.fragment, site.name),
        }
    }
}
