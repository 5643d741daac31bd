// JSON lines, as agents print them. Strict: UTF-8, RFC 8259, at most 500 levels deep. Half of a
// surrogate pair, which JSON allows and UTF-8 does not, is replaced by U+FFFD.
#ifndef AKBENCH_JSON_H
#define AKBENCH_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  AK_JSON_NULL,
  AK_JSON_BOOLEAN,
  AK_JSON_NUMBER,
  AK_JSON_STRING,
  AK_JSON_ARRAY,
  AK_JSON_OBJECT,
} ak_json_kind;

typedef struct ak_json ak_json;
struct ak_json {
  ak_json_kind kind;
  bool boolean;
  double number;
  // Of AK_JSON_STRING; may hold NUL.
  char *text;
  size_t len;
  // The name of a member of an object.
  char *key;
  size_t key_len;
  // The first element or member, and the next beside this one.
  ak_json *first;
  ak_json *next;
};

// The value of a text, or NULL if it is no JSON.
ak_json *ak_json_parse(const void *bytes, size_t len);
void ak_json_free(ak_json *value);
// The last member of this name, or NULL; also if `object` is NULL or no object.
const ak_json *ak_json_get(const ak_json *object, const char *key);
// A member that is a string, or NULL.
const ak_json *ak_json_text(const ak_json *object, const char *key);
// A member that is an integer from 0 up to `below`, at most 2^53; false if it is anything else.
// JSON does not tell 100 from 1e2.
bool ak_json_count(const ak_json *object, const char *key, int64_t below, int64_t *count);
// Is this member the string?
bool ak_json_is(const ak_json *object, const char *key, const char *literal);

#endif
