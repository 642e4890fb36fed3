// Translates the server's rejection of a submission into Slurm's error messages.

import { ProblemError } from "@lattice/wire";
import type { SlurmContext } from "./context.ts";
import { SlurmError } from "./slurm-error.ts";

/** Slurm's name of the failed action, by program. */
const ATTEMPT: Readonly<Record<string, string>> = {
  sbatch: "Batch job submission failed",
  salloc: "Job submit/allocate failed",
  srun: "Unable to allocate resources",
};

/** Returns the error to throw. */
export async function submitProblem(
  context: SlurmContext,
  error: unknown,
  partition: string | undefined,
): Promise<unknown> {
  if (!(error instanceof ProblemError)) return error;
  const { code, detail, hint, fields } = error.problem;
  const { program } = context;
  const line = (text: string): string => `${program}: error: ${text}`;
  const failed = (why: string): string => line(`${ATTEMPT[program] ?? "Job submission failed"}: ${why}`);
  if (code === "unknown_vcluster") {
    const requested = partition ?? context.vcluster ?? "";
    return new SlurmError([
      line(`invalid partition specified: ${requested}`),
      failed("Invalid partition name specified"),
      line(`available partitions: ${(await partitionNames(context)).join(", ")}`),
    ]);
  }
  if (code === "unknown_tenant" || code === "tenant_mismatch") {
    const named = hint.startsWith("Did you mean") ? `${detail}. ${hint}` : detail;
    return new SlurmError([failed("Invalid account or account/partition combination specified"), line(named)]);
  }
  if (fields.some(({ field }) => field.includes("depends_on")) || code === "unknown_allocation") {
    return new SlurmError([failed("Job dependency problem"), line(detail)]);
  }
  if (fields.some(({ field }) => field.includes("task_group"))) {
    return new SlurmError([failed("Invalid job array specification"), line(detail)]);
  }
  if (code === "quota_exceeded") {
    return new SlurmError([failed("Job violates accounting/QOS policy"), line(detail)]);
  }
  if (code === "constraint_unmet") {
    const about = (name: string): boolean => fields.some(({ field }) => field.endsWith(name));
    const why = about("required_nodes")
      ? "Invalid node name specified"
      : about("features")
        ? "Invalid feature specification"
        : "Requested node configuration is not available";
    return new SlurmError([
      failed(why),
      ...(fields.length === 0 ? [detail] : fields.map((one) => one.detail)).map(line),
    ]);
  }
  return code === "connection_failed"
    ? new SlurmError([failed("Unable to contact slurm controller"), line(detail)])
    : error;
}

/** Returns the mapped partitions whose vCluster exists, and the vClusters without a partition. */
async function partitionNames({ client, compat }: SlurmContext): Promise<readonly string[]> {
  const { vclusters } = await client.vclusters.list();
  const known = new Set(vclusters.map(({ id }) => id));
  const mapped = Object.entries(compat.mapping.partitions ?? {}).filter(([, vcluster]) => known.has(vcluster));
  const covered = new Set(mapped.map(([, vcluster]) => vcluster));
  return [...mapped.map(([name]) => name), ...[...known].filter((id) => !covered.has(id))];
}
