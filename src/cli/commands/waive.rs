//! `git handoff waive`: say of a finding of the secret scan that it is no secret, so that the log may be published.

use std::convert::Infallible;
use std::io;

use serde_json::{Value, json};

use super::super::args;
use super::super::error::{Code, Failure};
use super::super::session::Session;
use super::super::store::append_failure;
use crate::log::{self, Append, Description};
use crate::model::EventId;
use crate::secrets::{self, Fingerprint};
use crate::ui::{Page, Report, Ui};
use crate::views::files::Mode;

/// Runs the command.
///
/// # Errors
/// When the fingerprint is none, the reason itself holds a secret, or the log cannot be written.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Waive, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let fingerprint: Fingerprint =
        args.fingerprint.parse().map_err(|error: secrets::FingerprintError| Failure::because(Code::Usage, &error))?;
    let reason = args.reason.trim();
    if reason.is_empty() {
        return Err(Failure::new(Code::Usage, "a waiver needs a reason"));
    }
    if !secrets::scan(reason).is_empty() {
        return Err(Failure::new(Code::SecretFound, "the reason contains a secret; nothing was stored")
            .hint("say why it is no secret without repeating it"));
    }
    let mut index = session.prepare(ui)?;
    let event = log::waiver(&session.origin()?, fingerprint.as_str(), reason);
    let id = event.id();
    let description =
        Description { subject: format!("waiver {fingerprint}"), trailers: vec![("Handoff-Id".into(), id.to_string())] };
    let append = Append { events: vec![event], description };
    let stored = session.log().append(&session.stamp(), |_| Ok::<_, Infallible>(append.clone()));
    let tip = stored.map_err(|error| append_failure(&error))?.tip;
    session.bring_to(&mut index, Some(tip))?;
    session.refresh_views(&mut index, Mode::Incremental, ui);
    Ok(ui.answer(&Waived { id, fingerprint })?)
}

struct Waived {
    id: EventId,
    fingerprint: Fingerprint,
}

impl Report for Waived {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format!("{} is waived: it does not keep the log at home any more", self.fingerprint))
    }

    fn json(&self) -> Value {
        json!({"id": self.id.to_string(), "fingerprint": self.fingerprint.to_string()})
    }

    fn quiet(&self) -> Option<String> {
        Some(self.id.to_string())
    }
}
