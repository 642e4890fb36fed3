// The last step before a command with a requested working directory: the user enters it with the user's own rights.
// Root cannot check this, and may be mapped to an unprivileged user on a network file system. A failure is written to a file
// descriptor that the wrapper has opened, and that the command does not inherit.

/** File descriptor for the failure message. */
export const TOLD_FD = 6;

const ENTER = `if cd -- "$1" 2>/dev/null; then shift 2; exec ${TOLD_FD}>&-; exec "$@"; fi
if [ -d "$1" ]; then set -- "may not be entered by $2: $1"; else set -- "is not there, or not for $2: $1"; fi
printf 'prologue workdir the working directory %s\\n' "$1" >&${TOLD_FD}
exit 1`;

export const enterWorkdir = (workdir: string, user: string): readonly string[] => [
  ...["/bin/sh", "-c", ENTER, "sh"],
  ...[workdir, user],
];
