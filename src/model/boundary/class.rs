//! What kind of file a path is: the table behind the decision whether a change is substantial.

use std::fmt;

use super::pattern::Patterns;
use crate::model::paths;

/// Why a single file of a kind matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// The architecture and the decisions behind it.
    Architecture,
    /// The shape of stored data.
    Schema,
    /// What others call.
    Api,
    /// Who may do what, and what protects it.
    Security,
    /// How and where it runs.
    Deployment,
    /// `handoff.critical` says so.
    Configured,
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Architecture => "architecture",
            Self::Schema => "schema or migration",
            Self::Api => "API contract",
            Self::Security => "auth or security",
            Self::Deployment => "deployment or infrastructure",
            Self::Configured => "handoff.critical",
        })
    }
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// One of our own views.
    Ours,
    /// `handoff.ignore` says so.
    Ignored,
    /// A file in which a package manager keeps what it resolved.
    Lock,
    /// A file that a program made out of others.
    Generated,
    /// A copy of somebody else's files.
    Vendored,
    /// Text for people.
    Prose,
    /// A file of which one suffices.
    Critical(Area),
    /// Everything else: work.
    Work,
}

/// Paths of each kind. Order matters: the first kind that fits a path is its kind.
const LOCK: &[&str] = &[
    "*.lock",
    "*.lockb",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "go.sum",
    "go.work.sum",
    "packages.lock.json",
    "gradle.lockfile",
    "Package.resolved",
    ".terraform.lock.hcl",
];
const GENERATED: &[&str] = &[
    "*.min.js",
    "*.min.css",
    "*.map",
    "*.pb.go",
    "*_pb2.py",
    "*_pb2_grpc.py",
    "*.pb.cc",
    "*.pb.h",
    "*.g.dart",
    "*.freezed.dart",
    "*.generated.*",
    "*_generated.*",
    "*.snap",
    "generated/",
    "__generated__/",
    "dist/",
    "build/",
    "target/",
    "coverage/",
    "__pycache__/",
    "*.pyc",
    ".next/",
    "__snapshots__/",
];
const VENDORED: &[&str] =
    &["vendor/", "vendored/", "third_party/", "third-party/", "node_modules/", "Pods/", "bower_components/"];
const PROSE: &[&str] = &[
    "*.md",
    "*.mdx",
    "*.markdown",
    "*.rst",
    "*.adoc",
    "*.txt",
    "!requirements*.txt",
    "!CMakeLists.txt",
    "LICENSE*",
    "COPYING*",
    "AUTHORS*",
    "CHANGELOG*",
];
const TESTS: &[&str] = &[
    "test/",
    "tests/",
    "__tests__/",
    "spec/",
    "testdata/",
    "fixtures/",
    "*_test.*",
    "*.test.*",
    "*.spec.*",
    "*_spec.*",
    "test_*.*",
];
const ARCHITECTURE: &[&str] = &[
    "ARCHITECTURE*",
    "docs/architecture/",
    "docs/architecture*",
    "docs/design/",
    "adr/",
    "adrs/",
    "docs/decisions/",
    "docs/rfc/",
    "docs/rfcs/",
    "rfcs/",
];
const SCHEMA: &[&str] = &[
    "migrations/",
    "migration/",
    "migrate/",
    "alembic/versions/",
    "*.sql",
    "*.prisma",
    "db/schema.rb",
    "schema.rb",
    "*.dbml",
    "*.avsc",
];
const API: &[&str] = &[
    "openapi*.yaml",
    "openapi*.yml",
    "openapi*.json",
    "swagger*.yaml",
    "swagger*.yml",
    "swagger*.json",
    "asyncapi*.yaml",
    "asyncapi*.yml",
    "asyncapi*.json",
    "*.proto",
    "*.graphql",
    "*.graphqls",
    "*.gql",
    "*.thrift",
    "*.wsdl",
    "*.wit",
    "*.smithy",
];
const SECURITY: &[&str] = &[
    "auth/",
    "auth.*",
    "authn/",
    "authz/",
    "authentication/",
    "authentication.*",
    "authorization/",
    "authorization.*",
    "oauth/",
    "oauth*.*",
    "security/",
    "security.*",
    "permissions/",
    "permissions.*",
    "policies/",
    "crypto/",
    "iam/",
    "rbac/",
    "rbac.*",
    "acl.*",
    "login.*",
    "session.*",
    "CODEOWNERS",
];
const DEPLOYMENT: &[&str] = &[
    "Dockerfile*",
    "*.dockerfile",
    "Containerfile*",
    "docker-compose*.yml",
    "docker-compose*.yaml",
    "compose.yml",
    "compose.yaml",
    "*.tf",
    "*.tfvars",
    "terraform/",
    "k8s/",
    "kubernetes/",
    "helm/",
    "charts/",
    "kustomization.yaml",
    "deploy/",
    "deployment/",
    "infra/",
    "infrastructure/",
    "ansible/",
    "pulumi/",
    ".github/workflows/",
    ".gitlab-ci.yml",
    ".circleci/",
    "azure-pipelines.yml",
    "Jenkinsfile*",
    "Procfile",
    "fly.toml",
    "vercel.json",
    "netlify.toml",
    "serverless.yml",
    "nginx*.conf",
    "*.service",
];

/// The table with what the user's configuration adds to it.
#[derive(Debug, Clone)]
pub struct Classes {
    configured: Patterns,
    ignored: Patterns,
    not_work: Vec<(Class, Patterns)>,
    tests: Patterns,
    architecture: Patterns,
    prose: Patterns,
    critical: Vec<(Area, Patterns)>,
}

impl Classes {
    /// The table with the patterns of `handoff.critical` and `handoff.ignore`, which come before everything else.
    pub fn new(critical: &[String], ignored: &[String]) -> Self {
        let table =
            [(Area::Schema, SCHEMA), (Area::Api, API), (Area::Security, SECURITY), (Area::Deployment, DEPLOYMENT)];
        let not_work = [(Class::Lock, LOCK), (Class::Vendored, VENDORED), (Class::Generated, GENERATED)];
        Self {
            configured: Patterns::new(critical),
            ignored: Patterns::new(ignored),
            not_work: not_work.map(|(class, patterns)| (class, Patterns::new(patterns))).into(),
            tests: Patterns::new(TESTS),
            architecture: Patterns::new(ARCHITECTURE),
            prose: Patterns::new(PROSE),
            critical: table.map(|(area, patterns)| (area, Patterns::new(patterns))).into(),
        }
    }

    /// The kind of the file at a path.
    pub fn of(&self, path: &str) -> Class {
        if paths::is_own_view(path) {
            return Class::Ours;
        }
        if self.ignored.fit(path) {
            return Class::Ignored;
        }
        if self.configured.fit(path) {
            return Class::Critical(Area::Configured);
        }
        if let Some((class, _)) = self.not_work.iter().find(|(_, patterns)| patterns.fit(path)) {
            return *class;
        }
        if self.architecture.fit(path) {
            return Class::Critical(Area::Architecture);
        }
        if self.prose.fit(path) {
            return Class::Prose;
        }
        // What tests a login is work like any other; what is tested is not.
        if self.tests.fit(path) {
            return Class::Work;
        }
        let area = self.critical.iter().find(|(_, patterns)| patterns.fit(path));
        area.map_or(Class::Work, |(area, _)| Class::Critical(*area))
    }
}
