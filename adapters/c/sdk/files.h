// The folders that an adapter has: `/evidence` (read only), `/artifacts`, `/agent-home`.
// Their files go through `wasi:filesystem` and not through stdio, so that the component imports
// nothing else.
#ifndef AKBENCH_FILES_H
#define AKBENCH_FILES_H

#include "lines.h"

typedef enum { AK_FILE_OK, AK_FILE_ABSENT, AK_FILE_FAILED } ak_file_result;

// Calls `each` for every line of a file, one chunk of it in memory at a time.
ak_file_result ak_file_lines(const char *folder, const char *path, void (*each)(void *context, const ak_line *line),
                             void *context);
// Appends a whole file to `text`.
ak_file_result ak_file_read(const char *folder, const char *path, ak_text *text);
// Calls `each` for every name in a folder.
ak_file_result ak_folder_list(const char *folder, const char *path, void (*each)(void *context, const ak_string *name),
                              void *context);
// Writes a whole file below `/artifacts` or `/agent-home`.
ak_file_result ak_file_write(const char *folder, const char *path, const void *bytes, size_t len);

#endif
