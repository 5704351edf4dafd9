//! The command line. What is said here is the reference: `-h`, the man page and the completions come from it.

mod queue;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use queue::{
    Acting, Add, Claim, Finish, Item, Link, Op, OpCommand, OpRun, Operation, Queue, QueueCommand, QueueList, Release,
    Run, Start, Wait,
};

/// Record what a coding-agent session leaves behind, and continue from it in the next one
#[derive(Debug, Parser)]
#[command(
    name = "git-handoff",
    bin_name = "git handoff",
    version,
    max_term_width = 100,
    arg_required_else_help = false
)]
#[command(after_help = "Without a command, the status is shown. \
    Handoffs are kept under refs/handoffs/log; reading one never runs anything.\n\
    Exit codes: 0 done, 1 failure, 2 usage, 3 nothing found or ambiguous, 4 refused (score, size, completeness), \
    5 secret, 6 stale, 7 lost a race, 8 remote, 9 no repository, 10 integrity.")]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub global: Global,
    /// The command; `status` when there is none.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Run as if started in DIR
    #[arg(short = 'C', long = "workspace", value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Answer in JSON (see docs/json.md)
    #[arg(long, global = true)]
    pub json: bool,
    /// Say as little as possible
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Record a handoff
    Create(Box<Create>),
    /// Show the handoff to continue from, with what is known about its trust
    Resume(Resume),
    /// List handoffs, newest first
    List(List),
    /// Show one handoff
    Show(Show),
    /// Show which handoff continues which, as a graph
    Log(Log),
    /// Show what is recorded, recommended and pending here
    Status,
    /// Say which agent this is, and why
    Agent(Agent),
    /// Show the main job in a temporary repository
    Demo,
    /// Print a completion script
    Completions(Completions),
    /// Print the manual page, or install it
    Man(Man),
    /// Say how far a handoff still fits the repository, and why
    Check(Check),
    /// Judge a handoff, a file or standard input as create would
    Validate(Validate),
    /// Correct a handoff: the new text supersedes it
    Edit(Edit),
    /// Vouch for a handoff
    Approve(Approve),
    /// Make everything derived again from the log, and the log from the files where it lacks something
    Recover(Recover),
    /// Take handoffs that stand only in files into the log
    Import(Import),
    /// Check every entry of the log against its id
    Verify,
    /// Say what is not as it should be here, and what mends it
    Doctor,
    /// Decide whether a handoff is due, and make it from what git knows
    Auto(Auto),
    /// Start, note, show and close the goal of this worktree
    #[command(subcommand)]
    Goal(Box<Goal>),
    /// Install, remove and show the git hooks
    #[command(subcommand)]
    Hooks(Hooks),
    /// Queue work behind prerequisites, claim it, start it once
    Queue(Queue),
    /// Record how operations went that queued work waits for
    Op(Op),
    /// Share handoffs with a remote: fetch, join, publish
    Sync(Sync),
    /// Say of a finding of the secret scan that it is no secret, so that the log may be published
    Waive(Waive),
}

/// `create`
#[derive(Debug, Default, Args)]
#[command(
    after_help = "The content comes from flags, and from a Markdown document or a JSON packet: FILE, or standard \
    input with '--from -', or when standard input is not a terminal and no content flag is given. Flags beat the \
    document. Everything is validated and scanned for secrets before anything is stored; what is refused is kept as a draft."
)]
pub struct Create {
    /// What the work is about, in a few words
    #[arg(value_name = "TOPIC")]
    pub topic: Option<String>,
    /// Take the content from FILE ('-' is standard input)
    #[arg(long, value_name = "FILE")]
    pub from: Option<String>,
    /// How far the work is: completed, in-progress, partial, blocked, interrupted
    #[arg(long)]
    pub status: Option<String>,
    /// Why now: manual, goal-completion, substantial-work, context-pressure, agent-transfer, interrupted
    #[arg(long)]
    pub trigger: Option<String>,
    /// How the goal ended (same words as --status)
    #[arg(long)]
    pub goal_status: Option<String>,
    /// State that the document alone suffices to continue; refused when it does not
    #[arg(long)]
    pub complete: bool,
    /// Show what would be stored, and store nothing
    #[arg(long, conflicts_with = "draft")]
    pub dry_run: bool,
    /// Write a pre-filled draft to edit, and print its path
    #[arg(long)]
    pub draft: bool,
    /// Print the document too
    #[arg(long)]
    pub print: bool,
    /// Allow one finding of the secret scan, by its fingerprint (recorded)
    #[arg(long, value_name = "FINGERPRINT")]
    pub allow_finding: Vec<String>,
    /// Who and where, for callers that know better
    #[command(flatten)]
    pub origin: Origin,
    /// Links to other handoffs
    #[command(flatten)]
    pub lineage: Lineage,
    /// The content
    #[command(flatten)]
    pub content: ContentFlags,
}

