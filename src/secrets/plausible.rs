//! What a value looks like: random, a word, a placeholder, a reference to somewhere else.
//!
//! Entropy is not asked: object ids have as much of it as keys. What tells secrets from the rest of a handoff is
//! that they are no words, no code, and nothing that a writer puts where a secret would stand.

use super::base64;
use super::rules::Match;

pub(super) fn is_no_placeholder(found: Match<'_>) -> bool {
    !placeholder(found.secret())
}

pub(super) fn is_random(found: Match<'_>) -> bool {
    random(found.secret())
}

/// For values after names that code uses too.
pub(super) fn is_random_literal(found: Match<'_>) -> bool {
    random(found.secret()) && !reference(found.secret())
}

pub(super) fn is_password(found: Match<'_>) -> bool {
    password(found.secret())
}

/// For `Basic` headers and Docker's configuration: base64 of `user:password`.
pub(super) fn decodes_to_user_and_password(found: Match<'_>) -> bool {
    base64::text(found.secret()).as_deref().and_then(|text| text.split_once(':')).is_some_and(|(user, password)| {
        !user.is_empty()
            && user.len() <= 100
            && user.bytes().all(|byte| byte.is_ascii_graphic())
            && password.len() >= 4
            && !placeholder(password)
            && !password.contains(char::is_control)
    })
}

/// For JWTs: the first part is a JSON object.
pub(super) fn begins_with_a_jose_header(found: Match<'_>) -> bool {
    let first = found.secret().split('.').next().unwrap_or_default();
    base64::text(first).is_some_and(|text| {
        let text = text.trim_end();
        text.starts_with('{') && text.contains("\"alg\"") && text.ends_with('}')
    })
}

/// A value of a session cookie.
pub(super) fn session(value: &str) -> bool {
    value.len() >= 16 && (random(value) || is_uuid(value)) && !reference(value)
}

/// A value that nobody reads out: letters and digits, and no words.
pub(super) fn random(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let mixed = digits >= 1 && letters >= 2 || (letters >= 20 && irregular_case(value));
    value.len() >= 8
        && mixed
        && distinct(value) >= 6
        && !placeholder(value)
        && !wordy(value)
        && !is_uuid(value)
        && !is_release_or_date(value)
}

/// A value that a person may have chosen: not a word alone, and no placeholder.
pub(super) fn password(value: &str) -> bool {
    value.len() >= 6
        && !value.contains(char::is_whitespace)
        && !placeholder(value)
        && !reference(value)
        && !is_uuid(value)
        && !is_release_or_date(value)
        && (classes(value) >= 3 || classes(value) == 2 && has_digit_or_symbol(value) || irregular_case(value))
}

/// How many of lower case, capitals, digits and symbols occur; what joins words is no symbol.
pub(super) fn classes(value: &str) -> usize {
    let symbol = |byte: u8| byte.is_ascii_punctuation() && !b"-_./:".contains(&byte);
    let has = |class: &dyn Fn(u8) -> bool| usize::from(value.bytes().any(class));
    has(&|b| b.is_ascii_lowercase()) + has(&|b| b.is_ascii_uppercase()) + has(&|b| b.is_ascii_digit()) + has(&symbol)
}

fn has_digit_or_symbol(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_punctuation() && !b"-_./:".contains(&byte))
}

/// Capitals in places where neither words nor camel case have them.
fn irregular_case(value: &str) -> bool {
    value.len() >= 8 && value.bytes().all(|byte| byte.is_ascii_alphanumeric()) && classes(value) >= 2 && !wordy(value)
}

fn distinct(value: &str) -> usize {
    let mut seen = [false; 256];
    value.bytes().for_each(|byte| seen[usize::from(byte.to_ascii_lowercase())] = true);
    seen.iter().filter(|seen| **seen).count()
}

/// What people write where a secret would stand.
pub(super) fn placeholder(value: &str) -> bool {
    const WITHIN: [&str; 26] = [
        "«",
        "»",
        "example",
        "placeholder",
        "changeme",
        "change-me",
        "change_me",
        "change-this",
        "changethis",
        "redacted",
        "your-",
        "your_",
        "yourtoken",
        "yourpassword",
        "yourkey",
        "xxxxx",
        "*****",
        "...",
        "…",
        "dummy",
        "replace",
        "insert",
        "<",
        "not-a-",
        "not_a_",
        "goes-here",
    ];
    const WHOLE: [&str; 46] = [
        "password",
        "passwd",
        "passphrase",
        "pass",
        "pwd",
        "pw",
        "secret",
        "token",
        "apikey",
        "key",
        "test",
        "testing",
        "tests",
        "demo",
        "foo",
        "bar",
        "foobar",
        "baz",
        "none",
        "null",
        "nil",
        "true",
        "false",
        "undefined",
        "default",
        "root",
        "admin",
        "guest",
        "user",
        "username",
        "abc",
        "xyz",
        "postgres",
        "mysql",
        "mypassword",
        "mysecret",
        "mytoken",
        "testpassword",
        "testtoken",
        "secretpassword",
        "string",
        "sample",
        "hidden",
        "masked",
        "unset",
        "value",
    ];
    let lower = value.to_ascii_lowercase();
    let core = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c.is_ascii_punctuation());
    let core: String = core.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).collect();
    WITHIN.iter().any(|word| lower.contains(word))
        || WHOLE.contains(&core.as_str())
        || lower.starts_with("your")
        || lower.starts_with("test-")
        || lower.starts_with("test_")
        || lower.starts_with("fake")
        || lower.trim_end_matches(|c: char| c.is_ascii_digit()).bytes().all(|b| b.is_ascii_lowercase())
            && lower.contains("password")
        || monotonous(&lower)
}

