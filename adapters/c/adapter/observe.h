// What the evidence shows of a task.
#ifndef OBSERVE_H
#define OBSERVE_H

#include "akbench.h"

// The labels of the programs that are started.
#define VERSION_LABEL "version"
#define TASK_LABEL "task"

// The version in what `--version` printed; none if it is something else.
ak_option_string reported_version(const char *printed, size_t len);
// The running totals of a `usage` event.
ak_token_usage token_usage(const ak_json *event);
// The tool call of a `tool` event.
ak_tool_call tool_call(const ak_json *event);

#endif
