// Three servers lose everything at once: one starts from the backup, the others join it, and the agents, which never
// stopped, find their work again.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { isAlive } from "../harness/processes.ts";
import { Quorum } from "../harness/quorum.ts";

const JOBS = 20;
const home = mkdtempSync(join(tmpdir(), "lattice-test-backups-"));
let quorum: Quorum;

beforeAll(async () => {
  quorum = await Quorum.start({
    servers: 3,
    nodes: 2,
    settings: { backup: { destination: home, interval: "0s" }, retention: { max_finished: 5 } },
  });
});
afterAll(async () => {
  await quorum.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 9 });
});

test("a new cluster starts from the backup after the loss of all members", async () => {
  const folder = join(quorum.dir, "job");
  mkdirSync(folder);
  const entrypoint = `sh -c 'echo $$ > ${folder}/pid; while [ ! -e ${folder}/go ]; do sleep 0.1; done'`;
  const long = await quorum.submit(2, { entrypoint });
  const ids: string[] = [];
  for (let n = 0; n < JOBS; n += 1) ids.push(await quorum.submit(1 + (n % 3), { entrypoint: "true" }));
  for (const id of ids) await quorum.reaches(1, id, "completed");
  const pid = await eventually(
    { what: "the job runs" },
    () => Number.parseInt(readFileSync(`${folder}/pid`, "utf8"), 10) || null,
  );
  await quorum.reaches(1, long, "running");

  // Any server writes a backup of everything that any server acknowledged.
  const follower = 1 + ((await quorum.leader()) % 3);
  const taken = await quorum.cli(follower, "admin", "backup", "-o", "json");
  expect(taken.code, taken.stderr).toBe(0);
  const backup = JSON.parse(taken.stdout) as { readonly source: string; readonly term: string };

  for (const n of [1, 2, 3]) await quorum.lose(n);
  for (const n of [1, 2, 3]) quorum.wipe(n);
  await quorum.startServer(1, ["--bootstrap", "--recover-from", backup.source]);
  await quorum.startServer(2, ["--join", quorum.grpc(1)]);
  await quorum.startServer(3, ["--join", quorum.grpc(1)]);

  const status = await quorum.api<{ readonly term: string }>(1, "GET", "/raft/status");
  expect(Number(status.body.term)).toBeGreaterThan(Number(backup.term));
  for (const n of [1, 2, 3]) {
    for (const id of ids) await quorum.reaches(n, id, "completed");
    await quorum.reaches(n, long, "running");
  }
  expect(isAlive(pid)).toBe(true);
  writeFileSync(`${folder}/go`, "");
  for (const n of [1, 2, 3]) await quorum.reaches(n, long, "completed");
  const later = await quorum.submit(3, { entrypoint: "true" });
  await quorum.reaches(1, later, "completed");
  expect(Number(later)).toBeGreaterThan(Number(long));

  // An existing log is never overwritten by a recovery.
  await quorum.server(1).stop();
  await expect(quorum.startServer(1, ["--bootstrap", "--recover-from", backup.source])).rejects.toThrow("already");
  await quorum.startServer(1);
  await quorum.reaches(1, later, "completed");
});
