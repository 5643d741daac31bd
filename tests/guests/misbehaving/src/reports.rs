//! False reports.

use crate::behaviour::Behaviour;
use akbench_adapter_sdk::evidence::{self, Evidence, ExitStatus, GrantedEvidence};
use akbench_adapter_sdk::failure::failure;
use akbench_adapter_sdk::observations::UNKNOWN_USAGE;
use akbench_adapter_sdk::types::{Failure, FailureClass, Observations, Outcome, TokenUsage};
use wasip2::filesystem::preopens;
use wasip2::filesystem::types::{DescriptorFlags, OpenFlags, PathFlags};

/// The observations, as this behaviour falsifies them.
pub fn falsified(
    behaviour: Behaviour,
    mut seen: Observations,
    replay: bool,
    collected: u32,
) -> Result<Observations, Failure> {
    match behaviour {
        Behaviour::UnsupportedCost => seen.cost_usd = Some(0.25),
        Behaviour::ZeroForNull => {
            seen.usage = seen.usage.or(Some(TokenUsage {
                input: Some(0),
                output: Some(0),
                ..UNKNOWN_USAGE
            }));
        }
        Behaviour::InventsUsage => {
            seen.usage = Some(TokenUsage {
                input: Some(1_000),
                output: Some(1_000),
                ..UNKNOWN_USAGE
            });
        }
        Behaviour::ContradictsEvidence => seen.outcome = Some(Outcome::Completed),
        Behaviour::ExitCodeDecides if exited_well() => seen.outcome = Some(Outcome::Completed),
        Behaviour::ChangesItsAnswer => seen.final_message = Some(format!("answer {collected}")),
        Behaviour::ObservesFromMemory if replay => seen.final_message = None,
        Behaviour::Fifo => read_pipe()?,
        _ => {}
    }
    Ok(seen)
}

fn exited_well() -> bool {
    let spawns = evidence::spawns(&GrantedEvidence as &dyn Evidence).unwrap_or_default();
    let exit = spawns.last().and_then(|spawn| spawn.exit.as_ref());
    exit.is_some_and(|exit| exit.status == ExitStatus::Exited { code: 0 })
}

/// Opens a pipe that nobody writes to.
fn read_pipe() -> Result<(), Failure> {
    let denied = |what: &str| failure(FailureClass::Unknown, format!("denied: {what}"));
    let mut folders = preopens::get_directories().into_iter();
    let (home, _) = folders
        .find(|(_, path)| path == "/agent-home")
        .ok_or_else(|| denied("no home"))?;
    let pipe = home
        .open_at(
            PathFlags::empty(),
            "pipe",
            OpenFlags::empty(),
            DescriptorFlags::READ,
        )
        .map_err(|code| denied(code.name()))?;
    pipe.read(1, 0).map_err(|code| denied(code.name()))?;
    Ok(())
}
