// A thousand queued allocations drain on four nodes, each started once. Every start appends a line to one file.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const JOBS = 1_000;
const CLIENTS = 16;
const cluster = useCluster({ nodes: 4 });

test(`${JOBS} queued allocations drain, each started exactly once`, async () => {
  for (const node of cluster.nodeIds)
    await cluster.api("POST", `/nodes/${node}/drain`, { body: { reason: "fill the queue" } });
  const file = cluster.file("starts");
  const ids: string[] = [];
  const submitSome = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      ids.push(await cluster.submit({ entrypoint: `echo "$LATTICE_ALLOC_ID $LATTICE_ATTEMPT" >> ${file}` }));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, n) => submitSome(Math.floor((JOBS + n) / CLIENTS))));
  expect(new Set(ids).size).toBe(JOBS);
  expect(await cluster.allocations("state=pending")).toHaveLength(JOBS);

  await eventually({ what: "the nodes are drained" }, async () =>
    (await cluster.nodes()).every((node) => node.state === "drained") ? true : null,
  );
  for (const node of cluster.nodeIds) await cluster.api("POST", `/nodes/${node}/undrain`, { body: {} });
  await eventually({ what: "the queue is empty", withinMs: 500_000, everyMs: 250 }, async () => {
    const waiting = await cluster.api<{ total?: number; allocations?: unknown[] }>(
      "GET",
      "/allocations?state=pending&state=staging&state=running&page_size=1",
    );
    return (waiting.body.allocations ?? []).length === 0 ? true : null;
  });

  const all = await cluster.allocations();
  expect(all).toHaveLength(JOBS);
  expect(all.filter((record) => record.state !== "completed")).toEqual([]);
  const starts = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  expect(starts.length).toBe(JOBS);
  expect(new Set(starts)).toEqual(new Set(ids.map((id) => `${id} 1`)));
});
