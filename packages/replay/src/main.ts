// The entry of the `rm-replay` program, and of the worker threads that `tune` starts from the same file.

import { isMainThread } from "node:worker_threads";
import { runReplay } from "./program.ts";
import { serveTrials } from "./tune/worker.ts";

declare const LATTICE_VERSION: string | undefined;

if (isMainThread) {
  const version = typeof LATTICE_VERSION === "string" ? LATTICE_VERSION : "unbuilt";
  const streams = { out: process.stdout, err: process.stderr };
  process.exitCode = await runReplay(process.argv.slice(2), { version, streams, entry: import.meta.url });
} else {
  serveTrials();
}
