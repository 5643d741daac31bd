//! The eight operations, called once in their order: each returns in its time, without a trap.

use crate::runner::operate::Operation;
use crate::suite::case::{Case, Proof, Unproven, not_applicable};
use crate::suite::hand::{Hand, works};
use crate::suite::lab::Lab;

/// How far the operations go.
pub struct Walk {
    proofs: Vec<(Operation, Proof)>,
}

const ORDER: [Operation; 8] = [
    Operation::ValidateEnvironment,
    Operation::StartSession,
    Operation::SubmitTask,
    Operation::WaitForCompletion,
    Operation::GetStatus,
    Operation::CollectObservations,
    Operation::Cancel,
    Operation::Close,
];

/// One case for each operation.
pub fn cases() -> Vec<Case> {
    ORDER
        .into_iter()
        .map(|operation| {
            let name = operation.name();
            Case::new(
                format!("operations.{}", name.replace('-', "_")),
                format!("`{name}` returns in its time and does not trap"),
                move |lab| Box::pin(async move { lab.walk().await.proof(operation) }),
            )
        })
        .collect()
}

impl Walk {
    /// Calls them all, up to the first that breaks.
    pub async fn through(lab: &Lab) -> Self {
        let mut walk = Self { proofs: Vec::new() };
        if let Err(unproven) = walk.go(lab).await {
            let reached = ORDER.get(walk.proofs.len()).copied();
            if let Some(operation) = reached {
                walk.proofs.push((operation, Err(unproven)));
            }
        }
        walk
    }

    async fn go(&mut self, lab: &Lab) -> Proof {
        let place = lab.completing()?;
        let mut hand = lab.hand(&place).await?;
        works("validate-environment", hand.validate().await)?;
        self.passed();
        works("start-session", hand.start().await)?;
        self.passed();
        works("submit-task", hand.submit().await)?;
        self.passed();
        hand.wait_to_the_end().await?;
        self.passed();
        hand.status().await?;
        self.passed();
        hand.end_agent().await?;
        lab.remember(&hand.collect().await?);
        self.passed();
        works("cancel", hand.cancel().await)?;
        self.passed();
        works("close", hand.close().await)?;
        self.passed();
        Ok(())
    }

    fn passed(&mut self) {
        if let Some(operation) = ORDER.get(self.proofs.len()) {
            self.proofs.push((*operation, Ok(())));
        }
    }

    fn proof(&self, operation: Operation) -> Proof {
        let own = self.proofs.iter().find(|(known, _)| *known == operation);
        match own {
            Some((_, proof)) => proof.clone(),
            None => Err(self.not_reached()),
        }
    }

    fn not_reached(&self) -> Unproven {
        match self.proofs.last() {
            Some((_, Err(Unproven::NotApplicable(reason)))) => not_applicable(reason.clone()),
            Some((operation, _)) => {
                not_applicable(format!("not reached: `{}` failed", operation.name()))
            }
            None => not_applicable("not reached"),
        }
    }
}

/// A session that is started and has done nothing.
///
/// # Errors
///
/// If it can't be.
pub async fn started(lab: &Lab, place: &crate::suite::place::Place) -> Result<Hand, Unproven> {
    let mut hand = lab.hand(place).await?;
    works("validate-environment", hand.validate().await)?;
    works("start-session", hand.start().await)?;
    Ok(hand)
}
