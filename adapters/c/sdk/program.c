#include "program.h"

#include <stdlib.h>

#include "failure.h"

enum {
  // Bytes that are read at once, and bytes of a probe's output that are looked at.
  CHUNK = 64 << 10,
  // Longer than any probe takes: the engine's deadline comes first. In milliseconds.
  PROBE_TIME = 60000,
};

typedef akbench_agent_process_borrow_child_t child;
typedef bool read_function(child self, uint32_t max_bytes, uint32_t timeout, akbench_agent_process_output_t *ret,
                           akbench_agent_process_wait_error_t *err);

static ak_env_part path_of(akbench_agent_process_directory_t directory) {
  ak_env_part part = {.tag = AKBENCH_AGENT_PROCESS_ENV_PART_PATH};
  part.val.path = directory;
  return part;
}

ak_env_part ak_home(void) { return path_of(AKBENCH_AGENT_PROCESS_DIRECTORY_AGENT_HOME); }
ak_env_part ak_workspace(void) { return path_of(AKBENCH_AGENT_PROCESS_DIRECTORY_WORKSPACE); }

static bool not_started(const char *program, akbench_agent_process_spawn_error_t *error, ak_failure *failure) {
  static const char *const kinds[] = {"not_granted", "not_found", "not_executable", "limit", "failed"};
  static const char *const reasons[] = {"the descriptor does not grant ", "the program was not found: ",
                                        "it cannot be executed: ", "a limit of the host: ", ""};
  ak_text message = {0}, facts = {0};
  ak_put(&message, "`");
  ak_put(&message, program);
  ak_put(&message, "` could not be started: ");
  ak_put(&message, reasons[error->tag]);
  ak_put_bytes(&message, error->val.failed.ptr, error->val.failed.len);
  ak_put(&facts, "{\"spawn\":\"");
  ak_put(&facts, kinds[error->tag]);
  ak_put(&facts, "\"}");
  akbench_agent_process_spawn_error_free(error);
  return ak_fail(failure, AK_CLASS(ENVIRONMENT_INVALID), message, facts);
}

bool ak_program_start(ak_program *program, const ak_command *command, ak_failure *failure) {
  akbench_agent_process_command_t given = {0};
  adapter_string_set(&given.program, command->program);
  adapter_string_set(&given.label, command->label);
  given.args.ptr = (ak_string *)command->args;
  given.args.len = command->args_len;
  given.env.len = command->variables_len;
  given.env.ptr = ak_new(command->variables_len, sizeof *given.env.ptr);
  for (size_t i = 0; i < command->variables_len; i++) {
    const ak_variable *variable = &command->variables[i];
    adapter_string_set(&given.env.ptr[i].f0, variable->name);
    given.env.ptr[i].f1.ptr = (ak_env_part *)variable->parts;
    given.env.ptr[i].f1.len = variable->len;
  }
  given.cwd = AKBENCH_AGENT_PROCESS_DIRECTORY_WORKSPACE;
  given.stdin_.tag = AKBENCH_AGENT_PROCESS_STDIN_MODE_CLOSED;
  if (command->stdin_text) {
    given.stdin_.tag = AKBENCH_AGENT_PROCESS_STDIN_MODE_BYTES;
    given.stdin_.val.bytes.ptr = command->stdin_text->ptr;
    given.stdin_.val.bytes.len = command->stdin_text->len;
  }
  *program = (ak_program){0};
  akbench_agent_process_spawn_error_t error;
  program->running = akbench_agent_process_spawn(&given, &program->child, &error);
  free(given.env.ptr);
  return program->running || not_started(command->program, &error, failure);
}

static ak_step read_chunk(ak_program *program, read_function *read, uint32_t timeout, adapter_list_u8_t *chunk) {
  akbench_agent_process_output_t output;
  akbench_agent_process_wait_error_t error;
  if (!read(akbench_agent_process_borrow_child(program->child), CHUNK, timeout, &output, &error)) return AK_INTERRUPTED;
  if (output.tag == AKBENCH_AGENT_PROCESS_OUTPUT_TIMED_OUT) return AK_TIMED_OUT;
  if (output.tag == AKBENCH_AGENT_PROCESS_OUTPUT_END) return AK_END;
  *chunk = output.val.bytes;
  return AK_READY;
}

static void drop_chunk(ak_program *program) {
  if (program->chunk.len) free(program->chunk.ptr);
  program->chunk = (adapter_list_u8_t){0};
}

ak_step ak_program_line(ak_program *program, uint32_t timeout, ak_line *line) {
  for (;;) {
    if (ak_next_line(&program->splitter, line)) return AK_READY;
    drop_chunk(program);
    if (program->stdout_ended) return ak_last_line(&program->splitter, line) ? AK_READY : AK_END;
    ak_step step =
        read_chunk(program, akbench_agent_process_method_child_read_stdout, timeout, &program->chunk);
    if (step == AK_END) program->stdout_ended = true;
    else if (step != AK_READY) return step;
    else ak_feed(&program->splitter, program->chunk.ptr, program->chunk.len);
  }
}

ak_step ak_program_exit(ak_program *program, uint32_t timeout, ak_exit_status *status) {
  akbench_agent_process_option_exit_status_t ended;
  akbench_agent_process_wait_error_t error;
  child self = akbench_agent_process_borrow_child(program->child);
  if (!akbench_agent_process_method_child_wait(self, timeout, &ended, &error)) return AK_INTERRUPTED;
  if (!ended.is_some) return AK_TIMED_OUT;
  *status = ended.val;
  return AK_READY;
}

void ak_program_interrupt(ak_program *program) {
  child self = akbench_agent_process_borrow_child(program->child);
  akbench_agent_process_method_child_signal(self, AKBENCH_AGENT_PROCESS_SIGNAL_INTERRUPT);
}

ak_exit_status ak_program_terminate(ak_program *program, uint32_t grace) {
  ak_exit_status status;
  child self = akbench_agent_process_borrow_child(program->child);
  akbench_agent_process_method_child_terminate(self, grace, &status);
  return status;
}

void ak_program_release(ak_program *program) {
  if (!program->running) return;
  drop_chunk(program);
  ak_splitter_drop(&program->splitter);
  akbench_agent_process_child_drop_own(program->child);
  *program = (ak_program){0};
}

static ak_step read_all(ak_program *program, read_function *read, ak_text *text) {
  for (;;) {
    adapter_list_u8_t chunk;
    ak_step step = read_chunk(program, read, PROBE_TIME, &chunk);
    if (step != AK_READY) return step;
    size_t room = CHUNK - text->len;
    ak_put_bytes(text, chunk.ptr, chunk.len < room ? chunk.len : room);
    if (chunk.len) free(chunk.ptr);
  }
}

bool ak_run_to_end(const ak_command *command, ak_exit_status *status, ak_text *out, ak_text *err, ak_failure *failure) {
  ak_program program;
  if (!ak_program_start(&program, command, failure)) return false;
  bool ended = read_all(&program, akbench_agent_process_method_child_read_stdout, out) == AK_END &&
               read_all(&program, akbench_agent_process_method_child_read_stderr, err) == AK_END &&
               ak_program_exit(&program, PROBE_TIME, status) == AK_READY;
  ak_program_release(&program);
  return ended || ak_fail_interrupted(failure, "the probe");
}
