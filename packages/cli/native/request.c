/*
 * What is asked for: the words after `launch`, the environment and the user's configuration become one request. It is
 * the small part of the whole program's own reading (commands/launch.ts, settings/) that most launches need; whatever is
 * not plainly one of them, wrong words included, is handed over before anything has happened.
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
#define MOST_DIGITS 7
#define MOST_PATH 4096

/* Flags of one value; what follows the first is another spelling. */
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

/* Other characters are the whole program's business. */
const char *plain(const char *words) {
  if (words == NULL || *words == 0) hand_over();
  for (const char *at = words; *at != 0; at++)
    if ((unsigned char)*at >= 0x80) hand_over();
  return words;
}

const char *counted(const char *words) {
  size_t length = strlen(words);
  if (length == 0 || length > MOST_DIGITS || strspn(words, "0123456789") != length || words[0] == '0') hand_over();
  return words;
}

void add_word(struct text *list, const char *word) {
  if (list->length > 0) text_say(list, ",");
  json_string(list, word);
}

void add_pair(struct text *list, const char *pair) {
  const char *at = strchr(pair, '=');
  if (at == NULL || at == pair) hand_over();
  char *name = strndup(pair, (size_t)(at - pair));
  add_word(list, name);
  text_say(list, ":");
  json_string(list, at + 1);
  free(name);
}

const char *pmi_mode(const char *words) {
  if (strcmp(words, "pmi2") != 0 && strcmp(words, "pmix") != 0 && strcmp(words, "none") != 0) hand_over();
  return words;
}

static void take_flag(struct flags *flags, const struct flag *flag, const char *value) {
  if (flag->kind != PAIR) plain(value);
  else for (const char *at = value; *at != 0; at++) if ((unsigned char)*at >= 0x80) hand_over();
  if (flag->kind == COUNT) counted(value);
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

const char *given(const char *name) {
  const char *value = getenv(name);
  return value == NULL || *value == 0 ? NULL : value;
}

struct file {
  char *url, *user, *authority;
};

/* `key: value`, plain or in double quotes; anything else in the file is handed over. */
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
  static const char usual[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._-";
  if (*value == 0 || strspn(value, usual) != strlen(value)) hand_over();
  if (strcmp(line, "api_url") == 0 || strcmp(line, "endpoint") == 0) file->url = strdup(value);
  else if (strcmp(line, "user") == 0) file->user = strdup(value);
  else if (strcmp(line, "ca") == 0) file->authority = strdup(value);
  else if (strcmp(line, "default_tenant") != 0 && strcmp(line, "tenant") != 0 && strcmp(line, "default_vcluster") != 0 &&
           strcmp(line, "vcluster") != 0 && strcmp(line, "default_uenv") != 0)
    hand_over();
}

static void read_settings(struct file *file) {
  const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  char path[MOST_PATH], line[MOST_PATH];
  if (base == NULL && home == NULL) return;
  if (base != NULL) snprintf(path, sizeof path, "%s/lattice/tokens.json", base);
  else snprintf(path, sizeof path, "%s/.config/lattice/tokens.json", home);
  struct stat seen;
  /* A kept token may have to be made anew. */
  if (given("LATTICE_TOKEN") == NULL && stat(path, &seen) == 0) hand_over();
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
  } else text_say(&request->port, request->secure ? "443" : "80");
  rest += strspn(rest, "/");
  /* Others of the same cluster may follow: the whole program knows what to do when this one is away. */
  if (*rest != 0 && *rest != ',') hand_over();
}

