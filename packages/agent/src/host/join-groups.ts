// The words before a program of root's that make it join control groups first: what it becomes is limited with them.

/** `joinBy`: files to join by, one on each line. */
export const joinWords = (joinBy: string): readonly string[] =>
  joinBy === "" ? [] : ["/bin/sh", "-c", JOIN, "sh", joinBy];

const JOIN = `(set -f; IFS='
'; for group in $1; do echo $$ >"$group" || exit 1; done) || exit 126
shift
exec "$@"`;
