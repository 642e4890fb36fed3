/*
 * Builds the request from the words after `launch`, the environment and the user's configuration. It implements the part
 * of commands/launch.ts and settings/ that most launches need; anything else, including wrong words, is handed over to
 * the Node program before anything has happened.
 */
#include "launch.h"
#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_URL "http://127.0.0.1:8080"
#define MAX_DIGITS 7
#define MAX_PATH 4096

/* Flags with one value; `other` is a second spelling. */
enum kind { TEXT, COUNT, MODE, NODE, PAIR };
struct flag {
  const char *name, *other;
  enum kind kind;
  size_t place;
};
static const struct flag known[] = {
    {"--alloc", NULL, TEXT, offsetof(struct flags, alloc)},
    {"--tasks", "-n", COUNT, offsetof(struct flags, tasks)},
    {"--tasks-per-node", NULL, COUNT, offsetof(struct flags, tasks_per_node)},
    {"--workdir", NULL, TEXT, offsetof(struct flags, workdir)},
    {"--pmi", NULL, MODE, offsetof(struct flags, pmi)},
    {"--fence-timeout", NULL, COUNT, offsetof(struct flags, fence_timeout)},
    {"--node", "-w", NODE, 0},
    {"--env", "-e", PAIR, 0},
};

/* Only ASCII is handled here. */
const char *check_ascii(const char *words) {
  if (words == NULL || *words == 0) hand_over();
  for (const char *at = words; *at != 0; at++)
    if ((unsigned char)*at >= 0x80) hand_over();
  return words;
}

const char *check_count(const char *words) {
  size_t length = strlen(words);
  if (length == 0 || length > MAX_DIGITS || strspn(words, "0123456789") != length || words[0] == '0') hand_over();
  return words;
}

void add_word(struct text *list, const char *word) {
  if (list->length > 0) text_puts(list, ",");
  json_string(list, word);
}

void add_pair(struct text *list, const char *pair) {
  const char *at = strchr(pair, '=');
  if (at == NULL || at == pair) hand_over();
  char *name = strndup(pair, (size_t)(at - pair));
  add_word(list, name);
  text_puts(list, ":");
  json_string(list, at + 1);
  free(name);
}

const char *pmi_mode(const char *words) {
  if (strcmp(words, "pmi2") != 0 && strcmp(words, "pmix") != 0 && strcmp(words, "none") != 0) hand_over();
  return words;
}

static void take_flag(struct flags *flags, const struct flag *flag, const char *value) {
  if (flag->kind != PAIR) check_ascii(value);
  else for (const char *at = value; *at != 0; at++) if ((unsigned char)*at >= 0x80) hand_over();
  if (flag->kind == COUNT) check_count(value);
  if (flag->kind == MODE) pmi_mode(value);
  if (flag->kind == NODE) add_word(&flags->nodes, value);
  else if (flag->kind == PAIR) add_pair(&flags->variables, value);
  else *(const char **)((char *)flags + flag->place) = value;
}

static int is_label(const char *word) { return strcmp(word, "-l") == 0 || strcmp(word, "--label") == 0; }

char **read_launch(struct flags *flags, char **words) {
  for (; *words != NULL && **words == '-'; words++) {
    if (strcmp(*words, "--") == 0) return words + 1;
    if (is_label(*words)) {
      flags->labelled = 1;
      continue;
    }
    const struct flag *found = NULL;
    const char *value = NULL;
    for (size_t at = 0; at < sizeof known / sizeof *known; at++) {
      size_t length = strlen(known[at].name);
      if (strcmp(*words, known[at].name) == 0 || (known[at].other != NULL && strcmp(*words, known[at].other) == 0))
        found = &known[at];
      else if (strncmp(*words, known[at].name, length) == 0 && (*words)[length] == '=') {
        found = &known[at];
        value = *words + length + 1;
      }
    }
    if (found == NULL) hand_over();
    if (value == NULL) value = *++words;
    if (value == NULL) hand_over();
    take_flag(flags, found, value);
  }
  return words;
}

const char *env_value(const char *name) {
  const char *value = getenv(name);
  return value == NULL || *value == 0 ? NULL : value;
}

struct file {
  char *url, *user, *ca_file;
};

