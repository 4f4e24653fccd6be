//! What may be the name of something, by language.
//!
//! Some servers take any text for a new name and write it into the code. A name is held against the rules of
//! the language of its file before the server is asked. Where nothing is known of a language, or the present
//! name is none by its rules (a key in quotes, a path of an import), the server decides. The rules refuse
//! only what no version of a language takes: a script beyond ASCII is left to the server.

/// Why a name is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is no identifier.
    #[error("'{}' is no name in {language}: {why}", .name.escape_debug())]
    Malformed {
        /// What was given.
        name: String,
        /// The language.
        language: String,
        /// What is wrong with it.
        why: String,
    },
    /// It is a word of the language.
    #[error("'{name}' is no name in {language}: it is a reserved word")]
    Reserved {
        /// What was given.
        name: String,
        /// The language.
        language: String,
    },
}

/// What a language takes for a name.
struct Naming {
    /// As the protocol calls it.
    languages: &'static [&'static str],
    /// The characters besides ASCII letters that may begin a name; digits join behind the first.
    also: &'static str,
    beyond: Beyond,
    /// What may stand before a name and belongs to it.
    prefixes: &'static [&'static str],
    /// What may stand behind a name and belongs to it.
    suffixes: &'static [&'static str],
    /// A prefix, and perhaps a suffix, with which a reserved word is a name.
    escapes: &'static [(&'static str, &'static str)],
    /// Words with spaces between them.
    reserved: &'static str,
    /// Whether a member, which stands behind a dot, may be called like a reserved word.
    members_are_free: bool,
}

/// What may be in a name beyond ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beyond {
    /// Nothing.
    Nothing,
    /// Letters, and what joins them.
    Letters,
    /// Nearly anything that can be seen.
    Anything,
}

const DEFAULT: Naming = Naming {
    languages: &[],
    also: "_",
    beyond: Beyond::Letters,
    prefixes: &[],
    suffixes: &[],
    escapes: &[],
    reserved: "",
    members_are_free: false,
};

const C: &str = "auto break case char const continue default do double else enum extern \
    float for goto if int long register return short signed sizeof static \
    struct switch typedef union unsigned void volatile while";

