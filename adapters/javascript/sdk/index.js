// What an adapter in JavaScript needs besides its own knowledge of one agent.
//
// - `adapter`, `ProcessSession`: the eight operations, done; the adapter fills in the agent.
// - `Program`, `runToEnd`: starting programs and reading what they print.
// - `Evidence`: what the engine recorded; all observations come from there.
// - `known`: refusing parameters that the adapter does not know.
// - `AdapterFailure`, `failure`: saying what went wrong.
//
// Values have the shape that `wit/agent.wit` says: enums are strings, variants are
// `{tag, val}`, options are a value or `null`, names are in camel case.

export { adapter } from './adapter.js';
export { Evidence } from './evidence.js';
export { AdapterFailure, Pending, failure, reported } from './failures.js';
export { writeFile } from './files.js';
export { count, jsonObject, text } from './json_line.js';
export { LineSplitter } from './lines.js';
export { nothingObserved } from './observations.js';
export { known } from './parameters.js';
export { HOME, Program, WORKSPACE, runToEnd } from './programs.js';
export { ProcessSession } from './session.js';
export { decode, decodeLossy, encode } from './utf8.js';
