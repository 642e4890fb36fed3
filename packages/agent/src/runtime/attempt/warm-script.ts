// The shell that keeps processes warm for attempts. For each attempt it starts a wrapper that joins its control group
// and then waits for its attempt; the shell remains its parent and reports its exit. It reads commands from standard
// input: "+", a name, and the file to join the group by (or nothing). Other lines are for the wrapper; a wrapper that
// ended before reading its line leaves it here. When the agent ends, waiting wrappers end too; running ones do not
// notice. With a compiler at build time a small program (native/standby) does the same with one process less per
// attempt.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { DROP_OOM_PROTECTION } from "../../base/oom-protection.ts";

/** Its only argument: the wrapper. */
export const warmScript = `# Waits for attempts of Lattice allocations; started by lattice-agent.
${DROP_OOM_PROTECTION}
while read -r kind name group; do
  [ "$kind" = + ] || continue
  (exec /usr/bin/setsid /bin/sh "$0" "$name" "$group")
  echo "ended $?"
done
`;

/** Returns the words that start the standby program. */
export function standby(wrapper: string): [string, ...string[]] {
  const here = dirname(fileURLToPath(import.meta.url));
  // Next to the agent's program; from sources, with the built programs.
  const places = [here, join(here, "..", "..", "..", "dist")].map((folder) => join(folder, STANDBY));
  const native = places.find((file) => existsSync(file));
  return native === undefined ? ["/bin/sh", "-c", warmScript, wrapper] : [native, wrapper];
}

const STANDBY = "lattice-standby";
