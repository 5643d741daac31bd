//! All cases, one file for each group.

mod cancellation;
mod closing;
mod completion;
mod concurrency;
mod configuration;
mod crashes;
mod environment;
mod floods;
mod interruption;
mod limits;
mod live;
mod observations;
pub mod operations;
mod real_program;
mod replay;
mod second_task;
mod secrets;
mod start;
mod status;
mod submission;
mod truncation;
mod workspace;

use super::case::{Case, Unproven, failed};
use super::stub_folder::StubError;

/// A recording that can't be varied proves nothing.
fn unusable(error: StubError) -> Unproven {
    failed(format!("the recording can't be used: {error}"))
}

/// The cases that come first, one after the other: where one of the operations does not work
/// at all, the others would only say the same many times.
pub fn first() -> Vec<Case> {
    operations::cases()
}

/// The cases that may run at the same time.
pub fn others() -> Vec<Case> {
    [
        configuration::cases(),
        environment::cases(),
        start::cases(),
        workspace::cases(),
        submission::cases(),
        completion::cases(),
        limits::cases(),
        cancellation::cases(),
        closing::cases(),
        second_task::cases(),
        status::cases(),
        observations::cases(),
        truncation::cases(),
        crashes::cases(),
        floods::cases(),
        concurrency::cases(),
        interruption::cases(),
        replay::cases(),
        secrets::cases(),
        real_program::cases(),
        live::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The cases that look at what all others observed.
pub fn last() -> Vec<Case> {
    observations::last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_case_has_a_name_of_its_own_and_says_what_it_proves() {
        let mut names = BTreeSet::new();
        for case in first().into_iter().chain(others()).chain(last()) {
            assert!(case.name.contains('.'), "{}", case.name);
            assert!(case.proves.len() > 20, "{}: {}", case.name, case.proves);
            assert!(names.insert(case.name.clone()), "{} twice", case.name);
        }
    }
}
