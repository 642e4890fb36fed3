// What a Slurm command works with, without a server: for tests of what it decides before it asks one.

import { createClient } from "@lattice/sdk";
import { compatOf } from "../../src/slurm/compat-file.ts";
import type { Desk } from "../../src/slurm/desk.ts";

export const NOW = Date.parse("2026-11-15T12:00:00Z");

export const desk = (over: Partial<Desk> = {}): Desk => ({
  program: "sbatch",
  client: createClient({ url: "http://127.0.0.1:1" }),
  compat: compatOf({}),
  user: "me",
  tenant: undefined,
  vcluster: undefined,
  env: {},
  cwd: "/home/me",
  now: NOW,
  ...over,
});
