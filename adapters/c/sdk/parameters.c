#include "parameters.h"

static bool refuse(const ak_json *parameter, const char *why, ak_failure *failure) {
  ak_text message = {0};
  ak_put(&message, "the parameter `");
  ak_put_bytes(&message, parameter->key, parameter->key_len);
  ak_put(&message, why);
  return ak_fail(failure, AK_CLASS(INVALID_CONFIGURATION), message, (ak_text){0});
}

bool ak_parameters_known(const ak_json *parameters, const ak_parameter *known, size_t len, ak_failure *failure) {
  for (const ak_json *each = parameters->first; each; each = each->next) {
    const ak_parameter *found = NULL;
    for (size_t i = 0; i < len && !found; i++)
      if (ak_is(each->key, each->key_len, known[i].name)) found = &known[i];
    if (!found) return refuse(each, "` is not known", failure);
    if (each->kind != found->kind) return refuse(each, "` has the wrong type", failure);
  }
  return true;
}
