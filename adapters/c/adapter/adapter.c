// The adapter `echo-c`: runs a program that speaks the line protocol.

#include "observe.h"

static const char PROGRAM[] = "line-agent";

static ak_command command(const char *label, const ak_string *args, size_t args_len) {
  // Where the agent keeps its own files.
  static ak_env_part home;
  static ak_variable variable = {"LINE_AGENT_HOME", &home, 1};
  home = ak_home();
  return (ak_command){PROGRAM, label, args, args_len, &variable, 1, NULL};
}

bool agent_validate(const ak_json *parameters, const akbench_agent_types_runtime_binding_t *runtime, ak_report *report,
                    ak_failure *failure) {
  (void)runtime;
  static const ak_parameter known[] = {{"model", AK_JSON_STRING}};
  if (!ak_parameters_known(parameters, known, sizeof known / sizeof *known, failure)) return false;
  ak_string args[1];
  adapter_string_set(&args[0], "--version");
  ak_command probe = command(VERSION_LABEL, args, 1);
  ak_exit_status status;
  ak_text out = {0}, err = {0};
  bool ok = ak_run_to_end(&probe, &status, &out, &err, failure);
  report->agent_version = reported_version(out.ptr, out.len);
  if (ok && !report->agent_version.is_some) {
    ak_text message = {0}, facts = {0};
    ak_put(&message, "`line-agent --version` did not print `line-agent` and a version; check that the program "
                     "found is the right one");
    bool exited = status.tag == AKBENCH_AGENT_PROCESS_EXIT_STATUS_EXITED;
    ak_put(&facts, exited ? "{\"exit\":{\"exited\":" : "{\"exit\":{\"signalled\":");
    ak_put_number(&facts, status.val.exited);
    ak_put(&facts, "}}");
    ok = ak_fail(failure, AK_CLASS(ENVIRONMENT_INVALID), message, facts);
  }
  ak_drop(&out);
  ak_drop(&err);
  return ok;
}

bool agent_start(const ak_json *parameters, const char *credential, const ak_task *task, ak_program *program,
                 ak_failure *failure) {
  (void)credential;
  ak_string args[3];
  size_t len = 1;
  adapter_string_set(&args[0], "run");
  const ak_json *model = ak_json_text(parameters, "model");
  if (model) {
    adapter_string_set(&args[1], "--model");
    args[2] = (ak_string){(uint8_t *)model->text, model->len};
    len = 3;
  }
  ak_command work = command(TASK_LABEL, args, len);
  work.stdin_text = &task->instruction;
  return ak_program_start(program, &work, failure);
}

static void emit(uint8_t tag) {
  ak_event event = {.tag = tag};
  akbench_agent_events_emit(&event);
}

static void emit_text(uint8_t tag, const ak_json *event) {
  const ak_json *text = ak_json_text(event, "text");
  if (!text || text->len == 0) return;
  ak_event said = {.tag = tag};
  said.val.message = (ak_string){(uint8_t *)text->text, text->len};
  akbench_agent_events_emit(&said);
}

ak_report_of_line agent_follow(const ak_line *line) {
  ak_json *event = ak_json_parse(line->bytes, line->len);
  ak_report_of_line report = AK_GOES_ON;
  if (ak_json_is(event, "type", "start")) {
    emit(AK_EVENT(TURN_STARTED));
  } else if (ak_json_is(event, "type", "message")) {
    emit_text(AK_EVENT(MESSAGE), event);
  } else if (ak_json_is(event, "type", "warning")) {
    emit_text(AK_EVENT(WARNING), event);
  } else if (ak_json_is(event, "type", "tool")) {
    ak_event used = {.tag = AK_EVENT(TOOL_FINISHED)};
    used.val.tool_finished = tool_call(event);
    akbench_agent_events_emit(&used);
    akbench_agent_events_event_free(&used);
  } else if (ak_json_is(event, "type", "usage")) {
    ak_event counted = {.tag = AK_EVENT(USAGE)};
    counted.val.usage = token_usage(event);
    akbench_agent_events_emit(&counted);
  } else if (ak_json_is(event, "type", "done")) {
    emit(AK_EVENT(TURN_FINISHED));
    report = AK_SAYS_COMPLETED;
  } else if (ak_json_is(event, "type", "error")) {
    report = AK_SAYS_FAILED;
  }
  ak_json_free(event);
  return report;
}
