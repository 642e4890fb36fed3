// Three projects: `unit` holds every test that needs no running program, `simulation` those that
// forbid themselves the real clock, in processes of their own, `acceptance` the black-box
// tests over the built programs, three files at a time: each starts a whole cluster on what may be
// two cores, and then mostly waits.
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tests/harness/longest-first.ts";

const unit = {
  name: "unit",
  include: ["packages/*/test/**/*.test.ts", "tests/tidy/**/*.test.ts", "tests/chaos/**/*.test.ts"],
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // By default one of two cores would be left idle.
  maxWorkers: 2,
  // Files of one worker share its modules: loading them anew for each took a third of the time.
  isolate: false,
};

const simulation = {
  name: "simulation",
  include: ["tests/simulation/**/*.test.ts"],
  testTimeout: 30_000,
  hookTimeout: 30_000,
  maxWorkers: 2,
};

const acceptance = {
  name: "acceptance",
  include: ["tests/acceptance/**/*.test.ts"],
  testTimeout: 120_000,
  hookTimeout: 60_000,
  // For timeouts, elections and sleeping jobs: two files leave half of two cores idle.
  maxWorkers: 3,
};

const projects = [{ test: unit }, { test: simulation }, { test: acceptance }];

export default defineConfig({ test: { projects, sequence: { sequencer: LongestFirst } } });
