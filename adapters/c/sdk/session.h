// The eight operations, done for an agent that runs one program for its one task. The adapter
// defines the four functions below; `session.c` calls them.
#ifndef AKBENCH_SESSION_H
#define AKBENCH_SESSION_H

#include "json.h"
#include "program.h"

// What a line of stdout means for the work.
typedef enum {
  AK_GOES_ON,
  // The agent says here that it is done, well or badly.
  AK_SAYS_COMPLETED,
  AK_SAYS_FAILED,
} ak_report_of_line;

// Can the agent run here? Fills the report, or the failure. `runtime` is NULL if there is none.
bool agent_validate(const ak_json *parameters, const akbench_agent_types_runtime_binding_t *runtime, ak_report *report,
                    ak_failure *failure);
// Starts the work. `credential` is the name of the runtime's secret, or NULL.
bool agent_start(const ak_json *parameters, const char *credential, const ak_task *task, ak_program *program,
                 ak_failure *failure);
// Tells people what a line means, while the agent works. Nothing that counts is decided here.
ak_report_of_line agent_follow(const ak_line *line);
// Everything that was measured, from the evidence alone. `seen` is all zero: nothing is known.
bool agent_observe(ak_observations *seen, ak_failure *failure);

#endif
