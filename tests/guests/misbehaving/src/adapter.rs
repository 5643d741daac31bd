//! The operations before a session.

use crate::behaviour::{Behaviour, Operation};
use crate::breaks::{self, breaks};
use crate::session::MisbehavingSession;
use akbench_adapter_sdk::bindings::exports::akbench::agent::agent::{Guest, Session};
use akbench_adapter_sdk::failure::failure;
use akbench_adapter_sdk::types::{
    AgentConfig, EnvironmentReport, Failure, FailureClass, SessionMode,
};
use akbench_fake_adapter::adapter::FakeAdapter;
use akbench_fake_adapter::parameters::Parameters;
use akbench_fake_adapter::session::FakeSession;
use serde_json::{Map, Value};

struct Misbehaving;

akbench_adapter_sdk::bindings::export!(Misbehaving with_types_in akbench_adapter_sdk::bindings);

impl Guest for Misbehaving {
    type Session = MisbehavingSession;

    fn validate_environment(config: AgentConfig) -> Result<EnvironmentReport, Failure> {
        let (behaviour, _, config) = split(config);
        breaks(behaviour, Operation::Validate);
        FakeAdapter::validate_environment(config)
    }

    fn start_session(config: AgentConfig) -> Result<Session, Failure> {
        let (behaviour, attack, config) = split(config);
        breaks(behaviour, Operation::Start);
        let inner = if config.mode == SessionMode::Replay {
            FakeSession::replay()
        } else {
            let parameters = Parameters::parse(&config.parameters);
            FakeSession::new(
                parameters
                    .map_err(|message| failure(FailureClass::InvalidConfiguration, message))?,
            )
        };
        let replay = config.mode == SessionMode::Replay;
        Ok(Session::new(MisbehavingSession::new(
            inner, behaviour, attack, replay,
        )))
    }
}

/// Takes the own parameters out, so that the fake adapter judges the others.
fn split(mut config: AgentConfig) -> (Behaviour, Option<String>, AgentConfig) {
    let mut parameters: Map<String, Value> =
        serde_json::from_str(&config.parameters).unwrap_or_default();
    let attack = match parameters.remove("attack") {
        Some(Value::String(attack)) => Some(attack),
        _ => None,
    };
    let named = parameters.get("behaviour").cloned().unwrap_or_default();
    let behaviour = match serde_json::from_value(named) {
        Ok(behaviour) => {
            parameters.remove("behaviour");
            behaviour
        }
        // The fake adapter has a parameter of this name too.
        Err(_) => Behaviour::None,
    };
    config.parameters = match behaviour {
        Behaviour::AcceptsAnyConfiguration => "{}".to_owned(),
        _ => Value::Object(parameters).to_string(),
    };
    breaks::remember(behaviour);
    (behaviour, attack, config)
}
