//! `git handoff auto`: is a handoff due? If so, it is made from what git knows.

use std::io;

use serde_json::{Value, json};

use super::super::args;
use super::super::automatic::{Counting, Evaluated, Request, Storing, evaluate};
use super::super::error::{Code, Failure};
use super::super::record::{file_of, names_of};
use super::super::session::Session;
use crate::model::boundary::Reason;
use crate::model::{Trigger, visible_line};
use crate::ui::{Page, Report, Ui};

/// Runs the command.
///
/// # Errors
/// When git or the log cannot be read, or the log cannot be written.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Auto, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let occasion = args.trigger.as_deref().map_or(Ok(Trigger::SubstantialWork), str::parse);
    let occasion = occasion.map_err(|error: crate::model::UnknownWord| Failure::because(Code::Usage, &error))?;
    let storing = if args.dry_run { Storing::No } else { Storing::Yes };
    let request = Request { occasion, counting: Counting::Everything, storing, since: None };
    let evaluated = evaluate(session, &request, ui)?;
    let file = evaluated.stored.as_ref().and_then(|stored| file_of(session, stored));
    let draft = evaluated.draft.as_ref().map(|path| path.display().to_string());
    Ok(ui.answer(&Answer { evaluated, storing, file, draft, explain: args.explain })?)
}

struct Answer {
    evaluated: Evaluated,
    storing: Storing,
    file: Option<String>,
    draft: Option<String>,
    explain: bool,
}

impl Answer {
    fn id(&self) -> Option<String> {
        let stored = self.evaluated.stored.as_ref().map(|stored| names_of(stored).0);
        stored.or_else(|| self.evaluated.preview.clone())
    }
}

impl Report for Answer {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let why = self.evaluated.reasons.first().map(|reason| visible_line(&reason.text)).unwrap_or_default();
        match (&self.evaluated.stored, self.storing, self.evaluated.created) {
            (Some(stored), ..) => {
                let (_, session) = names_of(stored);
                let name = self.file.clone().unwrap_or_else(|| session.to_string());
                page.line(format!("Automatic handoff created: {name}"))?;
                page.line(format!("Because: {why}"))?;
            }
            (None, Storing::No, true) => page.line(format!("A handoff is due: {why}"))?,
            (None, ..) => page.line(format!("No handoff was made: {why}"))?,
        }
        if let Some(draft) = &self.draft {
            page.line(format!("Draft: {draft}"))?;
            page.line(format!("To seal it: git handoff create --from {draft}"))?;
        }
        if self.explain {
            page.line("Reasons:")?;
            for Reason { code, text } in &self.evaluated.reasons {
                page.line(format!("  {code}: {}", visible_line(text)))?;
            }
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let reason = |reason: &Reason| json!({"code": reason.code, "text": reason.text});
        json!({
            "created": self.evaluated.created,
            "dry_run": self.storing == Storing::No,
            "id": self.id(),
            "session": self.evaluated.stored.as_ref().map(|stored| names_of(stored).1.to_string()),
            "file": self.file,
            "draft": self.draft,
            "reasons": self.evaluated.reasons.iter().map(reason).collect::<Vec<_>>(),
        })
    }

    fn quiet(&self) -> Option<String> {
        self.id()
    }
}
