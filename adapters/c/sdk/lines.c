#include "lines.h"

#include <string.h>

enum { MAX_LINE = 16 << 20 };

static void keep(ak_splitter *splitter, const char *bytes, size_t len) {
  size_t room = MAX_LINE - splitter->partial.len;
  if (len > room) {
    splitter->oversized = true;
    len = room;
  }
  ak_put_bytes(&splitter->partial, bytes, len);
}

static void forget_given(ak_splitter *splitter) {
  if (!splitter->given) return;
  ak_clear(&splitter->partial);
  splitter->given = false;
  splitter->oversized = false;
}

static void give(ak_splitter *splitter, ak_line *line, bool terminated) {
  *line = (ak_line){++splitter->number, splitter->partial.ptr, splitter->partial.len, terminated, splitter->oversized};
  splitter->given = true;
}

void ak_feed(ak_splitter *splitter, const void *bytes, size_t len) {
  splitter->rest = bytes;
  splitter->rest_len = len;
}

bool ak_next_line(ak_splitter *splitter, ak_line *line) {
  forget_given(splitter);
  const char *from = splitter->rest;
  const char *end = splitter->rest_len ? memchr(from, '\n', splitter->rest_len) : NULL;
  if (!end) {
    keep(splitter, from, splitter->rest_len);
    splitter->rest_len = 0;
    return false;
  }
  size_t len = (size_t)(end - from);
  splitter->rest = end + 1;
  splitter->rest_len -= len + 1;
  keep(splitter, from, len);
  give(splitter, line, true);
  return true;
}

bool ak_last_line(ak_splitter *splitter, ak_line *line) {
  forget_given(splitter);
  if (splitter->partial.len == 0 && !splitter->oversized) return false;
  give(splitter, line, false);
  return true;
}

void ak_splitter_drop(ak_splitter *splitter) {
  ak_drop(&splitter->partial);
  *splitter = (ak_splitter){0};
}
