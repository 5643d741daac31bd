'use strict';

const rules = require('./rules.json');

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function set(object, key, value) {
  Object.defineProperty(object, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function copy(value, inArray = false) {
  if (Array.isArray(value)) return value.map((element) => copy(element, true));
  if (!isObject(value)) return value;
  const result = {};
  for (const key of Object.keys(value)) set(result, key, copy(value[key], inArray));
  return result;
}

// What is in the second alone loses its nulls too, unless it lies in an array.
function taken(value) {
  if (!isObject(value)) return copy(value);
  return merge({}, value);
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

function mergeArrays(first, second) {
  if (rules.arrays === 'replace') return copy(second);
  const all = [...copy(first), ...copy(second)];
  if (rules.arrays === 'append') return all;
  const seen = new Set();
  return all.filter((element) => {
    const text = canonical(element);
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}

function merge(base, over) {
  const result = copy(base);
  for (const key of Object.keys(over)) {
    const [first, second] = [Object.hasOwn(base, key) ? base[key] : undefined, over[key]];
    if (second === null && rules.null === 'deletes') delete result[key];
    else if (isObject(first) && isObject(second)) set(result, key, merge(first, second));
    else if (Array.isArray(first) && Array.isArray(second)) {
      set(result, key, mergeArrays(first, second));
    } else set(result, key, taken(second));
  }
  return result;
}

module.exports = { merge };
