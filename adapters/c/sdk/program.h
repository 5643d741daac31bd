// Starting programs and reading what they print. What they print is also kept by the engine,
// as evidence.
#ifndef AKBENCH_PROGRAM_H
#define AKBENCH_PROGRAM_H

#include "lines.h"

// What waiting for a program brought.
typedef enum {
  // It is here.
  AK_READY,
  // The stream is over: no more will come.
  AK_END,
  // Nothing came in time.
  AK_TIMED_OUT,
  // The engine wants the session back: return now.
  AK_INTERRUPTED,
} ak_step;

// A variable of the program's environment: a piece, or more of them joined.
typedef struct {
  const char *name;
  const ak_env_part *parts;
  size_t len;
} ak_variable;

// What to start. The program is named as in the descriptor; it runs in the workspace.
typedef struct {
  const char *program;
  // Names the evidence.
  const char *label;
  const ak_string *args;
  size_t args_len;
  const ak_variable *variables;
  size_t variables_len;
  // NULL: an empty input.
  const ak_string *stdin_text;
} ak_command;

// A running program. All zero: none.
typedef struct {
  bool running;
  akbench_agent_process_own_child_t child;
  ak_splitter splitter;
  adapter_list_u8_t chunk;
  bool stdout_ended;
} ak_program;

// The host path of the agent's private home, or of the workspace, as a piece of a variable.
ak_env_part ak_home(void);
ak_env_part ak_workspace(void);

bool ak_program_start(ak_program *program, const ak_command *command, ak_failure *failure);
// The next line that it prints, waiting at most `timeout` milliseconds for it. The line is
// valid until the next call.
ak_step ak_program_line(ak_program *program, uint32_t timeout, ak_line *line);
// How it ended, waiting at most `timeout` milliseconds for that.
ak_step ak_program_exit(ak_program *program, uint32_t timeout, ak_exit_status *status);
// Sends it SIGINT.
void ak_program_interrupt(ak_program *program);
// Ends it and everything it started, at the latest after `grace` milliseconds.
ak_exit_status ak_program_terminate(ak_program *program, uint32_t grace);
// Lets go of it; what still runs is ended.
void ak_program_release(ak_program *program);

// Runs a short probe to its end: how it ended, and the first 64 KiB of what it printed.
bool ak_run_to_end(const ak_command *command, ak_exit_status *status, ak_text *out, ak_text *err, ak_failure *failure);

#endif
