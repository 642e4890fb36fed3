// The cost of dependencies: 1,000 allocations of /bin/true in ten layers on eight nodes, each depending on ten of the
// previous layer, compared with 1,000 without dependencies. Rounds of both alternate, after a warm-up round. The figure
// is the difference of the medians per layer; a negative value shows the noise.
import { eventually } from "../tests/harness/eventually.ts";
import { type Bench, below, withoutTarget } from "./figure.ts";
import { drainAll, withCluster } from "./with-cluster.ts";

const MEMBERS = 1_000;
const LAYERS = 10;
const EDGES = 10;
const ROUNDS = 3;
const MAX_SECONDS_PER_LAYER = 0.3;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const spread = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);

/** Dependencies spread over the previous layer, so that no member starts long before that layer is done. */
const dependenciesOf = (n: number, width: number) =>
  Array.from({ length: EDGES }, (_, k) => {
    const layer = Math.floor(n / width) - 1;
    return { ref: `m${layer * width + ((n + Math.floor((k * width) / EDGES)) % width)}`, condition: "success" };
  });

export const dag: Bench = (log) =>
  withCluster({ nodes: 8 }, async (cluster) => {
    const wallSeconds = async (layers: number): Promise<number> => {
      await drainAll(cluster);
      const width = MEMBERS / layers;
      const allocations = Array.from({ length: MEMBERS }, (_, n) => ({
        name: `m${n}`,
        command: ["/bin/true"],
        depends_on: n < width ? [] : dependenciesOf(n, width),
      }));
      const { body, text, status } = await cluster.api<{ id: string }>("POST", "/dags", { body: { allocations } });
      if (status !== 200) throw new Error(text);
      const startedAt = Date.now();
      await Promise.all(cluster.nodeIds.map((node) => cluster.api("POST", `/nodes/${node}/undrain`, { body: {} })));
      const ended = await eventually({ what: "the DAG has ended", withinMs: 300_000, everyMs: 100 }, async () => {
        const answer = await cluster.api<{ state: string; ended_at?: string }>("GET", `/dags/${body.id}`);
        return answer.body.state === "running" ? null : answer.body;
      });
      if (ended.state !== "completed") throw new Error(`the DAG ended as ${ended.state}`);
      log(`${layers} layers done`);
      return (Date.parse(ended.ended_at ?? "") - startedAt) / 1_000;
    };
    // Warm-up: pays for compilation and first opens.
    await wallSeconds(1);
    const flat: number[] = [];
    const layered: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      flat.push(await wallSeconds(1));
      layered.push(await wallSeconds(LAYERS));
    }
    return [
      withoutTarget("without_edges", median(flat), "s"),
      withoutTarget("without_edges_spread", spread(flat), "s"),
      withoutTarget("ten_layers", median(layered), "s"),
      withoutTarget("ten_layers_spread", spread(layered), "s"),
      below("per_layer", (median(layered) - median(flat)) / LAYERS, "s", MAX_SECONDS_PER_LAYER),
    ];
  });
