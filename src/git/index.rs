//! What the user's index says. It is only read.

use gix::bstr::BStr;

use super::Repo;

impl Repo {
    /// Whether git tracks this path (relative to the top of the work tree, with `/`). An index that cannot be read tracks
    /// everything: what may have come with the repository is not trusted.
    pub fn is_tracked(&self, path: &str) -> bool {
        match self.gix.index_or_empty() {
            Ok(index) => index.entry_by_path(BStr::new(path.as_bytes())).is_some(),
            Err(_) => true,
        }
    }
}
