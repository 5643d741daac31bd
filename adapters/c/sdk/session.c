#include "session.h"

#include <stdlib.h>

#include "failure.h"

enum {
  // How often a program that has nothing more to say is looked at, in milliseconds.
  STEP = 1000,
  // How long a program may take to exit after its last event, in milliseconds.
  EXIT_WAIT = 30000,
  // What a program that does not exit gets before it is killed, in milliseconds.
  EXIT_GRACE = 2000,
};

struct exports_akbench_agent_agent_session_t {
  // True in a session whose work is over: nothing can be started.
  bool replays;
  ak_json *parameters;
  // With a NUL at its end; empty without a credential.
  ak_text credential;
  uint8_t status;
  ak_program program;
  ak_report_of_line reported;
  uint32_t waited;
};
typedef exports_akbench_agent_agent_session_t session;

static ak_json *parameters_of(const ak_config *config, ak_failure *failure) {
  ak_json *parameters = ak_json_parse(config->parameters.ptr, config->parameters.len);
  if (parameters && parameters->kind == AK_JSON_OBJECT) return parameters;
  ak_json_free(parameters);
  ak_fail_plainly(failure, AK_CLASS(INVALID_CONFIGURATION), "the parameters are no JSON object");
  return NULL;
}

bool exports_akbench_agent_agent_validate_environment(ak_config *config, ak_report *ret, ak_failure *err) {
  ak_json *parameters = parameters_of(config, err);
  *ret = (ak_report){0};
  bool ok = parameters && agent_validate(parameters, config->runtime.is_some ? &config->runtime.val : NULL, ret, err);
  ak_json_free(parameters);
  akbench_agent_types_agent_config_free(config);
  return ok;
}

bool exports_akbench_agent_agent_start_session(ak_config *config, exports_akbench_agent_agent_own_session_t *ret,
                                               ak_failure *err) {
  session *self = ak_new(1, sizeof *self);
  self->replays = config->mode == AKBENCH_AGENT_TYPES_SESSION_MODE_REPLAY;
  self->parameters = self->replays ? NULL : parameters_of(config, err);
  if (config->runtime.is_some && config->runtime.val.credential.is_some) {
    ak_string *name = &config->runtime.val.credential.val;
    ak_put_bytes(&self->credential, name->ptr, name->len);
    ak_put_bytes(&self->credential, "", 1);
  }
  akbench_agent_types_agent_config_free(config);
  if (!self->replays && !self->parameters) {
    exports_akbench_agent_agent_session_destructor(self);
    return false;
  }
  *ret = exports_akbench_agent_agent_session_new(self);
  return true;
}

static bool submit(session *self, const ak_task *task, ak_failure *err) {
  if (self->replays)
    return ak_fail_plainly(err, AK_CLASS(INVALID_STATE), "a session in replay mode takes no task");
  if (self->status != AK_STATUS(CREATED))
    return ak_fail_plainly(err, AK_CLASS(INVALID_STATE), "this agent takes one task in a session");
  if (task->attachments.len)
    return ak_fail_plainly(err, AK_CLASS(UNSUPPORTED), "this adapter passes no attachments on");
  if (!agent_start(self->parameters, self->credential.ptr, task, &self->program, err)) return false;
  self->status = AK_STATUS(RUNNING);
  return true;
}

bool exports_akbench_agent_agent_method_session_submit_task(session *self, ak_task *task, ak_failure *err) {
  bool ok = submit(self, task, err);
  akbench_agent_types_task_free(task);
  return ok;
}

static void settle(session *self, ak_exit_status exit, uint8_t otherwise) {
  bool clean = exit.tag == AKBENCH_AGENT_PROCESS_EXIT_STATUS_EXITED && exit.val.exited == 0;
  self->status = clean && self->reported == AK_SAYS_COMPLETED ? AK_STATUS(COMPLETED) : otherwise;
  ak_program_release(&self->program);
}

// Follows the program until it has ended, at most for about `timeout`; the engine interrupts
// at the exact end. False if the program goes on.
static bool follow_to_the_end(session *self, uint32_t timeout, ak_exit_status *exit) {
  for (bool ended = false;;) {
    bool over = ended || self->reported != AK_GOES_ON;
    ak_line line;
    ak_step step = ended ? ak_program_exit(&self->program, STEP, exit)
                         : ak_program_line(&self->program, over ? STEP : timeout, &line);
    if (step == AK_READY && ended) return true;
    if (step == AK_READY) {
      ak_report_of_line reported = agent_follow(&line);
      // From the last event on the program is only given a while to exit.
      if (reported != AK_GOES_ON) self->reported = reported;
    } else if (step == AK_END) {
      ended = true;
    } else if (step == AK_INTERRUPTED || !over) {
      return false;
    } else if ((self->waited += STEP) >= EXIT_WAIT) {
      *exit = ak_program_terminate(&self->program, EXIT_GRACE);
      return true;
    }
  }
}

bool exports_akbench_agent_agent_method_session_wait_for_completion(session *self, uint32_t timeout, uint8_t *ret,
                                                                    ak_failure *err) {
  if (self->status == AK_STATUS(CREATED))
    return ak_fail_plainly(err, AK_CLASS(INVALID_STATE), "no task was submitted that could be waited for");
  ak_exit_status exit;
  *ret = AKBENCH_AGENT_TYPES_PROGRESS_ENDED;
  if (!self->program.running) return true;
  if (follow_to_the_end(self, timeout, &exit)) settle(self, exit, AK_STATUS(FAILED));
  else *ret = AKBENCH_AGENT_TYPES_PROGRESS_PENDING;
  return true;
}

uint8_t exports_akbench_agent_agent_method_session_get_status(session *self) { return self->status; }

bool exports_akbench_agent_agent_method_session_collect_observations(session *self, ak_observations *ret,
                                                                     ak_failure *err) {
  (void)self;
  *ret = (ak_observations){0};
  ret->extra = ak_literal("{}");
  if (agent_observe(ret, err)) return true;
  akbench_agent_types_observations_free(ret);
  return false;
}

bool exports_akbench_agent_agent_method_session_cancel(session *self, uint32_t grace, ak_failure *err) {
  (void)err;
  if (!self->program.running) return true;
  ak_exit_status exit;
  ak_program_interrupt(&self->program);
  ak_step step = ak_program_exit(&self->program, grace - grace / 4, &exit);
  if (step != AK_READY) exit = ak_program_terminate(&self->program, step == AK_INTERRUPTED ? 0 : grace / 4);
  settle(self, exit, AK_STATUS(CANCELLED));
  return true;
}

bool exports_akbench_agent_agent_method_session_close(session *self, ak_failure *err) {
  (void)err;
  ak_program_release(&self->program);
  return true;
}

void exports_akbench_agent_agent_session_destructor(session *self) {
  ak_program_release(&self->program);
  ak_json_free(self->parameters);
  ak_drop(&self->credential);
  free(self);
}
