// Waits until a DAG has ended or cannot continue before a member is resumed. It polls, because a DAG has many members;
// `lattice watch` follows single changes.

import { type Dag, type DagMember, type LatticeClient, sleep } from "@lattice/sdk";
import { needsResume } from "../../wait/until-ended.ts";

const POLL_MS = 500;

/** Calls `onPoll` with the DAG at every poll. */
export async function waitForDag(client: LatticeClient, id: string, onPoll: (dag: Dag) => void): Promise<Dag> {
  for (;;) {
    const dag = await client.dags.get(id);
    if (dag.state !== "running" || membersToResume(dag).length > 0) return dag;
    onPoll(dag);
    await sleep(POLL_MS);
  }
}

/** Returns the number of ended members and the names of running ones. */
export function progressText({ members = [] }: Pick<Dag, "members">): string {
  const ended = members.filter(hasEnded).length;
  const running = members.filter(({ state }) => state === "running").map(({ name }) => name);
  return `${ended} of ${members.length} ended${running.length === 0 ? "" : `, ${running.join(", ")} running`}`;
}

const hasEnded = ({ state }: DagMember): boolean =>
  state === "completed" || state === "failed" || state === "cancelled";

/** Returns the members to resume before the DAG can continue; empty while any member can proceed. */
export function membersToResume({ members = [] }: Pick<Dag, "members">): readonly DagMember[] {
  const open = members.filter((member) => !hasEnded(member));
  const names = new Set(open.map(({ name }) => name));
  const waits = ({ state, group, depends_on = [] }: DagMember): boolean =>
    (group === undefined ? state === "pending" : (group.pending ?? 0) + (group.running ?? 0) === 0) &&
    depends_on.some(({ ref = "" }) => names.has(ref));
  return open.every((member) => needsResume(member) || waits(member)) ? open.filter(needsResume) : [];
}
