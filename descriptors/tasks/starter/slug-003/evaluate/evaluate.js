'use strict';

// Asks slug.js, in a process of its own, for slugs that nobody has seen. 0: passed, 10: not.

const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const workspace = process.env.AKBENCH_WORKSPACE;
const prepared = process.env.AKBENCH_PREPARED;
const variant = JSON.parse(fs.readFileSync(process.env.AKBENCH_VARIANT, 'utf8')).mutations;
const joiner = { hyphen: '-', underscore: '_', tilde: '~' }[variant.joiner];
const longest = { twenty: 20, eleven: 11 }[variant.length];
const cutting = { 'whole-words': false, cut: true }[variant['too-long']];
if (joiner === undefined || longest === undefined || cutting === undefined) process.exit(2);

const TITLES = [
  'Hello World',
  '  --Crème brûlée!  ',
  'A/B testing_for 2 teams',
  'ÅNGSTRÖM',
  '日本語',
  '',
  '...',
  'supercalifragilisticexpialidocious words',
  'one two three four five six seven',
  'abcdefghij klmnopqrst uvw',
  'abcdefghij-k',
  'exactly11ch',
  'twenty characters ab',
];

// Written otherwise than the usual solution: one character after the other.
function expected(title) {
  const words = [''];
  for (const character of title.normalize('NFD')) {
    const code = character.codePointAt(0);
    if (code >= 0x300 && code <= 0x36f) continue;
    const lower = character.toLowerCase();
    if (lower.length === 1 && 'abcdefghijklmnopqrstuvwxyz0123456789'.includes(lower)) {
      words[words.length - 1] += lower;
    } else if (words[words.length - 1] !== '') {
      words.push('');
    }
  }
  if (words[words.length - 1] === '') words.pop();
  if (words.length === 0) return 'untitled';
  let slug = words.join(joiner);
  if (slug.length <= longest) return slug;
  if (!cutting && words[0].length <= longest) {
    while (slug.length > longest) {
      words.pop();
      slug = words.join(joiner);
    }
    return slug;
  }
  slug = slug.substring(0, longest);
  return slug[slug.length - 1] === joiner ? slug.substring(0, longest - 1) : slug;
}

if (!same('limits.json') || !same('try.js')) {
  console.log('limits.json or try.js was changed');
  process.exit(10);
}
const DRIVER = `
  const { slug } = require(process.argv[1]);
  const one = (title) => {
    try {
      return slug(title);
    } catch (error) {
      return { error: String(error) };
    }
  };
  const titles = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  console.log(JSON.stringify(titles.map(one)));
`;
const ran = spawnSync(process.execPath, ['-e', DRIVER, path.join(workspace, 'slug.js')], {
  cwd: workspace,
  env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
  input: JSON.stringify(TITLES),
  timeout: 20000,
  killSignal: 'SIGKILL',
});
let found = [];
try {
  found = JSON.parse(String(ran.stdout));
} catch {
  // Said by the next line.
}
if (ran.status !== 0 || !Array.isArray(found) || found.length !== TITLES.length) {
  console.log(`slug.js can't be used (exit ${ran.status}): ${ran.stderr}`);
  process.exit(10);
}
let passed = 0;
TITLES.forEach((title, at) => {
  const wanted = expected(title);
  if (found[at] === wanted) passed += 1;
  else console.log(JSON.stringify({ title, wanted, got: found[at] }));
});
fs.writeFileSync(process.env.AKBENCH_SCORE, String(passed / TITLES.length));
process.exit(passed === TITLES.length ? 0 : 10);

function same(name) {
  try {
    const now = fs.readFileSync(path.join(workspace, name));
    return now.equals(fs.readFileSync(path.join(prepared, name)));
  } catch {
    return false;
  }
}