/* As it may stand in a header. */
static const char *named(const char *user) {
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
  text_say(&request->path, "/api/v1/allocations/");
  text_say(&request->path, alloc);
  text_say(&request->path, "/launches");
  int inside = own != NULL && strcmp(own, alloc) == 0;
  struct text words = {0};
  for (; *command != NULL; command++) {
    for (const char *at = *command; *at != 0; at++)
      if ((unsigned char)*at >= 0x80) hand_over();
    add_word(&words, *command);
  }
  if (words.length == 0) hand_over();
  text_say(body, "{\"returns\":true,\"command\":[");
  text_add(body, words.bytes, words.length);
  text_say(body, "]");
  const struct {
    const char *name, *value;
  } numbers[] = {{"tasks", flags->tasks},
                 {"tasks_per_node", flags->tasks_per_node},
                 {"fence_timeout_seconds", flags->fence_timeout}};
  for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++) {
    if (numbers[at].value == NULL) continue;
    text_say(body, ",\"");
    text_say(body, numbers[at].name);
    text_say(body, "\":");
    text_say(body, numbers[at].value);
  }
  if (flags->nodes.length > 0) {
    text_say(body, ",\"nodes\":[");
    text_add(body, flags->nodes.bytes, flags->nodes.length);
    text_say(body, "]");
  }
  if (flags->variables.length > 0) {
    text_say(body, ",\"variables\":{");
    text_add(body, flags->variables.bytes, flags->variables.length);
    text_say(body, "}");
  }
  char here[MOST_PATH];
  const char *workdir = flags->workdir;
  if (workdir == NULL && inside) workdir = plain(getcwd(here, sizeof here));
  if (workdir != NULL) {
    text_say(body, ",\"workdir\":");
    json_string(body, workdir);
  }
  if (flags->pmi != NULL) {
    text_say(body, ",\"pmi\":");
    json_string(body, flags->pmi);
  }
  /* A task of a launch that launches is on its own. */
  if (inside && !flags->alone && node != NULL && attempt != NULL && getenv("LATTICE_LAUNCH_ID") == NULL) {
    text_say(body, ",\"caller_node\":");
    json_string(body, plain(node));
    text_say(body, ",\"caller_attempt\":");
    text_say(body, counted(attempt));
  }
  text_say(body, "}");
}

static void add_header(struct text *head, const char *name, const char *value) {
  text_say(head, name);
  text_say(head, value);
  text_say(head, "\r\n");
}

void write_call(const struct request *request, struct text *into, const char *path, const char *accept,
                const struct text *body) {
  char length[32];
  snprintf(length, sizeof length, "%zu", body->length);
  text_say(into, "POST ");
  text_say(into, path);
  text_say(into, " HTTP/1.1\r\nhost: ");
  text_say(into, request->host.bytes);
  add_header(into, ":", request->port.bytes);
  add_header(into, "accept: ", accept);
  add_header(into, "content-type: ", "application/json");
  text_add(into, request->identity.bytes, request->identity.length);
  add_header(into, "content-length: ", length);
  add_header(into, "connection: ", "close");
  text_say(into, "\r\n");
  text_add(into, body->bytes, body->length);
}

void read_request(struct request *request, char **(*read)(struct flags *, char **), char **words) {
  struct flags flags = {0};
  struct file file = {0};
  char **command = read(&flags, words);
  request->labelled = flags.labelled;
  read_settings(&file);
  const char *url = given("LATTICE_API_URL"), *user = given("LATTICE_USER"), *token = given("LATTICE_TOKEN");
  if (url == NULL) url = given("LATTICE_ENDPOINT");
  if (url == NULL) url = file.url != NULL ? file.url : DEFAULT_URL;
  take_address(request, url);
  request->authority = given("LATTICE_CA") != NULL ? given("LATTICE_CA") : file.authority;
  if (user == NULL) user = file.user;
  if (user == NULL) {
    const struct passwd *account = getpwuid(getuid());
    user = account == NULL ? NULL : account->pw_name;
  }
  write_body(request, &flags, command);
  add_header(&request->identity, "x-lattice-user: ", named(user));
  if (token != NULL) add_header(&request->identity, "authorization: Bearer ", named(token));
  write_call(request, &request->head, request->path.bytes, "application/x-ndjson", &request->body);
}
