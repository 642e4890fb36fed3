/* Shared declarations of the native launcher. */
#ifndef LATTICE_LAUNCH_H
#define LATTICE_LAUNCH_H

#include <stddef.h>

/* Replaces this process by the Node program, which supports everything. Does not return. */
_Noreturn void hand_over(void);
/* Hands over after a failed launch: the Node program only reports the problem in `event`. */
_Noreturn void report(const char *event);

/* A growing buffer, always followed by a 0 byte. */
struct text {
  char *bytes;
  size_t length;
  size_t capacity;
};
void text_add(struct text *text, const char *bytes, size_t length);
void text_puts(struct text *text, const char *words);

/* Parsed options of `lattice launch` or `srun`; NULL when absent. */
struct flags {
  const char *alloc, *tasks, *tasks_per_node, *workdir, *pmi, *fence_timeout;
  struct text nodes, variables; /* JSON elements without brackets */
  int labelled;
  int alone; /* no other node makes the same call */
};

/* resume.c: the position in the launch, for the program that continues it. */
void note_event(const char *event, size_t bytes);
/* Whether the launch has started, so that it can be continued. */
int has_started(void);
/* Returns the body of a progress report, or NULL when none is due. `finished` reports the end. */
const char *progress_body(int finished);
/* The launch id in the URL path. */
const char *launch_id(void);
/* Continues the launch in the Node program; the callback writes the incomplete lines. Does not return. */
_Noreturn void continue_in_node(void (*add_partial_lines)(struct text *into));

/* request.c: the request, built from the words and the environment. */
struct request {
  struct text host, port, path, head, body;
  struct text identity; /* authentication headers */
  int secure; /* https */
  const char *ca_file; /* file with the ca_file of servers' certificates, or NULL */
  int labelled;
};
/* `read` parses the flags and returns the first word of the command. */
void read_request(struct request *request, char **(*read)(struct flags *, char **), char **words);
char **read_launch(struct flags *flags, char **words);
/* Writes a complete HTTP request. */
void write_call(const struct request *request, struct text *into, const char *path, const char *accept,
                const struct text *body);
/* Each returns its argument if it is valid, and hands over otherwise. */
const char *check_ascii(const char *words);
const char *check_count(const char *words);
const char *pmi_mode(const char *words);
const char *env_value(const char *name); /* NULL when the variable is not set or empty */
void add_word(struct text *list, const char *word);
void add_pair(struct text *list, const char *pair); /* NAME=VALUE */

/* srun.c */
char **read_step(struct flags *flags, char **words);

/* task-failures.c: `task` is the JSON of a task's end. */
void add_failure(const char *task);
/* Writes `prefix` before every line; a non-NULL `reason` is shown when no task failed. */
void print_failures(struct text *into, const char *prefix, const char *reason);

/* connection.c */
struct connection;
/* Returns NULL when the server does not respond or its certificate does not verify. */
struct connection *connect_to(const struct request *request);
void connection_close(struct connection *connection);
int connection_write(struct connection *connection, const char *bytes, size_t length);
/* Reads at most `most` bytes; returns 0 at the end and a negative number on error. */
long connection_read(struct connection *connection, char *bytes, size_t most);

/* response.c: the lines of a response. */
struct response {
  struct connection *connection;
  struct text read;  /* raw bytes */
  size_t consumed;   /* of `read` */
  struct text lines; /* without chunk framing */
  size_t line_offset;
  int chunked;
  size_t chunk_left;
  int done;
};
/* Returns the HTTP status, or 0 on error. */
int read_head(struct response *response, struct connection *connection);
/* Returns the next line, or NULL at the end. Valid until the next call. */
char *next_line(struct response *response);

/* json.c: parses in place; a value is a pointer to its first character. */
const char *member(const char *object, const char *name); /* NULL when absent */
size_t length_of(const char *value);
long number_of(const char *value, long otherwise);
/* Decodes into UTF-8; empty for an absent value. */
void string_of(const char *value, struct text *into);
void base64_of(const char *value, struct text *into);
void json_string(struct text *into, const char *words);

#endif
