//! The tools of one run, behind one type.
//!
//! The registry erases argument types, turns argument errors into messages a model can act on, and filters
//! what a surface sees: a tool above the surface's tier or outside its allowlist is not there at all (R7,
//! R8), and the reason is kept for `toolbox tools`. Filters stay in force for tools added later. It knows
//! no tool and decides no approval.

pub(crate) mod arguments;
pub(crate) mod nearest;
pub(crate) mod queue;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::registry::arguments::Arguments;
use crate::registry::queue::Queue;
use crate::tool::{Call, ErrorKind, Held, Output, Tier, Tool, ToolError, ToolSpec};

/// The registered tools, by name, and why others are not.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<Registered>>,
    aliases: BTreeMap<String, String>,
    unavailable: BTreeMap<String, String>,
    ceiling: Option<Tier>,
    allowed: Option<BTreeSet<String>>,
}

/// A tool that is not registered, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unavailable {
    /// The canonical name.
    pub name: String,
    /// What is missing.
    pub reason: String,
}

/// A tool could not be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Two tools claim one name.
    #[error("tool '{0}' is registered twice")]
    Duplicate(String),
    /// The name stands for another tool, which nobody could call by it any more (D33).
    #[error("'{0}' is another name of the tool '{1}'")]
    Alias(String, String),
    /// Model interfaces take no such name.
    #[error("tool name '{0}' must be 1 to 64 of the characters A-Z, a-z, 0-9, '_' and '-'")]
    BadName(String),
    /// Misspelt arguments would pass unseen.
    #[error("tool '{0}' must deny unknown arguments")]
    OpenArguments(String),
    /// A schema describes the arguments, which are an object.
    #[error("tool '{0}' needs a JSON schema of an object")]
    BadSchema(String),
}

type Prepared<'a> = Box<dyn FnOnce(&Call<'_>) -> Result<Output, ToolError> + 'a>;
type DynamicRun = dyn Fn(&Call<'_>, Value) -> Result<Output, ToolError> + Send + Sync;

/// A registered tool: its specification, its queue and the way to run it.
pub(crate) struct Registered {
    pub(crate) spec: ToolSpec,
    /// The queue belongs to the tool, so two surfaces over one resource share it.
    pub(crate) queue: Queue,
    arguments: Arguments,
    runner: Box<dyn Runner>,
}

/// The erased half of a tool: parses first, so that nobody is asked to approve arguments that do not fit.
trait Runner: Send + Sync {
    fn prepare<'a>(
        &'a self,
        arguments: &Arguments,
        args: &'a Value,
    ) -> Result<Prepared<'a>, ToolError>;

    /// Says what the tool keeps.
    fn held(&self) -> Vec<Held> {
        Vec::new()
    }
}

struct Typed<T>(T);

struct Dynamic(Box<DynamicRun>);

impl<T: Tool> Runner for Typed<T> {
    fn prepare<'a>(
        &'a self,
        arguments: &Arguments,
        args: &'a Value,
    ) -> Result<Prepared<'a>, ToolError> {
        let args: T::Args = arguments.parse(args)?;
        Ok(Box::new(move |call| self.0.run(call, args)))
    }

    fn held(&self) -> Vec<Held> {
        self.0.held()
    }
}

impl Runner for Dynamic {
    fn prepare<'a>(
        &'a self,
        arguments: &Arguments,
        args: &'a Value,
    ) -> Result<Prepared<'a>, ToolError> {
        arguments.check(args)?;
        Ok(Box::new(move |call| (self.0)(call, args.clone())))
    }
}

impl Registered {
    /// Puts the arguments into the form that [`Self::prepare`] expects.
    pub(crate) fn normalise(&self, args: Value) -> Result<Value, ToolError> {
        self.arguments.normalise(args)
    }

    /// Parses the arguments; what comes back runs the tool.
    pub(crate) fn prepare<'a>(&'a self, args: &'a Value) -> Result<Prepared<'a>, ToolError> {
        self.runner.prepare(&self.arguments, args)
    }

    /// Says what the tool keeps between its calls.
    pub(crate) fn held(&self) -> Vec<Held> {
        self.runner.held()
    }
}

