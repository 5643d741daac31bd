// Reading a byte stream line by line. Lines end at the byte `\n` and nowhere else: agents
// write U+2028 and U+0085 raw inside JSON strings.

/** Bytes of a line that are kept; what comes after is skipped up to the newline. */
export const MAX_LINE = 16 << 20;

/**
 * Splits what is pushed into it, keeping an unfinished line for later. A line is
 * `{number, data, terminated, oversized}`: counted from 1, without its newline, false for a
 * last line that no newline ends, true if it was longer than `MAX_LINE` and was cut.
 */
export class LineSplitter {
  #pieces = [];
  #kept = 0;
  #oversized = false;
  #number = 0;

  /** The lines that these bytes end. */
  push(data) {
    const lines = [];
    let from = 0;
    for (let end; (end = data.indexOf(10, from)) >= 0; from = end + 1) {
      const head = data.subarray(from, end);
      if (this.#kept === 0 && !this.#oversized && head.length <= MAX_LINE) {
        // The common case: the whole line lies here.
        lines.push({ number: ++this.#number, data: head, terminated: true, oversized: false });
      } else {
        this.#keep(head);
        lines.push(this.#take(true));
      }
    }
    this.#keep(data.subarray(from));
    return lines;
  }

  /** The stream is over: a last line that had no newline, if there is one. */
  finish() {
    return this.#kept > 0 || this.#oversized ? [this.#take(false)] : [];
  }

  #keep(data) {
    const room = MAX_LINE - this.#kept;
    if (data.length > room) {
      this.#oversized = true;
      data = data.subarray(0, room);
    }
    if (data.length > 0) {
      this.#pieces.push(data);
      this.#kept += data.length;
    }
  }

  #take(terminated) {
    let data = this.#pieces[0] ?? new Uint8Array(0);
    if (this.#pieces.length > 1) {
      data = new Uint8Array(this.#kept);
      let at = 0;
      for (const piece of this.#pieces) {
        data.set(piece, at);
        at += piece.length;
      }
    }
    const line = { number: ++this.#number, data, terminated, oversized: this.#oversized };
    this.#pieces = [];
    this.#kept = 0;
    this.#oversized = false;
    return line;
  }
}
