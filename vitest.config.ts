// Three projects: `unit` holds every test that needs no running program, `simulation` those that
// forbid themselves the real clock, in processes of their own, `acceptance` the black-box
// tests over the built programs. More files run at a time than there may be cores: many of them wait for
// timeouts, elections and sleeping processes, those of whole clusters most. `npm test` runs the first two beside the
// third. Limits are far beyond what anything takes: they end what hangs, and must not end what is merely slow.
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tests/harness/longest-first.ts";

/** `expect.poll` gives up after a second unless it is told otherwise. */
const POLL = { poll: { timeout: 60_000 } };
const UNIT_WORKERS = 3;
const ACCEPTANCE_WORKERS = 4;

const unit = {
  name: "unit",
  include: ["packages/*/test/**/*.test.ts", "tests/tidy/**/*.test.ts", "tests/chaos/**/*.test.ts"],
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: POLL,
  setupFiles: ["tests/harness/one-seed.ts"],
  maxWorkers: UNIT_WORKERS,
  // Files of one worker share its modules: loading them anew for each took a third of the time.
  isolate: false,
};

const simulation = {
  name: "simulation",
  include: ["tests/simulation/**/*.test.ts"],
  testTimeout: 600_000,
  hookTimeout: 600_000,
  maxWorkers: UNIT_WORKERS,
};

const acceptance = {
  name: "acceptance",
  include: ["tests/acceptance/**/*.test.ts"],
  testTimeout: 600_000,
  hookTimeout: 600_000,
  maxWorkers: ACCEPTANCE_WORKERS,
  sequence: { groupOrder: 1 },
  // Each file has its own cluster; a process of its own for each would only cost half a second of processor time.
  isolate: false,
};

const projects = [{ test: unit }, { test: simulation }, { test: acceptance }];

export default defineConfig({
  test: { projects, sequence: { sequencer: LongestFirst }, teardownTimeout: 60_000 },
});
