// The parameters of an experiment.
#ifndef AKBENCH_PARAMETERS_H
#define AKBENCH_PARAMETERS_H

#include "failure.h"
#include "json.h"

// A parameter that the adapter knows.
typedef struct {
  const char *name;
  ak_json_kind kind;
} ak_parameter;

// Refuses a parameter that is not among the `len` of `known`, or whose value is of another kind.
// The engine checks them against the descriptor's schema; the adapter checks again, because it
// may be given another descriptor.
bool ak_parameters_known(const ak_json *parameters, const ak_parameter *known, size_t len, ak_failure *failure);

#endif
