// What the engine recorded: the only thing from which observations may be derived.

import { AdapterFailure, reported } from './failures.js';
import { list, readChunks } from './files.js';
import { isObject } from './json_line.js';
import { LineSplitter } from './lines.js';
import { decode } from './utf8.js';

const ROOT = '/evidence';

/**
 * A program that was started: `number` (from 1 within the session), `label` (as the adapter
 * named it), `folder` (relative to the evidence) and `exit` (how it ended, as `exit.json`
 * says; `null` if its end was not recorded).
 */
export class Spawn {
  constructor(number, label, folder, exit) {
    Object.assign(this, { number, label, folder, exit });
  }

  /** What it returned; `null` if a signal ended it or its end was not recorded. */
  get exitCode() {
    return this.exit?.status?.code ?? null;
  }

  /** The signal that ended it; `null` if it returned or its end was not recorded. */
  get exitSignal() {
    return this.exit?.status?.signal ?? null;
  }

  /**
   * The signals that the engine sent, in order, as `{signal, reason}`, but for those that
   * ended leftovers after the program's own end.
   */
  get sent() {
    return (this.exit?.signals ?? []).filter((each) => each.reason !== 'leftovers');
  }
}

/** The evidence of this session. */
export class Evidence {
  /** The programs that were started, in order; with `label`, those named so. */
  spawns(label = null) {
    const found = [];
    for (const name of readable('spawns', () => list(ROOT, 'spawns'))) {
      const parts = /^(\d+)-(.*)$/.exec(name);
      if (parts === null || (label !== null && parts[2] !== label)) continue;
      const folder = `spawns/${name}`;
      found.push(new Spawn(Number(parts[1]), parts[2], folder, this.#record(`${folder}/exit.json`)));
    }
    return found.sort((one, other) => one.number - other.number);
  }

  /**
   * Yields the lines of a file, one chunk of it in memory at a time; nothing if there is no
   * such file.
   */
  *lines(path) {
    const splitter = new LineSplitter();
    const chunks = readChunks(ROOT, path);
    for (;;) {
      const { done, value } = readable(path, () => chunks.next());
      if (done) break;
      yield* splitter.push(value);
    }
    yield* splitter.finish();
  }

  /** A whole file as bytes; `null` if there is none, or nothing in it. */
  read(path) {
    const chunks = readable(path, () => [...readChunks(ROOT, path)]);
    if (chunks.length === 0) return null;
    const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let at = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return bytes;
  }

  #record(path) {
    const bytes = this.read(path);
    if (bytes === null) return null;
    try {
      const record = JSON.parse(decode(bytes));
      return isObject(record) ? record : null;
    } catch {
      // Torn by a crash: as good as absent.
      return null;
    }
  }
}

function readable(path, read) {
  try {
    return read();
  } catch (error) {
    // The codes of `wasi:filesystem` are plain words; anything else is a mistake here.
    const code = reported(error);
    if (typeof code !== 'string') throw error;
    throw new AdapterFailure('unknown', `evidence file \`${path}\` could not be read: ${code}`);
  }
}