/// One or a few characters repeated, or an ascending row.
fn monotonous(lower: &str) -> bool {
    let bytes: Vec<u8> = lower.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let (Some(&first), true) = (bytes.first(), bytes.len() >= 4) else { return !lower.is_empty() && bytes.is_empty() };
    let ascending =
        bytes.windows(2).filter(|pair| pair[1].wrapping_sub(pair[0]) == 1 || pair == b"90" || pair == b"9a").count();
    let repeated = bytes.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let pairs = bytes.len() - 1;
    bytes.iter().all(|&byte| byte == first) || repeated * 2 > pairs || ascending * 5 >= pairs * 3
}

/// Something that says where the value is, or code that computes it.
pub(super) fn reference(value: &str) -> bool {
    const BEGINS: [&str; 27] = [
        "$",
        "%(",
        "{",
        "[",
        "(",
        "<",
        "@",
        "!",
        "&",
        "*",
        "~/",
        "./",
        "../",
        "/",
        "http://",
        "https://",
        "op://",
        "arn:",
        "vault:",
        "file:",
        "env:",
        "ref+",
        "sm://",
        "enc[",
        "projects/",
        "env.",
        "secrets.",
    ];
    const WITHIN: [&str; 14] = [
        "${",
        "{{",
        "$(",
        "<%",
        "environ",
        "process.env",
        "getenv",
        "::",
        "->",
        "secrets.",
        "%s",
        "%v",
        "did:key:",
        "().",
    ];
    let lower = value.to_ascii_lowercase();
    let windows_variable = value.len() > 2 && value.starts_with('%') && value.ends_with('%');
    windows_variable
        || BEGINS.iter().any(|start| lower.starts_with(start))
            && !(lower.starts_with(['!', '@', '*', '&', '$']) && is_strong(value))
        || WITHIN.iter().any(|part| lower.contains(part))
        || is_call(value)
        || is_path_of_names(value)
        || is_file_name(&lower)
}

/// A password may begin with a symbol that references use too, if the rest is nothing like a name.
fn is_strong(value: &str) -> bool {
    let rest = &value[1..];
    classes(rest) >= 3 && !wordy(rest) && !rest.contains(['{', '(', '.', ':'])
}

/// `getpass(`, `Option[Secret]`, `options['password']`: a name and an opening bracket.
fn is_call(value: &str) -> bool {
    value.split_once(['(', '[']).is_some_and(|(name, _)| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:".contains(&byte))
            && has_few_digits(name)
    })
}

/// `config.password`, `self.token`, `auth/token_store`: names joined by dots or slashes.
fn is_path_of_names(value: &str) -> bool {
    let parts: Vec<&str> = value.split(['.', '/']).collect();
    parts.len() > 1
        && parts.iter().all(|part| part.is_empty() || is_name(part) && (has_few_digits(part) || wordy(value)))
}

/// Digits in one place at most of each part, as names have them.
fn has_few_digits(name: &str) -> bool {
    let groups = |part: &str| part.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).count();
    name.split('.').all(|part| groups(part) <= 1)
}

