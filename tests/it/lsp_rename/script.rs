//! Renames of TypeScript and JavaScript in which a name is two things at once.

use super::*;
use crate::support::servers::{self, Alone};

/// A rename, and the files that it changes.
struct Script {
    files: &'static [(&'static str, &'static str)],
    at: (&'static str, usize, &'static str, &'static str),
    then: &'static [(&'static str, &'static str)],
}

/// The key of an object, the name in an export list and the variable are written once, and only one of them is
/// meant: the others keep their name.
const SCRIPTS: &[Script] = &[
    Script {
        files: &[
            (
                "m.ts",
                "export function calc(xs: number[]) {\n  const total = xs.length;\n  return { total };\n}\n",
            ),
            (
                "a.ts",
                "import { calc } from './m';\n\nexport const n: number = calc([1]).total;\n",
            ),
        ],
        at: ("m.ts", 2, "total", "sum"),
        then: &[(
            "m.ts",
            "export function calc(xs: number[]) {\n  const sum = xs.length;\n  return { total: sum };\n}\n",
        )],
    },
    // Every use of an import is renamed, also from one of them.
    Script {
        files: &[
            (
                "m.ts",
                "export function total(): number {\n  return 1;\n}\n",
            ),
            (
                "a.ts",
                "import { total } from './m';\n\nexport const all = { total };\nall.total();\ntotal();\n",
            ),
        ],
        at: ("a.ts", 5, "total", "sum"),
        then: &[
            ("m.ts", "export function sum(): number {\n  return 1;\n}\n"),
            (
                "a.ts",
                "import { sum } from './m';\n\nexport const all = { total: sum };\nall.total();\nsum();\n",
            ),
        ],
    },
    // The key is renamed where it is the key that is meant.
    Script {
        files: &[
            (
                "m.ts",
                "export interface P {\n  total: number;\n}\nexport function f(p: P): number {\n  const { total } = p;\n  return total;\n}\n",
            ),
            (
                "a.ts",
                "import { P } from './m';\n\nconst total = 1;\nexport const p: P = { total };\n",
            ),
        ],
        at: ("m.ts", 2, "total", "sum"),
        then: &[
            (
                "m.ts",
                "export interface P {\n  sum: number;\n}\nexport function f(p: P): number {\n  const { sum: total } = p;\n  return total;\n}\n",
            ),
            (
                "a.ts",
                "import { P } from './m';\n\nconst total = 1;\nexport const p: P = { sum: total };\n",
            ),
        ],
    },
    // A name that an import gave is renamed in that file alone.
    Script {
        files: &[
            (
                "m.ts",
                "export function total(): number {\n  return 1;\n}\n",
            ),
            (
                "a.ts",
                "import { total as all } from './m';\n\nexport const n = all();\n",
            ),
        ],
        at: ("a.ts", 3, "all", "sum"),
        then: &[(
            "a.ts",
            "import { total as sum } from './m';\n\nexport const n = sum();\n",
        )],
    },
    Script {
        files: &[
            (
                "m.js",
                "function total(xs) {\n  return xs.length;\n}\nmodule.exports = { total };\n",
            ),
            (
                "a.js",
                "const { total } = require('./m');\n\nmodule.exports.n = total([1]);\n",
            ),
        ],
        at: ("m.js", 1, "total", "sum"),
        then: &[(
            "m.js",
            "function sum(xs) {\n  return xs.length;\n}\nmodule.exports = { total: sum };\n",
        )],
    },
];

// R38: what is renamed still works.
fn renames_one_of_two(server: Alone) {
    for script in SCRIPTS {
        let mut files = vec![
            ("package.json", "{}"),
            (
                "tsconfig.json",
                "{\"compilerOptions\":{\"strict\":true,\"allowJs\":true,\"noEmit\":true,\"types\":[]}}",
            ),
        ];
        files.extend(script.files);
        let Some(project) = server.project(&files) else {
            return;
        };
        let (file, line, symbol, new_name) = script.at;
        let args = json!({"file": file, "line": line, "symbol": symbol, "new_name": new_name});
        let output = renamed_in(&project, args);
        for (name, text) in script.files {
            let then = script.then.iter().find(|(file, _)| file == name);
            let expected = then.map_or(*text, |(_, text)| text);
            let found = project.read(name).unwrap_or_default();
            assert_eq!(
                found,
                expected,
                "{} {file}:{line}: {}",
                server.id(),
                output.text
            );
        }
    }
}

#[test]
fn typescript_renames_one_of_two_things_with_a_name() {
    renames_one_of_two(servers::TYPESCRIPT);
}

#[test]
fn typescript_7_renames_one_of_two_things_with_a_name() {
    renames_one_of_two(servers::TYPESCRIPT_7);
}
