#include "json.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { MAX_DEPTH = 500 };

typedef struct {
  const unsigned char *at;
  const unsigned char *end;
  int depth;
} reader;

static ak_json *value(reader *in);

static void space(reader *in) {
  while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r')) in->at++;
}

static bool take(reader *in, char c) {
  if (in->at >= in->end || *in->at != (unsigned char)c) return false;
  in->at++;
  return true;
}

// The length of the UTF-8 sequence that begins here; 0 if there is none.
static size_t sequence(const unsigned char *at, const unsigned char *end) {
  unsigned char c = at[0];
  if (c < 0x80) return 1;
  size_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  if (c < 0xc2 || c > 0xf4 || (size_t)(end - at) < len) return 0;
  for (size_t i = 1; i < len; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  bool overlong = (c == 0xe0 && at[1] < 0xa0) || (c == 0xf0 && at[1] < 0x90);
  bool surrogate = c == 0xed && at[1] >= 0xa0;
  bool too_large = c == 0xf4 && at[1] >= 0x90;
  return overlong || surrogate || too_large ? 0 : len;
}

static void put_code_point(ak_text *out, uint32_t c) {
  unsigned char b[4];
  size_t len;
  if (c < 0x80) {
    b[0] = (unsigned char)c, len = 1;
  } else if (c < 0x800) {
    b[0] = (unsigned char)(0xc0 | c >> 6), b[1] = (unsigned char)(0x80 | (c & 63)), len = 2;
  } else if (c < 0x10000) {
    b[0] = (unsigned char)(0xe0 | c >> 12), b[1] = (unsigned char)(0x80 | (c >> 6 & 63));
    b[2] = (unsigned char)(0x80 | (c & 63)), len = 3;
  } else {
    b[0] = (unsigned char)(0xf0 | c >> 18), b[1] = (unsigned char)(0x80 | (c >> 12 & 63));
    b[2] = (unsigned char)(0x80 | (c >> 6 & 63)), b[3] = (unsigned char)(0x80 | (c & 63)), len = 4;
  }
  ak_put_bytes(out, b, len);
}

static bool hex4(reader *in, uint32_t *unit) {
  if (in->end - in->at < 4) return false;
  *unit = 0;
  for (int i = 0; i < 4; i++) {
    unsigned char c = *in->at++;
    uint32_t digit;
    if (c >= '0' && c <= '9') digit = c - '0';
    else if (c >= 'a' && c <= 'f') digit = c - 'a' + 10u;
    else if (c >= 'A' && c <= 'F') digit = c - 'A' + 10u;
    else return false;
    *unit = *unit << 4 | digit;
  }
  return true;
}

static bool unicode_escape(reader *in, ak_text *out) {
  uint32_t unit;
  if (!hex4(in, &unit)) return false;
  if (unit >= 0xd800 && unit < 0xdc00 && in->end - in->at >= 6 && in->at[0] == '\\' && in->at[1] == 'u') {
    reader ahead = {in->at + 2, in->end, 0};
    uint32_t low;
    if (!hex4(&ahead, &low)) return false;
    if (low >= 0xdc00 && low < 0xe000) {
      in->at = ahead.at;
      put_code_point(out, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
      return true;
    }
  }
  put_code_point(out, unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit);
  return true;
}

static bool string(reader *in, char **text, size_t *len) {
  ak_text out = {0};
  if (!take(in, '"')) return false;
  while (in->at < in->end && *in->at != '"') {
    unsigned char c = *in->at;
    if (c < 0x20) break;
    if (c != '\\') {
      size_t whole = sequence(in->at, in->end);
      if (whole == 0) break;
      ak_put_bytes(&out, in->at, whole);
      in->at += whole;
      continue;
    }
    if (++in->at == in->end) break;
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    c = *in->at++;
    const char *found = c ? strchr(names, c) : NULL;
    if (found) ak_put_bytes(&out, &meanings[found - names], 1);
    else if (c != 'u' || !unicode_escape(in, &out)) break;
  }
  if (!take(in, '"')) {
    ak_drop(&out);
    return false;
  }
  *text = out.ptr;
  *len = out.len;
  return true;
}

static size_t digits(reader *in) {
  const unsigned char *from = in->at;
  while (in->at < in->end && *in->at >= '0' && *in->at <= '9') in->at++;
  return (size_t)(in->at - from);
}

static bool number(reader *in, ak_json *out) {
  const unsigned char *from = in->at;
  take(in, '-');
  const unsigned char *first = in->at;
  size_t count = digits(in);
  if (count == 0 || (count > 1 && *first == '0')) return false;
  if (take(in, '.') && digits(in) == 0) return false;
  if (take(in, 'e') || take(in, 'E')) {
    if (!take(in, '+')) take(in, '-');
    if (digits(in) == 0) return false;
  }
  out->kind = AK_JSON_NUMBER;
  ak_text written = {0};
  ak_put_bytes(&written, from, (size_t)(in->at - from));
  ak_put_bytes(&written, "", 1);
  out->number = strtod(written.ptr, NULL);
  ak_drop(&written);
  return true;
}

static bool word(reader *in, const char *literal) {
  size_t len = strlen(literal);
  if ((size_t)(in->end - in->at) < len || memcmp(in->at, literal, len) != 0) return false;
  in->at += len;
  return true;
}

// The elements of an array or the members of an object, after its first bracket.
static bool members(reader *in, ak_json *out, char closing) {
  ak_json **place = &out->first;
  space(in);
  if (take(in, closing)) return true;
  do {
    char *key = NULL;
    size_t key_len = 0;
    space(in);
    if (out->kind == AK_JSON_OBJECT) {
      if (!string(in, &key, &key_len)) return false;
      space(in);
      if (!take(in, ':')) {
        free(key);
        return false;
      }
    }
    ak_json *element = value(in);
    if (!element) {
      free(key);
      return false;
    }
    element->key = key;
    element->key_len = key_len;
    *place = element;
    place = &element->next;
    space(in);
  } while (take(in, ','));
  return take(in, closing);
}

static bool fill(reader *in, ak_json *out) {
  if (in->at >= in->end) return false;
  switch (*in->at) {
    case '{':
    case '[': {
      bool object = *in->at++ == '{';
      out->kind = object ? AK_JSON_OBJECT : AK_JSON_ARRAY;
      if (++in->depth > MAX_DEPTH || !members(in, out, object ? '}' : ']')) return false;
      in->depth--;
      return true;
    }
    case '"':
      out->kind = AK_JSON_STRING;
      return string(in, &out->text, &out->len);
    case 't':
    case 'f':
      out->kind = AK_JSON_BOOLEAN;
      out->boolean = *in->at == 't';
      return word(in, out->boolean ? "true" : "false");
    case 'n':
      return word(in, "null");
    default:
      return number(in, out);
  }
}

static ak_json *value(reader *in) {
  space(in);
  ak_json *out = ak_new(1, sizeof *out);
  if (fill(in, out)) return out;
  ak_json_free(out);
  return NULL;
}

ak_json *ak_json_parse(const void *bytes, size_t len) {
  reader in = {bytes, (const unsigned char *)bytes + len, 0};
  ak_json *parsed = value(&in);
  space(&in);
  if (parsed && in.at == in.end) return parsed;
  ak_json_free(parsed);
  return NULL;
}

void ak_json_free(ak_json *value) {
  while (value) {
    ak_json *next = value->next;
    ak_json_free(value->first);
    free(value->text);
    free(value->key);
    free(value);
    value = next;
  }
}

const ak_json *ak_json_get(const ak_json *object, const char *key) {
  if (!object || object->kind != AK_JSON_OBJECT) return NULL;
  const ak_json *found = NULL;
  for (const ak_json *member = object->first; member; member = member->next)
    if (ak_is(member->key, member->key_len, key)) found = member;
  return found;
}

const ak_json *ak_json_text(const ak_json *object, const char *key) {
  const ak_json *member = ak_json_get(object, key);
  return member && member->kind == AK_JSON_STRING ? member : NULL;
}

bool ak_json_count(const ak_json *object, const char *key, int64_t below, int64_t *count) {
  const ak_json *member = ak_json_get(object, key);
  if (!member || member->kind != AK_JSON_NUMBER) return false;
  // Compared before it is converted: what is out of range has no integer.
  if (!(member->number >= 0 && member->number < (double)below)) return false;
  *count = (int64_t)member->number;
  return (double)*count == member->number;
}

bool ak_json_is(const ak_json *object, const char *key, const char *literal) {
  const ak_json *member = ak_json_text(object, key);
  return member && ak_is(member->text, member->len, literal);
}
