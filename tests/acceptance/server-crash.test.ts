// kill -9 of the server at random moments under load, 50 rounds. Afterwards every acknowledged submission exists and
// has run, no attempt has started two processes, and no node had two owners. The jobs record their starts and ends; on
// one node no two overlap. Frequent snapshots and archiving coincide with the kills.
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually, sleep } from "../harness/eventually.ts";
import { seededRandom } from "../harness/random.ts";
import { useCluster } from "../harness/use-cluster.ts";

const ROUNDS = 50;
const CLIENTS = 4;
/** Keeps the queue short enough to drain at the end; kills still fall between submissions. */
const MAX_PER_ROUND = 14;
const MAX_PAUSE_MS = 60;
/** A run in which little happened proves little. */
const MIN_PER_ROUND = 8;
const MIN_STARTED_UNDER_FIRE = ROUNDS;
const TEST_WITHIN_MS = 1_800_000;

/** No node is judged for silence while the server was away, however slow the machine. */
const config =
  "node_agent:\n  heartbeat_timeout: 1h\nquorum:\n  snapshot_every_entries: 10\nretention:\n  max_finished: 100\n";
const cluster = useCluster({ nodes: 4, config });

test(`${ROUNDS} kills of the server under load lose and repeat nothing`, { timeout: TEST_WITHIN_MS }, async () => {
  const random = seededRandom("kill -9 of the server");
  const diary = cluster.file("diary");
  const acknowledged: string[] = [];
  let looks = 0;

  for (let round = 1; round <= ROUNDS; round += 1) {
    // Every second kill comes while jobs start and end, the others while agents reconnect.
    if (round % 2 === 0) await cluster.nodesReady();
    const over = new AbortController();
    let room = MAX_PER_ROUND;
    const client = async (): Promise<void> => {
      while (!over.signal.aborted && room > 0) {
        room -= 1;
        const pause = random.between(0, 2) === 0 ? "sleep 0.1; " : "";
        const line = (word: string): string =>
          `echo "$LATTICE_ALLOC_ID $LATTICE_ATTEMPT $LATTICE_NODE ${word} $(date +%s%N)" >> ${diary}`;
        const entrypoint = `${line("start")}; ${pause}${line("end")}`;
        const id = await cluster.submit({ entrypoint, nodes: random.between(1, 2) }).catch(() => null);
        if (id === null) return;
        acknowledged.push(id);
        await sleep(random.between(0, MAX_PAUSE_MS));
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
    // On a slow machine a round lasts until there is something to lose.
    await eventually({ what: "the server has taken some", everyMs: 5 }, () =>
      acknowledged.length >= MIN_PER_ROUND * round && looks > round ? true : null,
    );
    await cluster.server.kill();
    over.abort();
    await load;
    await cluster.startServer();
    for (const id of acknowledged.slice(before)) expect((await cluster.allocation(id)).id).toBe(id);
  }

  const startedUnderFire = runsIn(diary).length;
  await eventually({ what: "everything acknowledged has ended", withinMs: 400_000, everyMs: 500 }, async () => {
    const open = await cluster.allocations("state=pending&state=staging&state=running");
    return open.length === 0 ? true : null;
  });
  const ended = await cluster.allocations("state=completed&state=failed&state=cancelled");
  const records = new Map(ended.map((record) => [record.id, record]));
  console.log(
    `${acknowledged.length} acknowledged, ${records.size} in all, ${startedUnderFire} started between kills, ${looks} looks`,
  );
  expect(acknowledged.length).toBeGreaterThanOrEqual(MIN_PER_ROUND * ROUNDS);
  expect(looks).toBeGreaterThan(ROUNDS);
  expect(startedUnderFire).toBeGreaterThan(MIN_STARTED_UNDER_FIRE);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  expect(acknowledged.filter((id) => records.get(id)?.state !== "completed")).toEqual([]);

  const runs = runsIn(diary);
  const names = runs.map((run) => run.name);
  expect(
    names.filter((name, position) => names.indexOf(name) !== position),
    "an attempt started two processes on a node",
  ).toEqual([]);
  expect(runs.filter((run) => run.end === null)).toEqual([]);
  for (const id of acknowledged) {
    const { nodes = [], attempt = 0 } = records.get(id) ?? {};
    for (const node of nodes) expect(names).toContain(`${id} ${attempt} ${node}`);
  }
  expect(overlaps(runs), "two ran on one node at once").toEqual([]);
  expect(snapshotsTaken(), "the kills fell among snapshots").toBeGreaterThan(ROUNDS);
  // Only the server died, so nothing had to run again.
  expect([...records.values()].filter((record) => (record.requeues ?? 0) > 0)).toEqual([]);
});

interface Run {
  /** Allocation, attempt and node. */
  readonly name: string;
  readonly node: string;
  readonly start: bigint;
  readonly end: bigint | null;
}

/** One per recorded start. */
function runsIn(file: string): readonly Run[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  const words = lines.filter((line) => line !== "").map((line) => line.split(" "));
  const ends = new Map(
    words.filter(([, , , word]) => word === "end").map(([id, attempt, node, , at]) => [`${id} ${attempt} ${node}`, at]),
  );
  return words
    .filter(([, , , word]) => word === "start")
    .map(([id, attempt, node = "", , at = "0"]) => {
      const name = `${id} ${attempt} ${node}`;
      const end = ends.get(name);
      return { name, node, start: BigInt(at), end: end === undefined ? null : BigInt(end) };
    });
}

function overlaps(runs: readonly Run[]): readonly string[] {
  const sorted = [...runs].sort((a, b) => (a.start < b.start ? -1 : 1));
  const last = new Map<string, Run>();
  return sorted.flatMap((run) => {
    const before = last.get(run.node);
    last.set(run.node, run);
    return before?.end != null && before.end > run.start ? [`${before.name} and ${run.name}`] : [];
  });
}

const snapshotsTaken = (): number => readFileSync(cluster.server.logFile, "utf8").split("snapshot taken").length - 1;
