// Waits until a DAG has ended, or nothing of it goes on before somebody resumes a member, by looking now and then: its members are
// many, and one line per change is what `lattice watch` is for.

import { type Dag, type DagMember, type LatticeClient, sleep } from "@lattice/sdk";
import { isAtRest } from "../../wait/until-final.ts";

const LOOK_AGAIN_MS = 500;

/** `onLook` is told how it stands at every look. */
export async function untilDagEnds(client: LatticeClient, id: string, onLook: (dag: Dag) => void): Promise<Dag> {
  for (;;) {
    const dag = await client.dags.get(id);
    if (dag.state !== "running" || restingMembers(dag).length > 0) return dag;
    onLook(dag);
    await sleep(LOOK_AGAIN_MS);
  }
}

/** How many of its members have ended, and which run. */
export function standing({ members = [] }: Pick<Dag, "members">): string {
  const ended = members.filter(hasEnded).length;
  const running = members.filter(({ state }) => state === "running").map(({ name }) => name);
  return `${ended} of ${members.length} ended${running.length === 0 ? "" : `, ${running.join(", ")} running`}`;
}

const hasEnded = ({ state }: DagMember): boolean =>
  state === "completed" || state === "failed" || state === "cancelled";

/** Those that must be resumed before anything of the DAG goes on; none while something does by itself. */
export function restingMembers({ members = [] }: Pick<Dag, "members">): readonly DagMember[] {
  const open = members.filter((member) => !hasEnded(member));
  const names = new Set(open.map(({ name }) => name));
  const waits = ({ state, group, depends_on = [] }: DagMember): boolean =>
    (group === undefined ? state === "pending" : (group.pending ?? 0) + (group.running ?? 0) === 0) &&
    depends_on.some(({ ref }) => names.has(ref));
  return open.every((member) => isAtRest(member) || waits(member)) ? open.filter(isAtRest) : [];
}
