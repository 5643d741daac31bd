'use strict';

// merge(base, over): two plain JSON objects become one.
//
// - A key in one of them only is taken as it is (but see null).
// - Two objects are merged in the same way.
// - Two arrays: `arrays` in rules.json says what comes out. `replace`: the second. `append`:
//   the elements of the first, then those of the second. `union`: as `append`, without
//   elements that are deeply equal to one that is there already; keys of objects in another
//   order make no difference.
// - null in the second: `null` in rules.json says what it means. `deletes`: the key is absent
//   from the result, whether the first has it or not. `value`: a value like any other. Inside
//   arrays null is always a value, and so is null in the first.
// - Anything else: the second wins.
//
// Keys are data: `__proto__` and `constructor` are names like any other.
function merge(base, over) {
  return { ...base, ...over };
}

module.exports = { merge };
