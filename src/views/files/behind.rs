//! A cheap look at whether the files are as the last refresh left them and stand for the present log.

use std::path::Path;

use crate::model::{Lanes, ObjectName};

use super::stamps::Stamps;

/// Whether an index was changed since the last refresh of this work tree, or the log has moved on. Where nothing was
/// ever refreshed there is nothing that could be behind.
pub fn are_behind(work_dir: &Path, state_dir: &Path, lanes: &Lanes, tip: Option<ObjectName>) -> bool {
    let stamps = Stamps::load(state_dir, &super::stamps::configuration(lanes));
    let unchanged =
        |(path, stamp): (&String, &super::stamps::Stamp)| stamp.fits(work_dir.join(path).metadata().ok().as_ref());
    stamps.basis.is_some() && (stamps.basis != tip.map(|tip| tip.to_string()) || !stamps.files.iter().all(unchanged))
}
