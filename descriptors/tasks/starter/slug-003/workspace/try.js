'use strict';

const { slug } = require('./slug');

console.log(slug(process.argv.slice(2).join(' ')));
