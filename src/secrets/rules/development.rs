//! Tokens of forges, package registries and build services.

use super::super::plausible;
use super::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::token("github-pat", &["ghp_"], r"ghp_[A-Za-z0-9_]{30,}"),
    Rule::token("github-oauth", &["gho_"], r"gho_[A-Za-z0-9_]{30,}"),
    Rule::token("github-app-token", &["ghu_", "ghs_"], r"gh[us]_[A-Za-z0-9_]{30,}(?:\.[A-Za-z0-9_-]{8,}){0,2}"),
    Rule::token("github-refresh-token", &["ghr_"], r"ghr_[A-Za-z0-9_]{30,}"),
    Rule::token("github-fine-grained-pat", &["github_pat_"], r"github_pat_[A-Za-z0-9_]{40,}"),
    Rule::token("gitlab-pat", &["glpat-"], r"glpat-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_.-]{8,})?"),
    Rule::token(
        "gitlab-runner-authentication-token",
        &["glrt-", "glrtr-"],
        r"glrtr?-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_.-]{8,})?",
    ),
    Rule::token("gitlab-deploy-token", &["gldt-"], r"gldt-[A-Za-z0-9_-]{20,}"),
    Rule::token("gitlab-cicd-job-token", &["glcbt-"], r"glcbt-[A-Za-z0-9]{1,5}_[A-Za-z0-9_-]{20,}"),
    Rule::token("gitlab-ptt", &["glptt-"], r"glptt-[A-Za-z0-9_-]{20,}"),
    Rule::token("gitlab-feed-token", &["glft-"], r"glft-[A-Za-z0-9_-]{20,}"),
    Rule::token("gitlab-oauth-app-secret", &["gloas-"], r"gloas-[A-Za-z0-9_-]{40,}"),
    Rule::token("gitlab-scim-token", &["glsoat-"], r"glsoat-[A-Za-z0-9_-]{20,}"),
    Rule::token("gitlab-agent-token", &["glagent-"], r"glagent-[A-Za-z0-9_-]{40,}"),
    Rule::token("bitbucket-app-password", &["atbb"], r"ATBB[A-Za-z0-9]{32}\b").when(plausible::is_random),
    Rule::token("atlassian-api-token", &["atatt3", "atctt3"], r"AT[AC]TT3[A-Za-z0-9_=-]{60,}"),
    Rule::token("npm-access-token", &["npm_"], r"npm_[A-Za-z0-9]{36}\b"),
    Rule::token("pypi-upload-token", &["pypi-"], r"pypi-[A-Za-z0-9_-]{50,}"),
    Rule::token("crates-io-token", &["cio"], r"cio[A-Za-z0-9]{32}\b").when(plausible::is_random),
    Rule::token("rubygems-api-token", &["rubygems_"], r"rubygems_[a-f0-9]{48}"),
    Rule::token("nuget-api-key", &["oy2"], r"oy2[a-z0-9]{43}\b").when(plausible::is_random),
    Rule::token("clojars-api-token", &["clojars_"], r"CLOJARS_[a-z0-9]{60}"),
    Rule::token("docker-hub-token", &["dckr_pat_", "dckr_oat_"], r"dckr_[po]at_[A-Za-z0-9_-]{27,}"),
    Rule::context(
        "docker-config-auth",
        &["\"auth\"", "\"auth\\"],
        r#"\\*"auth\\*"\s*:\s*\\*"([A-Za-z0-9+/]{8,}={0,2})"#,
    )
    .when(plausible::decodes_to_user_and_password),
    Rule::token("artifactory-api-key", &["akcp"], r"AKCp[A-Za-z0-9]{69}\b"),
    Rule::token("artifactory-reference-token", &["cmvmdgtu"], r"cmVmdGtu[A-Za-z0-9]{56}\b"),
    Rule::context("npmrc-auth", &["_auth"], r"(?i:_auth(?:token)?)\s{0,4}=\s{0,4}([^\s$\x22']{16,})")
        .when(plausible::is_random_literal),
    Rule::token("buildkite-token", &["bkua_"], r"bkua_[a-f0-9]{40}"),
    Rule::token("circleci-token", &["ccipat_"], r"CCIPAT_[A-Za-z0-9]{20,}_[a-f0-9]{40}"),
    Rule::token("sonar-api-token", &["sqp_", "squ_", "sqa_"], r"sq[pua]_[a-f0-9]{40}"),
    Rule::token("sentry-token", &["sntrys_", "sntryu_"], r"sntry[su]_[A-Za-z0-9+/=_-]{60,}"),
    Rule::token(
        "grafana-token",
        &["glsa_", "glc_"],
        r"(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/=]{32,})",
    ),
    Rule::token("new-relic-key", &["nrak-", "nrii-"], r"NR(?:AK|II)-[A-Za-z0-9_-]{27,32}"),
    Rule::token("dynatrace-api-token", &["dt0c01."], r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    Rule::token("posthog-personal-key", &["phx_"], r"phx_[A-Za-z0-9_-]{40,}"),
    Rule::token("postman-api-token", &["pmak-"], r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    Rule::token("prefect-api-token", &["pnu_"], r"pnu_[A-Za-z0-9]{36}\b"),
    Rule::token("figma-access-token", &["figd_", "figu_", "figo_", "figoh_"], r"fig(?:d|u|o|oh)_[A-Za-z0-9_-]{38,}"),
    Rule::token("linear-api-key", &["lin_api_"], r"lin_api_[A-Za-z0-9]{40}"),
    Rule::token("linear-oauth-token", &["lin_oauth_"], r"lin_oauth_[A-Za-z0-9]{40,}"),
    Rule::token("notion-api-token", &["ntn_", "secret_"], r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}\b)")
        .when(plausible::is_random),
    Rule::context("airtable-pat", &["airtable"], r"(?i:airtable)[^\r\n]{0,60}?\b(pat[A-Za-z0-9]{14}\.[a-f0-9]{64})"),
    Rule::token("contentful-pat", &["cfpat-"], r"CFPAT-[A-Za-z0-9_-]{40,}"),
];