/// Every language of which something is known.
const NAMINGS: &[Naming] = &[
    Naming {
        languages: &["rust"],
        prefixes: &["'"],
        escapes: &[("r#", "")],
        // `self` is none of them here: a parameter can be made the receiver by that name.
        reserved: "abstract as async await become box break const continue crate do dyn else enum \
            extern false final fn for if impl in let loop macro match mod move mut override priv \
            pub ref return Self static struct super trait true type typeof unsafe unsized use \
            virtual where while yield",
        ..DEFAULT
    },
    Naming {
        languages: &["python"],
        reserved: "False None True and as assert async await break class continue def del elif else \
            except finally for from global if import in is lambda nonlocal not or pass raise \
            return try while with yield",
        ..DEFAULT
    },
    Naming {
        languages: &[
            "typescript",
            "typescriptreact",
            "javascript",
            "javascriptreact",
        ],
        also: "_$",
        prefixes: &["#"],
        reserved: "break case catch class const continue debugger default delete do else enum export \
            extends false finally for function if import in instanceof new null return super \
            switch this throw true try typeof var void while with",
        members_are_free: true,
        ..DEFAULT
    },
    Naming {
        languages: &["go"],
        reserved: "break case chan const continue default defer else fallthrough for func go goto if \
            import interface map package range return select struct switch type var",
        ..DEFAULT
    },
    Naming {
        languages: &["c", "objective-c"],
        also: "_$",
        beyond: Beyond::Anything,
        reserved: C,
        ..DEFAULT
    },
    Naming {
        languages: &["cpp", "objective-cpp", "cuda-cpp"],
        also: "_$",
        beyond: Beyond::Anything,
        prefixes: &["~"],
        reserved: "alignas alignof and asm auto bool break case catch char class const const_cast \
            constexpr continue decltype default delete do double dynamic_cast else enum explicit \
            export extern false float for friend goto if inline int long mutable namespace new \
            noexcept not nullptr operator or private protected public register reinterpret_cast \
            return short signed sizeof static static_assert static_cast struct switch template \
            this thread_local throw true try typedef typeid typename union unsigned using \
            virtual void volatile wchar_t while xor",
        ..DEFAULT
    },
    Naming {
        languages: &["java"],
        also: "_$",
        reserved: "abstract assert boolean break byte case catch char class const continue default do \
            double else enum extends false final finally float for goto if implements import \
            instanceof int interface long native new null package private protected public \
            return short static strictfp super switch synchronized this throw throws transient \
            true try void volatile while",
        ..DEFAULT
    },
    Naming {
        languages: &["kotlin"],
        escapes: &[("`", "`")],
        reserved: "as break class continue do else false for fun if in interface is null object package \
            return super this throw true try typealias typeof val var when while",
        ..DEFAULT
    },
    Naming {
        languages: &["csharp"],
        escapes: &[("@", "")],
        reserved: "abstract as base bool break byte case catch char checked class const continue \
            decimal default delegate do double else enum event explicit extern false finally \
            fixed float for foreach goto if implicit in int interface internal is lock long \
            namespace new null object operator out override params private protected public \
            readonly ref return sbyte sealed short sizeof stackalloc static string struct switch \
            this throw true try typeof uint ulong unchecked unsafe ushort using virtual void \
            volatile while",
        ..DEFAULT
    },
    Naming {
        languages: &["dart"],
        also: "_$",
        beyond: Beyond::Nothing,
        reserved: "assert break case catch class const continue default do else enum extends false \
            final finally for if in is new null rethrow return super switch this throw true try \
            var void while with",
        ..DEFAULT
    },
    Naming {
        languages: &["swift"],
        beyond: Beyond::Anything,
        escapes: &[("`", "`")],
        reserved: "associatedtype break case catch class continue default defer deinit do else enum \
            extension fallthrough false fileprivate for func guard if import in init inout \
            internal is let nil operator private protocol public repeat rethrows return self \
            static struct subscript super switch throw throws true try typealias var where while",
        members_are_free: true,
        ..DEFAULT
    },
    Naming {
        languages: &["php"],
        beyond: Beyond::Anything,
        prefixes: &["$"],
        reserved: "abstract and array as break callable case catch class clone const continue declare \
            default do echo else elseif empty extends final finally fn for foreach function \
            global goto if implements include instanceof interface isset list match namespace \
            new or print private protected public require return static switch throw trait try \
            unset use var while xor yield",
        members_are_free: true,
        ..DEFAULT
    },
    Naming {
        languages: &["ruby"],
        beyond: Beyond::Anything,
        prefixes: &["@@", "@", "$", ":"],
        suffixes: &["?", "!", "="],
        reserved: "BEGIN END alias and begin break case class def do else elsif end ensure false for if \
            in module next nil not or redo rescue retry return self super then true undef unless \
            until when while yield",
        members_are_free: true,
        ..DEFAULT
    },
    Naming {
        languages: &["lua"],
        beyond: Beyond::Nothing,
        reserved: "and break do else elseif end false for function if in local nil not or repeat return \
            then true until while",
        ..DEFAULT
    },
    Naming {
        languages: &["zig"],
        beyond: Beyond::Nothing,
        escapes: &[("@\"", "\"")],
        reserved: "addrspace align and asm break catch comptime const continue defer else enum errdefer \
            error export extern fn for if inline noalias opaque or orelse packed pub resume \
            return struct suspend switch test threadlocal try union unreachable var volatile \
            while",
        ..DEFAULT
    },
];

impl NameError {
    /// Returns what to do instead.
    pub fn advice(&self) -> String {
        match self {
            Self::Malformed { language, .. } => {
                format!(
                    "pass a name as {language} has them: a letter first, then letters, digits, '_'"
                )
            }
            Self::Reserved { name, .. } => format!("pass another name, such as '{name}_'"),
        }
    }
}

