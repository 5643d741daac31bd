// What the engine recorded: the only thing from which observations may be derived.
#ifndef AKBENCH_EVIDENCE_H
#define AKBENCH_EVIDENCE_H

#include "json.h"
#include "lines.h"

// A program that was started: a folder `spawns/<n>-<label>`.
typedef struct {
  // Counted from 1 within the session.
  uint64_t number;
  // Relative to the evidence, with a NUL at its end.
  ak_text folder;
  // `exit.json`: how it ended; NULL if its end was not recorded.
  ak_json *exit;
} ak_spawn;

typedef struct {
  ak_spawn *items;
  size_t len;
} ak_spawns;

// The programs with this label, in order.
bool ak_evidence_spawns(const char *label, ak_spawns *spawns, ak_failure *failure);
void ak_spawns_drop(ak_spawns *spawns);

// What it returned; false if a signal ended it or its end was not recorded.
bool ak_spawn_code(const ak_spawn *spawn, int64_t *code);
// The signal that ended it; false if it returned or its end was not recorded.
bool ak_spawn_signal(const ak_spawn *spawn, int64_t *signal);
// The next signal that the engine sent after `sent` (NULL: the first), but for those that
// ended leftovers after the program's own end; NULL if there is none. Its members are `signal`
// and `reason`.
const ak_json *ak_spawn_sent(const ak_spawn *spawn, const ak_json *sent);

// Calls `each` for every line of a file of this program, `stdout` for example.
bool ak_spawn_lines(const ak_spawn *spawn, const char *file, void (*each)(void *context, const ak_line *line),
                    void *context, ak_failure *failure);
// Appends a file of this program to `text`; nothing if there is none.
bool ak_spawn_read(const ak_spawn *spawn, const char *file, ak_text *text, ak_failure *failure);

#endif
