/*
 * `lattice launch`, and `srun` inside a job, without the start of an interpreter, which would take longer than the launch
 * itself: it asks, shows what the tasks write, and ends with their exit status. It knows the usual flags and a plain
 * answer; for everything else (a terminal, input, other formats, an error to be told) it becomes the whole program,
 * which knows it all.
 *
 * Arguments: the file of the whole program, then the words that were called: "launch" or "srun", flags and command.
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
#define MOST_PARTIAL_LINE (64 * 1024)
#define BROKEN "{\"problem\":{\"code\":\"connection_failed\",\"detail\":\"the launch broke off without an end\"}}"

static char **all_words;

_Noreturn void hand_over(void) {
  const char *node = given("LATTICE_LAUNCH_NODE");
  all_words[0] = "node";
  execvp(node == NULL ? "node" : node, all_words);
  fprintf(stderr, "lattice: node cannot be started: %s\n", strerror(errno));
  _exit(127);
}

_Noreturn void report(const char *event) {
  setenv("LATTICE_LAUNCH_PROBLEM", event, 1);
  hand_over();
}

void text_add(struct text *text, const char *bytes, size_t length) {
  if (text->length + length + 1 > text->room) {
    text->room = 2 * (text->length + length + 64);
    text->bytes = realloc(text->bytes, text->room);
    if (text->bytes == NULL) abort();
  }
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = 0;
}

void text_say(struct text *text, const char *words) { text_add(text, words, strlen(words)); }

/* Nobody is told anything: the tasks end with the connection. */
static void interrupted(int signal) {
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
      struct pollfd room = {to, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      /* Nobody reads any more. */
      _exit(errno == EPIPE || errno == EIO ? 0 : 1);
    }
  }
}

static int descriptor_of(int stream) { return stream == 0 ? STDOUT_FILENO : STDERR_FILENO; }

/* What was written without an end of line, for every task and stream. */
static struct text *partial;
static size_t partial_count;

static void write_line(size_t place, const char *bytes, size_t length) {
  static struct text line;
  char number[24];
  line.length = 0;
  snprintf(number, sizeof number, "%zu: ", place / 2);
  text_say(&line, number);
  text_add(&line, bytes, length);
  write_out(descriptor_of((int)(place % 2)), line.bytes, line.length);
}

static void end_line(size_t place) {
  if (partial[place].length == 0) return;
  text_say(&partial[place], "\n");
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
  if (rest->length >= MOST_PARTIAL_LINE) end_line(place);
}

/* The lines that are not whole, as what goes on with the launch reads them. */
static void add_rests(struct text *into) {
  int any = 0;
  char part[96];
  for (size_t place = 0; place < partial_count; place++) {
    if (partial[place].length == 0) continue;
    snprintf(part, sizeof part, "%s{\"rank\":%zu,\"stream\":\"%s\",\"data\":\"", any ? "," : "", place / 2,
             place % 2 == 0 ? "stdout" : "stderr");
    text_say(into, part);
    for (size_t at = 0; at < partial[place].length; at++) {
      snprintf(part, sizeof part, "%02x", (unsigned char)partial[place].bytes[at]);
      text_say(into, part);
    }
    text_say(into, "\"}");
    any = 1;
  }
}

/* Nothing is waited for: what does not arrive is made up for by the next, or by the servers' own clocks. */
static void tell_server(const struct request *request, const char *words) {
  if (words == NULL || launch_id() == NULL) return;
  struct text path = {0}, call = {0}, body = {0};
  text_add(&path, request->path.bytes, request->path.length);
  text_say(&path, "/");
  text_say(&path, launch_id());
  text_say(&body, words);
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

/* The server is lost, or leads no more: another goes on with the launch. */
static int is_passing(const char *problem) {
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

static void show_remark(const char *before, const char *value) {
  struct text words = {0}, line = {0};
  string_of(value, &words);
  if (words.length == 0) return;
  text_say(&line, before);
  text_add(&line, words.bytes, words.length);
  text_say(&line, "\n");
  write_out(STDERR_FILENO, line.bytes, line.length);
}

/* The exit status, or -1: it goes on. */
static int show(const char *event, int labelled, int slurm) {
  const char *problem = member(event, "problem"), *end = member(event, "end");
  const char *output = member(event, "output"), *task = member(event, "task_end");
  if (problem != NULL && has_begun() && is_passing(problem)) let_go_on(add_rests);
  if (problem != NULL) report(event);
  if (output != NULL) show_output(output, labelled);
  if (task != NULL) add_failure(task);
  if (end == NULL) return -1;
  for (size_t place = 0; place < partial_count; place++) end_line(place);
  struct text words = {0};
  if (slurm) tell_failures(&words, "srun: error: ", member(end, "reason"));
  else tell_failures(&words, "", NULL);
  write_out(STDERR_FILENO, words.bytes, words.length);
  if (!slurm) show_remark("Launch failed: ", member(end, "reason"));
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
  signal(SIGINT, interrupted);
  signal(SIGTERM, interrupted);
  signal(SIGHUP, interrupted);
  struct answer answer;
  int status = read_head(&answer, connection);
  /* It began nothing: whoever asks again is told why. */
  if (status >= 400) hand_over();
  if (status != 200) report(BROKEN);
  char *line;
  while ((line = next_line(&answer)) != NULL) {
    int code = show(line, request.labelled, slurm);
    /* After it was shown: what a server is told to have come need not be sent again. */
    note_event(line, strlen(line) / 4 * 3);
    tell_server(&request, words_for_server(code >= 0));
    if (code >= 0) return code;
  }
  if (has_begun()) let_go_on(add_rests);
  report(BROKEN);
}
