//! Keys with their own envelope, and credentials known by the place where they stand.

use super::super::plausible;
use super::{Match, Rule};

pub(super) const RULES: &[Rule] = &[
    // The body may be indented, quoted, commented out, or hold `\n` in the place of line breaks. Its end line is
    // not asked for: half a key is worth hiding too.
    Rule::context(
        "private-key",
        &["private key-----", "private key block"],
        r#"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----((?:(?:\\+[nr]|[\s>|*#"'+,;/])*(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash): ?[^\r\n\\]*|[A-Za-z0-9+/]{20,}={0,2}))+(?:(?:\\+[nr]|[\s>|*#"'+,;/])*[A-Za-z0-9+/]{1,64}={0,2}(?:(?:\\+[nr]|[\s>|*#"'+,;/])*=[A-Za-z0-9+/]{4})?(?:\\+[nr]|[\s>|*#"'+,;/])*-----END)?)"#,
    ),
    Rule::context("putty-private-key", &["private-lines:"], r"Private-Lines: [0-9]+((?:\r?\n[A-Za-z0-9+/=]{20,})+(?:\r?\n[A-Za-z0-9+/=]+)?)"),
    Rule::token("private-key", &["b3blbnnzac1rzxktdje"], r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=\s]{40,}"),
    Rule::context("jwk-private-key", &["kty"], r#"\\*"kty\\*"[^{}]{0,3000}?\\*"d\\*"\s*:\s*\\*"([A-Za-z0-9_-]{40,})"#),
    Rule::token("age-secret-key", &["age-secret-key-1"], r"(?i)AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    Rule::token("jwt", &["eyj"], r"eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{8,}){2,4}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{8,}\.")
        .when(plausible::begins_with_a_jose_header),
    Rule::context(
        "url-credentials",
        &["://"],
        r#"://(?:[^\s/:@?#"'<>`\\|(){}]*:([^\s/"'<>`\\|?#]+)|([A-Za-z0-9_.~-]{20,}))@[A-Za-z0-9\[_$%.-]"#,
    )
    .when(is_credential_in_url),
    Rule::context("url-credentials", &["jdbc:oracle"], r"jdbc:oracle:[a-z]+:[^\s/:@]+/([^\s/@]{3,})@").when(is_password_in_url),
    Rule::context(
        "authorization-header",
        &["authorization"],
        r#"(?i:authorization)[\\"'`]*\s*[:=,]\s*[\\"'`]*(?i:bearer|token|apikey|api-key|key|digest|splunk|bot|negotiate)\s+[\\"'`]*([^\s\\"'`,;<>]{8,})"#,
    )
    .when(plausible::is_random),
    Rule::context("authorization-header", &["bearer"], r"(?i:bearer)(?:\s+|%20|\+)([A-Za-z0-9._~+/-]{16,}={0,2})").when(plausible::is_random),
    Rule::context("authorization-header", &["basic"], r"(?i:basic)\s+([A-Za-z0-9+/]{8,}={0,2})").when(plausible::decodes_to_user_and_password),
    Rule::context("netrc-password", &["machine"], r"machine\s+\S+\s+login\s+\S+\s+password\s+(\S{3,})").when(plausible::is_password),
    Rule::context(
        "curl-auth-user",
        &[" -u", "\t-u", "\n-u", " --user", "\t--user", "\n--user", "--proxy-user"],
        r#"\s(?:-u|--user|--proxy-user|-U)(?:[ =]|\\?\s+)?["']?[^\s:"'$<{]+:([^\s"'\\]{3,})"#,
    )
    .when(is_password_of_a_client),
    Rule::context("mysql-password", &["mysql", "mariadb"], r#"\s-p(?:'([^'\r\n]{4,})'|"([^"\r\n]{4,})"|([^\s"'\\;|&]{4,}))"#)
        .when(is_password_of_mysql),
    Rule::context(
        "command-line-password",
        &["sshpass", "redis-cli", "docker login", "podman login", "mongo", "sqlcmd", "ldapsearch", "az login", "helm registry", "pass:"],
        r#"(?:\b(?:sshpass|(?:docker|podman|az) login|helm registry login|mongo(?:sh|dump|restore)?)\b[^\r\n;|]*?\s-p[ =]?|\bredis-cli\b[^\r\n;|]*?\s-a[ =]?|\bsqlcmd\b[^\r\n;|]*?\s-P[ =]?|\bldapsearch\b[^\r\n;|]*?\s-w[ =]?|-pass(?:in|out)? pass:)["']?([^\s"'\\]{4,})"#,
    )
    .when(plausible::is_password),
    Rule::context(
        "cookie-header",
        &["cookie"],
        r#"(?i:cookie)[\\"'`]*(?:\s*[:=]\s*|\s+)[\\"'`]*([A-Za-z0-9_.%-]+=[^\s;"'\\]{16,}(?:;[^\r\n"'\\]*)?|[A-Za-z0-9_.%-]+=[^\s;"'\\]*;[^\r\n"'\\]{16,})"#,
    )
    .when(is_cookie_with_a_secret),
    Rule::context(
        "session-cookie",
        &["sessid", "sessionid", "connect.sid", "_session=", "session="],
        r#"\b(?i:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid|sessionid|_[a-z]+_session)=([^\s;"'\\&,]{16,})"#,
    )
    .when(is_session),
];

fn is_credential_in_url(found: Match<'_>) -> bool {
    if found.text[..found.span.start].ends_with('/') { plausible::is_random(found) } else { is_password_in_url(found) }
}

fn is_password_in_url(found: Match<'_>) -> bool {
    let before = &found.text[..found.span.start - 1];
    let user = &before[before.rfind(['/', ':']).map_or(0, |at| at + 1)..];
    let secret = found.secret();
    let host = found.text[found.span.end..].trim_start_matches('@');
    let documented = host.starts_with("example.") && secret.bytes().all(|byte| byte.is_ascii_lowercase());
    !documented
        && !secret.eq_ignore_ascii_case(user)
        && secret.len() > 1
        && !plausible::placeholder(secret)
        && !plausible::reference(secret)
        && !secret.bytes().all(|byte| byte.is_ascii_digit() && secret.len() < 6)
        && !secret.contains(['{', '}', '$', '*'])
}

fn is_password_of_a_client(found: Match<'_>) -> bool {
    const CLIENTS: [&str; 7] = ["curl", "wget", "http", "jfrog", "smbclient", "rclone", "nexus"];
    let command = found.command();
    CLIENTS.iter().any(|client| command.contains(client)) && plausible::is_password(found)
}

fn is_password_of_mysql(found: Match<'_>) -> bool {
    let command = found.command();
    (command.contains("mysql") || command.contains("mariadb")) && plausible::is_password(found)
}

fn is_session(found: Match<'_>) -> bool {
    plausible::session(found.secret())
}

fn is_cookie_with_a_secret(found: Match<'_>) -> bool {
    const ATTRIBUTES: [&str; 6] = ["path", "domain", "expires", "samesite", "max-age", "priority"];
    found
        .secret()
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='))
        .any(|(name, value)| !ATTRIBUTES.contains(&name.to_ascii_lowercase().as_str()) && plausible::session(value))
}
