// Text that grows. An all-zero `ak_text` is empty.
#ifndef AKBENCH_TEXT_H
#define AKBENCH_TEXT_H

#include "contract.h"

typedef struct {
  char *ptr;
  size_t len;
  size_t room;
} ak_text;

// Appends a literal.
void ak_put(ak_text *text, const char *literal);
void ak_put_bytes(ak_text *text, const void *bytes, size_t len);
void ak_put_number(ak_text *text, long long number);
// Appends a JSON string, with its quotes.
void ak_put_json(ak_text *text, const char *bytes, size_t len);
// Empties it and keeps its memory.
void ak_clear(ak_text *text);
void ak_drop(ak_text *text);
// Gives the text away, for a value that is handed to the engine.
ak_string ak_take(ak_text *text);

// A copy for a value that is handed to the engine.
ak_string ak_copy(const char *bytes, size_t len);
// The same of a literal.
ak_string ak_literal(const char *literal);
// Memory, all zero; a trap if there is none.
void *ak_new(size_t count, size_t size);
// Does this text equal the literal?
bool ak_is(const char *bytes, size_t len, const char *literal);

#endif
