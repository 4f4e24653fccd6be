//! Finds the names that a misspelt one was probably meant to be.

/// Returns up to three candidates that are near `name`, nearest first.
///
/// Case and the separators `_` and `-` do not count, because models mix those up most often.
pub(crate) fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Vec<&'a str> {
    let wanted = fold(name);
    // A long name would cost quadratic time and is no slip of the pen.
    if wanted.is_empty() || wanted.len() > 64 {
        return Vec::new();
    }
    let mut near: Vec<(usize, &str)> = candidates
        .iter()
        .filter_map(|candidate| {
            let folded = fold(candidate);
            let distance = distance(&wanted, &folded);
            (distance <= (wanted.len().min(folded.len()) / 3).max(1))
                .then_some((distance, *candidate))
        })
        .collect();
    near.sort_unstable();
    near.into_iter()
        .take(3)
        .map(|(_, candidate)| candidate)
        .collect()
}

fn fold(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Counts insertions, deletions, replacements and swaps of neighbours.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, &a) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, &b) in right.iter().enumerate() {
            let mut best = (row[j] + usize::from(a != b))
                .min(row[j + 1] + 1)
                .min(next[j] + 1);
            if i > 0 && j > 0 && a == right[j - 1] && left[i - 1] == b {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        let names = ["ast_edit", "ast_grep", "lsp", "lsp_rename", "resolve"];
        assert_eq!(nearest("ast-grep", &names), ["ast_grep"]);
        assert_eq!(nearest("AstGrpe", &names), ["ast_grep"]);
        assert_eq!(nearest("resolv", &names), ["resolve"]);
        assert_eq!(nearest("lps", &names), ["lsp"]);
        assert!(nearest("bash", &names).is_empty());
        assert!(nearest("", &names).is_empty());
        assert!(nearest(&"x".repeat(100_000), &names).is_empty());
    }
}
