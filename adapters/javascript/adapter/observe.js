// What the evidence shows of a task.

import { count, decodeLossy, nothingObserved, text } from '../sdk/index.js';
import { outcome, unresolved } from './outcome.js';
import { Stream } from './stream.js';

// The labels of the programs that are started.
export const VERSION = 'version';
export const TASK = 'task';

const TOOL_STATUS = ['completed', 'failed', 'denied'];

/** Everything measured; the same for the same evidence, whenever it is asked. */
export function observations(evidence) {
  const seen = nothingObserved();
  for (const spawn of evidence.spawns(VERSION)) {
    const printed = evidence.read(`${spawn.folder}/stdout`) ?? new Uint8Array(0);
    seen.agentVersion = reportedVersion(decodeLossy(printed));
  }
  const spawn = evidence.spawns(TASK).at(-1);
  if (spawn === undefined) return seen;
  const stream = new Stream(evidence.lines(`${spawn.folder}/stdout`));
  seen.outcome = outcome(spawn, stream);
  seen.unresolved = unresolved(spawn, stream);
  seen.nativeSessionId = text(stream.start?.session);
  seen.finalMessage = stream.lastMessage;
  seen.toolCalls = stream.tools.map(toolCall);
  seen.applied.model = text(stream.start?.model);
  seen.warnings = stream.warnings;
  if (stream.usage !== null) {
    seen.usage = tokenUsage(stream.usage);
    const complete = stream.done !== null;
    const missing = complete ? [] : ['last request'];
    seen.provenance = [{ observation: 'usage', origin: 'agent', source: 'stdout:usage', complete, missing }];
  }
  if (stream.unreadable > 0) seen.extra = JSON.stringify({ unreadable_lines: stream.unreadable });
  return seen;
}

/** The version in what `--version` printed; `null` if it is something else. */
export function reportedVersion(printed) {
  return /^\s*line-agent\s+(\S+)\s*$/.exec(printed)?.[1] ?? null;
}

/** The running totals of a `usage` event. */
export function tokenUsage(event) {
  return {
    input: count(event.input),
    cachedInput: count(event.cached_input),
    cacheWriteInput: null,
    output: count(event.output),
    reasoningOutput: null,
    total: count(event.total),
  };
}

/** The tool call of a `tool` event. */
export function toolCall(event) {
  return {
    id: text(event.id) ?? '',
    name: text(event.name) ?? '',
    subAgent: null,
    status: TOOL_STATUS.includes(event.status) ? event.status : null,
    exitCode: count(event.exit_code, 2 ** 31),
    duration: count(event.duration_ms, 2 ** 32),
  };
}
