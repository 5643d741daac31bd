// What the program printed, as a whole: the events that decide something.
#ifndef STREAM_H
#define STREAM_H

#include "akbench.h"

// An event and its line; `json` is NULL if there was none.
typedef struct {
  ak_json *json;
  uint64_t line;
} event;

typedef struct {
  event *items;
  size_t len;
} events;

typedef struct {
  // The first `start`.
  event start;
  // The last `message` with a text.
  event message;
  events tools;
  events warnings;
  // The last `usage`: totals, so that it stands for all before.
  event usage;
  // The first event that ends the work.
  event done;
  event error;
  // A `retry` that nothing followed.
  event retry;
  // Whole lines that are no JSON object.
  uint64_t unreadable;
} stream;

// Takes a line; `context` is a stream.
void stream_add(void *context, const ak_line *line);
void stream_drop(stream *stream);

#endif
