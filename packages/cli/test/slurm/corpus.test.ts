// Job scripts from real sites: each is translated into the stated submission, which the server would accept, or is
// refused with the stated reason.

import { normaliseSubmission, ProblemError } from "@lattice/wire";
import { describe, expect, test } from "vitest";
import { arrays } from "../../../../tests/doubles/slurm-corpus/arrays.ts";
import type { Case } from "../../../../tests/doubles/slurm-corpus/case.ts";
import { gpu } from "../../../../tests/doubles/slurm-corpus/gpu.ts";
import { mpi } from "../../../../tests/doubles/slurm-corpus/mpi.ts";
import { odd } from "../../../../tests/doubles/slurm-corpus/odd.ts";
import { refused } from "../../../../tests/doubles/slurm-corpus/refused.ts";
import { compatOf } from "../../src/settings/compat-file.ts";
import { batchSubmission, readBatchWords } from "../../src/slurm/sbatch.ts";
import { SlurmError } from "../../src/slurm/slurm-error.ts";
import { context } from "./slurm-context.ts";

const corpus = { mpi, arrays, gpu, odd, refused };
const compat = compatOf({ partitions: { normal: "hpc-batch", debug: "interactive", gpu: "ml-training" } });

test("the corpus is not empty", () => {
  expect(Object.values(corpus).flat().length).toBeGreaterThanOrEqual(55);
});

describe.each(Object.entries(corpus))("%s", (_, cases) => {
  test.each(cases.map((one) => [one.title, one] as const))("%s", (_title, one) => {
    if (one.refused !== undefined) {
      const text = refusalOf(one);
      for (const part of one.refused) expect(text).toContain(part);
      return;
    }
    const { body, warnings } = translate(one);
    expect(body).toMatchObject({ workdir: "/home/me", slurm_env: true, ...one.becomes });
    expect(body.env).toMatchObject({ LATTICE_SUBMIT_DIR: "/home/me", ...one.variables });
    expect(JSON.stringify(body.env)).not.toContain("secret");
    for (const name of one.without ?? []) expect(body.env).not.toHaveProperty(name);
    expect(warnings).toHaveLength(one.warns?.length ?? 0);
    for (const [at, part] of (one.warns ?? []).entries()) expect(warnings[at]).toContain(part);
    expect(() => normaliseSubmission(body)).not.toThrow();
  });
});

const textOf = ({ script }: Case): string => (script.startsWith("#!") ? script : `#!/bin/bash\n${script}\n`);

function translate(one: Case) {
  const words = readBatchWords([...(one.flags ?? []), "job.sh"]);
  const around = context({ compat, env: { LATTICE_COMPAT_BIN: "/opt/bin", ...one.env } });
  return batchSubmission(around, words, { text: textOf(one), name: "job.sh", args: one.args ?? [] });
}

function refusalOf(one: Case): string {
  try {
    translate(one);
  } catch (error) {
    if (error instanceof SlurmError) return error.lines.join("\n");
    if (error instanceof ProblemError)
      return error.problem.fields.map(({ field, detail }) => `${field} ${detail}`).join("\n");
    throw error;
  }
  throw new Error("it is not refused");
}
