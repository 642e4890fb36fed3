/*
 * The position in the event stream of a launch. It is reported to the server now and then, so that nodes can free their
 * buffers; when the server is lost, it is handed to the Node program, which continues the launch at any server.
 */
#include "launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A quarter of what nodes buffer before tasks block, and the overhead that they count per event. */
#define REPORT_BYTES (256 * 1024)
#define EVENT_BYTES 64
#define MAX_NODES 1000000

static struct text id, servers; /* `servers` is a JSON array */
static long call;
static int launch_started;
static long *positions;
static size_t position_count, unreported;

static void note_position(size_t node, long number) {
  if (node >= MAX_NODES) return;
  if (node >= position_count) {
    size_t count = 2 * (node + 1);
    positions = realloc(positions, count * sizeof *positions);
    if (positions == NULL) abort();
    memset(positions + position_count, 0, (count - position_count) * sizeof *positions);
    position_count = count;
  }
  if (number > positions[node]) positions[node] = number;
}

void note_event(const char *event, size_t bytes) {
  const char *started = member(event, "started"), *number = member(event, "number");
  if (started != NULL) {
    launch_started = 1;
    string_of(member(started, "launch_id"), &id);
    call = number_of(member(started, "call"), 0);
    const char *list = member(started, "servers");
    servers.length = 0;
    if (list != NULL && *list == '[') text_add(&servers, list, length_of(list));
  }
  unreported += EVENT_BYTES + bytes;
  if (number != NULL) note_position((size_t)number_of(member(event, "node_index"), 0), number_of(number, 0));
}

int has_started(void) { return launch_started; }

const char *launch_id(void) { return id.length == 0 ? NULL : id.bytes; }

static void add_positions(struct text *into) {
  for (size_t at = 0; at < position_count; at++) {
    char number[32];
    snprintf(number, sizeof number, at == 0 ? "%ld" : ",%ld", positions[at]);
    text_puts(into, number);
  }
}

const char *progress_body(int finished) {
  static struct text words;
  if (finished) return "{\"finished\":true}";
  if (unreported < REPORT_BYTES) return NULL;
  unreported = 0;
  words.length = 0;
  text_puts(&words, "{\"acknowledged\":[");
  add_positions(&words);
  text_puts(&words, "]}");
  return words.bytes;
}

_Noreturn void continue_in_node(void (*add_partial_lines)(struct text *into)) {
  struct text handover = {0};
  char number[64];
  text_puts(&handover, "{\"launch_id\":");
  json_string(&handover, id.length == 0 ? "" : id.bytes);
  snprintf(number, sizeof number, ",\"call\":%ld,\"positions\":[", call);
  text_puts(&handover, number);
  add_positions(&handover);
  text_puts(&handover, "],\"servers\":");
  text_puts(&handover, servers.length == 0 ? "[]" : servers.bytes);
  text_puts(&handover, ",\"partial_lines\":[");
  add_partial_lines(&handover);
  text_puts(&handover, "]}");
  /* Stays open across exec and disappears with the process. */
  int file = memfd_create("lattice-launch", 0);
  FILE *to = file < 0 ? NULL : fdopen(file, "w");
  if (to != NULL && fwrite(handover.bytes, 1, handover.length, to) == handover.length && fflush(to) == 0) {
    snprintf(number, sizeof number, "/proc/self/fd/%d", file);
    setenv("LATTICE_LAUNCH_RESUME", number, 1);
  }
  hand_over();
}