/* Parses `key: value`, plain or in double quotes; hands over for anything else in the file. */
static void read_setting(struct file *file, char *line) {
  char *end = line + strlen(line);
  while (end > line && isspace((unsigned char)end[-1])) *--end = 0;
  if (*line == 0 || *line == '#') return;
  char *value = strstr(line, ": ");
  if (value == NULL) hand_over();
  *value = 0;
  value += 2;
  value += strspn(value, " ");
  size_t length = strlen(value);
  int quoted = length > 1 && value[0] == '"' && value[length - 1] == '"';
  if (quoted) {
    value[length - 1] = 0;
    value++;
  }
  static const char simple[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._-";
  if (*value == 0 || strspn(value, simple) != strlen(value)) hand_over();
  if (strcmp(line, "api_url") == 0 || strcmp(line, "endpoint") == 0) file->url = strdup(value);
  else if (strcmp(line, "user") == 0) file->user = strdup(value);
  else if (strcmp(line, "ca") == 0) file->ca_file = strdup(value);
  else if (strcmp(line, "default_tenant") != 0 && strcmp(line, "tenant") != 0 && strcmp(line, "default_vcluster") != 0 &&
           strcmp(line, "vcluster") != 0 && strcmp(line, "default_uenv") != 0)
    hand_over();
}

static void read_settings(struct file *file) {
  const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  char path[MAX_PATH], line[MAX_PATH];
  if (base == NULL && home == NULL) return;
  if (base != NULL) snprintf(path, sizeof path, "%s/lattice/tokens.json", base);
  else snprintf(path, sizeof path, "%s/.config/lattice/tokens.json", home);
  struct stat seen;
  /* A cached token may need a renewal. */
  if (env_value("LATTICE_TOKEN") == NULL && stat(path, &seen) == 0) hand_over();
  strcpy(strrchr(path, '/'), "/config.yaml");
  FILE *from = fopen(path, "r");
  if (from == NULL) {
    if (stat(path, &seen) == 0) hand_over();
    return;
  }
  while (fgets(line, sizeof line, from) != NULL) read_setting(file, line);
  fclose(from);
}

static void take_address(struct request *request, const char *url) {
  const char *scheme = strstr(url, "://"), *host = scheme == NULL ? url : scheme + 3;
  request->secure = scheme != NULL && strncmp(url, "https:", 6) == 0;
  if (scheme != NULL && !request->secure && strncmp(url, "http:", 5) != 0) hand_over();
  size_t length = strcspn(host, ":/?#@[");
  if (length == 0) hand_over();
  text_add(&request->host, host, length);
  const char *rest = host + length;
  if (*rest == ':') {
    size_t digits = strspn(rest + 1, "0123456789");
    if (digits == 0) hand_over();
    text_add(&request->port, rest + 1, digits);
    rest += 1 + digits;
  } else text_puts(&request->port, request->secure ? "443" : "80");
  rest += strspn(rest, "/");
  /* Further servers may follow a comma: the Node program tries them when this one is unreachable. */
  if (*rest != 0 && *rest != ',') hand_over();
  /* A cluster of root on this machine gives tokens at a socket. */
  char path[MAX_PATH];
  struct stat seen;
  snprintf(path, sizeof path, "/run/lattice/up-%s.sock", request->port.bytes);
  if (env_value("LATTICE_TOKEN") == NULL && stat(path, &seen) == 0) hand_over();
}

/* Returns the text if it is valid in a header. */
static const char *check_header(const char *user) {
  if (user == NULL) hand_over();
  for (const char *at = user; *at != 0; at++)
    if (*at <= ' ' || *at > '~' || *at == '%') hand_over();
  return user;
}

static void write_body(struct request *request, const struct flags *flags, char **command) {
  struct text *body = &request->body;
  const char *own = getenv("LATTICE_ALLOC_ID"), *node = getenv("LATTICE_NODE");
  const char *attempt = getenv("LATTICE_ATTEMPT"), *alloc = flags->alloc != NULL ? flags->alloc : own;
  if (alloc == NULL || strspn(alloc, "0123456789_") != strlen(alloc) || *alloc == 0) hand_over();
  text_puts(&request->path, "/api/v1/allocations/");
  text_puts(&request->path, alloc);
  text_puts(&request->path, "/launches");
  int inside = own != NULL && strcmp(own, alloc) == 0;
  struct text words = {0};
  for (; *command != NULL; command++) {
    for (const char *at = *command; *at != 0; at++)
      if ((unsigned char)*at >= 0x80) hand_over();
    add_word(&words, *command);
  }
  if (words.length == 0) hand_over();
  text_puts(body, "{\"resumable\":true,\"command\":[");
  text_add(body, words.bytes, words.length);
  text_puts(body, "]");
  const struct {
    const char *name, *value;
  } numbers[] = {{"tasks", flags->tasks},
                 {"tasks_per_node", flags->tasks_per_node},
                 {"fence_timeout_seconds", flags->fence_timeout}};
  for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++) {
    if (numbers[at].value == NULL) continue;
    text_puts(body, ",\"");
    text_puts(body, numbers[at].name);
    text_puts(body, "\":");
    text_puts(body, numbers[at].value);
  }
  if (flags->nodes.length > 0) {
    text_puts(body, ",\"nodes\":[");
    text_add(body, flags->nodes.bytes, flags->nodes.length);
    text_puts(body, "]");
  }
  if (flags->variables.length > 0) {
    text_puts(body, ",\"variables\":{");
    text_add(body, flags->variables.bytes, flags->variables.length);
    text_puts(body, "}");
  }
  char here[MAX_PATH];
  const char *workdir = flags->workdir;
  if (workdir == NULL && inside) workdir = check_ascii(getcwd(here, sizeof here));
  if (workdir != NULL) {
    text_puts(body, ",\"workdir\":");
    json_string(body, workdir);
  }
  if (flags->pmi != NULL) {
    text_puts(body, ",\"pmi\":");
    json_string(body, flags->pmi);
  }
  /* A launch from inside a task has no counterpart on other nodes. */
  if (inside && !flags->alone && node != NULL && attempt != NULL && getenv("LATTICE_LAUNCH_ID") == NULL) {
    text_puts(body, ",\"caller_node\":");
    json_string(body, check_ascii(node));
    text_puts(body, ",\"caller_attempt\":");
    text_puts(body, check_count(attempt));
  }
  text_puts(body, "}");
}

