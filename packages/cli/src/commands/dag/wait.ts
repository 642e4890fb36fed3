// Waits until a DAG has ended, or nothing of it goes on before somebody resumes a member, by looking now and then: its members are
// many, and one line per change is what `lattice watch` is for.

import { type Dag, type DagMember, type LatticeClient, sleep } from "@lattice/sdk";
import { isAtRest } from "../../wait/until-final.ts";

const LOOK_AGAIN_MS = 500;

export async function untilDagEnds(client: LatticeClient, id: string, signal?: AbortSignal): Promise<Dag> {
  for (;;) {
    const dag = await client.dags.get(id, { signal });
    if (dag.state !== "running" || restingMembers(dag).length > 0) return dag;
    await sleep(LOOK_AGAIN_MS, signal);
  }
}

/** Those that must be resumed before anything of the DAG goes on; none while something does by itself. */
export function restingMembers({ members = [] }: Pick<Dag, "members">): readonly DagMember[] {
  const open = members.filter(({ state }) => state !== "completed" && state !== "failed" && state !== "cancelled");
  const names = new Set(open.map(({ name }) => name));
  const waits = ({ state, group, depends_on = [] }: DagMember): boolean =>
    (group === undefined ? state === "pending" : (group.pending ?? 0) + (group.running ?? 0) === 0) &&
    depends_on.some(({ ref }) => names.has(ref));
  return open.every((member) => isAtRest(member) || waits(member)) ? open.filter(isAtRest) : [];
}
