// The entry of the `rm-replay` program.

import { runReplay } from "./program.ts";

declare const LATTICE_VERSION: string | undefined;

const version = typeof LATTICE_VERSION === "string" ? LATTICE_VERSION : "unbuilt";
process.exitCode = runReplay(process.argv.slice(2), version, { out: process.stdout, err: process.stderr });
