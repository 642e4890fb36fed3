// Short elements of a task group, which wait behind each other on their nodes: each runs once although agents and the
// server are killed meanwhile, and one element or all of them can be cancelled while they wait.
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { AllocationJson } from "../harness/rest.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 3 });

const ELEMENTS = 2_000;

interface GroupJson extends AllocationJson {
  readonly group?: Readonly<Record<string, number>>;
}

const runsIn = (file: string): readonly string[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];

const submit = (file: string, elements: number, more = ""): Promise<string> =>
  cluster.submit({
    entrypoint: `echo $LATTICE_TASK_INDEX >> ${file}; ${more}exit $((LATTICE_TASK_INDEX % 500 == 7))`,
    walltime: "10m",
    task_group: { start: 0, end: elements - 1 },
  });

const passes = (file: string, runs: number) =>
  eventually({ what: `${runs} elements have run`, withinMs: 240_000 }, () =>
    runsIn(file).length >= runs ? true : null,
  );

/** The most elements on one node, the one that runs included. */
async function longestLine(): Promise<number> {
  return Math.max(...(await cluster.nodes()).map(({ claims = [] }) => claims.length));
}

test("each of 2,000 elements runs once while agents and the server are killed", { timeout: 420_000 }, async () => {
  const file = cluster.file("runs");
  const id = await submit(file, ELEMENTS);
  await passes(file, 100);
  await cluster.agent("node-1").kill();
  cluster.startAgent("node-1");
  await passes(file, 500);
  await cluster.server.kill();
  await cluster.startServer();
  await passes(file, 900);
  await Promise.all([cluster.server.kill(), cluster.agent("node-2").kill(), cluster.agent("node-3").kill()]);
  await cluster.startServer();
  for (const node of ["node-2", "node-3"]) cluster.startAgent(node);
  await passes(file, 1_400);
  await cluster.agent("node-1").kill();
  cluster.startAgent("node-1");
  const record: GroupJson = await cluster.ends(id, 240_000);
  expect(record.state).toBe("failed");
  expect(record.group).toMatchObject({ completed: ELEMENTS - 4, failed: 4 });
  const times = new Map<string, number>();
  for (const index of runsIn(file)) times.set(index, (times.get(index) ?? 0) + 1);
  expect([...times].filter(([, count]) => count !== 1)).toEqual([]);
  expect(times.size).toBe(ELEMENTS);
  expect(await cluster.allocation(`${id}_507`)).toMatchObject({ state: "failed", exit_code: 1 });
  expect(await cluster.allocation(`${id}_508`)).toMatchObject({ state: "completed", exit_code: 0, attempt: 1 });
});

test("elements that wait behind others are cancelled, one and then all", { timeout: 240_000 }, async () => {
  const file = cluster.file("cancelled");
  const gate = cluster.file("gate");
  // The first ones are short; later ones wait for a file, and others behind them.
  const id = await submit(file, 400, `while [ $LATTICE_TASK_INDEX -gt 60 ] && [ ! -e ${gate} ]; do sleep 0.1; done; `);
  await passes(file, 62);
  const staging = await cluster.allocations("expand=true&state=staging");
  const [one] = staging.slice(-1);
  if (one !== undefined) {
    expect((await cluster.api("DELETE", `/allocations/${one.id}`)).status).toBe(200);
    expect((await cluster.allocation(one.id)).state).toBe("cancelled");
  }
  expect((await cluster.api("DELETE", `/allocations/${id}`)).status).toBe(200);
  expect((await cluster.ends(id, 60_000)).state).toMatch(/cancelled|failed/);
  await eventually({ what: "all nodes are free", withinMs: 60_000 }, async () =>
    (await longestLine()) === 0 ? true : null,
  );
  expect(runsIn(file).length).toBeLessThan(100);
});
