//! `git handoff agent`: which agent this is, and why.

use std::io;

use serde_json::{Value, json};

use super::super::args;
use super::super::error::Failure;
use super::super::session::detect;
use crate::agents::Detection;
use crate::env::Env;
use crate::model::{Lanes, visible_line};
use crate::ui::{Page, Report, Ui};

/// Runs the command. It needs no repository.
///
/// # Errors
/// When a name given is none.
pub(in crate::cli) fn run(env: &Env, args: &args::Agent, lanes: &Lanes, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let detection = detect(env, args.agent.as_deref(), Some(env.cwd.clone()))?;
    let directory = lanes.of(&detection.agent).dir;
    Ok(ui.answer(&Decision { detection, directory })?)
}

struct Decision {
    detection: Detection,
    directory: String,
}

impl Report for Decision {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let Detection { agent, why, session_id, ambiguous, overruled, signals, .. } = &self.detection;
        page.line(format!("{agent}: {}", visible_line(&why.to_string())))?;
        page.line(format!("handoffs appear in: {}", self.directory))?;
        if let Some(session) = session_id {
            page.line(format!("session: {}", visible_line(session)))?;
        }
        for other in ambiguous {
            page.line(format!("could also be: {other}"))?;
        }
        if let Some(overruled) = overruled {
            page.line(visible_line(&overruled.to_string()))?;
        }
        for signal in signals {
            page.line(format!("signal: {}: {}", visible_line(&signal.source), signal.meaning))?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let Detection { agent, why, session_id, ambiguous, overruled, signals, .. } = &self.detection;
        json!({
            "agent": agent.as_str(),
            "why": why.to_string(),
            "directory": self.directory,
            "session": session_id,
            "ambiguous": ambiguous.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "overruled": overruled.as_ref().map(ToString::to_string),
            "signals": signals.iter().map(|signal| json!({"source": signal.source, "meaning": signal.meaning.to_string()})).collect::<Vec<_>>(),
        })
    }

    fn quiet(&self) -> Option<String> {
        Some(self.detection.agent.to_string())
    }
}
