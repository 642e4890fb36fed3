// The last step before a command whose user has named a working directory: that user goes there, with that user's rights
// and no others. Root cannot tell who may enter what, and may be nobody on another machine's file system. What is in the way
// is told to the wrapper by a file that it has opened for that, and that the command does not get.

/** Where the words are told. */
export const TOLD_FD = 6;

const ENTER = `if cd -- "$1" 2>/dev/null; then shift 2; exec ${TOLD_FD}>&-; exec "$@"; fi
if [ -d "$1" ]; then set -- "may not be entered by $2: $1"; else set -- "is not there, or not for $2: $1"; fi
printf 'prologue workdir the working directory %s\\n' "$1" >&${TOLD_FD}
exit 1`;

export const enterWorkdir = (workdir: string, user: string): readonly string[] => [
  ...["/bin/sh", "-c", ENTER, "sh"],
  ...[workdir, user],
];
