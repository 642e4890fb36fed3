/*
 * The native launcher: `lattice launch`, and `srun` inside a job, without starting Node, which would take longer than the
 * launch itself. It sends the request, copies the output of the tasks and exits with their status. It supports common
 * flags and plain responses; for everything else (a terminal, input, other formats, errors) it replaces itself by the
 * Node program.
 *
 * Arguments: the file of the Node program, then the original words: "launch" or "srun", flags and command.
 */
#include "launch.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERRUPTED 130
#define MAX_PARTIAL_LINE (64 * 1024)
#define STREAM_CLOSED "{\"problem\":{\"code\":\"connection_failed\",\"detail\":\"the server closed the launch stream before the tasks ended\"}}"

static char **all_words;

_Noreturn void hand_over(void) {
  const char *node = env_value("LATTICE_LAUNCH_NODE");
  all_words[0] = "node";
  execvp(node == NULL ? "node" : node, all_words);
  fprintf(stderr, "lattice: cannot start node: %s\n", strerror(errno));
  _exit(127);
}

_Noreturn void report(const char *event) {
  setenv("LATTICE_LAUNCH_PROBLEM", event, 1);
  hand_over();
}

void text_add(struct text *text, const char *bytes, size_t length) {
  if (text->length + length + 1 > text->capacity) {
    text->capacity = 2 * (text->length + length + 64);
    text->bytes = realloc(text->bytes, text->capacity);
    if (text->bytes == NULL) abort();
  }
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = 0;
}

void text_puts(struct text *text, const char *words) { text_add(text, words, strlen(words)); }

/* No message to the server: the tasks end with the connection. */
static void on_signal(int signal) {
  (void)signal;
  _exit(INTERRUPTED);
}

static void write_out(int to, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t count = write(to, bytes, length);
    if (count >= 0) {
      bytes += count;
      length -= (size_t)count;
    } else if (errno == EAGAIN) {
      struct pollfd writable = {to, POLLOUT, 0};
      poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      /* EPIPE or EIO: the reader has closed the output, a normal end. */
      _exit(errno == EPIPE || errno == EIO ? 0 : 1);
    }
  }
}

static int descriptor_of(int stream) { return stream == 0 ? STDOUT_FILENO : STDERR_FILENO; }

/* The incomplete last line of every task and stream. */
static struct text *partial;
static size_t partial_count;

static void write_line(size_t place, const char *bytes, size_t length) {
  static struct text line;
  char number[24];
  line.length = 0;
  snprintf(number, sizeof number, "%zu: ", place / 2);
  text_puts(&line, number);
  text_add(&line, bytes, length);
  write_out(descriptor_of((int)(place % 2)), line.bytes, line.length);
}

static void end_line(size_t place) {
  if (partial[place].length == 0) return;
  text_puts(&partial[place], "\n");
  write_line(place, partial[place].bytes, partial[place].length);
  partial[place].length = 0;
}

static void write_labelled(size_t place, const struct text *data) {
  if (place >= partial_count) {
    size_t count = 2 * (place + 1);
    partial = realloc(partial, count * sizeof *partial);
    if (partial == NULL) abort();
    memset(partial + partial_count, 0, (count - partial_count) * sizeof *partial);
    partial_count = count;
  }
  struct text *rest = &partial[place];
  text_add(rest, data->bytes, data->length);
  char *from = rest->bytes, *end;
  while ((end = memchr(from, '\n', rest->length - (size_t)(from - rest->bytes))) != NULL) {
    write_line(place, from, (size_t)(end - from) + 1);
    from = end + 1;
  }
  rest->length -= (size_t)(from - rest->bytes);
  memmove(rest->bytes, from, rest->length);
  if (rest->length >= MAX_PARTIAL_LINE) end_line(place);
}

/* Writes the incomplete lines for launch/handover.ts. */
static void add_partial_lines(struct text *into) {
  int any = 0;
  char part[96];
  for (size_t place = 0; place < partial_count; place++) {
    if (partial[place].length == 0) continue;
    snprintf(part, sizeof part, "%s{\"rank\":%zu,\"stream\":\"%s\",\"data\":\"", any ? "," : "", place / 2,
             place % 2 == 0 ? "stdout" : "stderr");
    text_puts(into, part);
    for (size_t at = 0; at < partial[place].length; at++) {
      snprintf(part, sizeof part, "%02x", (unsigned char)partial[place].bytes[at]);
      text_puts(into, part);
    }
    text_puts(into, "\"}");
    any = 1;
  }
}

