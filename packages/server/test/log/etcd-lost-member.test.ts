// A managed member whose log is lost never starts again by itself: without its log, etcd would create a cluster of its
// own, which accepts writes that the real cluster never sees.

import { readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEtcdClient } from "../../src/log/etcd/client/client.ts";
import { bootstrapFlags } from "../../src/log/etcd/managed/command-line.ts";
import { type Begin, type ManagedMember, startManagedMember } from "../../src/log/index.ts";
import { freePorts, HOST } from "./etcd-cluster.ts";
import { temporaryDir } from "./temporary-dir.ts";

let dir: string;
const started = new Set<ManagedMember>();
beforeAll(async () => {
  dir = await temporaryDir();
});
afterAll(async () => {
  await Promise.all([...started].map((member) => member.stop()));
  await rm(dir, { recursive: true, force: true, maxRetries: 9 });
});

interface Watched {
  readonly begin: Begin;
  readonly onWarning?: (text: string) => void;
}

async function startAt(name: string) {
  const [peer, client] = await freePorts(2);
  const at = { name, peer: `${HOST}:${peer}`, clientListen: `${HOST}:${client}`, dir: join(dir, name) };
  const fixed = { ...at, peerListen: null, binary: null, tls: null, protectClients: false };
  const lost: Error[] = [];
  const bootstrap: Begin = { kind: "bootstrap", members: [at] };
  const start = async ({ begin, onWarning = () => undefined }: Watched): Promise<ManagedMember> => {
    const onLost = (error: Error) => lost.push(error);
    const member = await startManagedMember({ ...fixed, begin, onWarning, onLost });
    started.add(member);
    return member;
  };
  const data = join(at.dir, "data");
  return { ...at, data, lost, bootstrap, start };
}

/** Processes of etcd with this data folder. */
const processesOn = (data: string): readonly string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      const isEnded = /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
      return !isEnded && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(data);
    } catch {
      return false;
    }
  });

const clusterIdAt = async (endpoint: string): Promise<bigint> => {
  const client = createEtcdClient({ endpoints: [endpoint], tls: null });
  try {
    return (await client.status()).header?.clusterId ?? 0n;
  } finally {
    client.close();
  }
};

const remove = (path: string) => rmSync(path, { recursive: true, force: true, maxRetries: 9 });

/** Each removes the log of an ended member. */
const losses: readonly (readonly [string, (data: string) => void])[] = [
  ["the folder is removed", (data) => remove(data)],
  ["only the write-ahead log is removed", (data) => remove(join(data, "member", "wal"))],
  ["the files of the write-ahead log are removed", (data) => emptied(join(data, "member", "wal"))],
  ["the folder is moved away", (data) => renameSync(data, `${data}.elsewhere`)],
];
const emptied = (folder: string) => {
  for (const name of readdirSync(folder)) remove(join(folder, name));
};

test.each(losses)("a member is not started again after %s", async (how, lose) => {
  const member = await startAt(how.replaceAll(" ", "-"));
  const first = await member.start({ begin: member.bootstrap });
  process.kill(first.pid(), "SIGKILL");
  lose(member.data);
  await expect.poll(() => member.lost.length).toBe(1);
  expect(member.lost[0]).toMatchObject({
    code: "data_lost",
    message: expect.stringContaining("--join ADDRESS --replace"),
  });
  expect(processesOn(member.data)).toEqual([]);
  for (const begin of [{ kind: "resume" }, member.bootstrap] as const)
    await expect(member.start({ begin })).rejects.toMatchObject({ code: "data_lost" });
  expect(processesOn(member.data)).toEqual([]);
});

test("a log that is lost between the end of etcd and its restart is noticed", async () => {
  const member = await startAt("late");
  const first = await member.start({ begin: member.bootstrap });
  const pid = first.pid();
  await first.release();
  // The warning comes before the pause after which etcd is restarted.
  const onWarning = (text: string) => {
    if (text.includes("restarting it")) remove(member.data);
  };
  const adopted = await member.start({ begin: { kind: "resume" }, onWarning });
  expect(adopted.pid()).toBe(pid);
  process.kill(pid, "SIGKILL");
  await expect.poll(() => member.lost.length).toBe(1);
  expect(processesOn(member.data)).toEqual([]);
});

test("etcd that a supervisor restarts is forbidden to create a cluster", async () => {
  const member = await startAt("restarted");
  const first = await member.start({ begin: member.bootstrap });
  const [pid, clusterId] = [first.pid(), await clusterIdAt(first.endpoint)];
  process.kill(pid, "SIGKILL");
  await expect.poll(() => processesOn(member.data).map(Number)).toEqual([expect.not.closeTo(pid, 0)]);
  const [restarted = ""] = processesOn(member.data);
  const words = readFileSync(`/proc/${restarted}/cmdline`, "utf8").split("\0");
  expect(words[words.indexOf("--initial-cluster-state") + 1]).toBe("existing");
  await expect.poll(() => clusterIdAt(first.endpoint).catch(() => 0n)).toBe(clusterId);
  expect(member.lost).toEqual([]);
});

test("a backup that replaces a lost member begins another cluster at the same addresses", async () => {
  const member = await startAt("replaced");
  const first = await member.start({ begin: member.bootstrap });
  const before = await clusterIdAt(first.endpoint);
  await first.stop();
  remove(join(member.data, "member", "wal"));
  const [fixed] = [{ ...member, peerListen: null, binary: null, tls: null, protectClients: false }];
  const next = await startManagedMember({
    ...fixed,
    begin: member.bootstrap,
    replacesLost: true,
    onWarning: () => undefined,
  });
  started.add(next);
  expect(await clusterIdAt(next.endpoint)).not.toBe(before);
  // The database of the lost member is kept, apart from the new one.
  expect(readdirSync(member.dir)).toContain("data.incomplete");
});

test("members that bootstrap together agree on the token, and two single bootstraps do not", () => {
  const token = (names: readonly string[]): string => {
    const flags = bootstrapFlags(
      names.map((name) => ({ name, peer: `${name}:9000` })),
      null,
    );
    return flags[flags.indexOf("--initial-cluster-token") + 1] ?? "";
  };
  expect(token(["a", "b", "c"])).toBe(token(["c", "a", "b"]));
  expect(token(["a", "b", "c"])).not.toBe(token(["a", "b", "d"]));
  expect(token(["a"])).toMatch(/^lattice-[0-9a-f]{32}$/);
  expect(token(["a"])).not.toBe(token(["a"]));
});
