// A submission that the server refuses, in Slurm's words where it has any for it.

import { ProblemError } from "@lattice/wire";
import type { Desk } from "./desk.ts";
import { Refusal } from "./refusal.ts";

/** What failed, as each program calls it. */
const ATTEMPT: Readonly<Record<string, string>> = {
  sbatch: "Batch job submission failed",
  salloc: "Job submit/allocate failed",
  srun: "Unable to allocate resources",
};

/** Answers what to throw. */
export async function submitProblem(desk: Desk, error: unknown, partition: string | undefined): Promise<unknown> {
  if (!(error instanceof ProblemError)) return error;
  const { code, detail, fields } = error.problem;
  const { program } = desk;
  const said = (text: string): string => `${program}: error: ${text}`;
  const failed = (why: string): string => said(`${ATTEMPT[program] ?? "Job submission failed"}: ${why}`);
  if (code === "unknown_vcluster") {
    const asked = partition ?? desk.vcluster ?? "";
    return new Refusal([
      said(`invalid partition specified: ${asked}`),
      failed("Invalid partition name specified"),
      said(`available partitions: ${(await partitionNames(desk)).join(", ")}`),
    ]);
  }
  if (code === "unknown_tenant" || code === "tenant_mismatch") {
    return new Refusal([failed("Invalid account or account/partition combination specified"), said(detail)]);
  }
  if (fields.some(({ field }) => field.includes("depends_on")) || code === "unknown_allocation") {
    return new Refusal([failed("Job dependency problem"), said(detail)]);
  }
  if (fields.some(({ field }) => field.includes("task_group"))) {
    return new Refusal([failed("Invalid job array specification"), said(detail)]);
  }
  if (code === "quota_exceeded") {
    return new Refusal([failed("Job violates accounting/QOS policy"), said(detail)]);
  }
  if (code === "constraint_unmet") {
    return new Refusal([failed("Requested node configuration is not available"), said(detail)]);
  }
  return code === "connection_failed"
    ? new Refusal([failed("Unable to contact slurm controller"), said(detail)])
    : error;
}

/** Those of the site's file that exist, and the vClusters that it does not name. */
export async function partitionNames({ client, compat }: Desk): Promise<readonly string[]> {
  const { vclusters } = await client.vclusters.list();
  const known = new Set(vclusters.map(({ id }) => id));
  const mapped = Object.entries(compat.mapping.partitions ?? {}).filter(([, vcluster]) => known.has(vcluster));
  const covered = new Set(mapped.map(([, vcluster]) => vcluster));
  return [...mapped.map(([name]) => name), ...[...known].filter((id) => !covered.has(id))];
}
