#include "files.h"

#include <stdlib.h>

#define CODE(name) WASI_FILESYSTEM_TYPES_ERROR_CODE_##name
#define CHUNK (256u << 10)

typedef wasi_filesystem_types_own_descriptor_t descriptor;
typedef wasi_filesystem_types_error_code_t code;

// The folders that were granted, asked for once.
static wasi_filesystem_preopens_list_tuple2_own_descriptor_string_t granted;

static ak_file_result result_of(code error) { return error == CODE(NO_ENTRY) ? AK_FILE_ABSENT : AK_FILE_FAILED; }

static ak_file_result open_file(const char *folder, const char *path, uint8_t how, uint8_t rights, descriptor *opened) {
  if (!granted.ptr) wasi_filesystem_preopens_get_directories(&granted);
  for (size_t i = 0; i < granted.len; i++) {
    ak_string *name = &granted.ptr[i].f1;
    if (!ak_is((char *)name->ptr, name->len, folder)) continue;
    ak_string relative;
    adapter_string_set(&relative, path);
    code error;
    bool ok = wasi_filesystem_types_method_descriptor_open_at(wasi_filesystem_types_borrow_descriptor(granted.ptr[i].f0),
                                                              0, &relative, how, rights, opened, &error);
    return ok ? AK_FILE_OK : result_of(error);
  }
  return AK_FILE_FAILED;
}

static ak_file_result each_chunk(const char *folder, const char *path,
                                 void (*each)(void *context, const uint8_t *bytes, size_t len), void *context) {
  descriptor file;
  ak_file_result result = open_file(folder, path, 0, WASI_FILESYSTEM_TYPES_DESCRIPTOR_FLAGS_READ, &file);
  if (result != AK_FILE_OK) return result;
  for (uint64_t offset = 0;;) {
    adapter_tuple2_list_u8_bool_t got;
    code error;
    if (!wasi_filesystem_types_method_descriptor_read(wasi_filesystem_types_borrow_descriptor(file), CHUNK, offset, &got,
                                                      &error)) {
      result = AK_FILE_FAILED;
      break;
    }
    size_t len = got.f0.len;
    if (len) each(context, got.f0.ptr, len);
    offset += len;
    adapter_tuple2_list_u8_bool_free(&got);
    if (got.f1 || len == 0) break;
  }
  wasi_filesystem_types_descriptor_drop_own(file);
  return result;
}

typedef struct {
  ak_splitter splitter;
  void (*each)(void *context, const ak_line *line);
  void *context;
} splitting;

static void split(void *context, const uint8_t *bytes, size_t len) {
  splitting *s = context;
  ak_line line;
  ak_feed(&s->splitter, bytes, len);
  while (ak_next_line(&s->splitter, &line)) s->each(s->context, &line);
}

ak_file_result ak_file_lines(const char *folder, const char *path, void (*each)(void *context, const ak_line *line),
                             void *context) {
  splitting s = {.each = each, .context = context};
  ak_file_result result = each_chunk(folder, path, split, &s);
  ak_line line;
  if (result == AK_FILE_OK && ak_last_line(&s.splitter, &line)) each(context, &line);
  ak_splitter_drop(&s.splitter);
  return result;
}

static void append(void *context, const uint8_t *bytes, size_t len) { ak_put_bytes(context, bytes, len); }

ak_file_result ak_file_read(const char *folder, const char *path, ak_text *text) {
  return each_chunk(folder, path, append, text);
}

ak_file_result ak_folder_list(const char *folder, const char *path, void (*each)(void *context, const ak_string *name),
                              void *context) {
  descriptor opened;
  uint8_t how = WASI_FILESYSTEM_TYPES_OPEN_FLAGS_DIRECTORY;
  ak_file_result result = open_file(folder, path, how, WASI_FILESYSTEM_TYPES_DESCRIPTOR_FLAGS_READ, &opened);
  if (result != AK_FILE_OK) return result;
  wasi_filesystem_types_own_directory_entry_stream_t entries;
  code error;
  if (wasi_filesystem_types_method_descriptor_read_directory(wasi_filesystem_types_borrow_descriptor(opened), &entries,
                                                             &error)) {
    for (;;) {
      wasi_filesystem_types_option_directory_entry_t entry;
      if (!wasi_filesystem_types_method_directory_entry_stream_read_directory_entry(
              wasi_filesystem_types_borrow_directory_entry_stream(entries), &entry, &error)) {
        result = AK_FILE_FAILED;
        break;
      }
      if (!entry.is_some) break;
      each(context, &entry.val.name);
      wasi_filesystem_types_option_directory_entry_free(&entry);
    }
    wasi_filesystem_types_directory_entry_stream_drop_own(entries);
  } else {
    result = result_of(error);
  }
  wasi_filesystem_types_descriptor_drop_own(opened);
  return result;
}

ak_file_result ak_file_write(const char *folder, const char *path, const void *bytes, size_t len) {
  descriptor file;
  uint8_t how = WASI_FILESYSTEM_TYPES_OPEN_FLAGS_CREATE | WASI_FILESYSTEM_TYPES_OPEN_FLAGS_TRUNCATE;
  ak_file_result result = open_file(folder, path, how, WASI_FILESYSTEM_TYPES_DESCRIPTOR_FLAGS_WRITE, &file);
  if (result != AK_FILE_OK) return result;
  for (uint64_t offset = 0; offset < len && result == AK_FILE_OK;) {
    uint64_t left = len - offset, written = 0;
    adapter_list_u8_t piece = {(uint8_t *)bytes + offset, left < CHUNK ? left : CHUNK};
    code error;
    bool ok = wasi_filesystem_types_method_descriptor_write(wasi_filesystem_types_borrow_descriptor(file), &piece, offset,
                                                            &written, &error);
    if (!ok || written == 0) result = AK_FILE_FAILED;
    offset += written;
  }
  wasi_filesystem_types_descriptor_drop_own(file);
  return result;
}
