/*
 * The answer to a launch as HTTP/1.1 brings it: a head, then lines, in pieces or to the end of the connection.
 */
#include "launch.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_HEAD (64 * 1024)
/* A task's output comes in pieces of 64 KiB; this is far beyond what any line may be. */
#define MOST_LINE (64 * 1024 * 1024)
#define READ_SIZE (64 * 1024)

/* 0: nothing more comes. */
static int read_more(struct answer *answer) {
  static char bytes[READ_SIZE];
  if (answer->taken > 0) {
    answer->read.length -= answer->taken;
    memmove(answer->read.bytes, answer->read.bytes + answer->taken, answer->read.length);
    answer->taken = 0;
  }
  long count = connection_read(answer->connection, bytes, sizeof bytes);
  if (count <= 0) return 0;
  text_add(&answer->read, bytes, (size_t)count);
  return 1;
}

int read_head(struct answer *answer, struct connection *connection) {
  memset(answer, 0, sizeof *answer);
  answer->connection = connection;
  char *end = NULL;
  while (end == NULL) {
    if (answer->read.length > MOST_HEAD || !read_more(answer)) return 0;
    end = strstr(answer->read.bytes, "\r\n\r\n");
  }
  *end = 0;
  answer->taken = (size_t)(end - answer->read.bytes) + 4;
  if (strncmp(answer->read.bytes, "HTTP/1.1 ", 9) != 0) return 0;
  answer->pieces = strcasestr(answer->read.bytes, "\r\ntransfer-encoding: chunked") != NULL;
  return atoi(answer->read.bytes + 9);
}

/* The mark before a piece: its length in hexadecimal on a line, after the end of the one before. 0: there is none yet. */
static int read_mark(struct answer *answer) {
  char *from = answer->read.bytes + answer->taken;
  if (from[0] == '\r' && from[1] == '\n') from += 2;
  char *end = strstr(from, "\r\n");
  if (end == NULL) return 0;
  answer->left = strtoul(from, NULL, 16);
  answer->taken = (size_t)(end - answer->read.bytes) + 2;
  if (answer->left == 0) answer->over = 1;
  return 1;
}

/* Moves what has come to the lines; 0: nothing was there. */
static int move(struct answer *answer) {
  size_t there = answer->read.length - answer->taken;
  if (there == 0) return 0;
  if (answer->pieces && answer->left == 0) return read_mark(answer);
  size_t count = answer->pieces && answer->left < there ? answer->left : there;
  text_add(&answer->lines, answer->read.bytes + answer->taken, count);
  answer->taken += count;
  if (answer->pieces) answer->left -= count;
  return 1;
}

char *next_line(struct answer *answer) {
  for (;;) {
    if (answer->lines.length > answer->passed) {
      char *from = answer->lines.bytes + answer->passed;
      char *end = memchr(from, '\n', answer->lines.length - answer->passed);
      if (end != NULL) {
        *end = 0;
        answer->passed = (size_t)(end - answer->lines.bytes) + 1;
        return from;
      }
    }
    if (answer->passed > 0) {
      answer->lines.length -= answer->passed;
      memmove(answer->lines.bytes, answer->lines.bytes + answer->passed, answer->lines.length);
      answer->passed = 0;
    }
    if (answer->lines.length > MOST_LINE) return NULL;
    while (!answer->over && !move(answer))
      if (!read_more(answer)) return NULL;
    if (answer->over) return NULL;
  }
}
