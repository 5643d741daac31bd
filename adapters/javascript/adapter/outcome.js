// How the work ended.
//
// Completed is only what says so itself: `done` and exit 0. Everything else is classified by
// structured facts: the typed error code, then the exit status.

import { failure, text } from '../sdk/index.js';

// Typed codes of the protocol: class, and whether trying again later may help.
const CODES = new Map([
  ['connection_failed', ['network', true]],
  ['context_window_exceeded', ['context-window-exceeded', false]],
  ['model_not_found', ['model-not-found', false]],
  ['quota_exceeded', ['quota-exceeded', false]],
  ['rate_limited', ['rate-limited', true]],
  ['refused', ['agent-refusal', false]],
  ['server_error', ['provider-error', true]],
  ['unauthorized', ['authentication', false]],
]);
// SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS: the program's own doing.
const CRASHES = [4, 6, 7, 8, 11, 31];

/** The outcome; `null` if the program may have outlived its engine. */
export function outcome(spawn, stream) {
  if (spawn.exit === null) return null;
  if (stream.error !== null) return { tag: 'failed', val: reported(spawn, stream.error) };
  if (stream.done !== null && spawn.exitCode === 0) return { tag: 'completed' };
  const hung = spawn.sent.every(({ signal, reason }) => reason === 'adapter' && signal !== 'SIGINT');
  if (spawn.sent.length > 0 && !(stream.done !== null && hung)) return { tag: 'cancelled' };
  const [kind, message] = unexpectedEnd(spawn, stream);
  return { tag: 'failed', val: failure(kind, message, { exit: exitFact(spawn) }) };
}

/** What the program was still struggling with when its output stops. */
export function unresolved(spawn, stream) {
  if (stream.retry === null || stream.done !== null || stream.error !== null) return null;
  const { line, event } = stream.retry;
  const code = text(event.code);
  const [kind] = CODES.get(code) ?? ['unknown'];
  const message = `the agent was still trying again: ${text(event.message) ?? ''}`;
  return failure(kind, message, { code, source: `${spawn.folder}/stdout:${line}` }, true);
}

function reported(spawn, { line, event }) {
  const code = text(event.code);
  const [kind, retryable] = CODES.get(code) ?? ['agent-error', false];
  const facts = { exit: exitFact(spawn), code, source: `${spawn.folder}/stdout:${line}` };
  return failure(kind, text(event.message) ?? '', facts, retryable);
}

function unexpectedEnd(spawn, stream) {
  if (stream.done !== null) {
    return spawn.sent.length > 0
      ? ['agent-crash', 'the agent said that it was done and did not exit']
      : ['agent-crash', `the agent said that it was done and ended with ${words(spawn)}`];
  }
  if (spawn.exitSignal !== null) {
    const kind = CRASHES.includes(spawn.exitSignal) ? 'agent-crash' : 'unknown';
    return [kind, `the agent was ended by ${words(spawn)}, which the engine did not send`];
  }
  if (stream.unreadable > 0) {
    return ['agent-protocol-error', 'the agent printed lines that are no JSON objects'];
  }
  return ['agent-crash', `the agent ended with ${words(spawn)} and without \`done\``];
}

function words(spawn) {
  return spawn.exitSignal !== null ? `signal ${spawn.exitSignal}` : `exit ${spawn.exitCode}`;
}

function exitFact(spawn) {
  return spawn.exitSignal !== null ? { signalled: spawn.exitSignal } : { exited: spawn.exitCode };
}
