//! Keys of clouds, hosts and databases.

use super::super::plausible;
use super::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::token("aws-access-token", &["akia", "asia", "abia", "acca"], r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    Rule::context(
        "aws-secret-key",
        &["secret_access", "secret-access", "secretaccess", "secretkey", "secret_key", "secret-key"],
        r#"(?i:secret[_-]?(?:access[_-]?)?key)[\\"'\s:=>]{1,12}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
    )
    .when(plausible::is_random),
    Rule::token("gcp-api-key", &["aiza"], r"AIza[A-Za-z0-9_-]{35}"),
    Rule::token("gcp-oauth-client-secret", &["gocspx-"], r"GOCSPX-[A-Za-z0-9_-]{28}"),
    Rule::token("gcp-access-token", &["ya29."], r"ya29\.[A-Za-z0-9_-]{30,}"),
    Rule::token("gcp-refresh-token", &["1//0"], r"1//0[A-Za-z0-9_-]{40,}"),
    Rule::context("azure-storage-key", &["accountkey"], r"(?i:AccountKey)=([A-Za-z0-9+/%]{40,}={0,2})"),
    Rule::context("azure-shared-access-key", &["sharedaccesskey"], r"(?i:SharedAccessKey)=([A-Za-z0-9+/%]{40,}={0,2})"),
    Rule::context("azure-sas-signature", &["sig="], r"[?&;](?i:sig)=([A-Za-z0-9%+/]{40,}={0,2})"),
    Rule::token("azure-ad-client-secret", &["q~"], r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}")
        .when(plausible::is_random),
    Rule::token("azure-devops-pat", &["azdo"], r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b"),
    Rule::token("alibaba-access-key-id", &["ltai"], r"LTAI[A-Za-z0-9]{16,24}\b").when(plausible::is_random),
    Rule::token("cloudflare-origin-ca-key", &["v1.0-"], r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}"),
    Rule::token("digitalocean-access-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[opr]_v1_[a-f0-9]{64}"),
    Rule::token(
        "flyio-access-token",
        &["fm1", "fm2_", "fo1_"],
        r"(?:fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/=_-]{100,})",
    ),
    Rule::token("heroku-api-key", &["hrku-"], r"HRKU-[A-Za-z0-9_-]{36,}"),
    Rule::context(
        "heroku-api-key",
        &["heroku"],
        r#"(?i)heroku[a-z_. -]{0,24}(?:key|token)[\\"'\s:=>]{1,8}([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"#,
    ),
    Rule::token("netlify-access-token", &["nfp_"], r"nfp_[A-Za-z0-9]{36,}"),
    Rule::token("supabase-secret-key", &["sb_secret_"], r"sb_secret_[A-Za-z0-9_-]{20,}"),
    Rule::token("supabase-access-token", &["sbp_"], r"sbp_(?:oauth_|v0_)?[a-f0-9]{40}"),
    Rule::token("planetscale-token", &["pscale_"], r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{32,}"),
    Rule::token("neon-api-key", &["napi_"], r"napi_[a-z0-9]{50,}"),
    Rule::token("databricks-api-token", &["dapi"], r"dapi[a-f0-9]{32}(?:-[0-9])?\b"),
    Rule::token("terraform-cloud-token", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    Rule::token("pulumi-access-token", &["pul-"], r"pul-[a-f0-9]{40}\b"),
    Rule::token("vault-service-token", &["hvs."], r"hvs\.[A-Za-z0-9_-]{24,}"),
    Rule::token("vault-batch-token", &["hvb."], r"hvb\.[A-Za-z0-9_-]{60,}"),
    Rule::context("vault-service-token", &["vault"], r"(?i:vault)[^\r\n]{0,60}?[ =:](s\.[A-Za-z0-9]{24})\b")
        .when(plausible::is_random),
    Rule::token("doppler-api-token", &["dp."], r"dp\.(?:pt|st|sa|ct|scim|audit)\.[A-Za-z0-9_.-]{40,}"),
    Rule::token("tailscale-key", &["tskey-"], r"tskey-[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    Rule::token("1password-service-account-token", &["ops_eyj"], r"ops_eyJ[A-Za-z0-9+/=_-]{100,}"),
];