/// Holds a new name for what stands at `at` in a text against the rules of its language.
///
/// A reserved word is refused also for a member that is declared at `at`, where a language lets members have
/// it: the text alone does not tell.
pub fn check(language: &str, text: &str, at: usize, name: &str) -> Result<(), NameError> {
    let malformed = |why: String| NameError::Malformed {
        name: name.to_owned(),
        language: match language {
            "" => "any language".to_owned(),
            language => language.to_owned(),
        },
        why,
    };
    if name.chars().any(char::is_control) {
        return Err(malformed(
            "it has a control character, such as the end of a line".to_owned(),
        ));
    }
    let of = |naming: &&Naming| naming.languages.contains(&language);
    let Some(naming) = NAMINGS.iter().find(of) else {
        return Ok(());
    };
    let before = text
        .get(..at)
        .unwrap_or_default()
        .trim_end_matches(|ch| naming.continues(ch));
    if !naming.is_name_at(text, before.len()) {
        return Ok(());
    }
    if naming.is_escaped(name) {
        return Ok(());
    }
    let bare = naming.bare(name);
    naming.shape(bare).map_err(malformed)?;
    // Three dots spread what follows them.
    let is_behind = |mark: &str| before.ends_with(mark) && !before.ends_with("..");
    let is_free = naming.members_are_free && [".", "->", "::"].into_iter().any(is_behind);
    if bare == name && naming.reserved.split(' ').any(|word| word == bare) && !is_free {
        return Err(NameError::Reserved {
            name: name.to_owned(),
            language: language.to_owned(),
        });
    }
    Ok(())
}

impl Naming {
    fn begins(&self, ch: char) -> bool {
        ch.is_ascii_alphabetic()
            || self.also.contains(ch)
            || match self.beyond {
                Beyond::Nothing => false,
                Beyond::Letters => !ch.is_ascii() && ch.is_alphabetic(),
                Beyond::Anything => !ch.is_ascii() && !ch.is_whitespace(),
            }
    }

    fn continues(&self, ch: char) -> bool {
        // Marks over letters and what joins them are no letters of their own.
        const JOINERS: [(char, char); 3] = [
            ('\u{300}', '\u{36f}'),
            ('\u{200c}', '\u{200d}'),
            ('\u{203f}', '\u{2040}'),
        ];
        self.begins(ch)
            || ch.is_ascii_digit()
            || (self.beyond != Beyond::Nothing
                && !ch.is_ascii()
                && (ch.is_alphanumeric()
                    || JOINERS.iter().any(|(from, to)| (*from..=*to).contains(&ch))))
    }

    /// Whether what begins at `at` is a name by these rules, and not a part of a text in quotes or of a path.
    fn is_name_at(&self, text: &str, at: usize) -> bool {
        let begins = text.get(at..).and_then(|rest| rest.chars().next());
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let is_quoted = matches!(before, Some('"' | '`' | '/' | '\\'))
            || (before == Some('\'') && !self.prefixes.contains(&"'"));
        begins.is_some_and(|ch| self.begins(ch)) && !is_quoted
    }

    fn is_escaped(&self, name: &str) -> bool {
        self.escapes.iter().any(|(open, close)| {
            let inner = name
                .strip_prefix(open)
                .and_then(|rest| rest.strip_suffix(close));
            // Between two marks anything goes, behind one a name.
            inner.is_some_and(|inner| match close.is_empty() {
                true => self.shape(inner).is_ok(),
                false => !inner.is_empty() && !inner.contains(close),
            })
        })
    }

    /// Returns a name without what may stand around it.
    fn bare<'a>(&self, name: &'a str) -> &'a str {
        let prefix = self
            .prefixes
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix));
        let name = prefix.unwrap_or(name);
        let suffix = self
            .suffixes
            .iter()
            .find_map(|suffix| name.strip_suffix(suffix));
        suffix.unwrap_or(name)
    }

    fn shape(&self, name: &str) -> Result<(), String> {
        let mut chars = name.chars();
        match chars.next() {
            None => return Err("it is empty".to_owned()),
            Some(ch) if !self.begins(ch) => return Err(format!("'{ch}' cannot begin one")),
            Some(_) => {}
        }
        match chars.find(|ch| !self.continues(*ch)) {
            Some(ch) => Err(format!("'{ch}' cannot be in one")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
