// From exceptions to failures of the contract.

/**
 * An operation could not be carried out; the engine is told so. `kind` is a class of the
 * contract as `wit/agent.wit` writes it, for example `environment-invalid`; `evidence` holds
 * the structured facts that it rests on.
 */
export class AdapterFailure extends Error {
  constructor(kind, message, evidence = {}, retryable = false) {
    super(message);
    this.kind = kind;
    this.evidence = evidence;
    this.retryable = retryable;
  }
}

/**
 * Nothing to go on with for now. `interrupted` is true if the engine wants the session back,
 * false if only the time that was asked for has passed.
 */
export class Pending extends Error {
  constructor(interrupted) {
    super(interrupted ? 'interrupted' : 'timed out');
    this.interrupted = interrupted;
  }
}

/** A failure of the contract, for an outcome. */
export function failure(kind, message, evidence = {}, retryable = false) {
  return { class: { tag: kind }, message, evidence: JSON.stringify(evidence), retryable };
}

/**
 * Makes a method an operation: `AdapterFailure` becomes the failure that the engine reads,
 * and `Pending` one of class `interrupted`. Any other exception is a mistake in the adapter.
 * It is let through on purpose: the component then traps, and the engine blames the adapter
 * and shows the stack.
 */
export function operation(name, method) {
  return function operate(...args) {
    try {
      return method.apply(this, args);
    } catch (error) {
      if (error instanceof AdapterFailure) {
        throw failure(error.kind, error.message, error.evidence, error.retryable);
      }
      if (error instanceof Pending) {
        throw failure('interrupted', `${name} was interrupted before it was done`);
      }
      throw error;
    }
  };
}

/**
 * What a function of the engine reported: the error that it throws carries it as `payload`,
 * or is it.
 */
export function reported(error) {
  return error?.payload ?? error;
}
