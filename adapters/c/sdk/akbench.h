// What an adapter in C needs besides its own knowledge of one agent.
//
//   contract.h  the types of wit/agent.wit, under short names
//   text.h      text that grows
//   json.h      JSON lines, as agents print them
//   lines.h     byte streams, line by line
//   failure.h   saying what went wrong
//   files.h     the folders that an adapter has
//   evidence.h  what the engine recorded; all observations come from there
//   program.h   starting programs and reading what they print
//   parameters.h  refusing parameters that the adapter does not know
//   session.h   the eight operations, done; the adapter fills in the agent
//
// Functions that can fail take an `ak_failure *` and return false after filling it. Memory
// that runs out is a trap: nothing could be reported any more.
#ifndef AKBENCH_H
#define AKBENCH_H

#include "contract.h"
#include "evidence.h"
#include "failure.h"
#include "files.h"
#include "json.h"
#include "lines.h"
#include "parameters.h"
#include "program.h"
#include "session.h"
#include "text.h"

#endif
