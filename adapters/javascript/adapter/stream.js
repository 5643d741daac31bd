// What the program printed, as a whole.

import { jsonObject, text } from '../sdk/index.js';

/** The events that decide something. */
export class Stream {
  /** The first `start` event. */
  start = null;
  lastMessage = null;
  tools = [];
  warnings = [];
  /** The last `usage` event: totals, so that it stands for all before. */
  usage = null;
  /** `{line, event}` of the first event that ends the work. */
  done = null;
  error = null;
  /** `{line, event}` of a `retry` that nothing followed. */
  retry = null;
  /** Whole lines that are no JSON object. */
  unreadable = 0;

  constructor(lines) {
    for (const line of lines) this.#add(line);
  }

  #add(line) {
    if (line.data.length === 0) return;
    const event = jsonObject(line);
    if (event === null) {
      // A last line without its newline was torn by the end, not misprinted.
      if (line.terminated) this.unreadable += 1;
      return;
    }
    this.retry = null;
    const place = { line: line.number, event };
    const over = this.done !== null || this.error !== null;
    switch (event.type) {
      case 'start':
        this.start ??= event;
        break;
      case 'message':
        this.lastMessage = text(event.text) ?? this.lastMessage;
        break;
      case 'warning':
        if (text(event.text) !== null) this.warnings.push(event.text);
        break;
      case 'tool':
        this.tools.push(event);
        break;
      case 'usage':
        this.usage = event;
        break;
      case 'retry':
        this.retry = place;
        break;
      case 'done':
        if (!over) this.done = place;
        break;
      case 'error':
        if (!over) this.error = place;
        break;
    }
  }
}
