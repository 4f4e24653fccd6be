//! A policy: which calls run without a question, which never run, and which somebody is asked about.
//!
//! It is data. A decision per tool, rules about what stands in the arguments, and a tier up to which calls
//! are approved; no tool is known here by its name. `deny` wins over `ask`, `ask` over `allow`, and a rule
//! over the word about its whole tool, save that a denied tool is denied. What a rule cannot read for certain
//! it never allows, and where rules forbid anything of the tool, somebody is asked about it (D37).

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use crate::run::approval::{Approval, ApprovalRequest, Approver};
use crate::run::command::{loose_commands, plain_words};
use crate::run::subject::{Places, Subject, SubjectKind, Target};
use crate::tool::Tier;
use crate::workspace::Workspace;

/// Decides by rules, and hands on what needs a question.
#[derive(Clone)]
pub struct Policy {
    auto: Tier,
    tools: BTreeMap<String, Decision>,
    rules: Vec<Rule>,
    workspace: Option<Workspace>,
    asks: Option<Arc<dyn Approver>>,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It runs.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// A decision about the calls of one tool whose arguments match.
#[derive(Clone, Debug)]
pub struct Rule {
    tool: String,
    target: Target,
    pattern: Pattern,
    /// As the pattern was written, for refusals.
    written: String,
    decision: Decision,
}

/// A rule or a decision is no such thing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The word names no decision.
    #[error("unknown decision '{0}': one of allow, ask, deny")]
    UnknownDecision(String),
    /// The glob cannot be read.
    #[error("the path pattern '{pattern}' is no glob: {reason}")]
    BadGlob {
        /// The pattern as it was written.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The words are no plain command.
    #[error(
        "the command '{0}' must be plain words, such as `cargo test`: without separators, expansions, \
         redirections and globs"
    )]
    BadCommand(String),
}

#[derive(Clone, Debug)]
enum Pattern {
    /// A glob, and whether it is about absolute paths.
    Glob {
        matcher: GlobMatcher,
        absolute: bool,
    },
    /// The first words of a command.
    Words(Vec<String>),
}

/// Whether a rule is about a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    Yes,
    No,
    /// It may be.
    Unsure,
}

/// What the rules say about a call.
enum Verdict<'a> {
    Denied(&'a Rule),
    Ask,
    Allowed,
    Silent,
}

impl Policy {
    /// Approves calls up to `auto`; everything above needs a rule or somebody who is asked.
    pub fn new(auto: Tier) -> Self {
        Self {
            auto,
            tools: BTreeMap::new(),
            rules: Vec::new(),
            workspace: None,
            asks: None,
        }
    }

    /// Decides about every call of a tool that no rule decides about.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, decision: Decision) -> Self {
        self.tools.insert(name.into(), decision);
        self
    }

    /// Adds a rule. The order of rules does not matter.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Names the workspace that the paths of rules and calls are relative to; without it no rule about
    /// paths allows anything.
    #[must_use]
    pub fn workspace(mut self, workspace: Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Asks this approver about what needs a question; without one such calls are refused.
    #[must_use]
    pub fn asking(mut self, approver: Arc<dyn Approver>) -> Self {
        self.asks = Some(approver);
        self
    }

    /// Approves calls up to another tier, all else the same.
    #[must_use]
    pub fn up_to(mut self, auto: Tier) -> Self {
        self.auto = auto;
        self
    }

    fn ask(&self, request: &ApprovalRequest<'_>, why: &str) -> Approval {
        match &self.asks {
            Some(approver) => approver.approve(request),
            None => Approval::Denied(format!("{why}, and nobody is there to ask")),
        }
    }

    fn verdict(&self, request: &ApprovalRequest<'_>) -> Verdict<'_> {
        let rules: Vec<&Rule> = self
            .rules
            .iter()
            .filter(|rule| rule.tool == request.spec.name)
            .collect();
        let mut targets: Vec<&Target> = rules.iter().map(|rule| &rule.target).collect();
        targets.sort();
        targets.dedup();
        let (mut ask, mut allowed) = (false, false);
        for target in targets {
            let subjects = target.subjects(request.args, self.workspace.as_ref());
            let about = || rules.iter().filter(|rule| rule.target == *target);
            let root = self.workspace.as_ref().map(Workspace::root);
            for rule in about().filter(|rule| rule.decision != Decision::Allow) {
                for subject in &subjects {
                    match (rule.forbids(subject, root), rule.decision) {
                        (Match::No, _) => {}
                        (Match::Yes, Decision::Deny) => return Verdict::Denied(rule),
                        _ => ask = true,
                    }
                }
            }
            // A call with several subjects is allowed when each of them is.
            allowed |= subjects.iter().all(|subject| {
                about().any(|rule| rule.decision == Decision::Allow && rule.allows(subject, root))
            });
        }
        match (ask, allowed) {
            (true, _) => Verdict::Ask,
            (false, true) => Verdict::Allowed,
            (false, false) => Verdict::Silent,
        }
    }
}

impl Approver for Policy {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        let name = &request.spec.name;
        let of_tool = self.tools.get(name).copied();
        if of_tool == Some(Decision::Deny) {
            return Approval::Denied(format!("the policy denies {name}"));
        }
        match self.verdict(request) {
            Verdict::Denied(rule) => Approval::Denied(format!("the policy denies {rule}")),
            Verdict::Ask => self.ask(request, "the policy asks about such calls"),
            Verdict::Allowed => Approval::Granted,
            Verdict::Silent => match of_tool {
                Some(Decision::Allow) => Approval::Granted,
                None if request.spec.tier <= self.auto => Approval::Granted,
                Some(_) => self.ask(request, &format!("the policy asks about {name}")),
                None => {
                    let why = format!(
                        "its tier is {}, calls up to {} are approved here",
                        request.spec.tier, self.auto
                    );
                    self.ask(request, &why)
                }
            },
        }
    }
}

