//! Whether every response of the model left its usage: what a response brought stands in the
//! session file, and its usage beside it, unless the endpoint sent none or the stream broke.
//!
//! What the model wrote between two inputs (tool outputs, messages to it) is one response, or
//! several that can't be told apart; so fewer may be seen than there were, never more.

/// The responses of one turn, counted by what they brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Responses {
    /// Seen by their output.
    seen: u32,
    /// The output of the last one goes on.
    open: bool,
    /// The last one has a record of its own.
    recorded: bool,
    /// One without such a record came before the last one.
    skipped: bool,
    /// How often the running total grew.
    growths: u32,
}

impl Responses {
    /// The model wrote something.
    pub fn output(&mut self) {
        if !self.open {
            self.skipped |= self.seen > 0 && !self.recorded;
            self.seen += 1;
            self.open = true;
            self.recorded = false;
        }
    }

    /// The model was given something.
    pub fn input(&mut self) {
        self.open = false;
    }

    /// The usage of one response was recorded, which happens after its output.
    pub fn record(&mut self) {
        self.recorded = true;
    }

    /// The running total grew, which happens once for a response, before or after its output.
    pub fn growth(&mut self) {
        self.growths += 1;
    }

    /// True if the model wrote anything.
    pub fn any(self) -> bool {
        self.seen > 0
    }

    /// How often the running total grew.
    pub fn growths(self) -> u32 {
        self.growths
    }

    /// True if a response left no record of its own.
    pub fn lack_records(self) -> bool {
        self.skipped || (self.seen > 0 && !self.recorded)
    }

    /// True if there were more responses than the running total grew.
    pub fn lack_growth(self) -> bool {
        self.growths < self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `o`utput, `i`nput, `r`ecord, `g`rowth.
    fn after(steps: &str) -> Responses {
        let mut responses = Responses::default();
        for step in steps.chars() {
            match step {
                'o' => responses.output(),
                'i' => responses.input(),
                'r' => responses.record(),
                _ => responses.growth(),
            }
        }
        responses
    }

    #[test]
    fn a_response_without_a_record_is_noticed_wherever_it_stands() {
        for (steps, lack) in [
            ("", false),
            ("ior", false),
            ("ioorior", false),
            ("iorio", true),
            ("ioior", true),
            ("iorioior", true),
            ("ior ior r", false),
        ] {
            assert_eq!(after(steps).lack_records(), lack, "{steps}");
        }
    }

    #[test]
    fn the_total_may_grow_before_or_after_the_output() {
        for (steps, lack) in [
            ("goigo", false),
            ("ogiog", false),
            ("goio", true),
            ("", false),
        ] {
            assert_eq!(after(steps).lack_growth(), lack, "{steps}");
        }
    }
}
