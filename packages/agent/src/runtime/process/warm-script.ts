// The shell that stands ready for attempts, one after the other. For each it starts a wrapper that joins its
// control group at once and then waits to be told which attempt it is for; itself it stays behind as the
// parent, and says how the wrapper ended. It is told on standard input: "+", a name, and the file to join the group by
// (or nothing). A line that begins otherwise is the wrapper's; one that was ended before it could read it leaves
// it here. When the agent goes, a wrapper that still waits goes too; one that runs does not notice. A wrapper leads
// a process group of its own, and where that is all there is to know its processes by, a session: that takes
// one more program, which where processes are short costs more than they do.

import { existsSync } from "node:fs";

/** Its arguments: the wrapper, and whether it needs a session. */
export const warmScript = `# Waits for attempts of Lattice allocations; started by lattice-agent.
if [ "$1" = session ] || [ "\${BASH_VERSINFO:-0}" -lt 5 ]; then
  run() { (exec /usr/bin/setsid /bin/sh "$0" "$@"); }
else
  set -m
  run() { /bin/sh "$0" "$@" <&0 & wait -f "$!"; }
fi
while read -r kind name group; do
  [ "$kind" = + ] || continue
  run "$name" "$group"
  echo "ended $?"
done
`;

/** The one that can give a process a group of its own by itself, where it is there. */
export const warmShell = (): string => (existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh");
