// The operations that come before a session.

import { AdapterFailure, operation } from './failures.js';
import { isObject } from './json_line.js';

/**
 * What a component exports as `agent`. `Session` is a subclass of `ProcessSession`, made with
 * the parameters and the runtime (both `null` in a session whose work is over);
 * `validate(parameters, runtime)` says whether the agent can run here, by an environment
 * report or an `AdapterFailure`.
 */
export function adapter({ Session, validate }) {
  return {
    Session,
    validateEnvironment: operation('validate-environment', (config) =>
      validate(parametersOf(config), config.runtime ?? null),
    ),
    startSession: operation('start-session', (config) => {
      if (config.mode === 'replay') {
        const session = new Session(null, null);
        session.replays = true;
        return session;
      }
      return new Session(parametersOf(config), config.runtime ?? null);
    }),
  };
}

function parametersOf(config) {
  let parameters;
  try {
    parameters = JSON.parse(config.parameters);
  } catch (error) {
    throw new AdapterFailure('invalid-configuration', `the parameters are no JSON: ${error.message}`);
  }
  if (!isObject(parameters)) {
    throw new AdapterFailure('invalid-configuration', 'the parameters are no JSON object');
  }
  return parameters;
}
