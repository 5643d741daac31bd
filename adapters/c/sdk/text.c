#include "text.h"

#include <stdlib.h>
#include <string.h>

void *ak_new(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size ? size : 1);
  if (!memory) __builtin_trap();
  return memory;
}

void ak_put_bytes(ak_text *text, const void *bytes, size_t len) {
  if (text->room - text->len < len) {
    size_t room = (text->len + len) * 2 + 32;
    text->ptr = realloc(text->ptr, room);
    if (!text->ptr) __builtin_trap();
    text->room = room;
  }
  if (len) memcpy(text->ptr + text->len, bytes, len);
  text->len += len;
}

void ak_put(ak_text *text, const char *literal) { ak_put_bytes(text, literal, strlen(literal)); }

// Not printf: it would bring a WASI standard output along, which adapters do not have.
void ak_put_number(ak_text *text, long long number) {
  char digits[24];
  size_t at = sizeof digits;
  unsigned long long rest = number < 0 ? 0ull - (unsigned long long)number : (unsigned long long)number;
  do digits[--at] = (char)('0' + rest % 10);
  while (rest /= 10);
  if (number < 0) digits[--at] = '-';
  ak_put_bytes(text, digits + at, sizeof digits - at);
}

void ak_put_json(ak_text *text, const char *bytes, size_t len) {
  static const char hex[] = "0123456789abcdef";
  ak_put(text, "\"");
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (c == '"' || c == '\\') {
      char escaped[2] = {'\\', (char)c};
      ak_put_bytes(text, escaped, 2);
    } else if (c < 0x20) {
      char escaped[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
      ak_put_bytes(text, escaped, 6);
    } else {
      ak_put_bytes(text, &bytes[i], 1);
    }
  }
  ak_put(text, "\"");
}

void ak_clear(ak_text *text) { text->len = 0; }

void ak_drop(ak_text *text) {
  free(text->ptr);
  *text = (ak_text){0};
}

ak_string ak_take(ak_text *text) {
  ak_string taken = {(uint8_t *)text->ptr, text->len};
  if (text->len == 0) {
    // The generated code frees nothing that is empty.
    free(text->ptr);
    taken.ptr = NULL;
  }
  *text = (ak_text){0};
  return taken;
}

ak_string ak_copy(const char *bytes, size_t len) {
  ak_text text = {0};
  ak_put_bytes(&text, bytes, len);
  return ak_take(&text);
}

ak_string ak_literal(const char *literal) { return ak_copy(literal, strlen(literal)); }

bool ak_is(const char *bytes, size_t len, const char *literal) {
  return len == strlen(literal) && memcmp(bytes, literal, len) == 0;
}
