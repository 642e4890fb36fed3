// Objects for generated requests: running, held and dependent work, a task group, a service and a session. Each round
// has its own tenant and vCluster, since earlier requests may have changed quotas and queues.

import type { MemoryPlane } from "../memory-plane.ts";

/** Returns the body of a successful answer. */
export type Submit = (path: string, body: object) => Promise<Readonly<Record<string, unknown>>>;

export interface Live {
  /** The names of all objects. */
  readonly ids: readonly string[];
  /** A running allocation with a session. */
  readonly session: string;
  readonly running: string;
  readonly service: string;
}

let rounds = 0;

export async function furnish(plane: MemoryPlane, submit: Submit, port = 8_080): Promise<Live> {
  rounds += 1;
  // The nodes of the previous round may be drained, disabled or full.
  const nodes = [1, 2, 3, 4, 5].map((n) => `r${rounds}n${n}`);
  for (const node of nodes) plane.addNode(node);
  const [n1 = "", n2 = "", n3 = "", n4 = ""] = nodes;
  const tenant = `t${rounds}`;
  const vcluster = `v${rounds}`;
  await submit("/api/v1/tenants", { id: tenant });
  await submit("/api/v1/vclusters", { id: vcluster, tenant });
  const place = { tenant, vcluster };
  const allocation = async (body: object): Promise<string> =>
    String((await submit("/api/v1/allocations", { entrypoint: "sleep 600", ...place, ...body })).id);
  const running = await allocation({ name: "train", tags: { x: "y" } });
  plane.start(running, [n1]);
  const { session_id: id, allocation_id: within } = await submit("/api/v1/sessions", { walltime: "1h", ...place });
  plane.start(String(within), [n2]);
  const held = await allocation({ hold: true });
  const many = await allocation({ task_group: { start: 0, end: 3 } });
  const service = `web${rounds}`;
  const expose = [{ name: service, port }];
  const serving = await allocation({ lifecycle: { type: "unbounded" }, connectivity: { expose } });
  plane.start(serving, [n3]);
  const done = await allocation({});
  plane.start(done, [n4]);
  plane.finish(done, 1);
  const steps = [
    { name: "first", entrypoint: "true", ...place },
    { name: "second", entrypoint: "true", ...place, depends_on: [{ ref: "first", condition: "success" }] },
  ];
  const dag = String((await submit("/api/v1/dags", { allocations: steps })).id);
  const ids = [running, String(within), String(id), held, many, `${many}_1`, serving, service, done, dag, n1, n2];
  return { ids, session: String(id), running, service };
}
