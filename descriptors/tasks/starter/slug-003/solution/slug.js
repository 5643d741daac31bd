'use strict';

const { joiner, longest, tooLong } = require('./limits.json');

// Turns a title into a slug: accents are dropped (é becomes e), letters become lower case,
// every run of characters other than a-z and 0-9 becomes one joiner, and there is no joiner at
// either end. `limits.json` names the joiner and the longest slug in characters.
//
// What happens to a slug that would be too long is named there too. `whole words`: it keeps as
// many whole words as fit, and if not even the first fits, that one is cut. `cut`: it is cut,
// also within a word, and a joiner that is then at the end is dropped.
//
// No slug is left empty: `untitled` stands for it, whatever its length.
function slug(title) {
  const words = title
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  if (words.length === 0) return 'untitled';
  const whole = words.join(joiner);
  if (whole.length <= longest) return whole;
  if (tooLong === 'cut' || words[0].length > longest) {
    const cut = whole.slice(0, longest);
    return cut.endsWith(joiner) ? cut.slice(0, -joiner.length) : cut;
  }
  let kept = words[0];
  for (const word of words.slice(1)) {
    const longer = kept + joiner + word;
    if (longer.length > longest) break;
    kept = longer;
  }
  return kept;
}

module.exports = { slug };
