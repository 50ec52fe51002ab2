//! Names as callers give them, and the library's words for an option as Python's keyword for it.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Names in one text, with commas between them, or in any iterable of texts.
pub(crate) fn names_of(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(list) = given.cast::<PyString>() {
        return Ok(list.to_string().split(',').map(|name| name.trim().to_string()).collect());
    }
    let wrong = || {
        let shown = given.repr().map_or_else(|_| "that".into(), |shown| shown.to_string());
        PyTypeError::new_err(format!(
            "{argument}={shown}: give names, in a list or in one text with commas"
        ))
    };
    let names = given.try_iter().map_err(|_| wrong())?;
    names.map(|name| name?.extract::<String>().map_err(|_| wrong())).collect()
}

/// Texts of records that say what to type: the command's option, and the keyword that does the same.
const OPTIONS: [(&str, &str); 3] = [
    (
        "--ops read,write,flush leaves TRIMs out",
        "operations=\"read,write,flush\" of the Trace leaves TRIMs out",
    ),
    ("--drive-state twice replays", "drive_state=\"twice\" replays"),
    ("--device K replays", "device=K of the Trace replays"),
];

/// A text of a record with keywords in place of options. The record itself stays as it was sealed.
pub(crate) fn in_keywords(text: &str) -> String {
    OPTIONS.iter().fold(text.into(), |text, (option, keyword)| text.replace(option, keyword))
}

/// A message with `set={"key": value}` in place of each `--set key=value` of these settings.
pub(crate) fn set_in_keywords(message: String, settings: &[String]) -> String {
    // A place names several together; a wrong setting stands alone.
    let together = format!("--set {}", settings.join(" --set "));
    let message = message
        .replace(&together, &as_keyword(settings))
        .replace("use --spare, the share", "use the keyword spare, the share")
        .replace("; use --seed", "; seeds are of a Job, a review or a sweep")
        .replace("`fourcorners drives NAME --toml` shows", "Drive(NAME).values shows");
    settings.iter().fold(message, |message, one| {
        message.replace(&format!("--set {one}"), &as_keyword(std::slice::from_ref(one)))
    })
}

/// `set={"key": value}`.
fn as_keyword(settings: &[String]) -> String {
    let pairs = settings.iter().map(|setting| {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let is_plain = value.parse::<f64>().is_ok();
        match (is_plain, value) {
            (true, _) => format!("{key:?}: {value}"),
            (false, "true") => format!("{key:?}: True"),
            (false, "false") => format!("{key:?}: False"),
            (false, text) => format!("{key:?}: {text:?}"),
        }
    });
    format!("set={{{}}}", pairs.collect::<Vec<_>>().join(", "))
}
