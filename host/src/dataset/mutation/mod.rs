//! Mutations: deterministic changes of a pristine workspace, chosen by a seed, so that a task
//! has many variants and can't be answered from memory.

mod apply;
mod operation;
mod unified;

pub use apply::{OperationError, apply};
pub use operation::{ApplyDiff, Delete, Operation, Rename, ReplaceRegex, ReplaceText, WriteFile};

use crate::digest::Sha256;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A point at which variants of a task differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutation {
    /// Names the point, within its task.
    pub id: String,
    /// One of these is applied. Never empty in a descriptor that was loaded.
    pub alternatives: Vec<Alternative>,
}

/// One way in which a variant can differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// Names it, within its mutation.
    pub id: String,
    /// What is done, in this order. Empty: the pristine workspace is this variant.
    #[serde(default)]
    pub operations: Vec<Operation>,
}

/// An alternative that a seed chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The mutation.
    pub mutation: String,
    /// The alternative.
    pub alternative: String,
    /// What was done.
    pub operations: Vec<Operation>,
}

impl fmt::Display for Choice {
    /// As it stands in the result: `mutation=alternative`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.mutation, self.alternative)
    }
}

/// What a seed chooses of each mutation, in their order.
pub fn choose(task_id: &str, mutations: &[Mutation], seed: u64) -> Vec<Choice> {
    mutations
        .iter()
        .filter_map(|mutation| {
            let at = index(task_id, &mutation.id, seed, mutation.alternatives.len())?;
            let chosen = mutation.alternatives.get(at)?;
            Some(Choice {
                mutation: mutation.id.clone(),
                alternative: chosen.id.clone(),
                operations: chosen.operations.clone(),
            })
        })
        .collect()
}

/// Which of `count` alternatives a seed chooses; `None` if there are none.
///
/// The rule must never change, or old seeds would mean other variants: the first eight bytes,
/// big-endian, of the SHA-256 of `akbench.mutation/1`, the task's id, the mutation's id and
/// the seed in decimal, each followed by a newline, modulo the count. Each mutation is drawn
/// by itself, so that a new one leaves the others as they are.
fn index(task_id: &str, mutation_id: &str, seed: u64, count: usize) -> Option<usize> {
    let text = format!("akbench.mutation/1\n{task_id}\n{mutation_id}\n{seed}\n");
    let digest = Sha256::of(text.as_bytes()).to_string();
    let drawn = u64::from_str_radix(digest.get(..16)?, 16).ok()?;
    usize::try_from(drawn.checked_rem(u64::try_from(count).ok()?)?).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_a_seed_chooses_never_changes() {
        let chosen: Vec<_> = (0..12)
            .map(|seed| index("wordcount-001", "order", seed, 3).unwrap())
            .collect();
        // Written down once. A change here breaks every recorded seed.
        assert_eq!(chosen, [2, 0, 1, 2, 1, 1, 1, 2, 1, 0, 0, 0]);
    }

    #[test]
    fn mutations_are_drawn_independently_and_every_alternative_comes_up() {
        for count in 1..=5 {
            let mut seen = vec![false; count];
            for seed in 0..100 {
                seen[index("task", "point", seed, count).unwrap()] = true;
            }
            assert!(seen.iter().all(|seen| *seen), "{count}");
        }
        let both: Vec<_> = (0..50)
            .map(|seed| (index("t", "a", seed, 2), index("t", "b", seed, 2)))
            .collect();
        assert!(both.iter().any(|(a, b)| a == b) && both.iter().any(|(a, b)| a != b));
        assert_eq!(index("t", "a", 0, 0), None);
    }
}