/// Who and where, stated by the caller.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Origin")]
pub struct Origin {
    /// The agent, where its environment does not tell (HANDOFF_AGENT beats everything)
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub agent: Option<String>,
    /// The model
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The agent's session id
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The agent's turn id
    #[arg(long, value_name = "ID")]
    pub turn: Option<String>,
    /// The branch, where it is not the one checked out
    #[arg(long)]
    pub branch: Option<String>,
    /// The source commit, where it is not HEAD
    #[arg(long, value_name = "REV")]
    pub commit: Option<String>,
}

/// Links to other handoffs, stated by the caller.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Lineage")]
pub struct Lineage {
    /// The handoff that this one continues
    #[arg(long, value_name = "REF")]
    pub continues_from: Option<String>,
    /// The handoff that this session was resumed from
    #[arg(long, value_name = "REF")]
    pub resumed_from: Option<String>,
    /// A handoff that this one corrects
    #[arg(long, value_name = "REF")]
    pub supersedes: Vec<String>,
}

/// Content given as flags; a list flag may be repeated.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Content")]
pub struct ContentFlags {
    /// What the work is for
    #[arg(long, value_name = "TEXT")]
    pub objective: Option<String>,
    /// Where things stand
    #[arg(long, value_name = "TEXT")]
    pub state: Option<String>,
    /// The one thing to do next
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub next_action: Option<String>,
    /// What to know or set up before going on
    #[arg(long, value_name = "TEXT")]
    pub resume_instructions: Option<String>,
    /// A step that was agreed to
    #[arg(long, value_name = "STEP")]
    pub plan: Vec<String>,
    /// A step that is done
    #[arg(long, value_name = "STEP")]
    pub done: Vec<String>,
    /// A step that remains
    #[arg(long, value_name = "STEP")]
    pub todo: Vec<String>,
    /// A decision and its reason
    #[arg(long, value_name = "TEXT")]
    pub decision: Vec<String>,
    /// What shows that it is right, such as "passed: cargo test"
    #[arg(long, value_name = "CHECK")]
    pub verified: Vec<String>,
    /// What does not work, or might not
    #[arg(long, value_name = "TEXT")]
    pub risk: Vec<String>,
    /// What must hold
    #[arg(long, value_name = "TEXT")]
    pub constraint: Vec<String>,
    /// What must be there first
    #[arg(long, value_name = "TEXT")]
    pub prerequisite: Vec<String>,
    /// A file that matters
    #[arg(long, value_name = "PATH")]
    pub file: Vec<String>,
    /// A command that was run
    #[arg(long, value_name = "COMMAND")]
    pub ran: Vec<String>,
    /// Something that belongs to the work
    #[arg(long, value_name = "TEXT")]
    pub included: Vec<String>,
    /// Something that does not belong to it
    #[arg(long, value_name = "TEXT")]
    pub excluded: Vec<String>,
    /// History that may help
    #[arg(long, value_name = "TEXT")]
    pub context: Vec<String>,
}

/// `resume`
#[derive(Debug, Args)]
#[command(after_help = "Without REF: the current agent's unfinished handoff on this branch; else its unfinished one \
    anywhere; else the newest unfinished one of any agent, this branch first; else the newest of all.")]
pub struct Resume {
    /// A handoff: id, prefix, session name, file, or @latest
    #[arg(value_name = "REF")]
    pub reference: Option<String>,
    /// Only handoffs whose topic matches
    #[arg(long, value_name = "WORDS", conflicts_with = "reference", allow_hyphen_values = true)]
    pub topic: Option<String>,
    /// Leave the body out
    #[arg(long)]
    pub brief: bool,
    /// The agent, where its environment does not tell
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub agent: Option<String>,
    /// Exit with 6, after printing, when the handoff is stale
    #[arg(long)]
    pub strict: bool,
}

