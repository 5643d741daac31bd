#include "failure.h"

bool ak_fail(ak_failure *failure, uint8_t class, ak_text message, ak_text evidence) {
  if (evidence.len == 0) ak_put(&evidence, "{}");
  *failure = (ak_failure){0};
  failure->class_.tag = class;
  failure->message = ak_take(&message);
  failure->evidence = ak_take(&evidence);
  return false;
}

bool ak_fail_plainly(ak_failure *failure, uint8_t class, const char *message) {
  ak_text text = {0};
  ak_put(&text, message);
  return ak_fail(failure, class, text, (ak_text){0});
}

bool ak_fail_interrupted(ak_failure *failure, const char *operation) {
  ak_text text = {0};
  ak_put(&text, operation);
  ak_put(&text, " was interrupted before it was done");
  return ak_fail(failure, AK_CLASS(INTERRUPTED), text, (ak_text){0});
}
