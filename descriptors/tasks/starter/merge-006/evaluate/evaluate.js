'use strict';

// Merges settings that nobody has seen, in a process of its own. 0: passed, 10: not.

const assert = require('assert');
const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const workspace = process.env.AKBENCH_WORKSPACE;
const prepared = process.env.AKBENCH_PREPARED;
const variant = JSON.parse(fs.readFileSync(process.env.AKBENCH_VARIANT, 'utf8')).mutations;
const deletes = { deletes: true, 'is-a-value': false }[variant.nothing];
if (deletes === undefined || !['replace', 'append', 'union'].includes(variant.arrays)) process.exit(2);

// base, over, then what comes out; where variants differ, a function of the choices.
const arrays = (replace, append, union) => ({ replace, append, union })[variant.arrays];
const gone = (without, withNull) => (deletes ? without : withNull);
const CASES = [
  ['{"a":1}', '{"b":2}', '{"a":1,"b":2}'],
  ['{"a":{"x":1,"y":{"z":1}}}', '{"a":{"y":{"w":2}}}', '{"a":{"x":1,"y":{"z":1,"w":2}}}'],
  ['{"a":{"x":1}}', '{"a":5}', '{"a":5}'],
  ['{"a":5}', '{"a":{"x":[1]}}', '{"a":{"x":[1]}}'],
  ['{"a":[1]}', '{"a":{"0":2}}', '{"a":{"0":2}}'],
  ['{"a":null}', '{"a":{"b":1}}', '{"a":{"b":1}}'],
  ['{"a":null,"b":0}', '{"b":false}', '{"a":null,"b":false}'],
  ['{"a":1,"b":2}', '{"a":null}', gone('{"b":2}', '{"a":null,"b":2}')],
  ['{"a":{"b":1,"c":2}}', '{"a":{"b":null,"d":null}}', gone('{"a":{"c":2}}', '{"a":{"b":null,"c":2,"d":null}}')],
  ['{"a":[1,2]}', '{"a":[2,3,null]}', arrays('{"a":[2,3,null]}', '{"a":[1,2,2,3,null]}', '{"a":[1,2,3,null]}')],
  [
    '{"a":[{"x":1,"y":[2]},1]}',
    '{"a":[{"y":[2],"x":1},"1"]}',
    arrays(
      '{"a":[{"y":[2],"x":1},"1"]}',
      '{"a":[{"x":1,"y":[2]},1,{"y":[2],"x":1},"1"]}',
      '{"a":[{"x":1,"y":[2]},1,"1"]}',
    ),
  ],
  ['{"__proto__":{"x":1}}', '{"__proto__":{"y":2}}', '{"__proto__":{"x":1,"y":2}}'],
  ['{}', '{"constructor":{"a":1},"toString":[1]}', '{"constructor":{"a":1},"toString":[1]}'],
];

// In the agent's process: merges, and checks what must hold of any merge.
const DRIVER = `
  const { merge } = require(process.argv[1]);
  const inside = (value, found = new Set()) => {
    if (typeof value === 'object' && value !== null) {
      found.add(value);
      for (const key of Object.keys(value)) inside(value[key], found);
    }
    return found;
  };
  const one = ([baseText, overText]) => {
    const [base, over] = [JSON.parse(baseText), JSON.parse(overText)];
    let result;
    try {
      result = merge(base, over);
    } catch (error) {
      return { error: String(error) };
    }
    const theirs = new Set([...inside(base), ...inside(over)]);
    const shares = [...inside(result)].some((value) => theirs.has(value));
    return { result, base, over, shares, polluted: {}.y !== undefined };
  };
  const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  console.log(JSON.stringify(cases.map(one)));
`;

function answers() {
  const ran = spawnSync(process.execPath, ['-e', DRIVER, path.join(workspace, 'lib/merge.js')], {
    cwd: workspace,
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
    input: JSON.stringify(CASES),
    timeout: 20000,
    killSignal: 'SIGKILL',
  });
  try {
    const found = JSON.parse(String(ran.stdout));
    if (ran.status === 0 && Array.isArray(found) && found.length === CASES.length) return found;
  } catch {
    // Said below.
  }
  console.log(`lib/merge.js can't be used (exit ${ran.status}): ${ran.stderr}`);
  return null;
}

function check([base, over, wanted], found) {
  try {
    assert.strictEqual(found.error, undefined);
    assert.deepStrictEqual(found.result, JSON.parse(wanted));
    assert.deepStrictEqual([found.base, found.over], [JSON.parse(base), JSON.parse(over)]);
    assert.strictEqual(found.shares, false, 'the result shares objects with the arguments');
    assert.strictEqual(found.polluted, false);
    return true;
  } catch (error) {
    console.log(`${base} and ${over}: ${error.message}`);
    return false;
  }
}

let rules = null;
try {
  rules = fs.readFileSync(path.join(workspace, 'lib/rules.json'));
} catch {
  // Said below.
}
if (rules === null || !rules.equals(fs.readFileSync(path.join(prepared, 'lib/rules.json')))) {
  console.log('lib/rules.json was changed');
  process.exit(10);
}
const found = answers();
if (found === null) process.exit(10);
const passed = CASES.filter((it, at) => check(it, found[at])).length;
fs.writeFileSync(process.env.AKBENCH_SCORE, String(passed / CASES.length));
process.exit(passed === CASES.length ? 0 : 10);
