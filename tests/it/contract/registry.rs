//! What registers, what a surface sees, and what is said about arguments.

use super::*;

// R4: the resource is a part of the tool, so a registry without the one has not the other.
#[test]
fn a_tool_whose_resource_is_not_wired_is_not_registered_and_says_why() {
    let connect = |resource: Option<Arc<str>>| match resource {
        Some(resource) => Registry::builder().add(Echo(resource)),
        None => Registry::builder().unavailable("echo", "no voice is wired"),
    };
    let with = connect(Some(Arc::from("> "))).build().expect("one tool");
    assert_eq!(names(&with), ["echo"]);
    assert!(with.unavailable().is_empty());
    assert_eq!(
        call(&run_of(with), "echo", json!({"text": "a"}))
            .expect("a call")
            .text,
        "> a"
    );

    let without = connect(None).build().expect("no tool");
    assert!(without.is_empty() && without.get("echo").is_none());
    assert_eq!(without.unavailable()[0].reason, "no voice is wired");
    check_error(
        call(&run_of(without), "echo", json!({"text": "a"})),
        expect!["unknown_tool: tool 'echo' is not registered in this run: no voice is wired"],
    );
}

// R7, R8
#[test]
fn a_limited_surface_has_no_tool_above_its_tier() {
    assert_eq!(
        names(&tiers().limit(Tier::Exec)),
        ["reader", "starter", "writer"]
    );
    assert_eq!(names(&tiers().limit(Tier::Write)), ["reader", "writer"]);
    let plan = tiers().limit(Tier::Read);
    assert_eq!(names(&plan), ["reader"]);
    assert_eq!(plan.get("writer"), None);
    let gone: Vec<String> = plan
        .unavailable()
        .into_iter()
        .map(|gone| format!("{}: {}", gone.name, gone.reason))
        .collect();
    assert_eq!(
        gone,
        [
            "starter: its tier exec is above this surface's read",
            "writer: its tier write is above this surface's read"
        ]
    );
    // A wider limit afterwards brings nothing back.
    assert_eq!(names(&plan.limit(Tier::Exec)), ["reader"]);
}

// R8: a tool that joins later passes the same filters.
#[test]
fn filters_stay_in_force_for_tools_that_join_later() {
    let mut plan = tiers().limit(Tier::Read);
    plan.insert_dynamic(spec("late", Tier::Write), nothing)
        .expect("a name");
    plan.insert_dynamic(spec("look", Tier::Read), nothing)
        .expect("a name");
    assert_eq!(names(&plan), ["look", "reader"]);

    let mut some = tiers().allow(&["reader", "writer", "ghost"]);
    assert_eq!(names(&some), ["reader", "writer"]);
    some.insert_dynamic(spec("late", Tier::Read), nothing)
        .expect("a name");
    assert_eq!(names(&some), ["reader", "writer"]);
    assert!(
        some.clone().allow(&["late"]).is_empty(),
        "two allowlists intersect"
    );
    assert_eq!(names(&some.limit(Tier::Read)), ["reader"]);
}

#[test]
fn names_are_unique_and_fit_model_interfaces() {
    let twice = Registry::builder().add(echo()).add(echo()).build();
    assert_eq!(
        twice.expect_err("twice"),
        RegistryError::Duplicate("echo".to_owned())
    );
    let long = "x".repeat(65);
    for bad in ["", "two words", "ü", long.as_str()] {
        let res = Registry::builder()
            .add_dynamic(spec(bad, Tier::Read), nothing)
            .build();
        assert_eq!(
            res.expect_err("a bad name"),
            RegistryError::BadName(bad.to_owned())
        );
    }
    let longest = "x".repeat(64);
    assert!(
        Registry::builder()
            .add_dynamic(spec(&longest, Tier::Read), nothing)
            .build()
            .is_ok()
    );
    let no_schema = ToolSpec {
        schema: json!("x"),
        ..spec("x", Tier::Read)
    };
    let res = Registry::builder().add_dynamic(no_schema, nothing).build();
    assert_eq!(
        res.expect_err("no schema"),
        RegistryError::BadSchema("x".to_owned())
    );
}

#[test]
fn a_tool_that_takes_unknown_arguments_cannot_register() {
    #[derive(Deserialize, JsonSchema)]
    struct Open {
        #[expect(dead_code, reason = "only its schema counts")]
        text: String,
    }
    struct Careless;
    impl Tool for Careless {
        const NAME: &'static str = "careless";
        const TIER: Tier = Tier::Read;
        type Args = Open;
        fn description(&self) -> String {
            String::new()
        }
        fn run(&self, _call: &Call<'_>, _args: Open) -> Result<Output, ToolError> {
            Ok(Output::default())
        }
    }
    let res = Registry::builder().add(Careless).build();
    assert_eq!(
        res.expect_err("open"),
        RegistryError::OpenArguments("careless".to_owned())
    );
}

