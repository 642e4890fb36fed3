// kill -9 of the server at random moments under load, 50 rounds. Afterwards every acknowledged
// submission is there and has run, no attempt has started two processes, and no node was ever seen
// to be owned twice. The jobs count their own starts in a file they append to.
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually, sleep } from "../harness/eventually.ts";
import { seededRandom } from "../harness/random.ts";
import { useCluster } from "../harness/use-cluster.ts";

const ROUNDS = 50;
const CLIENTS = 4;
/** Keeps the queue short enough to drain at the end. */
const MAX_PER_ROUND = 24;
/** A run in which little happened proves little. */
const LEAST_ACKNOWLEDGED = ROUNDS * 4;
const LEAST_STARTED_UNDER_FIRE = ROUNDS;
const TEST_WITHIN_MS = 300_000;

const cluster = useCluster({ nodes: 4 });

test(`${ROUNDS} kills of the server under load lose and repeat nothing`, { timeout: TEST_WITHIN_MS }, async () => {
  const random = seededRandom("kill -9 of the server");
  const starts = cluster.file("starts");
  const acknowledged: string[] = [];
  let looks = 0;

  for (let round = 1; round <= ROUNDS; round += 1) {
    // Every second kill comes while jobs start and end, the others while the agents come back.
    if (round % 2 === 0) await cluster.nodesReady();
    const over = new AbortController();
    let room = MAX_PER_ROUND;
    const client = async (): Promise<void> => {
      while (!over.signal.aborted && room > 0) {
        room -= 1;
        const pause = random.between(0, 2) === 0 ? "sleep 0.1; " : "";
        const entrypoint = `echo "$LATTICE_ALLOC_ID $LATTICE_ATTEMPT $LATTICE_NODE" >> ${starts}; ${pause}true`;
        const id = await cluster.submit({ entrypoint, nodes: random.between(1, 2) }).catch(() => null);
        if (id === null) return;
        acknowledged.push(id);
        await sleep(random.between(0, 20));
      }
    };
    const watcher = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const nodes = await cluster.nodes().catch(() => null);
        if (nodes === null) return;
        looks += 1;
        for (const node of nodes) expect((node.claims ?? []).length, `owners of ${node.id}`).toBeLessThanOrEqual(1);
        await sleep(10);
      }
    };
    const before = acknowledged.length;
    const load = Promise.all([...Array.from({ length: CLIENTS }, client), watcher()]);
    await sleep(random.between(20, 600));
    await cluster.server.kill();
    over.abort();
    await load;
    await cluster.startServer();
    for (const id of acknowledged.slice(before)) expect((await cluster.allocation(id)).id).toBe(id);
  }

  const startedUnderFire = linesOf(starts).length;
  await eventually({ what: "everything acknowledged has ended", withinMs: 120_000, everyMs: 500 }, async () => {
    const open = await cluster.allocations("state=pending&state=staging&state=running");
    return open.length === 0 ? true : null;
  });
  const records = new Map((await cluster.allocations()).map((record) => [record.id, record]));
  console.log(
    `${acknowledged.length} acknowledged, ${records.size} in all, ${startedUnderFire} started between kills, ${looks} looks`,
  );
  expect(acknowledged.length).toBeGreaterThan(LEAST_ACKNOWLEDGED);
  expect(looks).toBeGreaterThan(ROUNDS);
  expect(startedUnderFire).toBeGreaterThan(LEAST_STARTED_UNDER_FIRE);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  expect(acknowledged.filter((id) => records.get(id)?.state !== "completed")).toEqual([]);

  const lines = linesOf(starts);
  const repeated = lines.filter((line, position) => lines.indexOf(line) !== position);
  expect(repeated, "an attempt started two processes on a node").toEqual([]);
  for (const id of acknowledged) {
    const nodes = records.get(id)?.nodes ?? [];
    const attempt = records.get(id)?.attempt ?? 0;
    for (const node of nodes) expect(lines).toContain(`${id} ${attempt} ${node}`);
  }
  // Nothing but the server died, so nothing had to be run again.
  expect([...records.values()].filter((record) => (record.requeues ?? 0) > 0)).toEqual([]);
});

function linesOf(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
}
