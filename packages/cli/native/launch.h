/* What the parts of the small `lattice launch` and `srun` know of each other. */
#ifndef LATTICE_LAUNCH_H
#define LATTICE_LAUNCH_H

#include <stddef.h>

/* Hands over to the whole program, which does all that this one leaves alone. Does not return. */
_Noreturn void hand_over(void);
/* The same when the launch has begun already: the whole program only says what is wrong. `event`: the line that says it. */
_Noreturn void report(const char *event);

/* Bytes that grow; there is room for one more behind them, always 0. */
struct text {
  char *bytes;
  size_t length;
  size_t room;
};
void text_add(struct text *text, const char *bytes, size_t length);
void text_say(struct text *text, const char *words);

/* What the words say, whichever command's they are; NULL: nothing. */
struct flags {
  const char *alloc, *tasks, *tasks_per_node, *workdir, *pmi, *fence_timeout;
  struct text nodes, variables; /* as they stand in the request, without brackets */
  int labelled;
  int alone; /* nobody else calls with it */
};

/* resume.c: how much of the launch has come, for whoever goes on with it. */
void note_event(const char *event, size_t bytes);
/* Whether it has begun, so that it can be gone on with. */
int has_begun(void);
/* The body by which a server learns what has come; NULL: there is nothing to say yet. `over`: nothing more is wanted. */
const char *words_for_server(int over);
/* Part of the path. */
const char *launch_id(void);
/* The whole program goes on with the launch. `add_rests`: writes the lines that are not whole. Does not return. */
_Noreturn void let_go_on(void (*add_rests)(struct text *into));

/* request.c: what is asked for, read from the words and the environment. */
struct request {
  struct text host, port, path, head, body;
  struct text identity; /* headers that say who asks */
  int secure; /* https */
  const char *authority; /* file with the authority of servers' certificates, or NULL */
  int labelled;
};
/* `read`: takes the flags, and answers where the command begins. */
void read_request(struct request *request, char **(*read)(struct flags *, char **), char **words);
char **read_launch(struct flags *flags, char **words);
/* The whole of a call to this path, with its body. */
void write_call(const struct request *request, struct text *into, const char *path, const char *accept,
                const struct text *body);
/* Of one word each; what is odd in it is handed over. */
const char *plain(const char *words);
const char *counted(const char *words);
const char *pmi_mode(const char *words);
const char *given(const char *name); /* the variable; NULL: it is not set, or empty */
void add_word(struct text *list, const char *word);
void add_pair(struct text *list, const char *pair); /* NAME=VALUE */

/* srun.c */
char **read_step(struct flags *flags, char **words);

/* failures.c: `task` is the end of one. */
void add_failure(const char *task);
/* `before` every line; `reason`: for a step of which no task failed, NULL: it is told elsewhere. */
void tell_failures(struct text *into, const char *before, const char *reason);

/* connection.c */
struct connection;
/* NULL: nobody answers, or not as one who may be trusted. */
struct connection *connect_to(const struct request *request);
void connection_close(struct connection *connection);
int connection_write(struct connection *connection, const char *bytes, size_t length);
/* At most so many; 0: the end; negative: it broke. */
long connection_read(struct connection *connection, char *bytes, size_t most);

/* answer.c: the lines of an answer, one after the other. */
struct answer {
  struct connection *connection;
  struct text read;  /* as it came */
  size_t taken;      /* of it */
  struct text lines; /* without the marks of its pieces */
  size_t passed;
  int pieces;        /* it comes in pieces */
  size_t left;       /* of the piece at hand */
  int over;
};
/* The status. */
int read_head(struct answer *answer, struct connection *connection);
/* NULL: there are no more. Valid until the next call. */
char *next_line(struct answer *answer);

/* json.c: reading in place; a value is where it begins. */
const char *member(const char *object, const char *name); /* NULL: it has none */
size_t length_of(const char *value);
long number_of(const char *value, long otherwise);
/* In UTF-8; an absent one is empty. */
void string_of(const char *value, struct text *into);
void base64_of(const char *value, struct text *into);
void json_string(struct text *into, const char *words);

#endif
