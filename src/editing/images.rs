//! Pictures, told by their first bytes.

/// The kinds of picture that model interfaces take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// Portable Network Graphics.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    WebP,
}

impl ImageKind {
    /// Looks at the first bytes of a file.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Self::Png),
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [
                b'R',
                b'I',
                b'F',
                b'F',
                _,
                _,
                _,
                _,
                b'W',
                b'E',
                b'B',
                b'P',
                ..,
            ] => Some(Self::WebP),
            _ => None,
        }
    }

    /// The media type.
    pub const fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
        }
    }

    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::WebP => "WebP",
        }
    }
}

/// Names what a binary file is, where its first bytes tell.
pub fn binary_kind(bytes: &[u8]) -> &'static str {
    match bytes {
        [b'%', b'P', b'D', b'F', b'-', ..] => "a PDF document",
        [b'P', b'K', 3, 4, ..] => "a ZIP archive or a document packed as one",
        [0x1F, 0x8B, ..] => "gzip data",
        [0x7F, b'E', b'L', b'F', ..] => "an ELF program or library",
        [b'S', b'Q', b'L', b'i', b't', b'e', b' ', ..] => "an SQLite database",
        _ => "binary",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // R143: pictures are told by what they are, not by their names.
    #[test]
    fn magic_bytes_tell_pictures() {
        let kinds: [(&[u8], Option<ImageKind>); 8] = [
            (b"\x89PNG\r\n\x1A\nxx", Some(ImageKind::Png)),
            (b"\xFF\xD8\xFF\xE0", Some(ImageKind::Jpeg)),
            (b"GIF89a", Some(ImageKind::Gif)),
            (b"GIF87a", Some(ImageKind::Gif)),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some(ImageKind::WebP)),
            (b"RIFF\0\0\0\0WAVEfmt ", None),
            (b"GIF", None),
            (b"", None),
        ];
        for (bytes, kind) in kinds {
            assert_eq!(ImageKind::of(bytes), kind, "{bytes:?}");
        }
        assert_eq!(binary_kind(b"%PDF-1.7"), "a PDF document");
        assert_eq!(binary_kind(b"\0\0"), "binary");
    }
}
