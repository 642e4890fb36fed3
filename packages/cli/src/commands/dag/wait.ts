// Waits until a DAG has ended, by looking now and then: its members are many, and one line per change is
// what `lattice watch` is for.

import { type Dag, type LatticeClient, sleep } from "@lattice/sdk";

const LOOK_AGAIN_MS = 500;

export async function untilDagEnds(client: LatticeClient, id: string, signal?: AbortSignal): Promise<Dag> {
  for (;;) {
    const dag = await client.dags.get(id, { signal });
    if (dag.state !== "running") return dag;
    await sleep(LOOK_AGAIN_MS, signal);
  }
}
