// Members join, leave, are lost and replaced while jobs run, through any server; changes that would cost the majority
// are refused; and leadership moves as requested.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, sleep } from "../harness/eventually.ts";
import { kill, pause } from "../harness/processes.ts";
import { startProgram } from "../harness/program.ts";
import { Quorum } from "../harness/quorum.ts";

interface Member {
  readonly id: string;
  readonly leader?: boolean;
  readonly healthy?: boolean;
  readonly applied_index?: string;
  readonly lag?: number;
  readonly server_version?: string;
  readonly etcd?: {
    readonly name?: string;
    readonly healthy?: boolean;
    readonly leader?: boolean;
    readonly database_bytes?: number;
    readonly raft_term?: string;
    readonly raft_index?: string;
  };
}

const PACE_MS = 100;

let quorum: Quorum;
let running: string;
beforeAll(async () => {
  quorum = await Quorum.start({ servers: 1, nodes: 3, spares: 3 });
  const entrypoint = `until test -e ${join(quorum.dir, "done")}; do sleep 0.3; done; echo undisturbed`;
  running = await quorum.submit(1, { entrypoint, nodes: 1 });
  await quorum.reaches(1, running, "running");
  await quorum.startServer(2, ["--join", quorum.grpc(1)]);
  await quorum.startServer(3, ["--join", quorum.url(1)]);
});
afterAll(() => quorum?.close());

const membersOf = async (n: number): Promise<readonly Member[]> =>
  (await quorum.api<{ readonly members: readonly Member[] }>(n, "GET", "/raft/status")).body.members;
const member = async (asked: number, n: number): Promise<Member | undefined> =>
  (await membersOf(asked)).find(({ id }) => id === `server-${n}`);
const other = (n: number): number => (n % 3) + 1;

test("three servers form a cluster, two of them by joining the first", async () => {
  const listed = await eventually({ what: "all three are caught up" }, async () => {
    const members = await membersOf(2);
    return members.length === 3 && members.every(({ healthy, lag }) => healthy === true && lag === 0) ? members : null;
  });
  expect(listed.map(({ id }) => id)).toEqual(["server-1", "server-2", "server-3"]);
  expect(listed.filter(({ leader }) => leader)).toHaveLength(1);
  expect(listed.filter(({ etcd }) => etcd?.leader)).toHaveLength(1);
  for (const [n, { etcd, applied_index, server_version }] of listed.entries()) {
    expect(etcd).toMatchObject({ name: `lattice-${n + 1}`, healthy: true });
    expect(etcd?.database_bytes).toBeGreaterThan(0);
    for (const text of [applied_index, etcd?.raft_term, etcd?.raft_index]) expect(text).toMatch(/^[1-9]\d*$/);
    expect(server_version).toMatch(/^\d/);
  }
  const { stdout } = await quorum.cli(3, "admin", "raft", "status");
  for (const word of ["MEMBER", "LAG", "ETCD LEADER", "DB SIZE", "server-2", "lattice-3"]) {
    expect(stdout).toContain(word);
  }
});

test("bad membership input is refused and changes nothing", async () => {
  const raft = (...args: readonly string[]) => quorum.cli(2, "admin", "raft", ...args);
  for (const [code, words, args] of [
    [3, "There is no member server-9", ["remove-member", "server-9"]],
    [3, "There is no member server-9", ["transfer-leader", "server-9"]],
    [2, "peer_address", ["add-member", "server-9", "--peer-address", "nowhere"]],
    [2, "id", ["add-member", "not an id", "--peer-address", "127.0.0.1:9999"]],
    [5, "server-3 is already a member", ["add-member", "server-3", "--peer-address", "127.0.0.1:9999"]],
    [5, "belongs to server-3", ["add-member", "server-9", "--peer-address", quorum.etcdPeer(3)]],
  ] as const) {
    const result = await raft(...args);
    expect(result.stderr, args.join(" ")).toContain(words);
    expect(result.code, args.join(" ")).toBe(code);
  }
  // A repeated request is neither a change nor an error.
  expect((await raft("add-member", "server-3", "--peer-address", quorum.etcdPeer(3))).code).toBe(0);
  expect(await membersOf(1)).toHaveLength(3);
});

