//! Where sources are cut, when they are not, and what a plan chooses to parse.

use expect_test::{Expect, expect};
use toolbox::syntax::split::{Excerpt, Plan, Shape, plan, plan_around, split};

use crate::split::needles;

/// Lists the units, each with its kind and the beginning of its text, indented by nesting.
fn outline(language: &str, source: &str, expected: Expect) {
    let units = split(language, source.as_bytes()).unwrap();
    let mut text = String::new();
    let mut ends = Vec::new();
    for (idx, unit) in units.list.iter().enumerate() {
        ends.retain(|&end| idx < end);
        let shown = source[unit.range.clone()].replace('\n', "|");
        let shown: String = shown.chars().take(44).collect();
        let indent = "  ".repeat(ends.len());
        text += &format!("{indent}{:?} {}\n", unit.kind, shown.trim_end());
        ends.push(idx + 1 + unit.descendants);
    }
    expected.assert_eq(&text);
}

#[test]
fn attributes_comments_and_clauses_stay_with_their_unit() {
    outline(
        "rust",
        "use a::{b};\n\n/// Doc\n#[test]\nfn f() { g() }\n// c\nimpl X { fn m() {} const C: u8 = 1; }\n",
        expect![[r#"
            Item use a::{b};
            Item /// Doc|#[test]|fn f() { g() }
            Container // c|impl X { fn m() {} const C: u8 = 1; }
              Item fn m() {}
              Item const C: u8 = 1;
        "#]],
    );
    outline(
        "python",
        "import a\n# c\n@d\nclass C(B):\n    x = 1\n\n    def m(self):\n        pass\n        # end\nif a:\n    b\nelse:\n    c\n",
        expect![[r#"
            Item import a|
            Container # c|@d|class C(B):|    x = 1||    def m(self
              Item     x = 1|
              Item     def m(self):|        pass|        # end|
                Block         pass|
            Item if a:|    b|else:|    c|
              Block     b|
              Block     c|
        "#]],
    );
    #[cfg(feature = "all-languages")]
    outline(
        "typescript",
        "let a = 1\nlet b = a\n(c)\n@D()\nexport class E { x = 1; m() { return 1 } }\nif (a) b()\nelse c()\n",
        expect![[r#"
            Item let a = 1
            Item let b = a|(c)
            Container @D()|export class E { x = 1; m() { return 1
              Item x = 1;
              Item m() { return 1 }
            Item if (a) b()|else c()
        "#]],
    );
}

#[test]
fn braces_and_signs_in_headers_are_no_bodies() {
    outline(
        "dart",
        "class A {\n  void operator []=(int i, int v) { x; }\n  A() : a = {}, b = 1 { c(); }\n  int y = 1;\n}\n",
        expect![[r#"
            Container class A {|  void operator []=(int i, int v)
              Item void operator []=(int i, int v) { x; }
              Item A() : a = {}, b = 1 { c(); }
              Item int y = 1;
        "#]],
    );
    outline(
        "rust",
        "impl A<{ 1 }, { 2 }> for B where C: D, { fn m() {} }\nfn f() -> E<{ 3 }> { g() }\n",
        expect![[r#"
            Container impl A<{ 1 }, { 2 }> for B where C: D, { fn
              Item fn m() {}
            Item fn f() -> E<{ 3 }> { g() }
        "#]],
    );
    #[cfg(feature = "all-languages")]
    outline(
        "typescript",
        "class G extends H<{ a: 1 }> { m() {} }\nfunction f(): { a: 1 } { return x }\nlet b = 1\n",
        expect![[r#"
            Container class G extends H<{ a: 1 }> { m() {} }
              Item m() {}
            Item function f(): { a: 1 } { return x }
            Item let b = 1
        "#]],
    );
}

#[test]
fn unclear_sources_are_not_cut() {
    for (language, source) in [
        ("rust", "fn f() { \"unterminated }"),
        ("rust", "fn f() { ( } )"),
        ("rust", "fn f() {} }"),
        ("rust", "r#\"raw\" fn f() {}"),
        ("rust", "/* /* */ fn f() {}"),
        ("rust", "let x = 1;"),
        ("python", "x = 'unterminated\ny = 1\n"),
        ("python", "x = (1\n"),
        ("python", "class A:\nx = 1\n"),
        ("python", "class A:\n    x = 1\n  y = 2\n"),
        ("python", "    x = 1\n"),
        ("python", "@decorator\n"),
        ("python", "x = 1\ry = 2\n"),
        ("dart", "var x = 'unterminated;\n"),
        ("dart", "/* /* */ */ var x;"),
        ("dart", "void f() {"),
        ("typescript", "const x = `unterminated"),
        ("typescript", "{} /a/.test(b)"),
        ("tsx", "const x = <a href={y}>text"),
        ("java", "class A { String s = \"\n\"; }"),
        ("typescript", "a() // it's\rb()\n"),
        ("typescript", "a() // it's\u{2028}b()\n"),
        ("go", "x := 1\n"),
        ("go", "func f() { `raw }"),
        ("c", "#if A\nint f() {\n#else\nint g() {\n#endif\n}\n"),
        ("c", "#if A\nint x;\n"),
        ("c", "int f(a) int a; { return a; }"),
        ("cpp", "int x;"),
        ("klingon", "x"),
    ] {
        assert_eq!(
            split(language, source.as_bytes()),
            None,
            "{language}: {source}"
        );
    }
}

#[test]
fn nesting_beyond_the_limit_is_not_cut() {
    let nested = |n: usize| format!("fn f() {{ {}{} }}", "(".repeat(n), ")".repeat(n));
    assert!(split("rust", nested(499).as_bytes()).is_some());
    assert!(split("rust", nested(500).as_bytes()).is_none());
    for (language, open, close) in [
        ("rust", "mod m { ", "}"),
        ("dart", "class A { ", "}"),
        ("typescript", "class A { x = class { ", "}}"),
        ("typescript", "`${", "}`"),
        ("tsx", "x = <a>{", "}</a>"),
        ("dart", "var x = '${", "}';"),
        ("python", "f'{", "}'"),
    ] {
        let source = format!("{}{}", open.repeat(100_000), close.repeat(100_000));
        split(language, source.as_bytes());
    }
}

const PLANNED: &str = "\
impl First { fn a(&self) { self.x.unwrap(); self.done() } }
impl Second { fn b(&self) { self.calls_nothing_of_the_kind() } fn c(&self) {} }
impl Third { fn d(&self) { if self.e() { padding_padding_padding_padding_padding_padding_padding(); } unwrap() } }
fn unrelated() { let a_long_body = \"that makes up most of the source, so that the rest is a small share\"; }
";

fn planned(runs: &[&[&str]], shape: Shape) -> String {
    match plan("rust", &needles("rust", runs), shape, PLANNED.as_bytes()) {
        Plan::Skip => "skip".to_owned(),
        Plan::Whole => "whole".to_owned(),
        Plan::Ranges(ranges) => ranges
            .iter()
            .map(|range| PLANNED[range.clone()].trim())
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join("|"),
    }
}

#[test]
fn only_units_that_hold_every_run_are_parsed() {
    let unwrap: &[&[&str]] = &[&[".", "unwrap", "("]];
    assert_eq!(
        planned(unwrap, Shape::Inner),
        "impl First { fn a(&self) { self.x.unwrap(); self.done() } }"
    );
    assert_eq!(planned(unwrap, Shape::Block), planned(unwrap, Shape::Inner));
    assert_eq!(planned(unwrap, Shape::Whole), "whole");
    // Both runs are in the source, but in no unit together.
    assert_eq!(
        planned(&[&[".", "x"], &["calls_nothing_of_the_kind"]], Shape::Inner),
        "skip"
    );
    assert_eq!(planned(&[&["absent"]], Shape::Whole), "skip");
    assert_eq!(planned(&[&["absent"]], Shape::Block), "skip");
    assert_eq!(planned(&[&["("]], Shape::Inner), "whole");
    assert_eq!(planned(&[], Shape::Inner), "whole");
}

#[test]
fn the_header_of_a_container_can_hold_a_match_too() {
    assert_eq!(planned(&[&["Second"]], Shape::Inner), "impl Second {|}");
}

#[test]
fn blocks_are_left_out_of_what_is_kept_unless_the_pattern_may_look_into_them() {
    let deep = planned(&[&["d", "("]], Shape::Inner);
    assert_eq!(deep, "impl Third { fn d(&self) {|} }");
    let shallow = planned(&[&["d", "("]], Shape::Block);
    assert!(shallow.contains("padding_padding"), "{shallow}");
}

#[test]
fn an_outline_lacks_bodies_and_the_second_pass_has_those_of_its_places() {
    let outline = planned(&[&["fn"], &["(", ")"]], Shape::Outline);
    assert!(outline.contains("fn d(&self) {"), "{outline}");
    assert!(!outline.contains("padding"), "{outline}");
    let at = PLANNED.find("fn d").unwrap();
    let inner = PLANNED.find("if self.e").unwrap();
    let units = split("rust", PLANNED.as_bytes()).expect("it is clear");
    let Plan::Ranges(ranges) = plan_around(
        &units,
        &[at..at + 150, inner..inner + 2],
        PLANNED.as_bytes(),
    ) else {
        panic!("there is a part to leave out");
    };
    let kept: Vec<&str> = ranges
        .iter()
        .map(|range| PLANNED[range.clone()].trim())
        .collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(
        kept[0].starts_with("impl Third") && kept[0].contains("padding"),
        "{kept:?}"
    );
}

#[test]
fn python_class_needs_no_member_when_only_its_header_matches() {
    let source = "class A(Base):\n    first = 'a member that is a good deal longer than the second one'\n    x = 1\n\ndef f():\n    return 'a long text that makes the class a small share of the source, so that it pays'\n";
    let needles = needles("python", &[&["Base"]]);
    let Plan::Ranges(ranges) = plan("python", &needles, Shape::Inner, source.as_bytes()) else {
        panic!("there is a part to leave out");
    };
    let kept: String = ranges.iter().map(|range| &source[range.clone()]).collect();
    assert_eq!(kept, "class A(Base):\n");
    let units = split("python", source.as_bytes()).unwrap();
    let excerpt = Excerpt::new(source.as_bytes(), &ranges, &units);
    let text = String::from_utf8_lossy(excerpt.text()).into_owned();
    assert!(text.starts_with("class A(Base):\n    __"), "{text}");
}

#[test]
fn python_statements_are_read_without_those_around_them() {
    let source = "\
class A:
    def f(self, a):
        # Found.
        if a:
            return found(1)
        else:
            b()
        return found(2)
    def g(self):
        return found(3)
x = found(4)
match found(5):
  case 1:
      if a:
           return found(6)
class found(B):
    if a_condition_that_is_not_looked_for:
        def f(self):
            return found(7)
    y = found(8)
";
    let needles = needles("python", &[&["found", "("]]);
    let Plan::Ranges(ranges) = plan("python", &needles, Shape::Inner, source.as_bytes()) else {
        panic!("there is a part to leave out");
    };
    let units = split("python", source.as_bytes()).unwrap();
    let excerpt = Excerpt::new(source.as_bytes(), &ranges, &units);
    let text = String::from_utf8_lossy(excerpt.text());
    // What `match` and `case` say of each other stays, and so does what is around a match of its own.
    let expected = "\
if 0:
            return found(1)
if 0:
        return found(2)
        return found(3)
x = found(4)
match found(5):
  case 1:
      if 0:
           return found(6)
class found(B):
    if 0:
            return found(7)
    y = found(8)
";
    assert_eq!(text, expected);
}

#[test]
fn what_only_stands_in_long_strings_is_not_parsed() {
    let text = "found(x) ".repeat(40);
    let found = |language: &str, source: &str| {
        let needles = needles(language, &[&["found", "("]]);
        plan(language, &needles, Shape::Inner, source.as_bytes()) != Plan::Skip
    };
    let c = |quoted: &str| format!("void f(void) {{ g({quoted}); }}\n");
    let js = |quoted: &str| format!("function f() {{ g({quoted}); }}\n");
    let dart = |quoted: &str| format!("void f() {{ g({quoted}); }}\n");
    let rust = |quoted: &str| format!("fn f() {{ g({quoted}); }}\n");
    for plain in [format!("\"{text}\""), format!("\"\\\"{text}\"")] {
        assert!(!found("c", &c(&plain)));
        assert!(!found("javascript", &js(&plain)));
        assert!(!found("dart", &dart(&plain)));
        assert!(!found("rust", &rust(&plain)));
    }
    assert!(!found("rust", &rust(&format!("r#\"{text}\"#"))));
    assert!(!found("python", &format!("f('''{text}''')\n")));
    // What may hold code is looked at, and so is what stands beside a string.
    assert!(found("javascript", &js(&format!("`{text}${{x}}`"))));
    assert!(found("javascript", &js(&format!("/{text}/"))));
    assert!(found("dart", &dart(&format!("\"{text}${{x}}\""))));
    assert!(found("python", &format!("f(f'''{text}''')\n")));
    assert!(found("rust", &rust(&format!("\"{text}\", found(x)"))));
    // A pattern may mean the string itself.
    let quoted = needles("c", &[&["\"", "found(x)"]]);
    let source = c(&format!("\"{text}\""));
    assert_ne!(
        plan("c", &quoted, Shape::Inner, source.as_bytes()),
        Plan::Skip
    );
}

/// What is parsed of a source for a pattern with these tokens.
fn excerpt(language: &str, runs: &[&[&str]], shape: Shape, source: &str) -> String {
    let needles = needles(language, runs);
    let ranges = match plan(language, &needles, shape, source.as_bytes()) {
        Plan::Ranges(ranges) => ranges,
        other => panic!("{other:?} of {source}"),
    };
    let units = split(language, source.as_bytes()).unwrap();
    let excerpt = Excerpt::new(source.as_bytes(), &ranges, &units);
    let text = String::from_utf8_lossy(excerpt.text());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn statements_end_with_their_bodies() {
    let body = "\
if (a_condition) { one_thing(); } else if (b_condition) { another_thing(); } else { a_third(); }
for (;;) { found(); }
while (a_condition) { one_thing(); }
do { one_thing(); } while (a_condition);
do one_thing_that_is_long(); while (a_condition);
switch (a_value) { case 1: one_thing(); }
if (a_condition) one_thing(); else another_thing();
last_of_them_all();
";
    let source = format!("static int f(void) {{\n{body}}}\n");
    let found: &[&[&str]] = &[&["found", "("]];
    let shown = excerpt("c", found, Shape::Inner, &source);
    assert_eq!(shown, "void f(){ for (;;) { found(); } }");
    let java = format!(
        "class A {{\npublic static int f() {{\ntry {{ one_thing(); }} catch (E e) {{ another(); }} finally {{ a_third(); }}\n{body}}}\n}}\n"
    );
    #[cfg(feature = "all-languages")]
    assert_eq!(
        excerpt("java", found, Shape::Inner, &java),
        "class A { void f(){ for (;;) { found(); } } }"
    );
    assert!(java.contains("finally"));
    let script = format!("function f() {{\n{body}}}\n");
    let shown = excerpt("javascript", found, Shape::Inner, &script);
    assert_eq!(shown, "function f() { for (;;) { found(); } }");
}

#[test]
fn a_while_belongs_to_its_do_also_without_semicolons() {
    let source = "function over(a) {\n;(function () { foo(1); bar(2); })()\ndo foo(3); while (b)\nconst obj = a; const sat = { a: foo(1) };\nreturn {\n}\n{\n}\nasync function af() { await found(1); bar(2); }\n}\n";
    let shown = excerpt("javascript", &[&["found", "("]], Shape::Inner, source);
    assert!(
        !shown.contains("while") || shown.contains("do foo(3); while (b)"),
        "{shown}"
    );
}

#[test]
fn what_goes_on_behind_braces_is_no_end() {
    let source = "function f() {\nx = { a_key: a_value_of_some_length }\n.found().then(a_callback_of_some_length)\nif (a) b = function () { a_call_of_some_length() }\n.found()\n}\nfunction g() { something_else_that_is_long_enough() }\n";
    let shown = excerpt("javascript", &[&["found", "("]], Shape::Inner, source);
    assert!(shown.contains("x = {"), "{shown}");
    assert!(shown.contains("if (a) b = function () {"), "{shown}");
}

#[test]
fn a_header_stays_where_the_pattern_may_stand_in_it() {
    let source = "MACRO_THAT_THE_GRAMMAR_DOES_NOT_KNOW int\nf(int a, long b) {\n    g(a_long_argument);\n}\nint other(void) { something_else_that_is_not_needed(); }\n";
    let g: &[&[&str]] = &[&["g", "("]];
    assert_eq!(
        excerpt("c", g, Shape::Inner, source),
        "void f(){ g(a_long_argument); }"
    );
    let shown = excerpt("c", &[&["long"]], Shape::Inner, source);
    assert!(shown.starts_with("MACRO_THAT"), "{shown}");
    let shown = excerpt("c", g, Shape::Block, source);
    assert!(shown.starts_with("MACRO_THAT"), "{shown}");
    // A function is the match itself.
    let shown = excerpt(
        "c",
        &[&["f"], &["(", ")"], &["{"]],
        Shape::Outline,
        "int f() { something(); }\nint other(int with_parameters) { something_else_that_is_longer(); }\n",
    );
    assert!(shown.starts_with("int f() {"), "{shown}");
    // Branches have a header each.
    let source = "int f(int a,\n#ifdef A\n long b\n#else\n char b\n#endif\n) {\n    g(a_long_argument);\n}\nint other(void) { something_else(); }\n";
    let shown = excerpt("c", g, Shape::Inner, source);
    assert!(shown.starts_with("int f(int a,"), "{shown}");
}

#[cfg(feature = "all-languages")]
#[test]
fn headers_of_constructors_and_types_of_java_stay() {
    let found: &[&[&str]] = &[&["found", "("]];
    for (source, expected) in [
        (
            "class A { A(int x) { super(x); found(); } void g() { something_else(); } }",
            "A(int x)",
        ),
        (
            "class A { @B(1) enum C { D(found()); int x = 1; } void g() { something_else(); } }",
            "enum C",
        ),
    ] {
        let shown = excerpt("java", found, Shape::Inner, source);
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn branches_that_open_different_brackets_spoil_only_their_unit() {
    let source = "int first(void) { found_nothing_here(); }\nint f(void) {\n#ifdef A\n    if (a) {\n#else\n    if (b) {\n#endif\n        g();\n    }\n}\nint last(void) { found(a_long_argument); }\n";
    let units = split("c", source.as_bytes()).expect("the branches are seen");
    let roots: Vec<&str> = units
        .roots()
        .map(|(_, unit)| source[unit.range.clone()].trim())
        .collect();
    assert_eq!(roots.len(), 3, "{roots:#?}");
    assert!(roots[1].ends_with("}\n}"), "{roots:#?}");
    let shown = excerpt("c", &[&["found", "("]], Shape::Inner, source);
    assert_eq!(shown, "void f(){ found(a_long_argument); }");
    // One more than was opened.
    assert!(split("c", b"int f(void) {\n#ifdef A\n}\n#endif\n}\n").is_none());
}
