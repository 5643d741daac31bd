// Saying what went wrong.
#ifndef AKBENCH_FAILURE_H
#define AKBENCH_FAILURE_H

#include "text.h"

// Fills a failure: a class (`AK_CLASS(...)`), a message for people, and the facts that it
// rests on, a JSON object (an empty text stands for `{}`). Takes both texts. Returns false,
// so that an operation can end with `return ak_fail(...)`.
bool ak_fail(ak_failure *failure, uint8_t class, ak_text message, ak_text evidence);
// The same with a literal and without facts.
bool ak_fail_plainly(ak_failure *failure, uint8_t class, const char *message);
// The engine wants the session back: what every operation but waiting says then.
bool ak_fail_interrupted(ak_failure *failure, const char *operation);

#endif
