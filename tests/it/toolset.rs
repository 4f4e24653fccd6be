//! What the field `tools` of an agent means, and what it takes away from a registry.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolbox::registry::Registry;
use toolbox::tool::{Output, Tier, ToolSpec};
use toolbox::toolset::{TOOL_NAMES, Toolset};

fn parse(tools: Value) -> Result<Toolset, String> {
    Toolset::parse(Some(&tools)).map_err(|err| err.to_string())
}

fn with_names(names: Value) -> Value {
    json!([{ "type": "agent_toolset_20260401", "enabled_tools": names }])
}

fn only(names: &[&str]) -> Toolset {
    Toolset::Only(names.iter().map(|&name| name.to_owned()).collect())
}

/// A registry with the nine and one tool of the runtime.
fn registry() -> Registry {
    let names = TOOL_NAMES.iter().chain(&["ast_grep"]);
    let builder = names.fold(Registry::builder(), |builder, name| {
        let spec = ToolSpec {
            name: (*name).to_owned(),
            tier: Tier::Read,
            parallel_safe: true,
            description: String::new(),
            schema: json!({ "type": "object", "additionalProperties": false }),
        };
        builder.add_dynamic(spec, |_, _| Ok(Output::text("ran")))
    });
    builder.build().expect("distinct names")
}

fn exposed(toolset: &Toolset) -> Vec<String> {
    let registry = toolset.apply(registry());
    registry
        .specs()
        .iter()
        .map(|spec| spec.name.clone())
        .collect()
}

// R141, R156, R169: no field, null and an empty list are no tools at all.
#[test]
fn without_tools_there_is_nothing() {
    assert_eq!(Toolset::parse(None), Ok(Toolset::Nothing));
    assert_eq!(parse(Value::Null), Ok(Toolset::Nothing));
    assert_eq!(parse(json!([])), Ok(Toolset::Nothing));
    assert_eq!(exposed(&Toolset::Nothing), Vec::<String>::new());
}

// R140, R150, R155, R170, D32: all on is everything that is registered, DeliverArtifacts included.
#[test]
fn without_enabled_tools_there_is_everything() {
    let all = json!([{ "type": "agent_toolset_20260401" }]);
    assert_eq!(parse(all), Ok(Toolset::Everything));
    assert_eq!(parse(with_names(json!([]))), Ok(Toolset::Everything));
    let names = exposed(&Toolset::Everything);
    assert_eq!(names.len(), 10);
    assert!(names.contains(&"DeliverArtifacts".to_owned()));
    assert!(names.contains(&"ast_grep".to_owned()));
}

// R138, R139, R160, R161: a list that is not empty is an allowlist, exactly.
#[test]
fn a_list_is_an_allowlist() {
    assert_eq!(parse(with_names(json!(["Bash"]))), Ok(only(&["Bash"])));
    assert_eq!(exposed(&only(&["Bash"])), ["Bash"]);
    let eight = &TOOL_NAMES[..8];
    let toolset = parse(with_names(json!(eight))).expect("the full development stack");
    let mut names = eight.to_vec();
    names.sort_unstable();
    assert_eq!(exposed(&toolset), names);
}

// R172: the order means nothing.
#[test]
fn the_order_has_no_effect() {
    let one = parse(with_names(json!(["Read", "Bash"]))).expect("two names");
    let other = parse(with_names(json!(["Bash", "Read"]))).expect("two names");
    assert_eq!(exposed(&one), exposed(&other));
}

// R152, R153, R157, D30: exactly the nine names, as they are written; the first unknown one is reported.
#[test]
fn an_unknown_name_is_refused_by_its_name() {
    let refused = |names: Value| parse(with_names(names)).expect_err("an unknown name");
    assert_eq!(refused(json!(["Foo"])), "unknown tool name 'Foo'");
    assert_eq!(refused(json!(["bash"])), "unknown tool name 'bash'");
    assert_eq!(
        refused(json!(["Read", "Foo", "Bar"])),
        "unknown tool name 'Foo'"
    );
    assert_eq!(
        refused(json!(["Read", "Read", "Foo"])),
        "unknown tool name 'Foo'"
    );
    // The runtime tools are none of the nine (D32).
    assert_eq!(refused(json!(["ast_grep"])), "unknown tool name 'ast_grep'");
    assert_eq!(refused(json!([""])), "unknown tool name ''");
    assert_eq!(refused(json!(["Bash "])), "unknown tool name 'Bash '");
    for name in TOOL_NAMES {
        assert_eq!(parse(with_names(json!([name]))), Ok(only(&[name])));
    }
}

