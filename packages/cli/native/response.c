/*
 * The HTTP/1.1 response to a launch: a head, then lines, chunked or up to the end of the connection.
 */
#include "launch.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_HEAD (64 * 1024)
/* Output arrives in chunks of 64 KiB, so no valid line is this long. */
#define MAX_LINE (64 * 1024 * 1024)
#define READ_SIZE (64 * 1024)

/* Returns 0 at the end of the connection. */
static int read_more(struct response *response) {
  static char bytes[READ_SIZE];
  if (response->consumed > 0) {
    response->read.length -= response->consumed;
    memmove(response->read.bytes, response->read.bytes + response->consumed, response->read.length);
    response->consumed = 0;
  }
  long count = connection_read(response->connection, bytes, sizeof bytes);
  if (count <= 0) return 0;
  text_add(&response->read, bytes, (size_t)count);
  return 1;
}

int read_head(struct response *response, struct connection *connection) {
  memset(response, 0, sizeof *response);
  response->connection = connection;
  char *end = NULL;
  while (end == NULL) {
    if (response->read.length > MAX_HEAD || !read_more(response)) return 0;
    end = strstr(response->read.bytes, "\r\n\r\n");
  }
  *end = 0;
  response->consumed = (size_t)(end - response->read.bytes) + 4;
  if (strncmp(response->read.bytes, "HTTP/1.1 ", 9) != 0) return 0;
  response->chunked = strcasestr(response->read.bytes, "\r\ntransfer-encoding: chunked") != NULL;
  return atoi(response->read.bytes + 9);
}

/* Reads the size line of a chunk, after the CRLF of the previous chunk. Returns 0 when it is incomplete. */
static int read_chunk_size(struct response *response) {
  char *from = response->read.bytes + response->consumed;
  if (from[0] == '\r' && from[1] == '\n') from += 2;
  char *end = strstr(from, "\r\n");
  if (end == NULL) return 0;
  response->chunk_left = strtoul(from, NULL, 16);
  response->consumed = (size_t)(end - response->read.bytes) + 2;
  if (response->chunk_left == 0) response->done = 1;
  return 1;
}

/* Moves received bytes to `lines`, without chunk framing. Returns 0 when more input is needed. */
static int decode(struct response *response) {
  size_t there = response->read.length - response->consumed;
  if (there == 0) return 0;
  if (response->chunked && response->chunk_left == 0) return read_chunk_size(response);
  size_t count = response->chunked && response->chunk_left < there ? response->chunk_left : there;
  text_add(&response->lines, response->read.bytes + response->consumed, count);
  response->consumed += count;
  if (response->chunked) response->chunk_left -= count;
  return 1;
}

char *next_line(struct response *response) {
  for (;;) {
    if (response->lines.length > response->line_offset) {
      char *from = response->lines.bytes + response->line_offset;
      char *end = memchr(from, '\n', response->lines.length - response->line_offset);
      if (end != NULL) {
        *end = 0;
        response->line_offset = (size_t)(end - response->lines.bytes) + 1;
        return from;
      }
    }
    if (response->line_offset > 0) {
      response->lines.length -= response->line_offset;
      memmove(response->lines.bytes, response->lines.bytes + response->line_offset, response->lines.length);
      response->line_offset = 0;
    }
    if (response->lines.length > MAX_LINE) return NULL;
    while (!response->done && !decode(response))
      if (!read_more(response)) return NULL;
    if (response->done) return NULL;
  }
}
