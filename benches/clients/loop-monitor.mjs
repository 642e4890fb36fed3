// Loaded before a program (`--import`): writes the longest delay of its event loop in each half second to the file named by
// LATTICE_BENCH_LOOP_FILE, one JSON line each. Threads of the program are not monitored.
import { appendFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const file = process.env.LATTICE_BENCH_LOOP_FILE;
const RESOLUTION_MS = 1;
const EVERY_MS = 500;

if (file !== undefined && isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  setInterval(() => {
    // The monitor counts its own interval too.
    const longest = Math.max(0, delay.max / 1e6 - RESOLUTION_MS);
    const p99 = Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS);
    delay.reset();
    appendFileSync(file, `${JSON.stringify({ at: Date.now(), longest, p99 })}\n`);
  }, EVERY_MS).unref();
}
