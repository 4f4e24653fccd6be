//! Placeholders in the command line of a worker.

/// Puts values in the place of `{name}`; what names none of them stays as it is.
///
/// It is one pass, so that a brief which speaks of `{approve}` is not changed.
pub(super) fn fill(text: &str, values: &[(String, String)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        filled.push_str(before);
        let value = from.find('}').and_then(|end| {
            let name = &from[1..end];
            let (_, value) = values.iter().find(|(known, _)| known == name)?;
            Some((value, &from[end + 1..]))
        });
        match value {
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = &from[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// Tells whether a command line has a place for `name`.
pub(super) fn mentions(argv: &[String], name: &str) -> bool {
    let place = format!("{{{name}}}");
    argv.iter().any(|word| word.contains(&place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_filled_once_and_others_stay() {
        let values = [("a", "{b}"), ("b", "2")].map(|(name, value)| (name.into(), value.into()));
        for (text, filled) in [
            ("x{a}y{b}", "x{b}y2"),
            ("{c} {a", "{c} {a"),
            ("{{b}}", "{2}"),
            ("{} }{", "{} }{"),
            ("ü{b}ü", "ü2ü"),
            ("", ""),
        ] {
            assert_eq!(fill(text, &values), filled, "{text}");
        }
        let argv = ["--x={brief}".to_owned()];
        assert!(mentions(&argv, "brief") && !mentions(&argv, "brief_file"));
    }
}
