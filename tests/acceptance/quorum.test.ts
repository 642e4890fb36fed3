// Three servers with their own etcd members: any of them serves any call, and the loss of the leader loses nothing.
// The leader is killed, paused and stopped cleanly.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, sleep } from "../harness/eventually.ts";
import { grpcClient } from "../harness/grpc.ts";
import { kill, pause } from "../harness/processes.ts";
import { Quorum } from "../harness/quorum.ts";

let quorum: Quorum;
beforeAll(async () => {
  quorum = await Quorum.start({ servers: 3, nodes: 3, leaseSeconds: 6 });
});
afterAll(() => quorum?.close());

const other = (n: number): number => (n % 3) + 1;

test("any server accepts a submission, shows it at once and returns its output", async () => {
  for (const n of [1, 2, 3]) {
    const id = await quorum.submit(n, { entrypoint: `echo by way of ${n}` });
    expect(await quorum.state(n, id)).not.toBe("404");
    await quorum.reaches(other(n), id, "completed");
    const output = await quorum.api(other(n), "GET", `/allocations/${id}/logs`);
    expect(output.text).toContain(`by way of ${n}`);
  }
});

test("kill -9 of the leader under load loses nothing acknowledged, and running work continues", async () => {
  const leader = await quorum.leader();
  const starts = join(quorum.dir, "starts");
  writeFileSync(starts, "");
  const running = await quorum.submit(leader, { entrypoint: "sleep 6; echo survived", nodes: 1 });
  await quorum.reaches(leader, running, "running");

  const acknowledged: string[] = [];
  let unanswered = 0;
  let stop = false;
  const load = (async () => {
    for (let n = 1; !stop; n = other(n)) {
      const body = { entrypoint: `echo $LATTICE_ALLOC_ID.$LATTICE_ATTEMPT >> ${starts}` };
      await quorum.submit(n, body).then(
        (id) => acknowledged.push(id),
        () => {
          unanswered += 1;
          return sleep(50);
        },
      );
    }
  })();
  await eventually({ what: "there is a load" }, () => (acknowledged.length >= 20 ? true : null));
  const before = acknowledged.length;
  await quorum.server(leader).kill();
  await eventually({ what: "submissions are taken again" }, () => (acknowledged.length > before + 20 ? true : null));
  stop = true;
  await load;

  const next = await quorum.leader();
  expect(next).not.toBe(leader);
  for (const id of acknowledged) await quorum.reaches(next, id, "completed");
  await quorum.reaches(next, running, "completed");
  const started = readFileSync(starts, "utf8").trim().split("\n");
  expect(new Set(started).size).toBe(started.length);
  const ran = new Set(started.map((line) => line.split(".")[0] ?? ""));
  expect(acknowledged.filter((id) => !ran.has(id))).toEqual([]);
  // A submission whose answer died with the leader may have been written before.
  expect(ran.size).toBeLessThanOrEqual(acknowledged.length + unanswered);
  expect(acknowledged.length).toBeGreaterThanOrEqual(40);
  await quorum.startServer(leader);
});

test("a paused leader is replaced and commits nothing after it resumes", async () => {
  const old = await quorum.leader();
  await pause(quorum.server(old).pid);
  const survivor = other(old);
  const id = await eventually({ what: "another server takes a submission" }, () =>
    quorum.submit(survivor, { entrypoint: "true" }).catch(() => null),
  );
  kill(quorum.server(old).pid, "SIGCONT");
  await quorum.reaches(survivor, id, "completed");
  await eventually({ what: "another leads" }, async () => ((await quorum.leader()) === old ? null : true));
  // It follows again, and forwards to the new leader.
  const late = await eventually({ what: "the old leader passes writes on" }, () =>
    quorum.submit(old, { entrypoint: "true" }).catch(() => null),
  );
  await quorum.reaches(old, late, "completed");
  const hashes = await eventually({ what: "all servers agree at one index" }, async () => {
    const all = await Promise.all([1, 2, 3].map(async (n) => (await quorum.api(n, "GET", "/raft/status")).body));
    const same = new Set(all.map((one) => one.applied_index)).size === 1;
    return same ? all.map((one) => one.state_hash) : null;
  });
  expect(new Set(hashes).size).toBe(1);
});

test("only servers of the cluster may call the peer interface", async () => {
  const leader = await quorum.leader();
  const client = grpcClient(quorum.grpc(leader));
  const tenants = async () => {
    const { body } = await quorum.api<{ tenants: { id: string; quota: object }[] }>(leader, "GET", "/tenants");
    // Usage changes on its own.
    return body.tenants.map(({ id, quota }) => ({ id, quota }));
  };
  const before = await tenants();
  const command = JSON.stringify({ kind: "retention.set", maxFinished: 0, maxFinishedAge: 0 });
  const answer = await client.call("PeerService", "Propose", { command });
  expect(answer).toMatchObject({ ok: false, problem: { code: "forbidden" } });
  const refused = await Promise.all(pb.PeerService.methods.map(({ name }) => client.begin("PeerService", name)));
  expect(refused).toEqual(pb.PeerService.methods.map(({ name }) => `${name}: PERMISSION_DENIED`));
  expect(await tenants()).toEqual(before);
  client.close();
});

test("a clean stop transfers leadership at once", async () => {
  const leader = await quorum.leader();
  const survivor = other(leader);
  const stopping = quorum.server(leader).stop();
  await eventually({ what: "a submission is taken", everyMs: 20 }, () =>
    quorum.submit(survivor, { entrypoint: "true" }).catch(() => null),
  );
  expect(await stopping).toBe(0);
  await quorum.startServer(leader);
});
