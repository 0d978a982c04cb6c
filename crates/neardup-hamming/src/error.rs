/*! The errors of neardup's crates.

They report facts: which parameter or file, what was expected, what was found.
The layer that knows the user's options adds advice.
*/

use std::fmt;

/// The result of every call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a crate of neardup.
///
/// Opaque on purpose: callers branch on [`Error::category`] and print the value; the
/// internal fields may change.
#[derive(Debug)]
pub struct Error {
    kind: Box<Kind>,
}

/// The families of errors that a caller can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// An argument is outside what its documentation allows.
    Parameter,
    /// A text or a table passed by the caller cannot be used.
    Input,
    /// An operating system call failed: the disk is full, a file has disappeared.
    Io,
}

#[derive(Debug)]
enum Kind {
    Parameter {
        name: &'static str,
        expected: String,
        got: String,
    },
    Input {
        what: String,
        expected: String,
        got: String,
    },
    Io {
        doing: &'static str,
        source: std::io::Error,
    },
}

impl Error {
    /// The parameter `name` must be `expected`, and was `got`.
    pub fn parameter(
        name: &'static str,
        expected: impl Into<String>,
        got: impl fmt::Display,
    ) -> Self {
        Kind::Parameter {
            name,
            expected: expected.into(),
            got: shorten(got),
        }
        .into()
    }

    /// The input `what` must be `expected`, and was `got`.
    pub fn input(
        what: impl Into<String>,
        expected: impl Into<String>,
        got: impl fmt::Display,
    ) -> Self {
        Kind::Input {
            what: what.into(),
            expected: expected.into(),
            got: shorten(got),
        }
        .into()
    }

    /// An operating system call failed while `doing` something.
    pub fn io(doing: &'static str, source: std::io::Error) -> Self {
        Kind::Io { doing, source }.into()
    }

    /// The parameters of the message by name, for a caller that writes it in another language.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        match &*self.kind {
            Kind::Parameter {
                name,
                expected,
                got,
            } => vec![
                ("parameter", (*name).to_owned()),
                ("expected", expected.clone()),
                ("value", got.clone()),
            ],
            Kind::Input {
                what,
                expected,
                got,
            } => vec![
                ("what", what.clone()),
                ("expected", expected.clone()),
                ("found", got.clone()),
            ],
            Kind::Io { doing, source } => vec![
                ("doing", (*doing).to_owned()),
                ("error", source.to_string()),
            ],
        }
    }

    /// The family that this error belongs to.
    pub fn category(&self) -> Category {
        match *self.kind {
            Kind::Parameter { .. } => Category::Parameter,
            Kind::Input { .. } => Category::Input,
            Kind::Io { .. } => Category::Io,
        }
    }
}

/// Shortens an invalid value so that it fits on one line.
fn shorten(got: impl fmt::Display) -> String {
    const LIMIT: usize = 60;
    let full = got.to_string();
    match full.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}...", &full[..end]),
        None => full,
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Error {
            kind: Box::new(kind),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            Kind::Parameter {
                name,
                expected,
                got,
            } => write!(
                f,
                "The '{name}' parameter must be {expected}. Got {got} instead."
            ),
            Kind::Input {
                what,
                expected,
                got,
            } => {
                write!(f, "{what}: expected {expected}, found {got}.")
            }
            Kind::Io { doing, source } => write!(f, "While {doing}: {source}."),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.kind {
            Kind::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_category_writes_one_sentence() {
        let parameter = Error::parameter("bits", "32, 64, 128 or 256", 65);
        assert_eq!(
            parameter.to_string(),
            "The 'bits' parameter must be 32, 64, 128 or 256. Got 65 instead."
        );
        assert_eq!(parameter.category(), Category::Parameter);

        let input = Error::input("idf table", "df <= documents", "df 9 of 3");
        assert_eq!(
            input.to_string(),
            "idf table: expected df <= documents, found df 9 of 3."
        );
        assert_eq!(input.category(), Category::Input);

        let io = Error::io(
            "writing the text store",
            std::io::Error::from_raw_os_error(28),
        );
        assert_eq!(io.category(), Category::Io);
    }

    #[test]
    fn a_long_value_is_cut_at_sixty_characters() {
        let error = Error::parameter("text", "short", "字".repeat(500));
        assert!(
            error
                .to_string()
                .contains(&format!("{}...", "字".repeat(60)))
        );
        assert!(!error.to_string().contains(&"字".repeat(61)));
    }
}