impl Rule {
    /// Makes a rule about paths: `pattern` is a glob relative to the workspace (`docs/**`; `*` stays within
    /// a folder), or absolute.
    ///
    /// It is about a patch too, whose every path must match before it is allowed.
    pub fn path(
        tool: impl Into<String>,
        target: Target,
        pattern: &str,
        decision: Decision,
    ) -> Result<Self, PolicyError> {
        let glob = GlobBuilder::new(pattern.strip_prefix("./").unwrap_or(pattern))
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|err| PolicyError::BadGlob {
                pattern: pattern.to_owned(),
                reason: err.kind().to_string(),
            })?;
        Ok(Self {
            tool: tool.into(),
            target,
            pattern: Pattern::Glob {
                matcher: glob.compile_matcher(),
                absolute: pattern.starts_with('/'),
            },
            written: pattern.to_owned(),
            decision,
        })
    }

    /// Makes a rule about commands that begin with these words. An allowed command is one plain call: a
    /// line that a shell would split, expand or redirect is never allowed by a rule.
    pub fn command(
        tool: impl Into<String>,
        target: Target,
        words: &str,
        decision: Decision,
    ) -> Result<Self, PolicyError> {
        let plain = plain_words(words).ok_or_else(|| PolicyError::BadCommand(words.to_owned()))?;
        Ok(Self {
            tool: tool.into(),
            target,
            pattern: Pattern::Words(plain),
            written: words.to_owned(),
            decision,
        })
    }

    /// Whether the rule, which allows, is about all of a subject for certain.
    fn allows(&self, subject: &Subject, root: Option<&Path>) -> bool {
        match (&self.pattern, subject) {
            (Pattern::Glob { .. }, Subject::Path(Places { written, real })) => {
                self.globs(real, root) && self.globs(written, root)
            }
            (Pattern::Words(prefix), Subject::Command(line)) => {
                plain_words(line).is_some_and(|words| words.starts_with(prefix))
            }
            _ => false,
        }
    }

    /// Whether the rule, which asks or denies, is about any of a subject.
    fn forbids(&self, subject: &Subject, root: Option<&Path>) -> Match {
        match (&self.pattern, subject) {
            (Pattern::Glob { .. }, Subject::Path(Places { written, real })) => {
                match self.globs(real, root) || self.globs(written, root) {
                    true => Match::Yes,
                    false => Match::No,
                }
            }
            (Pattern::Words(prefix), Subject::Command(line)) => {
                let plain = plain_words(line);
                let starts = |words: &Vec<String>| words.starts_with(prefix);
                match &plain {
                    Some(words) if starts(words) => Match::Yes,
                    Some(_) => Match::No,
                    None if loose_commands(line).iter().any(starts) => Match::Yes,
                    None => Match::Unsure,
                }
            }
            _ => Match::Unsure,
        }
    }

    fn globs(&self, path: &Path, root: Option<&Path>) -> bool {
        let Pattern::Glob { matcher, absolute } = &self.pattern else {
            return false;
        };
        if *absolute {
            return matcher.is_match(path);
        }
        root.and_then(|root| path.strip_prefix(root).ok())
            .is_some_and(|inside| matcher.is_match(inside))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.target.kind {
            SubjectKind::Path | SubjectKind::Patch => "path",
            SubjectKind::Command => "command",
        };
        write!(f, "{} of the {kind} '{}'", self.tool, self.written)
    }
}

impl Decision {
    /// Every decision, from the weakest.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// Returns the word that configurations use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl FromStr for Decision {
    type Err = PolicyError;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|decision| decision.as_str() == word)
            .ok_or_else(|| PolicyError::UnknownDecision(word.to_owned()))
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("auto", &self.auto)
            .field("tools", &self.tools)
            .field("rules", &self.rules)
            .field("asks", &self.asks.is_some())
            .finish_non_exhaustive()
    }
}
