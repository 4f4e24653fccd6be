//! Properties of edits and patches over random texts, endings and marks.
