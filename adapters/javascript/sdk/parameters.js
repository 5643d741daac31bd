// The parameters of an experiment.

import { AdapterFailure } from './failures.js';

/**
 * Refuses a parameter that is not named in `types`, or whose value has another type: 'string',
 * 'boolean', 'number' or 'object'. The engine checks them against the descriptor's schema; the
 * adapter checks again, because it may be given another descriptor.
 */
export function known(parameters, types) {
  for (const [name, value] of Object.entries(parameters)) {
    if (!Object.hasOwn(types, name)) {
      throw new AdapterFailure('invalid-configuration', `the parameter \`${name}\` is not known`);
    }
    if (typeof value !== types[name]) {
      throw new AdapterFailure('invalid-configuration', `the parameter \`${name}\` is no ${types[name]}`);
    }
  }
}
