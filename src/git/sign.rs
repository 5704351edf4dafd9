//! Signatures: made and checked by git itself, which knows the user's keys (GPG, SSH, X.509).

use super::write::WriteError;
use super::{CommandError, NewCommit, ObjectError, ObjectWriter, Repo};
use crate::model::{ObjectName, Signature};

impl ObjectWriter<'_> {
    /// Writes a commit with the user's signature.
    ///
    /// # Errors
    /// [`WriteError::Signing`] when git cannot sign; else see [`WriteError`].
    pub fn signed_commit(&self, new: &NewCommit<'_>) -> Result<ObjectName, WriteError> {
        let NewCommit { tree, parents, identity, seconds, offset_minutes, message } = new;
        let (sign, minutes) = (if *offset_minutes < 0 { '-' } else { '+' }, offset_minutes.unsigned_abs());
        let date = format!("@{} {sign}{:02}{:02}", (*seconds).max(0), minutes / 60, minutes % 60);
        let mut command = self.repo().command("commit-tree").config("i18n.commitEncoding=UTF-8");
        for who in ["AUTHOR", "COMMITTER"] {
            command = command
                .env(&format!("GIT_{who}_NAME"), identity.name())
                .env(&format!("GIT_{who}_EMAIL"), identity.email())
                .env(&format!("GIT_{who}_DATE"), &date);
        }
        let parents = parents.iter().flat_map(|parent| ["-p".to_owned(), parent.to_string()]);
        let command = command.args(["-S", "-F", "-"]).args(parents).arg(tree.to_string());
        let out = command.stdin(*message).run().map_err(|source| WriteError::Signing(Box::new(source)))?;
        let text = String::from_utf8_lossy(&out);
        let name = text.trim().parse().map_err(|_| {
            let stderr = format!("unexpected answer '{}'", crate::model::visible_line(text.trim()));
            WriteError::Signing(Box::new(CommandError::Failed { verb: "commit-tree", code: Some(0), stderr }))
        })?;
        self.remember(name);
        Ok(name)
    }
}

impl Repo {
    /// What is known of the signature of a commit. Only for one that has a signature is git asked.
    ///
    /// # Errors
    /// When the commit cannot be read.
    pub fn signature_of(&self, commit: &ObjectName) -> Result<Signature, ObjectError> {
        if !self.has_signature(commit)? {
            return Ok(Signature::Absent);
        }
        let asked = self.command("log").args(["-1", "--no-notes", "--format=%G?"]).arg(commit.to_string()).run();
        // Whether it is good is a question of keys and settings of this machine; that it is bad is not.
        Ok(match asked.as_deref().map(<[u8]>::trim_ascii) {
            Ok(b"G") => Signature::Good,
            Ok(b"B" | b"R") => Signature::Bad,
            Ok(_) | Err(_) => Signature::Unverified,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::super::{Identity, NewCommit};
    use super::*;

    /// A fixture that signs with an SSH key of its own, where `ssh-keygen` is installed.
    fn signing() -> Option<Fixture> {
        let fixture = Fixture::new();
        let key = fixture.outside().join("key");
        let key = key.to_str().expect("a Unicode path");
        if !super::super::fixture::make_ssh_key(key) {
            return None;
        }
        fixture.git(&["config", "gpg.format", "ssh"]);
        fixture.git(&["config", "user.signingKey", key]);
        Some(fixture)
    }

    fn written(fixture: &Fixture) -> (ObjectName, Repo) {
        let repo = fixture.repo();
        let writer = repo.writer();
        let tree = writer.tree(&[]).expect("writable");
        let identity = Identity::new("Ada", "ada@example.com");
        let new = NewCommit {
            tree,
            parents: &[],
            identity: &identity,
            seconds: 1_787_061_840,
            offset_minutes: 180,
            message: "approval\n\nA: b\n",
        };
        let name = writer.signed_commit(&new).expect("git signs");
        writer.make_durable().expect("writable");
        (name, repo)
    }

    #[test]
    fn a_signed_commit_says_what_the_unsigned_one_would() {
        let Some(fixture) = signing() else { return };
        let (name, repo) = written(&fixture);
        let shown =
            fixture.git(&["log", "-1", "--format=%an <%ae> %ad%n%cn %cd%n%B", "--date=iso-strict", &name.to_string()]);
        assert_eq!(
            shown,
            "Ada <ada@example.com> 2026-08-18T17:04:00+03:00\nAda 2026-08-18T17:04:00+03:00\napproval\n\nA: b"
        );
        assert_eq!(repo.signature_of(&name).expect("readable"), Signature::Unverified);
        fixture.git(&["fsck", "--strict"]);
    }

    #[test]
    fn a_signature_is_good_when_its_key_is_known() {
        let Some(fixture) = signing() else { return };
        let key = std::fs::read_to_string(fixture.outside().join("key.pub")).expect("there is a public key");
        let signers = fixture.outside().join("signers");
        std::fs::write(&signers, format!("ada@example.com {key}")).expect("writable");
        fixture.git(&["config", "gpg.ssh.allowedSignersFile", signers.to_str().expect("a Unicode path")]);
        let (name, repo) = written(&fixture);
        assert_eq!(repo.signature_of(&name).expect("readable"), Signature::Good);
    }

    #[test]
    fn a_commit_without_a_signature_has_none_and_no_process_is_asked() {
        let fixture = Fixture::new();
        fixture.commit("one");
        assert_eq!(fixture.repo().signature_of(&fixture.name("HEAD")).expect("readable"), Signature::Absent);
    }

    #[test]
    fn a_key_that_is_not_there_is_an_error() {
        let fixture = Fixture::new();
        fixture.git(&["config", "gpg.format", "ssh"]);
        fixture.git(&["config", "user.signingKey", "/nowhere/key"]);
        let repo = fixture.repo();
        let writer = repo.writer();
        let tree = writer.tree(&[]).expect("writable");
        let identity = Identity::new("Ada", "ada@example.com");
        let new =
            NewCommit { tree, parents: &[], identity: &identity, seconds: 0, offset_minutes: -90, message: "x\n" };
        assert!(matches!(writer.signed_commit(&new), Err(WriteError::Signing(_))));
    }
}
