//! Stub.
pub struct Token {
    pub text: String,
    pub word: bool,
}
impl Token {
    pub fn new(text: &str) -> Token {
        Token {
            word: text.chars().all(|c| c.is_alphanumeric() || c == '_'),
            text: text.to_owned(),
        }
    }
}
pub struct TokenRun {
    pub tokens: Vec<Token>,
}
pub struct Needles {
    pub runs: Vec<TokenRun>,
    pub trivia: TriviaStyle,
}
pub struct TriviaStyle {
    pub line_comments: &'static [&'static str],
    pub optional: &'static [&'static str],
}
impl Needles {
    pub fn new(runs: Vec<TokenRun>, trivia: TriviaStyle) -> Needles {
        Needles { runs, trivia }
    }
    pub fn usable(&self) -> bool {
        self.runs
            .iter()
            .any(|r| r.tokens.iter().any(|t| t.text.len() > 1))
    }
    pub fn may_match(&self, hay: &[u8]) -> bool {
        self.runs.iter().all(|r| {
            r.tokens
                .iter()
                .all(|t| memchr::memmem::find(hay, t.text.as_bytes()).is_some())
        })
    }
}
impl Needles {
    pub fn may_nearly_match(&self, hay: &[u8]) -> bool {
        self.may_match(hay)
    }
}
