// Completed is only what says so itself: `done` and exit 0. Everything else is classified by
// structured facts: the typed error code, then the exit status.

#include "outcome.h"

// A typed code of the protocol: its class, and whether trying again later may help.
typedef struct {
  const char *code;
  uint8_t class;
  bool retryable;
} meaning;

static const meaning CODES[] = {
    {"connection_failed", AK_CLASS(NETWORK), true},
    {"context_window_exceeded", AK_CLASS(CONTEXT_WINDOW_EXCEEDED), false},
    {"model_not_found", AK_CLASS(MODEL_NOT_FOUND), false},
    {"quota_exceeded", AK_CLASS(QUOTA_EXCEEDED), false},
    {"rate_limited", AK_CLASS(RATE_LIMITED), true},
    {"refused", AK_CLASS(AGENT_REFUSAL), false},
    {"server_error", AK_CLASS(PROVIDER_ERROR), true},
    {"unauthorized", AK_CLASS(AUTHENTICATION), false},
};

static meaning meaning_of(const ak_json *event, meaning otherwise) {
  for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++)
    if (ak_json_is(event, "code", CODES[i].code)) return CODES[i];
  return otherwise;
}

static void put_words(ak_text *text, const ak_spawn *spawn) {
  int64_t number;
  if (ak_spawn_signal(spawn, &number)) ak_put(text, "signal ");
  else if (ak_spawn_code(spawn, &number)) ak_put(text, "exit ");
  else return;
  ak_put_number(text, number);
}

static void put_exit(ak_text *facts, const ak_spawn *spawn) {
  int64_t number;
  bool signalled = ak_spawn_signal(spawn, &number);
  ak_put(facts, signalled ? "\"exit\":{\"signalled\":" : "\"exit\":{\"exited\":");
  if (signalled || ak_spawn_code(spawn, &number)) ak_put_number(facts, number);
  else ak_put(facts, "null");
  ak_put(facts, "}");
}

static void put_source(ak_text *facts, const ak_spawn *spawn, const event *event) {
  const ak_json *code = ak_json_text(event->json, "code");
  ak_put(facts, "\"code\":");
  if (code) ak_put_json(facts, code->text, code->len);
  else ak_put(facts, "null");
  ak_put(facts, ",\"source\":\"");
  ak_put(facts, spawn->folder.ptr);
  ak_put(facts, "/stdout:");
  ak_put_number(facts, (long long)event->line);
  ak_put(facts, "\"");
}

static void put_message(ak_text *text, const event *event) {
  const ak_json *message = ak_json_text(event->json, "message");
  if (message) ak_put_bytes(text, message->text, message->len);
}

// The failure that the program itself reported.
static void reported(const ak_spawn *spawn, const event *error, ak_failure *failure) {
  meaning meant = meaning_of(error->json, (meaning){"", AK_CLASS(AGENT_ERROR), false});
  ak_text message = {0}, facts = {0};
  put_message(&message, error);
  ak_put(&facts, "{");
  put_exit(&facts, spawn);
  ak_put(&facts, ",");
  put_source(&facts, spawn, error);
  ak_put(&facts, "}");
  ak_fail(failure, meant.class, message, facts);
  failure->retryable = meant.retryable;
}

static bool is_own_doing(int64_t signal) {
  // SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS.
  return signal == 4 || signal == 6 || signal == 7 || signal == 8 || signal == 11 || signal == 31;
}

// The failure of a program whose end nothing explains.
static void unexpected(const ak_spawn *spawn, const stream *stream, ak_failure *failure) {
  uint8_t class = AK_CLASS(AGENT_CRASH);
  ak_text message = {0}, facts = {0};
  int64_t signal;
  if (stream->done.json && ak_spawn_sent(spawn, NULL)) {
    ak_put(&message, "the agent said that it was done and did not exit");
  } else if (stream->done.json) {
    ak_put(&message, "the agent said that it was done and ended with ");
    put_words(&message, spawn);
  } else if (ak_spawn_signal(spawn, &signal)) {
    if (!is_own_doing(signal)) class = AK_CLASS(UNKNOWN);
    ak_put(&message, "the agent was ended by ");
    put_words(&message, spawn);
    ak_put(&message, ", which the engine did not send");
  } else if (stream->unreadable) {
    class = AK_CLASS(AGENT_PROTOCOL_ERROR);
    ak_put(&message, "the agent printed lines that are no JSON objects");
  } else {
    ak_put(&message, "the agent ended with ");
    put_words(&message, spawn);
    ak_put(&message, " and without `done`");
  }
  ak_put(&facts, "{");
  put_exit(&facts, spawn);
  ak_put(&facts, "}");
  ak_fail(failure, class, message, facts);
}

// Were the only signals those by which the adapter ended a program that did not go?
static bool hung(const ak_spawn *spawn) {
  for (const ak_json *sent = ak_spawn_sent(spawn, NULL); sent; sent = ak_spawn_sent(spawn, sent))
    if (!ak_json_is(sent, "reason", "adapter") || ak_json_is(sent, "signal", "SIGINT")) return false;
  return true;
}

void find_outcome(const ak_spawn *spawn, const stream *stream, akbench_agent_types_option_outcome_t *outcome) {
  if (!spawn->exit) return;
  outcome->is_some = true;
  outcome->val.tag = AKBENCH_AGENT_TYPES_OUTCOME_FAILED;
  int64_t code = -1;
  bool stopped = ak_spawn_sent(spawn, NULL) != NULL;
  if (stream->error.json) {
    reported(spawn, &stream->error, &outcome->val.val.failed);
  } else if (stream->done.json && ak_spawn_code(spawn, &code) && code == 0) {
    outcome->val.tag = AKBENCH_AGENT_TYPES_OUTCOME_COMPLETED;
  } else if (stopped && !(stream->done.json && hung(spawn))) {
    outcome->val.tag = AKBENCH_AGENT_TYPES_OUTCOME_CANCELLED;
  } else {
    unexpected(spawn, stream, &outcome->val.val.failed);
  }
}

void find_unresolved(const ak_spawn *spawn, const stream *stream, akbench_agent_types_option_failure_t *unresolved) {
  if (!stream->retry.json || stream->done.json || stream->error.json) return;
  meaning meant = meaning_of(stream->retry.json, (meaning){"", AK_CLASS(UNKNOWN), true});
  ak_text message = {0}, facts = {0};
  ak_put(&message, "the agent was still trying again: ");
  put_message(&message, &stream->retry);
  ak_put(&facts, "{");
  put_source(&facts, spawn, &stream->retry);
  ak_put(&facts, "}");
  unresolved->is_some = true;
  ak_fail(&unresolved->val, meant.class, message, facts);
  unresolved->val.retryable = true;
}
