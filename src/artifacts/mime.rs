//! The media type of a file: by its extension, else by what its bytes are.

use std::path::Path;

use crate::text::TextKind;

/// Extensions in lower case and their types, as IANA registers them where it does.
const TYPES: &[(&str, &str)] = &[
    ("7z", "application/x-7z-compressed"),
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("bz2", "application/x-bzip2"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    (
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    ("epub", "application/epub+zip"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ico", "image/vnd.microsoft.icon"),
    ("ipynb", "application/x-ipynb+json"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("md", "text/markdown"),
    ("mjs", "text/javascript"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("ogg", "audio/ogg"),
    ("parquet", "application/vnd.apache.parquet"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("ppt", "application/vnd.ms-powerpoint"),
    (
        "pptx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    ("rtf", "application/rtf"),
    ("sqlite", "application/vnd.sqlite3"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("toml", "application/toml"),
    ("tsv", "text/tab-separated-values"),
    ("txt", "text/plain"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("xls", "application/vnd.ms-excel"),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("xml", "application/xml"),
    ("xz", "application/x-xz"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
    ("zst", "application/zstd"),
];

/// Names the media type of a file.
pub(super) fn of(path: &Path, bytes: &[u8]) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    if let Some((_, mime)) = TYPES.iter().find(|(known, _)| *known == extension) {
        return mime;
    }
    match TextKind::of(bytes) {
        TextKind::Binary | TextKind::NotUtf8 => "application/octet-stream",
        TextKind::Utf8 | TextKind::Utf8Bom | TextKind::Utf16Le | TextKind::Utf16Be => "text/plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // R150
    #[test]
    fn types_are_told_by_name_and_then_by_content() {
        assert!(TYPES.is_sorted(), "the table is searched by people too");
        for (name, bytes, mime) in [
            ("a/Report.PDF", &b"%PDF"[..], "application/pdf"),
            ("plot.svg", b"<svg/>", "image/svg+xml"),
            ("main.rs", b"fn main() {}", "text/plain"),
            ("Makefile", b"", "text/plain"),
            ("core", b"\x7FELF\0", "application/octet-stream"),
            ("latin", b"caf\xE9", "application/octet-stream"),
        ] {
            assert_eq!(of(Path::new(name), bytes), mime, "{name}");
        }
    }
}
