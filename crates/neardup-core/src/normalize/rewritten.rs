//! A text after parts of it were replaced or removed, with the place of each part in the original.

/// `begin..end`.
pub(super) type Span = (u32, u32);

/// A text made of parts of another, its original.
pub(super) struct Rewritten {
    text: String,
    /// None unless places are wanted: they may take ten times as much memory as the text.
    pieces: Option<Vec<Piece>>,
}

/// A part of the text, from `from..to` of the original. If it is not verbatim, its characters are
/// mapped to the span as a whole.
struct Piece {
    at: u32,
    from: u32,
    to: u32,
    verbatim: bool,
}

impl Rewritten {
    /// An empty text; `is_mapped` tells whether the places of its parts are wanted.
    pub(super) fn with_capacity(bytes: usize, is_mapped: bool) -> Self {
        Rewritten {
            text: String::with_capacity(bytes),
            pieces: is_mapped.then(Vec::new),
        }
    }

    /// The text by itself.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// The text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The span of each character, by the spans of the characters of the `source` that was rewritten.
    pub(super) fn spans(&self, source: &str, spans: &[Span]) -> Vec<Span> {
        let characters = self.text.char_indices();
        let mut places: Vec<Span> = characters
            .map(|(at, c)| (at as u32, (at + c.len_utf8()) as u32))
            .collect();
        self.to_original(&mut places);
        let begins: Vec<u32> = source.char_indices().map(|(at, _)| at as u32).collect();
        let before = |at: u32| begins.partition_point(|&begin| begin < at);
        for place in &mut places {
            *place = (spans[before(place.0)].0, spans[before(place.1) - 1].1);
        }
        places
    }

    /// Translates byte spans of the text to spans of the original. The spans must not decrease.
    pub(super) fn to_original(&self, spans: &mut [Span]) {
        let pieces = self.pieces.as_deref().unwrap_or_default();
        let (mut first, mut last) = (0, 0);
        for span in spans {
            let (begin, end) = *span;
            first = piece_holding(pieces, first, begin);
            last = piece_holding(pieces, last, end.saturating_sub(1));
            let (Some(opening), Some(closing)) = (pieces.get(first), pieces.get(last)) else {
                continue;
            };
            let from = match opening.verbatim {
                true => opening.from + (begin - opening.at),
                false => opening.from,
            };
            let to = match closing.verbatim {
                true => closing.from + (end - closing.at),
                false => closing.to,
            };
            *span = (from, to);
        }
    }

    /// Appends `from..to` of the original `text`.
    pub(super) fn keep(&mut self, text: &str, from: usize, to: usize) {
        if from < to {
            self.piece(from, to, true);
            self.text.push_str(&text[from..to]);
        }
    }

    /// Appends `by` in place of `from..to` of the original.
    pub(super) fn replace(&mut self, by: &str, from: usize, to: usize) {
        if !by.is_empty() {
            self.piece(from, to, false);
            self.text.push_str(by);
        }
    }

    fn piece(&mut self, from: usize, to: usize, verbatim: bool) {
        if let Some(pieces) = &mut self.pieces {
            pieces.push(Piece {
                // Texts are shorter than 4 GiB.
                at: self.text.len() as u32,
                from: from as u32,
                to: to as u32,
                verbatim,
            });
        }
    }
}

/// The piece that contains the byte `at`; it is not before the piece `from`.
fn piece_holding(pieces: &[Piece], mut from: usize, at: u32) -> usize {
    while pieces.get(from + 1).is_some_and(|next| next.at <= at) {
        from += 1;
    }
    from
}
