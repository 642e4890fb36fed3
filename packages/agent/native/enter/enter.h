/* What the parts of lattice-enter have of each other. */
#ifndef LATTICE_ENTER_H
#define LATTICE_ENTER_H

/* Says why and ends. */
void fail(const char *what) __attribute__((noreturn));

/* Writes the seccomp filters of a process down; the exit status. */
int save_filters(int target, const char *file);

/* Takes on what was written down, oldest first. */
void load_filters(int descriptor);

#endif
