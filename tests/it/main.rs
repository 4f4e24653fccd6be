//! The one test binary: each module holds one tool or one concern.

mod syntax_cases;