/// `list`
#[derive(Debug, Default, Args)]
#[command(
    after_help = "By default the 20 newest live handoffs: those that no later one supersedes, continues or was resumed from."
)]
pub struct List {
    /// Closed ones too, and no limit
    #[arg(long)]
    pub all: bool,
    /// At most N
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Only of this agent
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub agent: Option<String>,
    /// Only those whose topic matches
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub topic: Option<String>,
    /// Only with this status
    #[arg(long)]
    pub status: Option<String>,
    /// Only of this branch
    #[arg(long)]
    pub branch: Option<String>,
    /// Only those with work left
    #[arg(long)]
    pub unfinished: bool,
    /// Only those since TIME: RFC 3339, a date, or a duration such as 2h or 7d ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
}

/// `show`
#[derive(Debug, Args)]
pub struct Show {
    /// A handoff: id, prefix, session name, file, or @latest
    #[arg(value_name = "REF", default_value = "@latest")]
    pub reference: String,
    /// Print the stored bytes: the canonical JSON that the id is the SHA-256 of
    #[arg(long)]
    pub document: bool,
}

/// `log`
#[derive(Debug, Args)]
pub struct Log {
    /// Only this handoff, what it continues and what continues it
    #[arg(value_name = "REF")]
    pub reference: Option<String>,
    /// At most N handoffs (default 50)
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

/// `agent`
#[derive(Debug, Args)]
pub struct Agent {
    /// What --agent would say
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub agent: Option<String>,
}

/// `completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `man`
#[derive(Debug, Args)]
pub struct Man {
    /// Write it to DIR/man1/git-handoff.1, so that 'git handoff --help' finds it
    #[arg(long, value_name = "DIR")]
    pub install: Option<PathBuf>,
}

/// `check`
#[derive(Debug, Args)]
#[command(after_help = "Without REF: the handoff that 'git handoff resume' would choose. A file is judged by the \
    handoff whose id it carries; whether it was edited is said too. Exit codes: 0 for FRESH and SLIGHTLY_STALE, 6 for \
    STALE and VERY_STALE.")]
pub struct Check {
    /// A handoff: id, prefix, session name, @latest, or a file inside the work tree
    #[arg(value_name = "REF|FILE")]
    pub reference: Option<String>,
    /// The agent, where its environment does not tell
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub agent: Option<String>,
}

/// `validate`
#[derive(Debug, Args)]
#[command(
    after_help = "Explains every point of the score and names secrets by line, without showing them. Exit code 0 when \
    it would be recorded, 4 when its score, size or completeness is refused, 5 for a secret; of several the worst. A file \
    must lie inside the work tree and is judged as it stands; a body without metadata is completed from git as create does it."
)]
pub struct Validate {
    /// Handoffs (id, prefix, session name, @latest), files, or '-' for standard input
    #[arg(value_name = "REF|FILE|-")]
    pub references: Vec<String>,
    /// Allow one finding of the secret scan, by its fingerprint
    #[arg(long, value_name = "FINGERPRINT")]
    pub allow_finding: Vec<String>,
}

/// `edit`
#[derive(Debug, Args)]
#[command(
    after_help = "Opens git's editor on the handoff that resume would take, or on REF. A handoff never changes: the result is \
    recorded as a new one that supersedes it, of the same branch and commit and with the same lineage. What is refused is \
    kept as a draft."
)]
pub struct Edit {
    /// A handoff: id, prefix, session name, file, or @latest
    #[arg(value_name = "REF")]
    pub reference: Option<String>,
    /// Take the new text from FILE ('-' is standard input); its handoff_id says what it corrects
    #[arg(long, value_name = "FILE")]
    pub from: Option<String>,
    /// The agent, where its environment does not tell
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub agent: Option<String>,
    /// Allow one finding of the secret scan, by its fingerprint (recorded)
    #[arg(long, value_name = "FINGERPRINT")]
    pub allow_finding: Vec<String>,
}

/// `approve`
#[derive(Debug, Args)]
#[command(
    after_help = "By itself a handoff only informs. An approval is an event of its own in the log: it says who vouches for \
    the handoff, when and why. It is signed with your key when handoff.sign or commit.gpgSign is true."
)]
pub struct Approve {
    /// A handoff: id, prefix, session name, file, or @latest
    #[arg(value_name = "REF")]
    pub reference: String,
    /// What you want to say about it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub note: Option<String>,
}

