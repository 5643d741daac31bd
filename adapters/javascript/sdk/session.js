// A session that runs one program for its one task.

import { Evidence } from './evidence.js';
import { AdapterFailure, Pending, operation } from './failures.js';

/** How often a program that has nothing more to say is looked at, in milliseconds. */
const STEP = 1_000;
/** How long a program may take to exit after its last event, in milliseconds. */
const EXIT_WAIT = 30_000;
/** What a program that does not exit gets before it is killed, in milliseconds. */
const EXIT_GRACE = 2_000;

/** Subclasses implement `start`, `follow` and `observe`; the six operations are done. */
export class ProcessSession {
  /** True in a session whose work is over: nothing can be started. */
  replays = false;
  #program = null;
  #status = 'created';
  #reported = null;
  #waited = 0;

  /** Starts the work: returns a `Program`. */
  start(_task) {
    throw new Error('a session implements `start`');
  }

  /**
   * Tells people what a line of stdout means, while the agent works. Returns `completed` or
   * `failed` if the agent says here that it is done, else `null`. Nothing that counts is
   * decided here: see `observe`.
   */
  follow(_line) {
    throw new Error('a session implements `follow`');
  }

  /** Everything that was measured, from the evidence alone. */
  observe(_evidence) {
    throw new Error('a session implements `observe`');
  }

  /** Asks the agent to stop as it likes to be asked; by default SIGINT. */
  askToStop(program) {
    program.interrupt();
  }

  submitTask = operation('submit-task', (task) => {
    if (this.replays) {
      throw new AdapterFailure('invalid-state', 'a session in replay mode takes no task');
    }
    if (this.#status !== 'created') {
      throw new AdapterFailure('invalid-state', 'this agent takes one task in a session');
    }
    if (task.attachments.length > 0) {
      throw new AdapterFailure('unsupported', 'this adapter passes no attachments on');
    }
    this.#program = this.start(task);
    this.#status = 'running';
  });

  waitForCompletion = operation('wait-for-completion', (timeout) => {
    if (this.#status === 'created') {
      throw new AdapterFailure('invalid-state', 'no task was submitted that could be waited for');
    }
    if (this.#program === null) return 'ended';
    try {
      this.#settle(this.#followToTheEnd(timeout), 'failed');
    } catch (error) {
      if (error instanceof Pending) return 'pending';
      throw error;
    }
    return 'ended';
  });

  getStatus() {
    return this.#status;
  }

  collectObservations = operation('collect-observations', () => this.observe(new Evidence()));

  cancel = operation('cancel', (grace) => {
    if (this.#program === null) return;
    this.askToStop(this.#program);
    const last = Math.floor(grace / 4);
    let exit;
    try {
      exit = this.#program.exit(grace - last);
    } catch (error) {
      if (!(error instanceof Pending)) throw error;
      exit = this.#program.terminate(error.interrupted ? 0 : last);
    }
    this.#settle(exit, 'cancelled');
  });

  close = operation('close', () => {
    this.#program?.release();
    this.#program = null;
  });

  #followToTheEnd(timeout) {
    let ended = false;
    for (;;) {
      const over = ended || this.#reported !== null;
      try {
        if (ended) return this.#program.exit(STEP);
        ended = this.#followLines(over ? STEP : timeout);
      } catch (error) {
        if (!(error instanceof Pending) || error.interrupted || !over) throw error;
        this.#waited += STEP;
        if (this.#waited >= EXIT_WAIT) return this.#program.terminate(EXIT_GRACE);
      }
    }
  }

  /** True at the end of stdout, false at an event that says that the agent is done. */
  #followLines(timeout) {
    for (const line of this.#program.lines(timeout)) {
      const reported = this.follow(line) ?? null;
      if (reported !== null) {
        this.#reported = reported;
        // From here on the program is only given a while to exit.
        return false;
      }
    }
    return true;
  }

  #settle(exit, otherwise) {
    const clean = exit.tag === 'exited' && exit.val === 0;
    this.#status = clean && this.#reported === 'completed' ? 'completed' : otherwise;
    this.#program.release();
    this.#program = null;
  }
}
