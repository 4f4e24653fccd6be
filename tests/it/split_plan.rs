//! Where sources are cut, when they are not, and what a plan chooses to parse.

use expect_test::{Expect, expect};
use toolbox::syntax::split::{Plan, Shape, plan, plan_around, split};

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
fn python_class_keeps_a_member_when_only_its_header_matches() {
    let source = "class A(Base):\n    first = 'a member that is a good deal longer than the second one'\n    x = 1\n\ndef f():\n    return 'a long text that makes the class a small share of the source, so that it pays'\n";
    let needles = needles("python", &[&["Base"]]);
    let Plan::Ranges(ranges) = plan("python", &needles, Shape::Inner, source.as_bytes()) else {
        panic!("there is a part to leave out");
    };
    let kept: String = ranges.iter().map(|range| &source[range.clone()]).collect();
    assert_eq!(kept, "class A(Base):\n    x = 1\n\n");
}