test("leadership moves to the named server under load without losing acknowledged work", async () => {
  const starts = join(quorum.dir, "starts");
  writeFileSync(starts, "");
  const acknowledged: string[] = [];
  let stop = false;
  const load = (async () => {
    for (let n = 1; !stop; n = other(n)) {
      const body = { entrypoint: `echo $LATTICE_ALLOC_ID.$LATTICE_ATTEMPT >> ${starts}` };
      await quorum.submit(n, body).then(
        (id) => acknowledged.push(id),
        () => undefined,
      );
      // All of them must run before the test ends.
      await sleep(PACE_MS);
    }
  })();
  await eventually({ what: "there is a load" }, () => (acknowledged.length >= 5 ? true : null));
  for (let turns = 0; turns < 3; turns += 1) {
    const target = other(await quorum.leader());
    const before = acknowledged.length;
    // Through the third, which neither leads nor will lead.
    const result = await quorum.cli(other(target), "admin", "raft", "transfer-leader", `server-${target}`);
    expect(result, result.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Leader is server-${target}`),
    });
    await eventually({ what: "submissions continue" }, () => (acknowledged.length > before + 3 ? true : null));
    expect(await quorum.leader()).toBe(target);
  }
  // Repeated at another server, it is answered without effect.
  const twice = async (n: number) => {
    const body = { request_id: `once-${n}` };
    const transfer = (asked: number) => quorum.api(asked, "POST", "/raft/transfer-leader", { body });
    const first = await transfer(1);
    return [first.status, JSON.stringify(first.body), JSON.stringify((await transfer(2)).body)] as const;
  };
  let n = 0;
  await eventually({ what: "a transfer that is asked for twice is done once" }, async () => {
    n += 1;
    const [status, first, again] = await twice(n);
    return status === 200 && first === again ? true : null;
  });
  stop = true;
  await load;
  for (const id of acknowledged) await quorum.reaches(1, id, "completed");
  const started = readFileSync(starts, "utf8").trim().split("\n");
  for (const id of acknowledged) expect(started.filter((line) => line.startsWith(`${id}.`))).toHaveLength(1);
});

test("a lost server is removed and replaced by a fresh one, while jobs run", async () => {
  const lost = await quorum.leader();
  const asked = other(lost);
  const kept = await quorum.submit(asked, { entrypoint: "echo kept" });
  await quorum.reaches(asked, kept, "completed");
  await quorum.lose(lost);
  await eventually({ what: "another leads" }, async () =>
    (await member(asked, lost))?.healthy !== true && (await quorum.leader()) !== lost ? true : null,
  );
  expect(await member(asked, lost)).toMatchObject({ etcd: { name: `lattice-${lost}` } });

  // Two of three answer: neither may be removed.
  const refused = await quorum.cli(asked, "admin", "raft", "remove-member", `server-${other(asked)}`);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain("without it 2 of 2 must answer, and 1 do");

  const removed = await quorum.cli(asked, "admin", "raft", "remove-member", `server-${lost}`);
  expect(removed, removed.stderr).toMatchObject({ code: 0 });
  expect((await membersOf(asked)).map(({ id }) => id)).not.toContain(`server-${lost}`);
  quorum.wipe(lost);
  await quorum.startServer(lost, ["--join", quorum.grpc(asked), quorum.grpc(other(asked))]);
  await eventually({ what: "the new one is caught up" }, async () =>
    (await member(asked, lost))?.lag === 0 ? true : null,
  );
  expect(await quorum.state(lost, kept)).toBe("completed");
  expect(await quorum.state(lost, running)).toBe("running");
  const status = async (n: number) =>
    (await quorum.api<{ state_hash: string; applied_index: string }>(n, "GET", "/raft/status")).body;
  await eventually({ what: "both have the same state" }, async () => {
    const [one, two] = [await status(lost), await status(asked)];
    return one.applied_index === two.applied_index && one.state_hash === two.state_hash ? true : null;
  });
});

test("a change through one server is readable through every other server by log index", async () => {
  const leader = await quorum.leader();
  const follower = other(leader);
  for (const [through, asked] of [
    [follower, leader],
    [leader, follower],
    [other(follower), follower],
  ] as const) {
    const made = await quorum.api<{ id: string; log_index: string }>(through, "POST", "/allocations", {
      body: { entrypoint: "true" },
    });
    expect(made.status, made.text).toBe(200);
    const { id, log_index } = made.body;
    // At once, and never "unknown": by the index of the change, or by the head of the log.
    expect((await quorum.api(asked, "GET", `/allocations/${id}?min_index=${log_index}`)).status).toBe(200);
    const again = await quorum.api<{ id: string }>(through, "POST", "/allocations", { body: { entrypoint: "true" } });
    expect((await quorum.api(asked, "GET", `/allocations/${again.body.id}?consistent=true`)).status).toBe(200);
  }
});

test("a removed leader transfers leadership, stops, and refuses to start on its old data", async () => {
  const leaving = await quorum.leader();
  const asked = other(leaving);
  const result = await quorum.cli(leaving, "admin", "raft", "remove-member", `server-${leaving}`);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  expect(await quorum.server(leaving).ended).toBe(1);
  expect(readFileSync(join(quorum.dir, `server-${leaving}.log`), "utf8")).toContain("removed from the cluster");
  expect(await quorum.leader()).not.toBe(leaving);

  const logFile = join(quorum.dir, "again.log");
  const again = startProgram("lattice-server", {
    args: ["--config", join(quorum.dir, `server-${leaving}.yaml`)],
    logFile,
  });
  expect(await again.ended).toBe(1);
  expect(readFileSync(logFile, "utf8")).toMatch(/was removed from the cluster; .* delete .* start once with --join/);

  // Another member takes its place under another id, added before it starts.
  const reported = await quorum.cli(
    asked,
    "admin",
    "raft",
    "add-member",
    "server-4",
    "--peer-address",
    quorum.etcdPeer(4),
  );
  expect(reported, reported.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("(not started)") });
  await quorum.startServer(4, ["--join", quorum.grpc(asked)]);
  const id = await quorum.submit(4, { entrypoint: "echo through the new one" });
  await quorum.reaches(asked, id, "completed");
  expect(await quorum.state(4, running)).toBe("running");
});

test("status answers with unknown fields while a member hangs and without a majority", async () => {
  const numbers = (await membersOf(4)).map(({ id }) => Number(id.slice(7)));
  const paused = numbers.filter((n) => n !== 4);
  const pids = paused.flatMap((n) => [quorum.server(n).pid, quorum.etcdPid(n)]);
  for (const pid of pids) await pause(pid);
  try {
    const listed = await membersOf(4);
    expect(listed).toHaveLength(3);
    for (const n of paused) {
      const hanging = listed.find(({ id }) => id === `server-${n}`);
      expect(hanging).toMatchObject({ healthy: false, etcd: { healthy: false } });
      expect(hanging?.applied_index).toBeUndefined();
    }
    // Its own member counts as missing while the machine is too busy for an answer in time.
    await eventually({ what: "one of three members answers" }, async () => {
      const refused = await quorum.api(4, "DELETE", `/raft/members/server-${paused[0]}`);
      expect(refused).toMatchObject({ status: 409, body: { code: "majority_at_risk" } });
      return refused.text.includes("2 of 3 must answer, and 1 do") ? true : null;
    });
    // Alone it accepts no writes, and marks its reads as possibly stale.
    await eventually({ what: "writes are refused" }, async () => {
      const written = await quorum.api(4, "POST", "/allocations", { body: { entrypoint: "true" } });
      return written.status === 503 ? true : null;
    });
    const read = await eventually({ what: "what is shown is called old" }, async () => {
      const answer = await quorum.api(4, "GET", `/allocations/${running}`);
      return answer.headers.get("x-lattice-stale") === "true" ? answer : null;
    });
    expect(read).toMatchObject({ status: 200, body: { id: running } });
    expect((await quorum.api(4, "GET", `/allocations/${running}?consistent=true`)).status).toBeGreaterThanOrEqual(500);
  } finally {
    for (const pid of pids) kill(pid, "SIGCONT");
  }
  const id = await eventually({ what: "writes are taken again" }, () => quorum.submit(4, { entrypoint: "true" }));
  await quorum.reaches(4, id, "completed");
  writeFileSync(join(quorum.dir, "done"), "");
  await quorum.reaches(4, running, "completed");
  expect((await quorum.api(4, "GET", `/allocations/${running}/logs`)).text).toContain("undisturbed");
});