// D30: names that are no strings, or stand twice.
#[test]
fn a_name_is_a_string_and_stands_once() {
    let refused = |names: Value| parse(with_names(names)).expect_err("it is refused");
    assert_eq!(
        refused(json!([7])),
        "enabled_tools[0] must be a tool name, not a number"
    );
    assert_eq!(
        refused(json!(["Bash", null])),
        "enabled_tools[1] must be a tool name, not null"
    );
    assert_eq!(
        refused(json!(["Bash", "Read", "Bash"])),
        "tool name 'Bash' is given twice"
    );
    assert_eq!(
        refused(Value::Null),
        "enabled_tools must be an array of tool names, not null"
    );
    assert_eq!(
        refused(json!("Bash")),
        "enabled_tools must be an array of tool names, not a string"
    );
}

// R158, R173, D30: the old objects, other dates and anything unknown are refused.
#[test]
fn another_object_is_refused() {
    let refused = |tools: Value| parse(tools).expect_err("it is refused");
    assert!(refused(json!([{ "type": "bash_20250124" }])).starts_with("unknown toolset type"));
    assert!(refused(json!([{ "type": "agent_toolset_20270401" }])).contains("20270401"));
    assert!(refused(json!([{ "type": "agent_toolset_20260401 " }])).starts_with("unknown"));
    assert!(refused(json!([{ "enabled_tools": ["Bash"] }])).contains("type is missing"));
    assert!(refused(json!([{ "type": null }])).contains("not null"));
    assert!(refused(json!({ "type": "agent_toolset_20260401" })).contains("not an object"));
    assert!(refused(json!(["Bash"])).contains("not a string"));
    let one = json!({ "type": "agent_toolset_20260401" });
    assert!(refused(json!([one, one])).contains("one toolset object, not 2"));
    let denied = json!([{ "type": "agent_toolset_20260401", "configs": [] }]);
    assert!(refused(denied).contains("unknown key 'configs'"));
}

// R151, D29: DeliverArtifacts by name is accepted, with a warning.
#[test]
fn naming_the_reserved_tool_warns() {
    let toolset = parse(with_names(json!(["DeliverArtifacts"]))).expect("it is accepted");
    assert_eq!(exposed(&toolset), ["DeliverArtifacts"]);
    assert!(toolset.warning().is_some());
    assert!(only(&["Bash"]).warning().is_none());
    assert!(Toolset::Everything.warning().is_none());
}

fn any_json() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        proptest::sample::select(TOOL_NAMES.to_vec()).prop_map(str::to_owned),
        Just("agent_toolset_20260401".to_owned()),
        "[A-Za-z_]{0,6}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        name.prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("type".to_owned()),
        Just("enabled_tools".to_owned()),
        "[a-z]{1,3}"
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key.clone(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    // D30, D32: whatever comes, nothing panics, and what is accepted exposes only what it says.
    #[test]
    fn any_value_is_refused_or_means_what_it_says(tools in any_json()) {
        match Toolset::parse(Some(&tools)) {
            Ok(Toolset::Nothing) => prop_assert!(tools.is_null() || tools == json!([])),
            Ok(Toolset::Everything) => {
                let listed = tools[0].get("enabled_tools");
                prop_assert!(listed.is_none() || *listed.expect("it is there") == json!([]));
            }
            Ok(Toolset::Only(names)) => {
                prop_assert_eq!(&tools[0]["enabled_tools"], &json!(names));
                prop_assert!(names.iter().all(|name| TOOL_NAMES.contains(&name.as_str())));
            }
            Err(err) => prop_assert!(!err.to_string().is_empty()),
        }
    }

    // R139, R172: any choice of the nine in any order exposes exactly itself.
    #[test]
    fn any_allowlist_exposes_exactly_itself(
        names in proptest::sample::subsequence(TOOL_NAMES.to_vec(), 1..=9).prop_shuffle(),
    ) {
        let toolset = parse(with_names(json!(names))).expect("known names");
        let mut names = names;
        names.sort_unstable();
        prop_assert_eq!(exposed(&toolset), names);
    }
}