fn is_name(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-?".contains(&byte))
        && part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

fn is_file_name(lower: &str) -> bool {
    const ENDINGS: [&str; 14] =
        [".pem", ".key", ".json", ".yaml", ".yml", ".txt", ".env", ".toml", ".crt", ".ini", ".ts", ".js", ".py", ".rs"];
    ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

/// `sha256-…`, `h1:…`, `SHA256:…` and the like.
pub(super) fn is_content_hash(value: &str) -> bool {
    const KINDS: [&str; 14] = [
        "sha1-", "sha1:", "sha256-", "sha256:", "sha384-", "sha384:", "sha512-", "sha512:", "h1:", "md5:", "md5-",
        "blake2", "blake3", "sha3-",
    ];
    let lower = value.to_ascii_lowercase();
    KINDS.iter().any(|kind| lower.starts_with(kind)) || value.starts_with("AAAA") || value.starts_with("z6Mk")
}

/// 8-4-4-4-12 hexadecimal digits.
pub(super) fn is_uuid(value: &str) -> bool {
    let parts: Vec<&str> = value.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_release_or_date(value: &str) -> bool {
    let start = value.trim_start_matches('v');
    let head: String = start.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | ':' | 'T')).collect();
    let separators = head.bytes().filter(|byte| !byte.is_ascii_digit()).count();
    separators >= 2 && head.len() >= 5 && head.len() * 2 >= start.len()
}

/// Whether most of the letters belong to things that read like words.
pub(super) fn wordy(value: &str) -> bool {
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let in_words: usize = words(value).filter(|word| is_pronounceable(word)).map(str::len).sum();
    letters > 0 && in_words * 5 >= letters * 3 && digits_within_words(value) < 3
}

/// How many groups of digits have letters on both sides.
fn digits_within_words(value: &str) -> usize {
    let groups = value.as_bytes().split(|byte| !byte.is_ascii_alphanumeric());
    groups
        .map(|group| {
            let letter_runs = group.split(u8::is_ascii_digit).filter(|run| !run.is_empty()).count();
            letter_runs.saturating_sub(1)
        })
        .sum()
}

/// The runs of letters, split where camel case splits them.
fn words(value: &str) -> impl Iterator<Item = &str> {
    let bytes = value.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        while from < bytes.len() && !bytes[from].is_ascii_alphabetic() {
            from += 1;
        }
        let start = from;
        while from < bytes.len() && bytes[from].is_ascii_alphabetic() {
            let is_upper = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
            let is_lower = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
            let hump = from > start && is_upper(from) && (is_lower(from - 1) || is_lower(from + 1));
            if hump {
                break;
            }
            from += 1;
        }
        (start < from).then(|| &value[start..from])
    })
}

fn is_pronounceable(word: &str) -> bool {
    let is_vowel = |byte: u8| b"aeiouyAEIOUY".contains(&byte);
    let vowels = word.bytes().filter(|&byte| is_vowel(byte)).count();
    let longest = word.as_bytes().split(|&byte| is_vowel(byte)).map(<[u8]>::len).max().unwrap_or(0);
    let steady =
        word[1..].bytes().all(|byte| byte.is_ascii_lowercase()) || word.bytes().all(|byte| byte.is_ascii_uppercase());
    word.len() >= 4 && steady && vowels * 4 >= word.len() && vowels * 5 <= word.len() * 4 && longest <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words_are_not_random() {
        for value in [
            "next_page_token",
            "getAccessToken2",
            "billing/stripe",
            "requires-refresh",
            "v2.14.0-rc.3",
            "2026-08-18-1704",
        ] {
            assert!(!random(value), "{value}");
        }
    }

    #[test]
    fn invented_values_are_random() {
        for value in ["Zq9vT2mLx8Rw", "9f8e7d6c5b4a39281706f5e4d3c2b1a0", "Hb3+Qz/9LmT0vXc7Yk2/Nd8Rw1", "k3jf9sdl2mq0"]
        {
            assert!(random(value), "{value}");
        }
    }

    #[test]
    fn hardly_any_invented_value_reads_like_words() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut invented = |alphabet: &[u8], length: usize| -> String {
            let mut letter = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                char::from(alphabet[(state >> 33) as usize % alphabet.len()])
            };
            (0..length).map(|_| letter()).collect()
        };
        let base62 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        for (alphabet, length) in [
            (&base62[..], 20),
            (&base62[26..], 24),
            (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32),
            (b"0123456789abcdef", 32),
        ] {
            let missed: Vec<_> = (0..2000).map(|_| invented(alphabet, length)).filter(|value| !random(value)).collect();
            assert!(missed.len() <= 20, "{} of 2000 with {length} characters: {missed:?}", missed.len());
        }
    }

    #[test]
    fn placeholders_are_known() {
        for value in [
            "changeme",
            "xxxxxxxxxxxx",
            "********",
            "...",
            "<token>",
            "your_api_key",
            "abc123",
            "123456789",
            "password1",
            "aaaa",
        ] {
            assert!(placeholder(value), "{value}");
        }
        for value in ["hunter2", "Zq9vT2mLx8Rw", "demo_aa12bb34cc56dd78ee90ff11"] {
            assert!(!placeholder(value), "{value}");
        }
    }

    #[test]
    fn references_are_known() {
        for value in [
            "${DB_PASSWORD}",
            "$TOKEN",
            "process.env.API_KEY",
            "self.token",
            "getpass.getpass(",
            "/run/secrets/db",
            "%APPDATA%",
        ] {
            assert!(reference(value), "{value}");
        }
        for value in ["Zq9vT2mLx8Rw", "Hb3+Qz/9LmT0vXc7Yk2/Nd8Rw1", "$tr0ngPa55"] {
            assert!(!reference(value), "{value}");
        }
    }
}
