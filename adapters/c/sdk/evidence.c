#include "evidence.h"

#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "files.h"

static const char ROOT[] = "/evidence";

static bool unreadable(ak_failure *failure, const char *path) {
  ak_text message = {0};
  ak_put(&message, "evidence file `");
  ak_put(&message, path);
  ak_put(&message, "` could not be read");
  return ak_fail(failure, AK_CLASS(UNKNOWN), message, (ak_text){0});
}

static ak_text path_in(const ak_spawn *spawn, const char *file) {
  ak_text path = {0};
  ak_put(&path, spawn->folder.ptr);
  ak_put(&path, "/");
  ak_put_bytes(&path, file, strlen(file) + 1);
  return path;
}

typedef struct {
  const char *label;
  ak_spawns *spawns;
} listing;

static void add(void *context, const ak_string *name) {
  listing *list = context;
  const char *at = (const char *)name->ptr, *end = at + name->len, *label = at;
  uint64_t number = 0;
  while (label < end && *label >= '0' && *label <= '9') number = number * 10 + (uint64_t)(*label++ - '0');
  if (label == at || label == end || *label != '-') return;
  label++;
  if (!ak_is(label, (size_t)(end - label), list->label)) return;
  ak_spawns *spawns = list->spawns;
  spawns->items = realloc(spawns->items, (spawns->len + 1) * sizeof *spawns->items);
  if (!spawns->items) __builtin_trap();
  ak_spawn *spawn = &spawns->items[spawns->len++];
  *spawn = (ak_spawn){.number = number};
  ak_put(&spawn->folder, "spawns/");
  ak_put_bytes(&spawn->folder, at, name->len);
  ak_put_bytes(&spawn->folder, "", 1);
}

static int by_number(const void *one, const void *other) {
  uint64_t a = ((const ak_spawn *)one)->number, b = ((const ak_spawn *)other)->number;
  return (a > b) - (a < b);
}

static bool read_exit(ak_spawn *spawn, ak_failure *failure) {
  ak_text record = {0};
  bool ok = ak_spawn_read(spawn, "exit.json", &record, failure);
  // A record that does not parse was torn by a crash: as good as absent.
  if (ok) spawn->exit = ak_json_parse(record.ptr, record.len);
  if (spawn->exit && spawn->exit->kind != AK_JSON_OBJECT) {
    ak_json_free(spawn->exit);
    spawn->exit = NULL;
  }
  ak_drop(&record);
  return ok;
}

bool ak_evidence_spawns(const char *label, ak_spawns *spawns, ak_failure *failure) {
  *spawns = (ak_spawns){0};
  listing list = {label, spawns};
  if (ak_folder_list(ROOT, "spawns", add, &list) == AK_FILE_FAILED) {
    ak_spawns_drop(spawns);
    return unreadable(failure, "spawns");
  }
  if (spawns->len) qsort(spawns->items, spawns->len, sizeof *spawns->items, by_number);
  for (size_t i = 0; i < spawns->len; i++) {
    if (!read_exit(&spawns->items[i], failure)) {
      ak_spawns_drop(spawns);
      return false;
    }
  }
  return true;
}

void ak_spawns_drop(ak_spawns *spawns) {
  for (size_t i = 0; i < spawns->len; i++) {
    ak_drop(&spawns->items[i].folder);
    ak_json_free(spawns->items[i].exit);
  }
  free(spawns->items);
  *spawns = (ak_spawns){0};
}

bool ak_spawn_code(const ak_spawn *spawn, int64_t *code) {
  return ak_json_count(ak_json_get(spawn->exit, "status"), "code", 1 << 30, code);
}

bool ak_spawn_signal(const ak_spawn *spawn, int64_t *signal) {
  return ak_json_count(ak_json_get(spawn->exit, "status"), "signal", 1 << 30, signal);
}

const ak_json *ak_spawn_sent(const ak_spawn *spawn, const ak_json *sent) {
  if (!sent) {
    const ak_json *signals = ak_json_get(spawn->exit, "signals");
    sent = signals ? signals->first : NULL;
  } else {
    sent = sent->next;
  }
  while (sent && ak_json_is(sent, "reason", "leftovers")) sent = sent->next;
  return sent;
}

bool ak_spawn_lines(const ak_spawn *spawn, const char *file, void (*each)(void *context, const ak_line *line),
                    void *context, ak_failure *failure) {
  ak_text path = path_in(spawn, file);
  bool ok = ak_file_lines(ROOT, path.ptr, each, context) != AK_FILE_FAILED || unreadable(failure, path.ptr);
  ak_drop(&path);
  return ok;
}

bool ak_spawn_read(const ak_spawn *spawn, const char *file, ak_text *text, ak_failure *failure) {
  ak_text path = path_in(spawn, file);
  bool ok = ak_file_read(ROOT, path.ptr, text) != AK_FILE_FAILED || unreadable(failure, path.ptr);
  ak_drop(&path);
  return ok;
}
