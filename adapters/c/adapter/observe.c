#include "observe.h"

#include <stdlib.h>

#include "outcome.h"

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

ak_option_string reported_version(const char *printed, size_t len) {
  const char *words[3];
  size_t lens[3], count = 0;
  for (size_t i = 0; i < len && count < 3;) {
    while (i < len && is_space(printed[i])) i++;
    size_t from = i;
    while (i < len && !is_space(printed[i])) i++;
    if (i > from) words[count] = printed + from, lens[count++] = i - from;
  }
  if (count != 2 || !ak_is(words[0], lens[0], "line-agent")) return (ak_option_string){0};
  return (ak_option_string){true, ak_copy(words[1], lens[1])};
}

static adapter_option_u64_t tokens(const ak_json *event, const char *key) {
  int64_t count;
  if (!ak_json_count(event, key, 1ll << 53, &count)) return (adapter_option_u64_t){0};
  return (adapter_option_u64_t){true, (uint64_t)count};
}

ak_token_usage token_usage(const ak_json *event) {
  return (ak_token_usage){
      .input = tokens(event, "input"),
      .cached_input = tokens(event, "cached_input"),
      .output = tokens(event, "output"),
      .total = tokens(event, "total"),
  };
}

static ak_string string_of(const ak_json *event, const char *key) {
  const ak_json *text = ak_json_text(event, key);
  return text ? ak_copy(text->text, text->len) : (ak_string){0};
}

static ak_option_string option_of(const ak_json *event, const char *key) {
  if (!ak_json_text(event, key)) return (ak_option_string){0};
  return (ak_option_string){true, string_of(event, key)};
}

ak_tool_call tool_call(const ak_json *event) {
  static const char *const statuses[] = {"completed", "failed", "denied"};
  ak_tool_call call = {.id = string_of(event, "id"), .name = string_of(event, "name")};
  for (uint8_t i = 0; i < 3; i++) {
    // In the order of the contract's enum.
    if (ak_json_is(event, "status", statuses[i])) call.status.is_some = true, call.status.val = i;
  }
  int64_t number;
  if (ak_json_count(event, "exit_code", 1ll << 31, &number)) call.exit_code.is_some = true, call.exit_code.val = (int32_t)number;
  if (ak_json_count(event, "duration_ms", 1ll << 32, &number)) call.duration.is_some = true, call.duration.val = (uint32_t)number;
  return call;
}

static void take_usage(ak_observations *seen, const stream *stream) {
  if (!stream->usage.json) return;
  seen->usage.is_some = true;
  seen->usage.val = token_usage(stream->usage.json);
  akbench_agent_types_provenance_t *origin = ak_new(1, sizeof *origin);
  origin->observation = ak_literal("usage");
  origin->origin = AKBENCH_AGENT_TYPES_ORIGIN_AGENT;
  origin->source = ak_literal("stdout:usage");
  origin->complete = stream->done.json != NULL;
  if (!origin->complete) {
    origin->missing.ptr = ak_new(1, sizeof *origin->missing.ptr);
    origin->missing.ptr[0] = ak_literal("last request");
    origin->missing.len = 1;
  }
  seen->provenance.ptr = origin;
  seen->provenance.len = 1;
}

static void take_stream(ak_observations *seen, const ak_spawn *spawn, const stream *stream) {
  find_outcome(spawn, stream, &seen->outcome);
  find_unresolved(spawn, stream, &seen->unresolved);
  seen->native_session_id = option_of(stream->start.json, "session");
  seen->applied.model = option_of(stream->start.json, "model");
  seen->final_message = option_of(stream->message.json, "text");
  seen->tool_calls.is_some = true;
  if (stream->tools.len) {
    seen->tool_calls.val.ptr = ak_new(stream->tools.len, sizeof *seen->tool_calls.val.ptr);
    seen->tool_calls.val.len = stream->tools.len;
    for (size_t i = 0; i < stream->tools.len; i++) seen->tool_calls.val.ptr[i] = tool_call(stream->tools.items[i].json);
  }
  if (stream->warnings.len) {
    seen->warnings.ptr = ak_new(stream->warnings.len, sizeof *seen->warnings.ptr);
    seen->warnings.len = stream->warnings.len;
    for (size_t i = 0; i < stream->warnings.len; i++) seen->warnings.ptr[i] = string_of(stream->warnings.items[i].json, "text");
  }
  take_usage(seen, stream);
  if (stream->unreadable) {
    ak_text extra = {0};
    ak_put(&extra, "{\"unreadable_lines\":");
    ak_put_number(&extra, (long long)stream->unreadable);
    ak_put(&extra, "}");
    adapter_string_free(&seen->extra);
    seen->extra = ak_take(&extra);
  }
}

static bool take_version(ak_observations *seen, ak_failure *failure) {
  ak_spawns probes;
  if (!ak_evidence_spawns(VERSION_LABEL, &probes, failure)) return false;
  bool ok = true;
  for (size_t i = 0; ok && i < probes.len; i++) {
    ak_text printed = {0};
    ok = ak_spawn_read(&probes.items[i], "stdout", &printed, failure);
    adapter_option_string_free(&seen->agent_version);
    seen->agent_version = reported_version(printed.ptr, printed.len);
    ak_drop(&printed);
  }
  ak_spawns_drop(&probes);
  return ok;
}

bool agent_observe(ak_observations *seen, ak_failure *failure) {
  ak_spawns tasks;
  if (!take_version(seen, failure) || !ak_evidence_spawns(TASK_LABEL, &tasks, failure)) return false;
  bool ok = true;
  if (tasks.len) {
    ak_spawn *spawn = &tasks.items[tasks.len - 1];
    stream stream = {0};
    ok = ak_spawn_lines(spawn, "stdout", stream_add, &stream, failure);
    if (ok) take_stream(seen, spawn, &stream);
    stream_drop(&stream);
  }
  ak_spawns_drop(&tasks);
  return ok;
}