impl Registry {
    /// Starts a registry.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Registers a tool, unless this surface is limited below it.
    pub fn insert<T: Tool>(&mut self, tool: T) -> Result<(), RegistryError> {
        let schema = arguments::schema_of::<T::Args>();
        if !arguments::is_closed(&schema) {
            return Err(RegistryError::OpenArguments(T::NAME.to_owned()));
        }
        let spec = ToolSpec {
            name: T::NAME.to_owned(),
            tier: T::TIER,
            parallel_safe: T::PARALLEL_SAFE,
            description: tool.description(),
            schema,
        };
        self.insert_runner(spec, Box::new(Typed(tool)))?;
        // A surface that filters the tool out keeps them: they lead to the reason.
        for alias in T::ALIASES {
            self.alias(*alias, T::NAME);
        }
        Ok(())
    }

    /// Registers a tool that the host describes by values (R109); it passes the same gate as any other.
    pub fn insert_dynamic(
        &mut self,
        spec: ToolSpec,
        run: impl Fn(&Call<'_>, Value) -> Result<Output, ToolError> + Send + Sync + 'static,
    ) -> Result<(), RegistryError> {
        if !spec.schema.is_object() {
            return Err(RegistryError::BadSchema(spec.name));
        }
        self.insert_runner(spec, Box::new(Dynamic(Box::new(run))))
    }

    /// Removes a tool and keeps the reason; tells whether it was there.
    pub fn remove(&mut self, name: &str, reason: impl Into<String>) -> bool {
        let found = self.tools.remove(name).is_some();
        self.unavailable.insert(name.to_owned(), reason.into());
        found
    }

    /// Lets `alias` stand for the tool `name` at dispatch; the schema never shows it (D33).
    pub fn alias(&mut self, alias: impl Into<String>, name: impl Into<String>) {
        self.aliases.insert(alias.into(), name.into());
    }

    /// Records that a tool is not wired, and why.
    pub fn note_unavailable(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        let name = name.into();
        if !self.tools.contains_key(&name) {
            self.unavailable.insert(name, reason.into());
        }
    }

    /// Removes every tool above `tier`, now and later (R7, R8).
    #[must_use]
    pub fn limit(mut self, tier: Tier) -> Self {
        self.ceiling = Some(self.ceiling.map_or(tier, |ceiling| ceiling.min(tier)));
        self.apply_filters();
        self
    }

    /// Removes every tool that is not named, now and later.
    #[must_use]
    pub fn allow<S: AsRef<str>>(mut self, names: &[S]) -> Self {
        let names: BTreeSet<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        self.allowed = Some(match self.allowed {
            Some(allowed) => allowed.intersection(&names).cloned().collect(),
            None => names,
        });
        self.apply_filters();
        self
    }

    /// Returns the specification of a registered tool, by its canonical name or an alias.
    pub fn get(&self, name: &str) -> Option<&ToolSpec> {
        self.find(name).map(|tool| &tool.spec)
    }

    /// Returns the specifications, sorted by name.
    pub fn specs(&self) -> Vec<&ToolSpec> {
        self.tools.values().map(|tool| &tool.spec).collect()
    }

    /// Returns the tools that are not registered and why, sorted by name.
    pub fn unavailable(&self) -> Vec<Unavailable> {
        let row = |(name, reason): (&String, &String)| Unavailable {
            name: name.clone(),
            reason: reason.clone(),
        };
        self.unavailable.iter().map(row).collect()
    }

    /// Returns the tools themselves, sorted by name.
    pub(crate) fn registered(&self) -> Vec<Arc<Registered>> {
        self.tools.values().cloned().collect()
    }

    /// Tells whether nothing is registered.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Finds the tool for dispatch; the error names what is near.
    pub(crate) fn lookup(&self, name: &str) -> Result<Arc<Registered>, ToolError> {
        if let Some(tool) = self.find(name) {
            return Ok(Arc::clone(tool));
        }
        let canonical = self.aliases.get(name).map_or(name, String::as_str);
        if let Some(reason) = self.unavailable.get(canonical) {
            let message = format!("tool '{canonical}' is not registered in this run: {reason}");
            return Err(ToolError::new(ErrorKind::UnknownTool, message));
        }
        let error = ToolError::new(ErrorKind::UnknownTool, format!("unknown tool '{name}'"));
        let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
        let near = nearest::nearest(name, &names);
        Err(if names.is_empty() {
            error.with_hint("no tool is registered in this run")
        } else if near.is_empty() {
            error.with_hint(format!("the tools are: {}", names.join(", ")))
        } else {
            error.with_hint(format!("did you mean {}?", near.join(" or ")))
        })
    }

    fn find(&self, name: &str) -> Option<&Arc<Registered>> {
        self.tools
            .get(name)
            .or_else(|| self.tools.get(self.aliases.get(name)?))
    }

    fn insert_runner(
        &mut self,
        spec: ToolSpec,
        runner: Box<dyn Runner>,
    ) -> Result<(), RegistryError> {
        let name = spec.name.clone();
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
            return Err(RegistryError::BadName(name));
        }
        if self.tools.contains_key(&name) {
            return Err(RegistryError::Duplicate(name));
        }
        if let Some(tool) = self.aliases.get(&name) {
            return Err(RegistryError::Alias(name, tool.clone()));
        }
        if let Some(reason) = self.filtered(&spec) {
            self.unavailable.insert(name, reason);
            return Ok(());
        }
        self.unavailable.remove(&name);
        let arguments = Arguments::new(&name, &spec.schema);
        self.tools.insert(
            name,
            Arc::new(Registered {
                spec,
                queue: Queue::default(),
                arguments,
                runner,
            }),
        );
        Ok(())
    }

