// How the work ended.
#ifndef OUTCOME_H
#define OUTCOME_H

#include "stream.h"

// The outcome; stays none if the program may have outlived its engine.
void find_outcome(const ak_spawn *spawn, const stream *stream, akbench_agent_types_option_outcome_t *outcome);
// What the program was still struggling with when its output stops.
void find_unresolved(const ak_spawn *spawn, const stream *stream, akbench_agent_types_option_failure_t *unresolved);

#endif