/// `recover`
#[derive(Debug, Default, Args)]
#[command(
    after_help = "The spool and fetched logs are taken in first. Handoffs that stand only in files of the work tree are \
    taken into the log; then the metadata cache, the notes and the files are made again. Nothing is ever deleted: what has \
    to give way is kept aside, and every loss and every skipped line is reported."
)]
pub struct Recover {
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `import`
#[derive(Debug, Default, Args)]
#[command(
    after_help = "Takes the Markdown of this tool (under the id that its content has), files with the names and headings \
    of older tools, and stored JSON documents. Without PATH: everything in the agents' directories that the log lacks. \
    A file that was edited is taken only when it is named, as a handoff of its own."
)]
pub struct Import {
    /// Files to take in
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// `auto`
#[derive(Debug, Default, Args)]
#[command(after_help = "The rules, the patterns and many examples are in docs/automatic.md.")]
pub struct Auto {
    /// Give every reason
    #[arg(long)]
    pub explain: bool,
    /// Decide, and store nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Why now: substantial-work (the rules decide), or context-pressure, agent-transfer, interrupted, manual (asked for)
    #[arg(long)]
    pub trigger: Option<String>,
}

/// `goal`
#[derive(Debug, Subcommand)]
pub enum Goal {
    /// Begin a goal; automatic handoffs wait until it is closed
    Start {
        /// What is to be reached
        #[arg(value_name = "TEXT")]
        text: String,
        /// In how many phases
        #[arg(long, value_name = "N", default_value_t = 1)]
        phases: u32,
    },
    /// Note something for the handoff that will close the goal
    Note {
        /// The note
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
    },
    /// Show the open goal
    Status,
    /// Close the goal: exactly one handoff, or the goal stays open
    Close(Box<GoalClose>),
    /// Drop the goal without a handoff
    Abandon,
}

/// `goal close`
#[derive(Debug, Default, Args)]
pub struct GoalClose {
    /// How it ended: completed, partial, blocked, interrupted
    #[arg(long)]
    pub status: String,
    /// State that the document alone suffices to continue; refused when it does not
    #[arg(long)]
    pub complete: bool,
    /// Allow one finding of the secret scan, by its fingerprint (recorded)
    #[arg(long, value_name = "FINGERPRINT")]
    pub allow_finding: Vec<String>,
    /// Who and where, for callers that know better
    #[command(flatten)]
    pub origin: Origin,
    /// The content
    #[command(flatten)]
    pub content: ContentFlags,
}

/// `hooks`
#[derive(Debug, Subcommand)]
pub enum Hooks {
    /// Install the git hooks; hooks that are there stay and run first
    Install(HooksChange),
    /// Remove them and bring back what was there
    Uninstall(HooksRemove),
    /// Show which are installed
    Status,
}

/// `hooks install`
#[derive(Debug, Default, Args)]
pub struct HooksChange {
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write into a hooks directory that is tracked or outside the repository too
    #[arg(long)]
    pub force: bool,
}

/// `hooks uninstall`
#[derive(Debug, Default, Args)]
pub struct HooksRemove {
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Remove the lines in info/exclude and the private state too; never the refs
    #[arg(long)]
    pub purge: bool,
}

/// `sync`
#[derive(Debug, Default, Args)]
#[command(after_help = "Without REMOTE: handoff.remote, else the current branch's remote, else the only remote, else \
    origin. Nothing is forced and nothing can conflict. The network is that of git: its credentials, its ssh, its \
    proxies; nobody is asked for a password, and handoff.timeout (60s) bounds it all.")]
pub struct Sync {
    /// The remote to share with
    #[arg(value_name = "REMOTE", conflicts_with = "all_remotes")]
    pub remote: Option<String>,
    /// Only fetch and join
    #[arg(long)]
    pub fetch: bool,
    /// Only publish
    #[arg(long, conflicts_with = "fetch")]
    pub push: bool,
    /// Say what would be received and sent, and change nothing
    #[arg(long, conflicts_with_all = ["fetch", "push", "setup"])]
    pub dry_run: bool,
    /// Every configured remote
    #[arg(long)]
    pub all_remotes: bool,
    /// Also make an ordinary 'git fetch' bring the remote's handoffs from now on
    #[arg(long)]
    pub setup: bool,
}

/// `waive`
#[derive(Debug, Args)]
pub struct Waive {
    /// The fingerprint, as the refusal shows it
    pub fingerprint: String,
    /// Why it is no secret
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn a_topic_of_two_dashes_is_a_topic() {
        let cli = Cli::try_parse_from(["git-handoff", "create", "--", "--"]).expect("valid");
        match cli.command {
            Some(Command::Create(create)) => assert_eq!(create.topic.as_deref(), Some("--")),
            other => panic!("another command: {other:?}"),
        }
    }
}
