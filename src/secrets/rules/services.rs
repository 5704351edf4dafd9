//! Keys of model providers, payment, mail, chat and shop services.

use super::super::plausible;
use super::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::token("anthropic-api-key", &["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{20,}"),
    Rule::token("openai-api-key", &["sk-"], r"sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})")
        .when(plausible::is_random),
    Rule::token("openrouter-api-key", &["sk-or-"], r"sk-or-(?:v1-)?[a-f0-9]{40,}"),
    Rule::token(
        "langfuse-secret-key",
        &["sk-lf-"],
        r"sk-lf-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}",
    ),
    Rule::token("huggingface-access-token", &["hf_", "api_org_"], r"(?:hf_|api_org_)[A-Za-z0-9]{30,}\b")
        .when(plausible::is_random),
    Rule::token("groq-api-key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,}"),
    Rule::token("xai-api-key", &["xai-"], r"xai-[A-Za-z0-9]{60,}"),
    Rule::token("replicate-api-token", &["r8_"], r"r8_[A-Za-z0-9]{37}\b"),
    Rule::token("perplexity-api-key", &["pplx-"], r"pplx-[A-Za-z0-9]{40,}"),
    Rule::token("cerebras-api-key", &["csk-"], r"csk-[a-z0-9]{40,}"),
    Rule::token("nvidia-api-key", &["nvapi-"], r"nvapi-[A-Za-z0-9_-]{60,}"),
    Rule::token("langsmith-api-key", &["lsv2_"], r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    Rule::token("tavily-api-key", &["tvly-"], r"tvly-[A-Za-z0-9-]{20,}").when(plausible::is_random),
    Rule::token("elevenlabs-api-key", &["sk_"], r"sk_[a-f0-9]{48}\b"),
    Rule::token("pinecone-api-key", &["pcsk_"], r"pcsk_[A-Za-z0-9_]{50,}"),
    Rule::token("e2b-api-key", &["e2b_"], r"e2b_[a-f0-9]{40}\b"),
    Rule::token(
        "stripe-access-token",
        &["k_live_", "k_test_", "k_prod_"],
        r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,255}",
    ),
    Rule::token("stripe-webhook-secret", &["whsec_"], r"whsec_[A-Za-z0-9+/=]{24,}"),
    Rule::token(
        "square-access-token",
        &["sq0", "eaaa"],
        r"(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,60}|EAAA[A-Za-z0-9_-]{60})\b",
    )
    .when(plausible::is_random),
    Rule::token(
        "plaid-api-token",
        &["access-"],
        r"access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    ),
    Rule::token(
        "braintree-access-token",
        &["access_token$"],
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    ),
    Rule::token("razorpay-key", &["rzp_"], r"rzp_(?:live|test)_[A-Za-z0-9]{14}\b"),
    Rule::token(
        "shopify-access-token",
        &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"],
        r"shp(?:at|ca|pa|ss|tka)_[A-Fa-f0-9]{32}",
    ),
    Rule::token("slack-bot-token", &["xoxb-"], r"xoxb-[A-Za-z0-9-]{20,}"),
    Rule::token("slack-user-token", &["xoxp-", "xoxe-", "xoxe."], r"(?:xoxe\.)?xox[pe]-[A-Za-z0-9-]{20,}"),
    Rule::token(
        "slack-legacy-token",
        &["xoxa-", "xoxo-", "xoxr-", "xoxs-", "xoxc-", "xoxd-"],
        r"xox[aorscd]-[A-Za-z0-9%/+=-]{20,}",
    ),
    Rule::token("slack-app-token", &["xapp-"], r"xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    Rule::context(
        "slack-webhook-url",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,})",
    ),
    Rule::context(
        "microsoft-teams-webhook",
        &["webhook.office.com"],
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,})",
    ),
    Rule::context(
        "discord-webhook-url",
        &["/api/webhooks/", "/webhooks/"],
        r"discord(?:app)?\.com/api(?:/v[0-9]+)?/webhooks/([0-9]{17,20}/[A-Za-z0-9_-]{60,})",
    ),
    Rule::token(
        "discord-bot-token",
        &["discord", "bot ", "bot_"],
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    )
    .when(plausible::is_random),
    Rule::token("telegram-bot-api-token", &[":aa"], r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,33}").when(plausible::is_random),
    Rule::context(
        "telegram-bot-api-token",
        &["/bot"],
        r"api\.telegram\.org/(?:file/)?bot([0-9]{8,10}:[A-Za-z0-9_-]{30,})",
    ),
    Rule::token(
        "twilio-api-key",
        &[
            "sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9", "ska", "skb", "skc", "skd", "ske",
            "skf",
        ],
        r"SK[0-9a-f]{32}\b",
    ),
    Rule::token("sendgrid-api-token", &["sg."], r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}"),
    Rule::token("mailgun-api-key", &["key-"], r"key-[a-f0-9]{32}\b"),
    Rule::context(
        "mailgun-api-key",
        &["mailgun"],
        r"(?i:mailgun)[^\r\n]{0,80}?\b([a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8})\b",
    ),
    Rule::token(
        "mailchimp-api-key",
        &["-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"],
        r"[a-f0-9]{32}-us[0-9]{1,2}\b",
    ),
    Rule::token("brevo-api-token", &["xkeysib-", "xsmtpsib-"], r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    Rule::token("resend-api-key", &["re_"], r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b").when(plausible::is_random),
    Rule::token("mapbox-secret-token", &["sk.eyj"], r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
];
