// Starting programs and reading what they print.

import { spawn } from 'akbench:agent/process@0.1.0';
import { AdapterFailure, Pending, reported } from './failures.js';
import { LineSplitter } from './lines.js';
import { decodeLossy, encode } from './utf8.js';

/** Bytes that are read at once. */
const CHUNK = 64 << 10;
/** Bytes of a probe's output that are looked at. */
const PROBE_OUTPUT = 64 << 10;
/** Longer than any probe takes: the engine's deadline comes first. In milliseconds. */
const PROBE_TIME = 60_000;

/** Pieces of an environment variable's value. */
export const WORKSPACE = { tag: 'path', val: 'workspace' };
export const HOME = { tag: 'path', val: 'agent-home' };

/** A running program. What it prints is also kept by the engine, as evidence. */
export class Program {
  #child;
  #splitter = new LineSplitter();
  #ready = [];
  #next = 0;
  #ended = false;

  /**
   * Starts `program`, as the descriptor names it, in the workspace. `env` maps names to a
   * text or a list of pieces (`WORKSPACE`, `HOME`, `{tag: 'credential', val: name}`); `stdin`
   * is a text, or absent for an empty input.
   */
  constructor({ program, label, args = [], env = {}, stdin = null }) {
    const command = {
      program,
      label,
      args,
      env: Object.entries(env).map(([name, value]) => [name, pieces(value)]),
      cwd: 'workspace',
      stdin: stdin === null ? { tag: 'closed' } : { tag: 'bytes', val: encode(stdin) },
    };
    try {
      this.#child = spawn(command);
    } catch (error) {
      throw notStarted(program, error);
    }
  }

  /**
   * Yields what the program prints until it closes stdout. Throws `Pending` if nothing came
   * within `timeout` milliseconds; call it again to go on.
   */
  *lines(timeout) {
    for (;;) {
      // Taking lines off the front would move all others each time.
      while (this.#next < this.#ready.length) yield this.#ready[this.#next++];
      if (this.#ended) return;
      const output = waited(() => this.#child.readStdout(CHUNK, timeout));
      if (output.tag === 'timed-out') throw new Pending(false);
      if (output.tag === 'end') {
        this.#ended = true;
        this.#ready = this.#splitter.finish();
      } else {
        this.#ready = this.#splitter.push(output.val);
      }
      this.#next = 0;
    }
  }

  /** How it ended. Throws `Pending` if it still runs after `timeout` milliseconds. */
  exit(timeout) {
    const status = waited(() => this.#child.wait(timeout));
    if (status == null) throw new Pending(false);
    return status;
  }

  /** Sends it SIGINT. */
  interrupt() {
    this.#child.signal('interrupt');
  }

  /** Ends it and everything it started, at the latest after `grace` milliseconds. */
  terminate(grace) {
    return this.#child.terminate(grace);
  }

  /**
   * Lets go of it; what still runs is ended. Nothing here relies on the garbage collector,
   * which may come late.
   */
  release() {
    this.#child?.[Symbol.dispose]?.();
    this.#child = undefined;
  }

  /** The first bytes of `stdout` or `stderr`, as text, read to its end. */
  readAll(stream, timeout) {
    const read = stream === 'stdout' ? 'readStdout' : 'readStderr';
    const kept = [];
    for (;;) {
      const output = waited(() => this.#child[read](PROBE_OUTPUT, timeout));
      if (output.tag === 'timed-out') throw new Pending(false);
      if (output.tag === 'end') return decodeLossy(Uint8Array.from(kept));
      for (const byte of output.val.subarray(0, PROBE_OUTPUT - kept.length)) kept.push(byte);
    }
  }
}

/**
 * Runs a short probe: `{status, stdout, stderr}`. Throws `Pending` if the engine's deadline
 * comes first.
 */
export function runToEnd(command) {
  const running = new Program(command);
  try {
    const stdout = running.readAll('stdout', PROBE_TIME);
    const stderr = running.readAll('stderr', PROBE_TIME);
    return { status: running.exit(PROBE_TIME), stdout, stderr };
  } finally {
    running.release();
  }
}

function waited(call) {
  try {
    return call();
  } catch (error) {
    throw reported(error) === 'interrupted' ? new Pending(true) : error;
  }
}

function pieces(value) {
  return typeof value === 'string' ? [{ tag: 'text', val: value }] : value;
}

const REASONS = {
  'not-granted': (what) => `the descriptor does not grant \`${what}\``,
  'not-found': (what) => `the program was not found: ${what}`,
  'not-executable': (what) => `it cannot be executed: ${what}`,
  limit: (what) => `a limit of the host: ${what}`,
  failed: (what) => what,
};

function notStarted(program, error) {
  const { tag, val } = reported(error);
  const reason = REASONS[tag];
  if (reason === undefined) return error;
  const message = `\`${program}\` could not be started: ${reason(val)}`;
  return new AdapterFailure('environment-invalid', message, { spawn: tag.replace('-', '_') });
}
