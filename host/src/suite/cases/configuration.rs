//! Configuration validation: the engine's check is the first, the adapter's the second.

use crate::contract::observed::{FailureClass, ReportedFailure};
use crate::contract::v0_1::AgentConfig;
use crate::registry::{Need, parameters};
use crate::suite::case::{Case, Proof, Unproven, failed, not_applicable, require};
use crate::suite::lab::Lab;
use serde_json::{Map, Value, json};

const UNKNOWN: &str = "akbench_suite_unknown";

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "configuration.schema_is_closed",
            "the descriptor's schema lets no parameter pass that it does not declare",
            |lab| Box::pin(schema_is_closed(lab)),
        ),
        Case::new(
            "configuration.unknown_parameter",
            "the adapter itself refuses a parameter that it does not know",
            |lab| Box::pin(unknown_parameter(lab)),
        ),
        Case::new(
            "configuration.wrong_type",
            "the adapter itself refuses each parameter if its value has the wrong type",
            |lab| Box::pin(wrong_type(lab)),
        ),
        Case::new(
            "configuration.runtime_missing",
            "an agent that needs a runtime is not started without one",
            |lab| Box::pin(runtime_missing(lab)),
        ),
        Case::new(
            "configuration.wire_api_unknown",
            "a runtime whose protocol the agent does not speak is refused",
            |lab| Box::pin(wire_api_unknown(lab)),
        ),
    ]
}

async fn schema_is_closed(lab: &Lab) -> Proof {
    let refused = parameters::parse(lab.descriptor(), &[format!("{UNKNOWN}=1")]).is_err();
    let closed = lab.descriptor().configuration_schema["additionalProperties"] == json!(false);
    require(refused && closed, || {
        "the schema lets unknown parameters pass: set `additionalProperties` to false".to_owned()
    })
}

async fn unknown_parameter(lab: &Lab) -> Proof {
    let set = |parameters: &mut Map<String, Value>| {
        parameters.insert(UNKNOWN.to_owned(), json!(1));
    };
    let failure = refusal(lab, |config| set(&mut config.parameters)).await?;
    invalid_configuration("an unknown parameter", failure)
}

async fn wrong_type(lab: &Lab) -> Proof {
    let schema = &lab.descriptor().configuration_schema;
    let Some(properties) = schema["properties"].as_object().filter(|p| !p.is_empty()) else {
        return Err(not_applicable("the agent has no parameters"));
    };
    for (name, property) in properties {
        let wrong = json!({"akbench": ["suite"]});
        // Where an object may pass, this says nothing.
        if property.get("type").is_none_or(|kind| kind == "object")
            && property.get("enum").is_none()
        {
            continue;
        }
        let failure = refusal(lab, |config| {
            config.parameters.insert(name.clone(), wrong.clone());
        })
        .await?;
        invalid_configuration(&format!("an object as `{name}`"), failure)?;
    }
    Ok(())
}

async fn runtime_missing(lab: &Lab) -> Proof {
    if lab.descriptor().runtime.need != Need::Required {
        return Err(not_applicable("the agent needs no runtime"));
    }
    let failure = refusal(lab, |config| config.runtime = None).await?;
    invalid_configuration("no runtime", failure)
}

async fn wire_api_unknown(lab: &Lab) -> Proof {
    if lab.descriptor().runtime.need == Need::None {
        return Err(not_applicable("the agent uses no runtime"));
    }
    let failure = refusal(lab, |config| {
        if let Some(runtime) = &mut config.runtime {
            runtime.wire_api = "akbench-suite-unknown".to_owned();
        }
    })
    .await?;
    invalid_configuration("an unknown wire API", failure)
}

/// The failure of the first operation that refuses a changed configuration, if any does.
async fn refusal(
    lab: &Lab,
    change: impl FnOnce(&mut AgentConfig),
) -> Result<Option<ReportedFailure>, Unproven> {
    let place = lab.completing()?;
    let mut hand = lab.hand(&place).await?;
    change(hand.config());
    if let Err(failure) = hand.validate().await? {
        return Ok(Some(failure));
    }
    Ok(hand.start().await?.err())
}

fn invalid_configuration(given: &str, failure: Option<ReportedFailure>) -> Proof {
    match failure {
        None => Err(failed(format!("{given} was accepted"))),
        Some(failure) if failure.class == FailureClass::InvalidConfiguration => Ok(()),
        Some(failure) => Err(failed(format!(
            "{given} was refused as {:?}, expected InvalidConfiguration: {}",
            failure.class, failure.message
        ))),
    }
}
