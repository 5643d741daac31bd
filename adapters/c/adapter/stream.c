#include "stream.h"

#include <stdlib.h>

// Keeps the newest event.
static void replace(event *place, event new) {
  ak_json_free(place->json);
  *place = new;
}

// Keeps the first event.
static void keep_first(event *place, event new) {
  if (place->json) ak_json_free(new.json);
  else *place = new;
}

static void append(events *list, event new) {
  list->items = realloc(list->items, (list->len + 1) * sizeof *list->items);
  if (!list->items) __builtin_trap();
  list->items[list->len++] = new;
}

void stream_add(void *context, const ak_line *line) {
  stream *self = context;
  if (line->len == 0) return;
  event new = {ak_json_parse(line->bytes, line->len), line->number};
  if (!new.json || new.json->kind != AK_JSON_OBJECT) {
    ak_json_free(new.json);
    // A last line without its newline was torn by the end, not misprinted.
    self->unreadable += line->terminated;
    return;
  }
  replace(&self->retry, (event){0});
  bool over = self->done.json || self->error.json;
  if (ak_json_is(new.json, "type", "start")) keep_first(&self->start, new);
  else if (ak_json_is(new.json, "type", "message") && ak_json_text(new.json, "text")) replace(&self->message, new);
  else if (ak_json_is(new.json, "type", "warning") && ak_json_text(new.json, "text")) append(&self->warnings, new);
  else if (ak_json_is(new.json, "type", "tool")) append(&self->tools, new);
  else if (ak_json_is(new.json, "type", "usage")) replace(&self->usage, new);
  else if (ak_json_is(new.json, "type", "retry")) replace(&self->retry, new);
  else if (ak_json_is(new.json, "type", "done") && !over) self->done = new;
  else if (ak_json_is(new.json, "type", "error") && !over) self->error = new;
  else ak_json_free(new.json);
}

static void drop_all(events *list) {
  for (size_t i = 0; i < list->len; i++) ak_json_free(list->items[i].json);
  free(list->items);
}

void stream_drop(stream *self) {
  event *single[] = {&self->start, &self->message, &self->usage, &self->done, &self->error, &self->retry};
  for (size_t i = 0; i < sizeof single / sizeof *single; i++) ak_json_free(single[i]->json);
  drop_all(&self->tools);
  drop_all(&self->warnings);
  *self = (stream){0};
}