/* Does not wait for a response: a lost report is repaired by the next one, or by the server's timeout. */
static void send_progress(const struct request *request, const char *words) {
  if (words == NULL || launch_id() == NULL) return;
  struct text path = {0}, call = {0}, body = {0};
  text_add(&path, request->path.bytes, request->path.length);
  text_puts(&path, "/");
  text_puts(&path, launch_id());
  text_puts(&body, words);
  write_call(request, &call, path.bytes, "application/json", &body);
  struct connection *connection = connect_to(request);
  if (connection != NULL) {
    connection_write(connection, call.bytes, call.length);
    connection_close(connection);
  }
  free(path.bytes);
  free(call.bytes);
  free(body.bytes);
}

/* The server was lost or is no longer leader: another server continues the launch. */
static int is_transient(const char *problem) {
  struct text code = {0};
  string_of(member(problem, "code"), &code);
  return code.bytes != NULL && (strcmp(code.bytes, "not_leader") == 0 || strcmp(code.bytes, "connection_failed") == 0);
}

static void show_output(const char *output, int labelled) {
  static struct text data;
  const char *stream = member(output, "stream");
  size_t errors = stream != NULL && strncmp(stream, "\"stderr\"", 8) == 0;
  base64_of(member(output, "data"), &data);
  if (labelled) write_labelled(2 * (size_t)number_of(member(output, "rank"), 0) + errors, &data);
  else write_out(descriptor_of((int)errors), data.bytes, data.length);
}

static void show_note(const char *prefix, const char *value) {
  struct text words = {0}, line = {0};
  string_of(value, &words);
  if (words.length == 0) return;
  text_puts(&line, prefix);
  text_add(&line, words.bytes, words.length);
  text_puts(&line, "\n");
  write_out(STDERR_FILENO, line.bytes, line.length);
}

/* Returns the exit status, or -1 while the launch continues. */
static int show(const char *event, int labelled, int slurm) {
  const char *problem = member(event, "problem"), *end = member(event, "end");
  const char *output = member(event, "output"), *task = member(event, "task_end");
  if (problem != NULL && has_started() && is_transient(problem)) continue_in_node(add_partial_lines);
  if (problem != NULL) report(event);
  if (output != NULL) show_output(output, labelled);
  if (task != NULL) add_failure(task);
  if (end == NULL) return -1;
  for (size_t place = 0; place < partial_count; place++) end_line(place);
  struct text words = {0};
  if (slurm) print_failures(&words, "srun: error: ", member(end, "reason"));
  else print_failures(&words, "", NULL);
  write_out(STDERR_FILENO, words.bytes, words.length);
  if (!slurm) show_note("Launch failed: ", member(end, "reason"));
  return (int)number_of(member(end, "exit_code"), 0);
}

int main(int count, char **words) {
  if (count < 3) return 2;
  all_words = words;
  int slurm = strcmp(words[2], "srun") == 0;
  struct request request = {0};
  read_request(&request, slurm ? read_step : read_launch, words + 3);
  signal(SIGPIPE, SIG_IGN);
  struct connection *connection = connect_to(&request);
  if (connection == NULL || !connection_write(connection, request.head.bytes, request.head.length)) hand_over();
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  signal(SIGHUP, on_signal);
  struct response response;
  int status = read_head(&response, connection);
  /* Nothing was started: the Node program repeats the request and reports the error. */
  if (status >= 400) hand_over();
  if (status != 200) report(STREAM_CLOSED);
  char *line;
  while ((line = next_line(&response)) != NULL) {
    int code = show(line, request.labelled, slurm);
    /* After the output is written: the server may forget events that are reported as received. */
    note_event(line, strlen(line) / 4 * 3);
    send_progress(&request, progress_body(code >= 0));
    if (code >= 0) return code;
  }
  if (has_started()) continue_in_node(add_partial_lines);
  report(STREAM_CLOSED);
}
