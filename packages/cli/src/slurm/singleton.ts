// `--dependency=singleton`: one job per user and name at a time. Jobs with that dependency exclude each other by a mutex
// on the name; live jobs of the same name without it become explicit dependencies.

import type { Allocation } from "@lattice/sdk";
import type { Json, JsonObject } from "@lattice/wire";
import type { SlurmContext } from "./context.ts";
import { LIVE } from "./jobs.ts";

/** Returns the submission with its complete dependencies. */
export async function resolveSingleton({ client, user }: SlurmContext, body: JsonObject): Promise<JsonObject> {
  const { name, depends_on: edges } = body;
  if (typeof name !== "string" || !Array.isArray(edges) || !edges.some(isSingleton)) return body;
  const others: Json[] = [];
  for await (const job of client.listAll({ user, name, state: LIVE })) {
    if (!isSingletonJob(job, name)) others.push({ ref: job.id, condition: "any" });
  }
  // Without -J the name is the script's, which is known only here.
  const named = edges.map((edge) => (isSingleton(edge) ? { ref: name, condition: "mutex" } : edge));
  return { ...body, depends_on: [...named, ...others] };
}

const isSingleton = (edge: Json): boolean =>
  typeof edge === "object" && edge !== null && "condition" in edge && edge.condition === "mutex";

const isSingletonJob = ({ spec }: Allocation, name: string): boolean =>
  (spec?.depends_on ?? []).some(({ ref, condition }) => condition === "mutex" && ref === name);
