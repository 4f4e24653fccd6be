//! Turns what travels between host and kernel into what reports hold, and replies into frames.
//!
//! Of a value's representations a report shows the richest that a transcript can show; its text is capped
//! as the output of a cell is (D25).

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;

use crate::kernel::protocol::{Return, ReturnImage, ReturnValue, ToKernel};
use crate::kernel::report::is_generic;
use crate::kernel::transcript::cap;
use crate::kernel::{CallFailure, CallReply, CellReport, Display};
use crate::limits;

/// The frame that hands the result of a bridged call to the cell.
pub(crate) fn return_line(id: u64, res: &Result<CallReply, CallFailure>) -> Vec<u8> {
    let frame = match res {
        Ok(reply) => Return {
            id,
            val: Some(ReturnValue {
                text: &reply.text,
                data: &reply.data,
                images: reply
                    .images
                    .iter()
                    .map(|image| ReturnImage {
                        mime: &image.mime,
                        data: base64::engine::general_purpose::STANDARD.encode(&image.bytes),
                    })
                    .collect(),
            }),
            err: None,
            kind: None,
            hint: None,
        },
        Err(failure) => Return {
            id,
            val: None,
            err: Some(&failure.message),
            kind: Some(&failure.kind),
            hint: failure.hint.as_deref(),
        },
    };
    ToKernel::Ret(frame).to_line()
}

/// Media types from the richest that a transcript can show to the poorest.
const RICHEST: [&str; 9] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/svg+xml",
    "text/html",
    "text/markdown",
    "text/latex",
    "application/json",
];

fn richest(data: &BTreeMap<String, String>) -> Option<&'static str> {
    RICHEST.into_iter().find(|mime| data.contains_key(*mime))
}

/// Makes the entry of one display.
pub(crate) fn display_of(mut data: BTreeMap<String, String>, spill: Option<&Path>) -> Display {
    let mime = richest(&data);
    let rich = mime.and_then(|mime| data.remove_entry(mime));
    let plain = data.remove("text/plain");
    let (plain, file) = match plain {
        Some(plain) => {
            let (plain, file) = cap(plain, spill);
            (Some(plain), file)
        }
        None => (None, None),
    };
    // A type that nobody here knows is better than nothing.
    let (rich, plain) = match (rich, plain) {
        (None, None) => (data.pop_first(), None),
        both => both,
    };
    match rich {
        Some((mime, data)) if mime.starts_with("image/") && mime != "image/svg+xml" => Display {
            mime,
            data,
            text: plain,
            file,
        },
        Some((mime, data)) => {
            let (data, data_file) = cap(data, spill);
            Display {
                mime,
                data,
                text: plain,
                file: file.or(data_file),
            }
        }
        None => Display {
            mime: "text/plain".to_owned(),
            data: plain.unwrap_or_default(),
            text: None,
            file,
        },
    }
}

/// Puts the value of the cell into the report; its picture joins the displays.
pub(crate) fn result_of(
    mut data: BTreeMap<String, String>,
    report: &mut CellReport,
    displays: &mut Vec<Display>,
    spill: Option<&Path>,
) {
    let plain = data.remove("text/plain").unwrap_or_default();
    let (shown, file) = cap(plain.clone(), spill);
    report.result = Some(shown);
    report.result_file = file;
    if let Some(mime) = richest(&data)
        && (mime.starts_with("image/") || is_generic(&plain))
        && let Some(rich) = data.remove(mime)
    {
        displays.push(display_of(BTreeMap::from([(mime.to_owned(), rich)]), spill));
    }
    data.retain(|_, form| form.len() <= limits::CELL_TEXT_BYTES);
    report.result_bundle = data;
}
