// What edges cost: 1,000 allocations of /bin/true in ten layers on eight nodes, each waiting for ten of
// the layer before, against the same 1,000 without edges. The difference is told for each layer.
import { eventually } from "../tests/harness/eventually.ts";
import { type Bench, below, plain } from "./figure.ts";
import { drainAll, withCluster } from "./with-cluster.ts";

const MEMBERS = 1_000;
const LAYERS = 10;
const EDGES = 10;
const MOST_SECONDS_PER_LAYER = 0.3;

/** Some of the layer before, spread over all of it: nobody runs long before that layer is done. */
const needsOf = (n: number, width: number) =>
  Array.from({ length: EDGES }, (_, k) => {
    const layer = Math.floor(n / width) - 1;
    return { ref: `m${layer * width + ((n + Math.floor((k * width) / EDGES)) % width)}`, condition: "success" };
  });

export const dag: Bench = (say) =>
  withCluster({ nodes: 8 }, async (cluster) => {
    const wallSeconds = async (layers: number): Promise<number> => {
      await drainAll(cluster);
      const width = MEMBERS / layers;
      const allocations = Array.from({ length: MEMBERS }, (_, n) => ({
        name: `m${n}`,
        command: ["/bin/true"],
        depends_on: n < width ? [] : needsOf(n, width),
      }));
      const { body, text, status } = await cluster.api<{ id: string }>("POST", "/dags", { body: { allocations } });
      if (status !== 200) throw new Error(text);
      const begun = Date.now();
      await Promise.all(cluster.nodeIds.map((node) => cluster.api("POST", `/nodes/${node}/undrain`, { body: {} })));
      const ended = await eventually({ what: "the DAG has ended", withinMs: 300_000, everyMs: 100 }, async () => {
        const answer = await cluster.api<{ state: string; ended_at?: string }>("GET", `/dags/${body.id}`);
        return answer.body.state === "running" ? null : answer.body;
      });
      if (ended.state !== "completed") throw new Error(`the DAG is ${ended.state}`);
      say(`${layers} layers done`);
      return (Date.parse(ended.ended_at ?? "") - begun) / 1_000;
    };
    const flat = await wallSeconds(1);
    const layered = await wallSeconds(LAYERS);
    return [
      plain("without_edges", flat, "s"),
      plain("ten_layers", layered, "s"),
      below("per_layer", Math.max(0, layered - flat) / LAYERS, "s", MOST_SECONDS_PER_LAYER),
    ];
  });
