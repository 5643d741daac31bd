// Reading a byte stream line by line. Lines end at the byte `\n` and nowhere else.
#ifndef AKBENCH_LINES_H
#define AKBENCH_LINES_H

#include "text.h"

// One line, without its newline; valid until the splitter is used again.
typedef struct {
  // Counted from 1.
  uint64_t number;
  // Not necessarily UTF-8.
  const char *bytes;
  size_t len;
  // False for a last line that no newline ends: it may be torn.
  bool terminated;
  // True if the line was longer than 16 MiB and its end was skipped.
  bool oversized;
} ak_line;

// An all-zero splitter is at the start of a stream.
typedef struct {
  ak_text partial;
  // The partial line was handed out.
  bool given;
  bool oversized;
  uint64_t number;
  const char *rest;
  size_t rest_len;
} ak_splitter;

// Gives it the next bytes of the stream, which have to stay until `ak_next_line` is false.
void ak_feed(ak_splitter *splitter, const void *bytes, size_t len);
// The next line that the bytes end; false if there is none.
bool ak_next_line(ak_splitter *splitter, ak_line *line);
// The stream is over: a last line that had no newline; false if there is none.
bool ak_last_line(ak_splitter *splitter, ak_line *line);
void ak_splitter_drop(ak_splitter *splitter);

#endif
