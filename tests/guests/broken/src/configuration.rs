//! What the session is configured with, and the breaks in checking that.

use crate::breaks::Break;
use akbench_adapter_sdk::failure::failure;
use akbench_adapter_sdk::types::{AgentConfig, Failure, FailureClass};
use akbench_fake_adapter::parameters::Parameters;
use serde_json::{Map, Value};

/// The protocol that the agent speaks.
const WIRE_API: &str = "lines";

/// A configuration, without the parameters that the tests add to it.
pub struct Configured {
    /// What is left for the adapter.
    pub config: AgentConfig,
    /// What is broken.
    pub broken: Break,
    /// A second task continues the first.
    pub continues: bool,
}

impl Configured {
    /// Takes out what is not the adapter's.
    pub fn split(mut config: AgentConfig) -> Self {
        let mut parameters: Map<String, Value> =
            serde_json::from_str(&config.parameters).unwrap_or_default();
        let broken = parameters.remove("break").unwrap_or_default();
        let broken = serde_json::from_value(broken).unwrap_or_default();
        let continues = parameters.remove("continues") == Some(Value::Bool(true));
        match broken {
            Break::UnknownParameterTaken => parameters.retain(|name, _| name == "behaviour"),
            Break::WrongTypeTaken => parameters.retain(|_, value| !value.is_object()),
            _ => {}
        }
        config.parameters = Value::Object(parameters).to_string();
        Self {
            config,
            broken,
            continues,
        }
    }

    /// What the adapter checks itself, the engine's checks notwithstanding.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check(&self) -> Result<(), Failure> {
        let invalid = |message: String| failure(FailureClass::InvalidConfiguration, message);
        Parameters::parse(&self.config.parameters).map_err(invalid)?;
        match &self.config.runtime {
            None if self.broken == Break::NoRuntimeNeeded => Ok(()),
            None => Err(invalid("the agent needs a runtime".to_owned())),
            Some(runtime) if runtime.wire_api == WIRE_API => Ok(()),
            Some(_) if self.broken == Break::AnyWireApi => Ok(()),
            Some(runtime) => Err(invalid(format!(
                "the agent speaks `{WIRE_API}`, and the runtime `{}`",
                runtime.wire_api
            ))),
        }
    }
}
