// The context of a Slurm command without a server, for tests of code that makes no request.

import { createClient } from "@lattice/sdk";
import { compatOf } from "../../src/settings/compat-file.ts";
import type { SlurmContext } from "../../src/slurm/context.ts";

export const NOW = Date.parse("2026-11-15T12:00:00Z");

export const context = (over: Partial<SlurmContext> = {}): SlurmContext => ({
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
