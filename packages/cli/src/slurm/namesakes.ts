// `--dependency=singleton`: one job of a name at a time. Jobs that ask for it wait for each other by the name itself;
// those of the same user that run or wait under this name without having asked are waited for one by one.

import type { Allocation } from "@lattice/sdk";
import type { Json, JsonObject } from "@lattice/wire";
import type { Desk } from "./desk.ts";
import { LIVE } from "./jobs.ts";

/** The submission, with all that it is to wait for. */
export async function afterNamesakes({ client, user }: Desk, body: JsonObject): Promise<JsonObject> {
  const { name, depends_on: edges } = body;
  if (typeof name !== "string" || !Array.isArray(edges) || !edges.some(isSingleton)) return body;
  const others: Json[] = [];
  for await (const job of client.listAll({ user, name, state: LIVE })) {
    if (!asks(job, name)) others.push({ ref: job.id, condition: "any" });
  }
  // Without -J the name is that of the script, which only the submission knows.
  const named = edges.map((edge) => (isSingleton(edge) ? { ref: name, condition: "mutex" } : edge));
  return { ...body, depends_on: [...named, ...others] };
}

const isSingleton = (edge: Json): boolean =>
  typeof edge === "object" && edge !== null && "condition" in edge && edge.condition === "mutex";

const asks = ({ spec }: Allocation, name: string): boolean =>
  (spec?.depends_on ?? []).some(({ ref, condition }) => condition === "mutex" && ref === name);
