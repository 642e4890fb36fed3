// The last step before the command of a rank that has changed its user: enters the working directory and looks for the
// program with the user's own rights. Root may go everywhere, so the shepherd must do neither. A failure is written to a
// file descriptor that the shepherd reads and that the command does not inherit.

import type { ShepherdSpec } from "../frames.ts";

/** After the descriptor of PMI. */
export const TOLD_FD = 4;
const PMI_FD = 3;

const BEGIN = `workdir=$1 program=$2
shift 2
fail() { printf '%s\\n' "$2" >&${TOLD_FD}; exit "$1"; }
[ -z "$workdir" ] || cd -- "$workdir" 2>/dev/null || fail 126 "the working directory $workdir does not exist or is not accessible"
case $program in
*/*)
  [ -e "$program" ] || fail 127 "command not found: $program"
  [ -f "$program" ] && [ -x "$program" ] || fail 126 "$program cannot be executed" ;;
*) command -v -- "$program" >/dev/null || fail 127 "command not found: $program" ;;
esac
unset workdir program
exec ${TOLD_FD}>&-`;

/** Returns the words before the command; the command itself may run inside another program. */
export const beginWords = ({ workdir, command, pmi }: ShepherdSpec): readonly string[] => [
  ...["/bin/sh", "-c", `${BEGIN} ${pmi ? "" : `${PMI_FD}>&-`}\nexec "$@"`, "sh"],
  ...[workdir, command[0] ?? ""],
];
