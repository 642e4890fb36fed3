// The shell that stands ready for attempts, one after the other. For each it starts a wrapper that joins its
// control group at once and then waits to be told which attempt it is for; itself it stays behind as the
// parent, and says how the wrapper ended. It is told on standard input: "+", a name, and the file to join the group by
// (or nothing). A line that begins otherwise is the wrapper's; one that was ended before it could read it leaves
// it here. When the agent goes, a wrapper that still waits goes too; one that runs does not notice. Where a compiler was at
// hand there is a small program that does the same (native/standby) and begins one program less for every attempt.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Its one argument: the wrapper. */
export const warmScript = `# Waits for attempts of Lattice allocations; started by lattice-agent.
while read -r kind name group; do
  [ "$kind" = + ] || continue
  (exec /usr/bin/setsid /bin/sh "$0" "$name" "$group")
  echo "ended $?"
done
`;

/** What is run to stand ready, in words. */
export function standby(wrapper: string): [string, ...string[]] {
  const here = dirname(fileURLToPath(import.meta.url));
  // Beside the agent's program; or this is a source file, and it is with the built programs.
  const places = [here, join(here, "..", "..", "..", "dist")].map((folder) => join(folder, STANDBY));
  const native = places.find((file) => existsSync(file));
  return native === undefined ? ["/bin/sh", "-c", warmScript, wrapper] : [native, wrapper];
}

const STANDBY = "lattice-standby";
