// Records that have left the live state stay readable. Snapshots come every few entries and few finished jobs stay in
// memory, so that archiving, truncation and kill -9 coincide. A known id answers whenever the server does.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually, sleep } from "../harness/eventually.ts";
import { seededRandom } from "../harness/random.ts";
import { useCluster } from "../harness/use-cluster.ts";

const JOBS = 200;
const ROUNDS = 8;
const CLIENTS = 4;
const MAX_FINISHED = 5;

const config = `
quorum:
  snapshot_every_entries: 10
retention:
  max_finished: ${MAX_FINISHED}
`;
const cluster = useCluster({ nodes: 3, config });

test(`${JOBS} jobs, ${ROUNDS} kills, and every id answers`, async () => {
  const random = seededRandom("kill -9 between snapshots");
  const acknowledged: string[] = [];
  let reads = 0;

  for (let round = 1; round <= ROUNDS; round += 1) {
    await cluster.nodesReady();
    const over = new AbortController();
    const read = reads;
    const target = (JOBS * round) / ROUNDS;
    const client = async (): Promise<void> => {
      while (!over.signal.aborted && acknowledged.length < target) {
        const id = await cluster.submit({ entrypoint: "true" }).catch(() => null);
        if (id === null) return;
        acknowledged.push(id);
      }
    };
    const reader = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const id = acknowledged[random.between(0, acknowledged.length - 1)];
        const answer = id === undefined ? null : await cluster.api("GET", `/allocations/${id}`).catch(() => null);
        if (answer === null) {
          await sleep(5);
          continue;
        }
        expect(answer.status, `${id}: ${answer.text}`).toBe(200);
        reads += 1;
      }
    };
    const load = Promise.all([...Array.from({ length: CLIENTS }, client), reader(), reader()]);
    await sleep(random.between(100, 700));
    await eventually({ what: "something was read in this round" }, () => (reads > read + 1 ? true : null));
    await cluster.server.kill();
    over.abort();
    await load;
    await cluster.startServer();
    await allAnswer(acknowledged);
  }

  while (acknowledged.length < JOBS) acknowledged.push(await cluster.submit({ entrypoint: "true" }));
  for (const id of acknowledged) expect(await cluster.ends(id)).toMatchObject({ id, state: "completed", attempt: 1 });
  await allListed(acknowledged);
  expect(reads).toBeGreaterThan(ROUNDS);
  // The last submission of a killed round may be unacknowledged, so there may be more.
  await eventually({ what: "the others are archived" }, () =>
    archivedIds().size >= JOBS - MAX_FINISHED ? true : null,
  );
  expect(snapshotsTaken()).toBeGreaterThan(10);

  expect(await cluster.server.stop()).toBe(0);
  await cluster.startServer();
  await allAnswer(acknowledged);
  await allListed(acknowledged);
});

async function allAnswer(ids: readonly string[]): Promise<void> {
  for (const id of ids) expect((await cluster.allocation(id)).id).toBe(id);
}

async function allListed(ids: readonly string[]): Promise<void> {
  const listed = (await cluster.allocations("state=completed")).map((record) => record.id);
  expect(new Set(listed).size, "an allocation is listed twice").toBe(listed.length);
  expect(ids.filter((id) => !listed.includes(id))).toEqual([]);
}

/** Read from the segments directly. */
function archivedIds(): ReadonlySet<string> {
  const dir = join(cluster.serverDataDir, "history");
  const lines = readdirSync(dir)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(dir, name), "utf8").split("\n"));
  const ids = lines.flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as Line).record?.id ?? ""]));
  expect(new Set(ids).size, "a record is in the history twice").toBe(ids.length);
  return new Set(ids);
}

interface Line {
  readonly record?: { readonly id: string };
}

const snapshotsTaken = (): number => readFileSync(cluster.server.logFile, "utf8").split("snapshot taken").length - 1;
