// Two thousand nodes lose the same server at once: all reconnect to the others without a storm of hellos, none is
// degraded, and the cluster keeps running jobs on them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Program, startProgram } from "../harness/program.ts";
import { Quorum } from "../harness/quorum.ts";

const NODES = 2_000;
const JOBS = 20;
/** Per node and failover: one successful hello, and some for a machine with a slow election. */
const HELLOS_MOST = 12;

let quorum: Quorum;
let agent: Program;
beforeAll(async () => {
  quorum = await Quorum.start({ servers: 3, nodes: 0 });
  const servers = [1, 2, 3].flatMap((n) => ["--server", quorum.grpc(n)]);
  agent = startProgram("lattice-agent", {
    args: [...servers, "--data-dir", join(quorum.dir, "hollow"), "--hollow", String(NODES)],
    logFile: join(quorum.dir, "agent-hollow.log"),
  });
  await allConnected();
});
afterAll(async () => {
  await agent?.kill();
  await quorum?.close();
});

interface Census {
  readonly connected: number;
  readonly hellos: number;
  readonly hellos_most: number;
}

const census = (): readonly Census[] =>
  readFileSync(agent.logFile, "utf8")
    .split("\n")
    .filter((line) => line.includes('"hollow nodes"'))
    .map((line) => JSON.parse(line) as Census);

const allConnected = (): Promise<Census> =>
  eventually({ what: `${NODES} nodes are connected`, withinMs: 150_000, everyMs: 100 }, () => {
    const now = census().at(-1);
    return now?.connected === NODES ? now : null;
  });

const allReady = (n: number): Promise<true> =>
  eventually({ what: "all nodes are ready" }, async () => {
    const { body } = await quorum.api<{ readonly total?: number }>(n, "GET", "/nodes?state=ready&page_size=1");
    return body.total === NODES ? true : null;
  });

test("after kill -9 of the leader every node reconnects, none is degraded, and jobs run", async () => {
  const leader = await quorum.leader();
  const before = await allConnected();
  await allReady(leader);
  const output = census().length;

  await quorum.server(leader).kill();
  await eventually({ what: "nodes notice" }, () =>
    census()
      .slice(output)
      .some((now) => now.connected < NODES)
      ? true
      : null,
  );
  const after = await allConnected();
  expect(after.hellos - before.hellos).toBeGreaterThan(NODES / 4);
  expect(after.hellos_most - before.hellos_most).toBeLessThanOrEqual(HELLOS_MOST);

  const next = await quorum.leader();
  expect(next).not.toBe(leader);
  const ids = await Promise.all(
    Array.from({ length: JOBS }, (_, n) => quorum.submit(next, { entrypoint: "true", nodes: 1 + (n % 8) })),
  );
  for (const id of ids) await quorum.reaches(next, id, "completed");
  await allReady(next);
});
