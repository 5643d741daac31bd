//! "Did you mean": the known name that is closest to an unknown one.

/// The closest of `known`; `None` if none is close enough to be what was meant.
pub(super) fn nearest<S: AsRef<str>>(
    unknown: &str,
    known: impl IntoIterator<Item = S>,
) -> Option<String> {
    let wanted = normal_form(unknown);
    // A third of the letters may be wrong: enough for a typo, too little for another word.
    let tolerance = (wanted.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| {
            (
                strsim::damerau_levenshtein(&wanted, &normal_form(name.as_ref())),
                name,
            )
        })
        .filter(|(distance, _)| *distance <= tolerance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.as_ref().to_owned())
}

/// Case and the kind of separator are what people get wrong most.
fn normal_form(name: &str) -> String {
    name.to_lowercase().replace(['-', ' ', '.'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_recognised_and_other_words_are_not() {
        let known = ["execution", "adapter", "evidence", "wire_api"];
        for (unknown, expected) in [
            ("executon", Some("execution")),
            ("Adapter", Some("adapter")),
            ("wire-api", Some("wire_api")),
            ("evidnece", Some("evidence")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(unknown, known).as_deref(), expected, "{unknown}");
        }
    }
}