    fn filtered(&self, spec: &ToolSpec) -> Option<String> {
        if let Some(ceiling) = self.ceiling
            && spec.tier > ceiling
        {
            return Some(format!(
                "its tier {} is above this surface's {ceiling}",
                spec.tier
            ));
        }
        if let Some(allowed) = &self.allowed
            && !allowed.contains(&spec.name)
        {
            return Some("it is not on the allowlist of this surface".to_owned());
        }
        None
    }

    fn apply_filters(&mut self) {
        let removed: Vec<(String, String)> = self
            .tools
            .values()
            .filter_map(|tool| Some((tool.spec.name.clone(), self.filtered(&tool.spec)?)))
            .collect();
        for (name, reason) in removed {
            self.remove(&name, reason);
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("tools", &self.tools.keys())
            .field("unavailable", &self.unavailable)
            .finish_non_exhaustive()
    }
}

/// Collects tools; the first error comes out of [`Builder::build`].
#[derive(Debug, Default)]
pub struct Builder {
    registry: Registry,
    error: Option<RegistryError>,
}

impl Builder {
    /// Adds a tool.
    #[must_use]
    #[expect(
        clippy::should_implement_trait,
        reason = "a list of tools reads best so, and nobody takes it for a sum"
    )]
    pub fn add<T: Tool>(mut self, tool: T) -> Self {
        let res = self.registry.insert(tool);
        self.keep(res)
    }

    /// Adds a tool that the host describes by values.
    #[must_use]
    pub fn add_dynamic(
        mut self,
        spec: ToolSpec,
        run: impl Fn(&Call<'_>, Value) -> Result<Output, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let res = self.registry.insert_dynamic(spec, run);
        self.keep(res)
    }

    /// Lets `alias` stand for the tool `name` at dispatch.
    #[must_use]
    pub fn alias(mut self, alias: &str, name: &str) -> Self {
        self.registry.alias(alias, name);
        self
    }

    /// Records that a tool is not wired, and why.
    #[must_use]
    pub fn unavailable(mut self, name: &str, reason: &str) -> Self {
        self.registry.note_unavailable(name, reason);
        self
    }

    /// Returns the registry, or the first error.
    pub fn build(self) -> Result<Registry, RegistryError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.registry),
        }
    }

    fn keep(mut self, res: Result<(), RegistryError>) -> Self {
        if let Err(error) = res {
            self.error.get_or_insert(error);
        }
        self
    }
}