static void add_header(struct text *head, const char *name, const char *value) {
  text_puts(head, name);
  text_puts(head, value);
  text_puts(head, "\r\n");
}

void write_call(const struct request *request, struct text *into, const char *path, const char *accept,
                const struct text *body) {
  char length[32];
  snprintf(length, sizeof length, "%zu", body->length);
  text_puts(into, "POST ");
  text_puts(into, path);
  text_puts(into, " HTTP/1.1\r\nhost: ");
  text_puts(into, request->host.bytes);
  add_header(into, ":", request->port.bytes);
  add_header(into, "accept: ", accept);
  add_header(into, "content-type: ", "application/json");
  text_add(into, request->identity.bytes, request->identity.length);
  add_header(into, "content-length: ", length);
  add_header(into, "connection: ", "close");
  text_puts(into, "\r\n");
  text_add(into, body->bytes, body->length);
}

void read_request(struct request *request, char **(*read)(struct flags *, char **), char **words) {
  struct flags flags = {0};
  struct file file = {0};
  char **command = read(&flags, words);
  request->labelled = flags.labelled;
  read_settings(&file);
  const char *url = env_value("LATTICE_API_URL"), *user = env_value("LATTICE_USER"), *token = env_value("LATTICE_TOKEN");
  if (url == NULL) url = env_value("LATTICE_ENDPOINT");
  if (url == NULL) url = file.url != NULL ? file.url : DEFAULT_URL;
  take_address(request, url);
  request->ca_file = env_value("LATTICE_CA") != NULL ? env_value("LATTICE_CA") : file.ca_file;
  if (user == NULL) user = file.user;
  if (user == NULL) {
    const struct passwd *account = getpwuid(getuid());
    user = account == NULL ? NULL : account->pw_name;
  }
  write_body(request, &flags, command);
  add_header(&request->identity, "x-lattice-user: ", check_header(user));
  if (token != NULL) add_header(&request->identity, "authorization: Bearer ", check_header(token));
  write_call(request, &request->head, request->path.bytes, "application/x-ndjson", &request->body);
}
