/* Reports failed tasks in Slurm's words: one line for all tasks that ended alike on one node, in order of arrival. */
#include "launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANKS_TEXT 64

struct failure {
  struct text key; /* node name and cause */
  size_t node;     /* length of the node name in `key` */
  long *ranks;
  size_t count, capacity;
};
static struct failure *failures;
static size_t failure_count;

static const char *signal_name(long number) {
  switch (number) {
    case 6: return "Aborted";
    case 9: return "Killed";
    case 11: return "Segmentation fault";
    case 15: return "Terminated";
    default: return NULL;
  }
}

static struct failure *failure_for(const struct text *key, size_t node) {
  for (size_t at = 0; at < failure_count; at++)
    if (failures[at].node == node && strcmp(failures[at].key.bytes, key->bytes) == 0) return &failures[at];
  failures = realloc(failures, (failure_count + 1) * sizeof *failures);
  if (failures == NULL) abort();
  struct failure *made = &failures[failure_count++];
  memset(made, 0, sizeof *made);
  text_add(&made->key, key->bytes, key->length);
  made->node = node;
  return made;
}

void add_failure(const char *task) {
  long code = number_of(member(task, "exit_code"), 0), number = number_of(member(task, "signal"), 0);
  if (code == 0 && number <= 0) return;
  struct text key = {0}, message = {0};
  char how[64];
  string_of(member(task, "node"), &key);
  size_t node = key.length;
  const char *name = number > 0 ? signal_name(number) : NULL;
  if (name != NULL) snprintf(how, sizeof how, "%s", name);
  else if (number > 0) snprintf(how, sizeof how, "Signal %ld", number);
  else snprintf(how, sizeof how, "Exited with exit code %ld", code);
  text_puts(&key, how);
  string_of(member(task, "message"), &message);
  if (message.length > 0) {
    text_puts(&key, ": ");
    text_add(&key, message.bytes, message.length);
  }
  struct failure *failure = failure_for(&key, node);
  if (failure->count == failure->capacity) {
    failure->capacity = 2 * failure->capacity + 8;
    failure->ranks = realloc(failure->ranks, failure->capacity * sizeof *failure->ranks);
    if (failure->ranks == NULL) abort();
  }
  failure->ranks[failure->count++] = number_of(member(task, "rank"), 0);
  free(key.bytes);
  free(message.bytes);
}

static int by_number(const void *a, const void *b) {
  long first = *(const long *)a, second = *(const long *)b;
  return (first > second) - (first < second);
}

static void ranks_text(struct failure *failure, struct text *into) {
  qsort(failure->ranks, failure->count, sizeof *failure->ranks, by_number);
  for (size_t at = 0; at < failure->count;) {
    size_t end = at;
    while (end + 1 < failure->count && failure->ranks[end + 1] <= failure->ranks[end] + 1) end++;
    char part[64];
    if (failure->ranks[at] == failure->ranks[end]) snprintf(part, sizeof part, "%ld", failure->ranks[at]);
    else snprintf(part, sizeof part, "%ld-%ld", failure->ranks[at], failure->ranks[end]);
    if (at > 0) text_puts(into, ",");
    text_puts(into, part);
    at = end + 1;
  }
  if (into->length <= MAX_RANKS_TEXT) return;
  into->length = MAX_RANKS_TEXT;
  while (into->length > 0 && into->bytes[into->length - 1] != ',') into->length--;
  text_puts(into, "...");
}

void print_failures(struct text *into, const char *prefix, const char *reason) {
  for (size_t at = 0; at < failure_count; at++) {
    struct failure *failure = &failures[at];
    struct text ranks = {0};
    ranks_text(failure, &ranks);
    text_puts(into, prefix);
    text_add(into, failure->key.bytes, failure->node);
    text_puts(into, failure->count == 1 ? ": task " : ": tasks ");
    text_puts(into, ranks.bytes);
    text_puts(into, ": ");
    text_puts(into, failure->key.bytes + failure->node);
    text_puts(into, "\n");
    free(ranks.bytes);
  }
  if (reason == NULL) return;
  struct text words = {0};
  string_of(reason, &words);
  if (failure_count > 0 || words.length == 0) return;
  text_puts(into, prefix);
  text_add(into, words.bytes, words.length);
  text_puts(into, "\n");
}
