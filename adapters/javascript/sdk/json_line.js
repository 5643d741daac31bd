// JSON lines, as agents print them.

import { decode, wellFormed } from './utf8.js';

/**
 * The JSON object on a line, or `null` if there is something else. Strings in it can be
 * handed to the engine: half of a surrogate pair, which JSON allows, is replaced by U+FFFD.
 */
export function jsonObject(line) {
  // Agents print megabytes of other things; this is quicker than finding out by an exception.
  if (!beginsAnObject(line.data)) return null;
  let value;
  try {
    const json = decode(line.data);
    value = JSON.parse(json);
    // Only an escape can bring half a pair in.
    if (json.includes('\\u')) value = allWellFormed(value);
  } catch {
    return null;
  }
  return isObject(value) ? value : null;
}

/** Is `{` the first byte that is no white space? */
function beginsAnObject(bytes) {
  for (const byte of bytes) {
    if (byte === 0x7b) return true;
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return false;
}

/** `value` if it is an integer from 0 up to `below`, else `null`: never a guess. */
export function count(value, below = 2 ** 53) {
  return Number.isSafeInteger(value) && value >= 0 && value < below ? value : null;
}

/** `value` if it is a string, else `null`. */
export function text(value) {
  return typeof value === 'string' ? value : null;
}

/** Is it an object, and no array? */
export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function allWellFormed(value) {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map(allWellFormed);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [wellFormed(key), allWellFormed(each)]);
  return Object.fromEntries(entries);
}
