// The whole history on every server: one that was down while records left the live state, and one that joined later,
// both have all of it soon and serve it themselves.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { Quorum } from "../harness/quorum.ts";
import { request } from "../harness/rest.ts";

/** Enough for several snapshots, and far more than the live state keeps. */
const SNAPSHOT_EVERY = 20;
const STAYS = 3;
const JOBS = 40;

let quorum: Quorum;
beforeAll(async () => {
  quorum = await Quorum.start({
    servers: 3,
    nodes: 2,
    spares: 1,
    quorum: { snapshot_every_entries: SNAPSHOT_EVERY },
    settings: { retention: { max_finished: STAYS } },
  });
});
afterAll(() => quorum?.close());

interface RaftStatus {
  readonly applied_index: string;
  readonly snapshot_index: string;
}

const statusOf = async (n: number): Promise<RaftStatus> =>
  (await quorum.api<RaftStatus>(n, "GET", "/raft/status")).body;

async function run(n: number, jobs: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let k = 0; k < jobs; k += 1) ids.push(await quorum.submit(n, { name: `job-${k}`, entrypoint: "true" }));
  for (const id of ids) await quorum.reaches(n, id, "completed");
  return ids;
}

/** As the server's metrics report it. */
async function gapOf(n: number): Promise<number> {
  const { text } = await request(quorum.url(n), "GET", "/metrics");
  return Number(/^lattice_history_gap_entries (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
}

async function listed(n: number): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  let token = "";
  do {
    const page = `/allocations?state=completed&page_size=20${token === "" ? "" : `&page_token=${token}`}`;
    const { body } = await quorum.api<{ allocations?: { id: string }[]; next_page_token?: string }>(n, "GET", page);
    for (const { id } of body.allocations ?? []) ids.add(id);
    token = body.next_page_token ?? "";
  } while (token !== "");
  return ids;
}

async function serves(n: number, ids: readonly string[]): Promise<void> {
  await eventually({ what: `server ${n} has no gap` }, async () => ((await gapOf(n)) === 0 ? true : null));
  for (const id of ids) expect(await quorum.state(n, id), `allocation ${id} on server ${n}`).toBe("completed");
  const known = await listed(n);
  expect(ids.filter((id) => !known.has(id))).toEqual([]);
}

const all: string[] = [];
let away = 0;

test("a server that was down during archiving fetches the missing history", async () => {
  const leader = await quorum.leader();
  away = [1, 2, 3].find((n) => n !== leader) ?? 0;
  all.push(...(await run(leader, 5)));
  const before = Number((await statusOf(away)).applied_index);
  await quorum.server(away).kill();
  all.push(...(await run(leader, JOBS)));
  // The log that the dead server has not seen is gone: it must start from a snapshot.
  await eventually({ what: "snapshots are past the dead server" }, async () =>
    Number((await statusOf(leader)).snapshot_index) > before + SNAPSHOT_EVERY ? true : null,
  );
  expect(Number((await statusOf(leader)).applied_index)).toBeGreaterThan(before + JOBS);
  await quorum.startServer(away);
  await serves(away, all);
  expect(readFileSync(quorum.server(away).logFile, "utf8")).toContain("history has a gap");
});

test("a new member fetches the whole history", async () => {
  await quorum.startServer(4, ["--join", quorum.grpc(await quorum.leader())]);
  await serves(4, all);
});

test("later archived work reaches all four servers", async () => {
  all.push(...(await run(4, 6)));
  for (const n of [1, 2, 3, 4]) await serves(n, all);
  expect(all.length).toBe(5 + JOBS + 6);
});
