#!/usr/bin/env run
#![allow(dead_code)]
//! Inner doc with an unmatched { brace and a lone ' quote.

/* block /* nested } */ still a comment { */
use std::{collections::{HashMap, HashSet}, fmt};
extern crate core;

/// Doc of the constant }
#[doc = "attribute } with \" quote"]
pub const TEXT: &str = r#"raw "quoted" { text "#;
static BYTES: &[u8] = b"bytes \" }"; // trailing { comment
const CHAR: char = '}';
const QUOTE: char = '\'';
const TABLE: [u8; { 1 + 2 }] = [b'{', b'\'', 3];
const fn zero<const N: usize>() -> usize { N }
type Pair<'a> = (&'a str, fn(&'a str) -> bool);

macro_rules! shout { ($name:ident) => { println!("{}", stringify!($name)) }; }
macro_rules! paren ( () => { } );
shout! { brace }
crate::shout!(paren);

struct Unit;
struct Tuple<'a>(&'a str, char);
pub(crate) struct Named<'a, T: 'a> where T: Clone, { field: &'a T, r#type: u8 }
union Bits { int: u32, float: f32 }
enum Choice { A { x: i32 }, B(i32), C = 3 }

impl<'a, T: Clone> Named<'a, T> where T: Default, {
    const INNER: usize = { 4 };
    fn lifetime<'b>(&'b self) -> &'b str { let c = '"'; let s = "}"; if c == '\u{7d}' { s } else { "{" } }

    // A comment { between members

    pub async unsafe extern "C" fn wide(self) -> Foo<{ INNER }, { 2 }> { loop { break } }
    shout!(member);
}

impl Array<4, { 2 + 2 }> for Unit {}

pub unsafe trait Marker {}
trait Shape { type Out; fn area(&self) -> f64; fn twice(&self) -> f64 { self.area() * 2.0 } }

extern "C" { fn puts(text: *const u8) -> i32; static ENV: u8; }
extern "C" fn callback(x: i32) -> i32 { x }

mod outer {
    #![allow(unused)]
    use super::*;
    pub mod inner { fn deep() { let f = |x: u8| { x + 1 }; f(1); } #[test] fn other() {} }
    mod file;
    /* trailing } */
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() {
        assert_eq!(zero::<{ 3 }>(), 3);
        match 'x' { '{' => {} _ => {} }
        let value = if zero::<{ 3 }>() == 3 { println!("a block that is long enough to be left out, with a }}"); 1 } else { 2 };
        let named = Named { field: &"a literal that is long enough to be left out as well", r#type: b'}' };
        let closure = move |x: &str| -> bool { x.starts_with("a closure body that is long enough to be left out {") };
        for Named { field, .. } in [named] { unsafe { transmute::<_, fn()>(field, "and a nested block that is long") }; }
        write!(out, "{}", { "a block in the arguments of a macro that is long enough to be left out" });
    }
}
