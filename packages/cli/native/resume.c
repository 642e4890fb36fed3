/*
 * How much of the launch has come. A server is told now and then, so that nodes may forget it; when the server is lost, the
 * whole program is told and goes on with the launch, there or at another server.
 */
#include "launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A quarter of what nodes keep before they make tasks wait, and what an event costs them beyond its output. */
#define TELL_EVERY (256 * 1024)
#define EVENT_BYTES 64
#define MOST_NODES 1000000

static struct text id, servers; /* the second: in the words of JSON */
static long call;
static int begun;
static long *positions;
static size_t position_count, unsaid;

static void note_position(size_t node, long number) {
  if (node >= MOST_NODES) return;
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
    begun = 1;
    string_of(member(started, "launch_id"), &id);
    call = number_of(member(started, "call"), 0);
    const char *list = member(started, "servers");
    servers.length = 0;
    if (list != NULL && *list == '[') text_add(&servers, list, length_of(list));
  }
  unsaid += EVENT_BYTES + bytes;
  if (number != NULL) note_position((size_t)number_of(member(event, "node_index"), 0), number_of(number, 0));
}

int has_begun(void) { return begun; }

const char *launch_id(void) { return id.length == 0 ? NULL : id.bytes; }

static void add_positions(struct text *into) {
  for (size_t at = 0; at < position_count; at++) {
    char number[32];
    snprintf(number, sizeof number, at == 0 ? "%ld" : ",%ld", positions[at]);
    text_say(into, number);
  }
}

const char *words_for_server(int over) {
  static struct text words;
  if (over) return "{\"over\":true}";
  if (unsaid < TELL_EVERY) return NULL;
  unsaid = 0;
  words.length = 0;
  text_say(&words, "{\"taken\":[");
  add_positions(&words);
  text_say(&words, "]}");
  return words.bytes;
}

_Noreturn void let_go_on(void (*add_rests)(struct text *into)) {
  struct text left = {0};
  char number[64];
  text_say(&left, "{\"launch_id\":");
  json_string(&left, id.length == 0 ? "" : id.bytes);
  snprintf(number, sizeof number, ",\"call\":%ld,\"positions\":[", call);
  text_say(&left, number);
  add_positions(&left);
  text_say(&left, "],\"servers\":");
  text_say(&left, servers.length == 0 ? "[]" : servers.bytes);
  text_say(&left, ",\"rests\":[");
  add_rests(&left);
  text_say(&left, "]}");
  /* Kept open over exec, and gone with the program. */
  int file = memfd_create("lattice-launch", 0);
  FILE *to = file < 0 ? NULL : fdopen(file, "w");
  if (to != NULL && fwrite(left.bytes, 1, left.length, to) == left.length && fflush(to) == 0) {
    snprintf(number, sizeof number, "/proc/self/fd/%d", file);
    setenv("LATTICE_LAUNCH_RESUME", number, 1);
  }
  hand_over();
}
