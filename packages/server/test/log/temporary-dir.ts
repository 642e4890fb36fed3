// A directory for one test, on the machine's temporary disk.

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const temporaryDir = (): Promise<string> => mkdtemp(join(tmpdir(), "lattice-log-"));
