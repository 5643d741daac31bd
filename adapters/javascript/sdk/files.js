// The three folders that an adapter has: `/evidence` (read only), `/artifacts`, `/agent-home`.

import { getDirectories } from 'wasi:filesystem/preopens@0.2.12';
import { reported } from './failures.js';

const CHUNK = 256 << 10;
let granted = null;

/** Yields the bytes of a file, a chunk at a time; nothing if there is no such file. */
export function* readChunks(folder, path) {
  const file = open(folder, path, {}, { read: true });
  if (file === null) return;
  try {
    for (let offset = 0; ; ) {
      const [bytes, end] = file.read(CHUNK, offset);
      if (bytes.length > 0) yield bytes;
      offset += bytes.length;
      if (end || bytes.length === 0) return;
    }
  } finally {
    file[Symbol.dispose]?.();
  }
}

/** The names in a folder; empty if there is no such folder. */
export function list(folder, path) {
  const opened = open(folder, path, { directory: true }, { read: true });
  if (opened === null) return [];
  const entries = opened.readDirectory();
  try {
    const names = [];
    for (let entry; (entry = entries.readDirectoryEntry()) != null; ) names.push(entry.name);
    return names;
  } finally {
    entries[Symbol.dispose]?.();
    opened[Symbol.dispose]?.();
  }
}

/** Writes a whole file below `/artifacts` or `/agent-home`. */
export function writeFile(folder, path, bytes) {
  const file = preopen(folder).openAt({}, path, { create: true, truncate: true }, { write: true });
  try {
    for (let offset = 0; offset < bytes.length; ) {
      offset += file.write(bytes.subarray(offset, offset + CHUNK), offset);
    }
  } finally {
    file[Symbol.dispose]?.();
  }
}

function open(folder, path, how, rights) {
  try {
    return preopen(folder).openAt({}, path, how, rights);
  } catch (error) {
    if (reported(error) === 'no-entry') return null;
    throw error;
  }
}

function preopen(folder) {
  // Not when the module is loaded: that happens at build time, where there are none.
  granted ??= new Map(getDirectories().map(([descriptor, path]) => [path, descriptor]));
  return granted.get(folder);
}
