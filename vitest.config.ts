// Three projects: `unit` has the tests that need no running program, `simulation` the tests without the real clock, in
// isolated processes, `acceptance` the black-box tests of the built programs. There are more workers than cores, because
// tests mostly wait for timeouts, elections and processes. `npm test` runs the first two in parallel with the third.
// Timeouts are far above any real duration: they end hanging tests, not slow ones.
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tests/harness/longest-first.ts";

/** The default of `expect.poll` is one second. */
const POLL = { poll: { timeout: 60_000 } };
const UNIT_WORKERS = 3;
const ACCEPTANCE_WORKERS = 4;

const unit = {
  name: "unit",
  include: ["packages/*/test/**/*.test.ts", "tests/tidy/**/*.test.ts", "tests/chaos/**/*.test.ts"],
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: POLL,
  setupFiles: ["tests/harness/fixed-seed.ts"],
  maxWorkers: UNIT_WORKERS,
  // Files of one worker share its modules: reloading them for each file took a third of the time.
  isolate: false,
};

const simulation = {
  name: "simulation",
  include: ["tests/simulation/**/*.test.ts"],
  testTimeout: 600_000,
  hookTimeout: 600_000,
  maxWorkers: UNIT_WORKERS,
};

/** They make accounts on this machine and attack an agent that runs as root. */
const ATTACKS = process.getuid?.() === 0 ? ["tests/attacks/**/*.test.ts"] : [];

const acceptance = {
  name: "acceptance",
  include: ["tests/acceptance/**/*.test.ts", ...ATTACKS],
  testTimeout: 600_000,
  hookTimeout: 600_000,
  maxWorkers: ACCEPTANCE_WORKERS,
  sequence: { groupOrder: 1 },
  // Each file has its own cluster, so a separate process per file would only cost time.
  isolate: false,
};

const projects = [{ test: unit }, { test: simulation }, { test: acceptance }];

export default defineConfig({
  test: { projects, sequence: { sequencer: LongestFirst }, teardownTimeout: 60_000 },
});