#[test]
fn the_schema_comes_from_the_arguments_and_their_comments() {
    let registry = Registry::builder().add(echo()).build().expect("one tool");
    let schema = &registry.get("echo").expect("registered").schema;
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert_eq!(schema["required"], json!(["text"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["properties"]["times"]["description"], "How often.");
    assert!(!schema.to_string().contains("$ref"), "{schema}");
}

#[test]
fn argument_errors_name_the_argument_and_the_accepted_ones() {
    let run = run_of(Registry::builder().add(echo()).build().expect("one tool"));
    let check = |args: Value, expected: Expect| check_error(call(&run, "echo", args), expected);
    check(
        json!({"txet": "a"}),
        expect![[r#"
            invalid_args: echo takes no argument `txet`
            hint: did you mean `text`? echo takes `text` (required), `times`, `volume`"#]],
    );
    check(
        json!({"text": "a", "colour": 1}),
        expect![[r#"
            invalid_args: echo takes no argument `colour`
            hint: echo takes `text` (required), `times`, `volume`"#]],
    );
    check(
        json!({}),
        expect![[r#"
            invalid_args: echo: missing argument `text`
            hint: echo takes `text` (required), `times`, `volume`"#]],
    );
    check(
        json!({"text": "a", "times": "3"}),
        expect![[r#"
            invalid_args: echo: argument `times`: invalid type: string "3", expected a whole number from 0 on
            hint: echo takes `text` (required), `times`, `volume`"#]],
    );
    check(
        json!({"text": "a", "volume": "lout"}),
        expect![[r#"
            invalid_args: echo: argument `volume`: unknown variant `lout`, expected `quiet` or `loud`
            hint: did you mean `loud`? echo takes `text` (required), `times`, `volume`"#]],
    );
    check(
        json!(["a"]),
        expect![[r#"
            invalid_args: echo: arguments must be a JSON object, not an array
            hint: echo takes `text` (required), `times`, `volume`"#]],
    );
    check(
        json!({"text": null}),
        expect![[r#"
            invalid_args: echo: argument `text`: invalid type: null, expected a string
            hint: echo takes `text` (required), `times`, `volume`"#]],
    );
}

#[test]
fn an_optional_argument_may_be_null() {
    let run = run_of(Registry::builder().add(echo()).build().expect("one tool"));
    let args = json!({"text": "ab", "times": null, "volume": null});
    assert_eq!(call(&run, "echo", args).expect("a call").text, "ab");
    let args = json!({"text": "ab", "times": 2, "volume": "loud"});
    assert_eq!(call(&run, "echo", args).expect("a call").text, "ABAB");
}

// R109: what a host registers is checked by its own schema.
#[test]
fn arguments_of_a_host_tool_are_checked_by_its_schema() {
    let closed = ToolSpec {
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}},
                       "required": ["path"], "additionalProperties": false}),
        ..spec("fetch", Tier::Read)
    };
    let registry = Registry::builder()
        .add_dynamic(closed, |_call, args| Ok(Output::text(args.to_string())))
        .add_dynamic(spec("open", Tier::Read), |_call, args| {
            Ok(Output::text(args.to_string()))
        })
        .build()
        .expect("two tools");
    let run = run_of(registry);
    check_error(
        call(&run, "fetch", json!({"pth": "x"})),
        expect![[r#"
            invalid_args: fetch takes no argument `pth`
            hint: did you mean `path`? fetch takes `path` (required)"#]],
    );
    check_error(
        call(&run, "fetch", Value::Null),
        expect![[r#"
            invalid_args: fetch: missing argument `path`
            hint: fetch takes `path` (required)"#]],
    );
    assert_eq!(
        call(&run, "fetch", json!({"path": "x"}))
            .expect("a call")
            .text,
        r#"{"path":"x"}"#
    );
    assert_eq!(
        call(&run, "open", json!({"any": 1})).expect("a call").text,
        r#"{"any":1}"#
    );
}

#[test]
fn an_unknown_tool_is_answered_with_its_neighbours() {
    let run = run_of(tiers());
    check_error(
        call(&run, "raeder", json!({})),
        expect![[r#"
            unknown_tool: unknown tool 'raeder'
            hint: did you mean reader?"#]],
    );
    check_error(
        call(&run, "zzz", json!({})),
        expect![[r#"
            unknown_tool: unknown tool 'zzz'
            hint: the tools are: reader, starter, writer"#]],
    );
    check_error(
        call(&run_of(Registry::default()), "zzz", json!({})),
        expect![[r#"
            unknown_tool: unknown tool 'zzz'
            hint: no tool is registered in this run"#]],
    );
}

// D33
#[test]
fn an_alias_dispatches_and_never_shows() {
    let registry = Registry::builder()
        .add_dynamic(spec("Read", Tier::Read), nothing)
        .alias("read", "Read")
        .build()
        .expect("one tool");
    assert_eq!(names(&registry), ["Read"]);
    assert!(call(&run_of(registry.clone()), "read", json!({})).is_ok());
    let none: [&str; 0] = [];
    let res = call(&run_of(registry.allow(&none)), "read", json!({}));
    assert_eq!(res.expect_err("filtered").kind(), ErrorKind::UnknownTool);
}
