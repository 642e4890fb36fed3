// Where the agent's own further programs are.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Returns the file next to the bundled agent or, from sources, of the last build; null when it was not built. */
export function builtBeside(name: string): string | null {
  const here = dirname(fileURLToPath(import.meta.url));
  return [join(here, name), join(here, "..", "..", "dist", name)].find((path) => existsSync(path)) ?? null;
}
