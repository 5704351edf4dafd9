//! Which names say that their value is secret: `DB_PASSWORD` does, `password_hash` and `cache_key` do not.

/// What a name promises about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// A person may have chosen it, so it may be short and hold words.
    Password,
    /// A program made it.
    Token,
}

/// What the words of a name say, `None` if they promise no secret.
///
/// `before` is the word before the name, for "API key: …".
pub(super) fn named(name: &str, before: &str) -> Option<Named> {
    let mut words = words(name);
    while words.len() > 1 && words.last().is_some_and(|word| says_nothing(word)) {
        words.pop();
    }
    let last = words.pop()?;
    let previous = words.last().map_or_else(|| before.to_ascii_lowercase(), Clone::clone);
    if words.iter().any(|word| PUBLIC.contains(&word.as_str())) {
        return None;
    }
    match last.as_str() {
        "pass" | "pw" | "psw" | "passcode" => Some(Named::Password),
        word if ["password", "passwd", "passphrase", "passwort", "pwd", "userpass", "dbpass"]
            .iter()
            .any(|end| word.ends_with(end)) =>
        {
            Some(Named::Password)
        }
        "token" => (!OF_NO_SECRET_TOKEN.contains(&previous.as_str())).then_some(Named::Token),
        "key" | "keys" => OF_SECRET_KEY.contains(&previous.as_str()).then_some(Named::Token),
        "secret" | "secrets" | "credential" | "credentials" | "cred" | "creds" | "authkey" => Some(Named::Token),
        word if ["token", "secret", "apikey", "accesskey", "secretkey", "privatekey"]
            .iter()
            .any(|end| word.ends_with(end)) =>
        {
            Some(Named::Token)
        }
        _ => None,
    }
}

fn says_nothing(word: &str) -> bool {
    const SUFFIXES: [&str; 19] = [
        "prod",
        "production",
        "dev",
        "staging",
        "live",
        "test",
        "stage",
        "old",
        "new",
        "primary",
        "secondary",
        "value",
        "b64",
        "base64",
        "raw",
        "plain",
        "plaintext",
        "str",
        "text",
    ];
    SUFFIXES.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

const PUBLIC: [&str; 12] = [
    "public",
    "publishable",
    "pub",
    "example",
    "fake",
    "dummy",
    "mock",
    "sample",
    "cancellation",
    "cache",
    "hashed",
    "encrypted",
];

const OF_NO_SECRET_TOKEN: [&str; 43] = [
    "page",
    "pagination",
    "next",
    "continuation",
    "sync",
    "cursor",
    "cancel",
    "eos",
    "bos",
    "pad",
    "unk",
    "sep",
    "mask",
    "cls",
    "start",
    "end",
    "stop",
    "special",
    "current",
    "first",
    "last",
    "prev",
    "previous",
    "input",
    "output",
    "prompt",
    "completion",
    "max",
    "min",
    "num",
    "total",
    "design",
    "color",
    "image",
    "lex",
    "syntax",
    "invalidation",
    "change",
    "update",
    "starting",
    "unit",
    "import",
    "idempotency",
];

const OF_SECRET_KEY: [&str; 36] = [
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "signing",
    "master",
    "storage",
    "account",
    "shared",
    "license",
    "consumer",
    "service",
    "admin",
    "webhook",
    "ssh",
    "jwt",
    "session",
    "cipher",
    "hmac",
    "aes",
    "subscription",
    "deploy",
    "app",
    "application",
    "server",
    "client",
    "crypto",
    "decryption",
    "maps",
    "integration",
    "stripe",
    "openai",
    "anthropic",
    "role",
];

/// The words of a name, in lower case: split at what is no letter or digit, and where camel case splits.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let bytes = name.as_bytes();
    let mut open = false;
    for (at, &byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            open = false;
            continue;
        }
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let after_lower = before.is_some_and(|before| before.is_ascii_lowercase());
        let starts_word = before.is_some_and(|before| before.is_ascii_uppercase())
            && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let digit_change = before.is_some_and(|before| before.is_ascii_digit() != byte.is_ascii_digit());
        if !open || byte.is_ascii_uppercase() && (after_lower || starts_word) || digit_change {
            words.push(String::new());
            open = true;
        }
        if let Some(word) = words.last_mut() {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known() {
        for name in
            ["DB_PASSWORD", "dbPassword", "PGPASSWORD", "sasl_password", "MYSQL_PWD", "ADMIN_PASS", "smtp-passwd"]
        {
            assert_eq!(named(name, ""), Some(Named::Password), "{name}");
        }
        for name in [
            "api_key",
            "X-Api-Key",
            "apiKey",
            "AUTH_TOKEN",
            "clientSecret",
            "SECRET_KEY",
            "APIKEY_PROD",
            "npm.authToken",
        ] {
            assert_eq!(named(name, ""), Some(Named::Token), "{name}");
        }
        assert_eq!(named("key", "API"), Some(Named::Token));
    }

    #[test]
    fn names_that_only_speak_of_secrets_are_not_taken() {
        for name in [
            "password_hash",
            "token_count",
            "cache_key",
            "primary_key",
            "publicKey",
            "key",
            "next_page_token",
            "secret_name",
            "max_tokens",
            "keyCode",
            "token_type",
            "passwordField",
            "api_key_id",
            "publishable_key",
            "tokenizer",
            "allowed_findings",
        ] {
            assert_eq!(named(name, ""), None, "{name}");
        }
    }
}
