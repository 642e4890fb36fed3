/* Shared declarations of lattice-enter. */
#ifndef LATTICE_ENTER_H
#define LATTICE_ENTER_H

/* Prints the reason and exits. */
void fail(const char *what) __attribute__((noreturn));

/* Saves the seccomp filters of a process to a file; returns the exit status. */
int save_filters(int target, const char *file);

/* Applies saved filters, oldest first. */
void load_filters(int descriptor);

#endif
