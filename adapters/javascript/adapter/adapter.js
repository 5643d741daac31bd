// The adapter `echo-javascript`: runs a program that speaks the line protocol.

import { emit } from 'akbench:agent/events@0.1.0';
import {
  AdapterFailure,
  HOME,
  ProcessSession,
  Program,
  adapter,
  jsonObject,
  known,
  runToEnd,
  text,
} from '../sdk/index.js';
import { TASK, VERSION, observations, reportedVersion, tokenUsage, toolCall } from './observe.js';

const PROGRAM = 'line-agent';
// Where the agent keeps its own files.
const ENVIRONMENT = { LINE_AGENT_HOME: [HOME] };

class Session extends ProcessSession {
  constructor(parameters) {
    super();
    this.parameters = parameters;
  }

  start(task) {
    const args = ['run'];
    if (this.parameters.model !== undefined) args.push('--model', this.parameters.model);
    return new Program({ program: PROGRAM, label: TASK, args, env: ENVIRONMENT, stdin: task.instruction });
  }

  follow(line) {
    const event = jsonObject(line) ?? {};
    switch (event.type) {
      case 'start':
        emit({ tag: 'turn-started' });
        break;
      case 'message':
      case 'warning':
        if (text(event.text)) emit({ tag: event.type, val: event.text });
        break;
      case 'tool':
        emit({ tag: 'tool-finished', val: toolCall(event) });
        break;
      case 'usage':
        emit({ tag: 'usage', val: tokenUsage(event) });
        break;
      case 'done':
        emit({ tag: 'turn-finished', val: null });
        return 'completed';
      case 'error':
        return 'failed';
    }
    return null;
  }

  observe(evidence) {
    return observations(evidence);
  }
}

function validate(parameters) {
  known(parameters, { model: 'string' });
  const ended = runToEnd({ program: PROGRAM, label: VERSION, args: ['--version'], env: ENVIRONMENT });
  const agentVersion = reportedVersion(ended.stdout);
  if (agentVersion === null) {
    throw new AdapterFailure(
      'environment-invalid',
      '`line-agent --version` did not print `line-agent` and a version; check that the program ' +
        'found is the right one',
      { exit: { [ended.status.tag]: ended.status.val } },
    );
  }
  return { agentVersion, notes: [] };
}

export const agent = adapter({ Session, validate });
