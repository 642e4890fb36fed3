// A managed etcd member: started, left running, adopted, restarted when it dies, joined by others. Every failed start
// has a readable error.

import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEtcdClient } from "../../src/log/etcd/client/client.ts";
import { findEtcd } from "../../src/log/etcd/managed/binary.ts";
import { peersKnownBy } from "../../src/log/etcd/probe.ts";
import {
  type Begin,
  type ManagedMember,
  openEtcdLog,
  openManagedEtcdLog,
  startManagedMember,
} from "../../src/log/index.ts";
import { issueCertificates, readTexts } from "./certificates.ts";
import { fill, lead, readThrough } from "./entries.ts";
import { freePorts, HOST, healthy } from "./etcd-cluster.ts";
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

interface Place {
  readonly name: string;
  readonly peer: string;
  readonly clientListen: string;
  readonly dir: string;
}

async function place(name: string): Promise<Place> {
  const [peer, client] = await freePorts(2);
  return { name, peer: `${HOST}:${peer}`, clientListen: `${HOST}:${client}`, dir: join(dir, name) };
}

const optionsOf = (at: Place, begin: Begin, warnings: string[] = []) => ({
  ...at,
  peerListen: null,
  binary: null,
  tls: null,
  protectClients: false,
  begin,
  onWarning: (text: string) => {
    warnings.push(text);
  },
});

async function start(at: Place, begin: Begin, warnings: string[] = []): Promise<ManagedMember> {
  const member = await startManagedMember(optionsOf(at, begin, warnings));
  started.add(member);
  return member;
}

const runs = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const founding = (at: Place): Begin => ({ kind: "bootstrap", members: [at] });

test("a member outlives its server, is adopted with its data, and is restarted when it dies", async () => {
  const at = await place("first");
  const log = await openManagedEtcdLog(
    { endpoints: [], prefix: "/lattice/m", name: "one", leaseSeconds: 30 },
    optionsOf(at, founding(at)),
  );
  started.add(log.member);
  expect(log.member).toMatchObject({ adopted: false, version: expect.stringMatching(/^3\./) });
  const leader = await lead(log);
  await fill(log, leader, 1, 5);
  const pid = log.member.pid();
  await log.close();
  expect(runs(pid)).toBe(true);

  const warnings: string[] = [];
  const again = await openManagedEtcdLog(
    { endpoints: [], prefix: "/lattice/m", name: "one", leaseSeconds: 30 },
    optionsOf(at, { kind: "resume" }, warnings),
  );
  started.add(again.member);
  expect(again.member).toMatchObject({ adopted: true });
  expect(again.member.pid()).toBe(pid);
  expect(await readThrough(again, 1, 5)).toHaveLength(5);

  process.kill(pid, "SIGKILL");
  await expect.poll(() => again.member.pid()).not.toBe(pid);
  expect(warnings.join()).toContain(`etcd (pid ${pid}) ended`);
  const next = await lead(again);
  await fill(again, next, 6, 7);
  expect(await readThrough(again, 1, 7)).toHaveLength(7);
  await again.close();
  await again.member.stop();
  // Its parent, this process, may not have noticed yet.
  await expect.poll(() => runs(again.member.pid())).toBe(false);
});

test("a lost pid file does not lead to a second process", async () => {
  const at = await place("unwritten");
  const first = await start(at, founding(at));
  await first.release();
  await rm(join(at.dir, "etcd.pid"));
  const second = await start(at, { kind: "resume" });
  expect(second.adopted).toBe(true);
  expect(second.pid()).toBe(first.pid());
});

test("a member with other flags than configured is restarted", async () => {
  const at = await place("moved");
  const first = await start(at, founding(at));
  await first.release();
  const [port] = await freePorts(1);
  const warnings: string[] = [];
  const second = await start({ ...at, clientListen: `${HOST}:${port}` }, { kind: "resume" }, warnings);
  expect(second.adopted).toBe(false);
  expect(second.pid()).not.toBe(first.pid());
  expect(warnings.join()).toContain("configured flags");
  await healthy([second.endpoint]);
});

test("a second member joins a cluster, and joining again without its data is refused", async () => {
  const one = await place("one");
  const two = await place("two");
  const log = await openManagedEtcdLog(
    { endpoints: [], prefix: "/lattice/j", name: "s1", leaseSeconds: 30 },
    optionsOf(one, founding(one)),
  );
  started.add(log.member);
  const joining: Begin = { kind: "join", endpoints: [log.member.endpoint] };
  const second = await start(two, joining);
  await healthy([second.endpoint]);
  const members = await log.cluster.members();
  expect(members.map(({ name, healthy: ok }) => ({ name, ok }))).toEqual(
    expect.arrayContaining([
      { name: "one", ok: true },
      { name: "two", ok: true },
    ]),
  );
  const id = members.find(({ name }) => name === "two")?.id ?? "";
  await log.cluster.moveLeader(id);
  await expect.poll(async () => (await log.cluster.members()).find(({ leader }) => leader)?.name).toBe("two");

  const elsewhere = { ...(await place("elsewhere")), name: "two" };
  await expect(start(elsewhere, joining)).rejects.toMatchObject({
    code: "already_member",
    message: expect.stringContaining("remove that member and join again"),
  });
  await second.release();
  expect((await log.cluster.remove(id)).map(({ name }) => name)).toEqual(["one"]);
  await expect(log.cluster.remove((await log.cluster.members())[0]?.id ?? "")).rejects.toThrow("the last member");
  await expect(log.cluster.remove("abc")).rejects.toThrow("no member of etcd has the id abc");
  expect(await log.head()).toBe(0);
  await log.close();
});

test("a new member has no vote until a server of the cluster promotes it", async () => {
  const one = await place("alone");
  const two = await place("learner");
  const first = await start(one, founding(one));
  const client = createEtcdClient({ endpoints: [first.endpoint], tls: null });
  let isReady = false;
  const starting = start(two, { kind: "join", endpoints: [first.endpoint] }).then((member) => {
    isReady = true;
    return member;
  });
  const learners = async () => (await client.memberList()).filter(({ isLearner }) => isLearner).map(({ name }) => name);
  await expect.poll(learners).toEqual(["learner"]);
  // No server has opened the log, so nothing promotes it; the first member alone is the majority.
  await client.txn({ success: [] }, 2_000);
  expect(isReady).toBe(false);
  const log = await openEtcdLog({ endpoints: [first.endpoint], prefix: "/lattice/l", name: "s1", ownMember: true });
  const second = await starting;
  expect(await learners()).toEqual([]);
  await healthy([second.endpoint]);
  await log.close();
  client.close();
});

test("a removed member ends for good, and its data is not used again", async () => {
  const one = await place("stays");
  const two = await place("goes");
  const log = await openManagedEtcdLog(
    { endpoints: [], prefix: "/lattice/r", name: "s1", leaseSeconds: 30 },
    optionsOf(one, founding(one)),
  );
  started.add(log.member);
  // Announced before it starts, and twice: it is still one member.
  await log.shared?.add({ id: "s2", peer: two.peer });
  const members = (await log.shared?.add({ id: "s2", peer: two.peer })) ?? [];
  expect(members.map(({ name }) => name).sort()).toEqual(["", "stays"]);
  const places = [one, two].map(({ name, peer }) => ({ name, peer }));
  const removed: Error[] = [];
  const options = { ...optionsOf(two, { kind: "ask", ask: async () => ({ kind: "joined", members: places }) }) };
  const second = await startManagedMember({ ...options, onRemoved: (error) => removed.push(error) });
  started.add(second);
  await healthy([second.endpoint]);
  await expect.poll(() => log.shared?.known()).toEqual(expect.arrayContaining([{ id: "s2", peer: two.peer }]));

  const target = (await log.shared?.members())?.find(({ name }) => name === "goes");
  if (target === undefined) throw new Error("the second member is not listed");
  await log.shared?.remove(target);
  await expect.poll(() => removed.length).toBe(1);
  expect(removed[0]?.message).toContain(`delete ${two.dir} and start once with --join`);
  expect(runs(second.pid())).toBe(false);
  await expect(start(two, { kind: "resume" })).rejects.toMatchObject({ code: "removed" });
  await expect.poll(() => log.shared?.known().map(({ id }) => id)).toEqual(["s1"]);
  await log.close();
});

test("with TLS, a client without a certificate is refused", async () => {
  const pki = await issueCertificates(dir);
  const at = await place("secured");
  const tls = { files: pki, texts: await readTexts(pki) };
  const log = await openManagedEtcdLog(
    { endpoints: [], prefix: "/lattice/t", name: "s1", leaseSeconds: 30, tls: tls.texts },
    { ...optionsOf(at, founding(at)), tls },
  );
  started.add(log.member);
  expect(log.member.endpoint).toMatch(/^https:/);
  const leader = await lead(log);
  await fill(log, leader, 1, 3);
  expect(await readThrough(log, 1, 3)).toHaveLength(3);
  expect(await log.cluster.members()).toMatchObject([{ name: "secured", healthy: true, leader: true }]);
  const endpoints = [log.member.endpoint];
  const bare = { endpoints, prefix: "/lattice/t", name: "s2", openTimeoutMs: 300 };
  const strangers = [null, { ...tls.texts, cert: null, key: null }];
  for (const shown of strangers) {
    await expect(openEtcdLog({ ...bare, tls: shown })).rejects.toMatchObject({ code: "unavailable" });
  }
  await log.close();
});

test("a new member whose client port only its server reaches waits for its vote", async () => {
  const one = await place("voter");
  const two = await place("waiting");
  const first = await start(one, founding(one));
  const client = createEtcdClient({ endpoints: [first.endpoint], tls: null });
  await client.memberAdd(`http://${two.peer}`);
  const begin: Begin = { kind: "joined", members: [one, two] };
  let isReady = false;
  const starting = startManagedMember({ ...optionsOf(two, begin), protectClients: true }).then((member) => {
    started.add(member);
    isReady = true;
    return member;
  });
  const named = async () => (await client.memberList()).map(({ name }) => name).sort();
  await expect.poll(named).toEqual(["voter", "waiting"]);
  const learner = (await client.memberList()).find(({ isLearner }) => isLearner);
  expect(learner?.name).toBe("waiting");
  expect(isReady).toBe(false);
  await expect.poll(() => client.memberPromote(learner?.id ?? 0n).then(() => "voter", String)).toBe("voter");
  await starting;
  client.close();
});

test("a member without configured TLS is reached by its own server only", async () => {
  const at = await place("protected");
  const options = { endpoints: [], prefix: "/lattice/p", name: "s1", leaseSeconds: 30 };
  const protectedAt = (begin: Begin, warnings: string[] = []) => ({
    ...optionsOf(at, begin, warnings),
    protectClients: true,
  });
  const log = await openManagedEtcdLog(options, protectedAt(founding(at)));
  started.add(log.member);
  expect(log.member.endpoint).toMatch(/^https:/);
  const leader = await lead(log);
  await fill(log, leader, 1, 3);
  const bare = { endpoints: [log.member.endpoint], prefix: "/lattice/p", name: "s2", openTimeoutMs: 300 };
  const strangers = [null, log.member.tls === null ? null : { ...log.member.tls, cert: null, key: null }];
  for (const tls of strangers)
    await expect(openEtcdLog({ ...bare, tls })).rejects.toMatchObject({ code: "unavailable" });
  for (const name of ["ca.pem", "member.pem", "member-key.pem"])
    expect((await stat(join(at.dir, "client-tls", name))).mode & 0o077).toBe(0);
  await log.close();

  const again = await openManagedEtcdLog(options, protectedAt({ kind: "resume" }));
  started.add(again.member);
  expect(again.member).toMatchObject({ adopted: true });
  expect(await readThrough(again, 1, 3)).toHaveLength(3);
  await again.close();

  // The running member has the lost pair, so it is restarted with the new one.
  await rm(join(at.dir, "client-tls"), { recursive: true });
  const renewed = await openManagedEtcdLog(options, protectedAt({ kind: "resume" }));
  started.add(renewed.member);
  expect(renewed.member).toMatchObject({ adopted: false });
  expect(await readThrough(renewed, 1, 3)).toHaveLength(3);
  await renewed.close();
});

test("a member that was started with an open client port is adopted, and protected from its next start", async () => {
  const at = await place("open");
  const open = await start(at, founding(at));
  await open.release();
  const warnings: string[] = [];
  const protect = { ...optionsOf(at, { kind: "resume" }, warnings), protectClients: true };
  const adopted = await startManagedMember(protect);
  started.add(adopted);
  expect([adopted.adopted, adopted.endpoint.startsWith("http://"), adopted.tls]).toEqual([true, true, null]);
  expect(warnings.join()).toContain("open client port");
  await adopted.stop();
  const next = await startManagedMember(protect);
  started.add(next);
  expect([next.adopted, next.endpoint.startsWith("https://"), next.tls === null]).toEqual([false, true, false]);
});

test("with TLS, a certificate that is not a member's is refused", async () => {
  const pki = await issueCertificates(dir);
  const at = await place("named");
  const tls = { files: { ...pki, memberName: "etcd.lattice.internal" }, texts: await readTexts(pki) };
  const log = await openManagedEtcdLog(
    { endpoints: [], prefix: "/lattice/n", name: "s1", leaseSeconds: 30, tls: tls.texts },
    { ...optionsOf(at, founding(at)), tls },
  );
  started.add(log.member);
  await fill(log, await lead(log), 1, 2);
  const agent = await issueCertificates(dir, { name: "agent", dnsNames: ["localhost"], ca: pki });
  const bare = { endpoints: [log.member.endpoint], prefix: "/lattice/n", name: "s2", openTimeoutMs: 300 };
  await expect(openEtcdLog({ ...bare, tls: await readTexts(agent) })).rejects.toMatchObject({ code: "unavailable" });
  expect(await peersKnownBy(`https://${at.peer}`, await readTexts(agent), 1_000)).toBeNull();
  expect(await peersKnownBy(`https://${at.peer}`, tls.texts, 1_000)).toEqual([`https://${at.peer}`]);
  await log.close();
});

describe("failed starts", () => {
  const script = async (name: string, text: string): Promise<string> => {
    const path = join(dir, name, "etcd");
    await mkdir(join(dir, name), { recursive: true });
    await writeFile(path, `#!/bin/sh\n${text}\n`);
    await chmod(path, 0o755);
    return path;
  };

  test("a missing binary is reported", async () => {
    const advice = "install etcd 3.4 or newer (Debian: etcd-server) or name it in quorum.etcd.binary";
    await expect(findEtcd(null, join(dir, "empty"))).rejects.toMatchObject({
      code: "missing_binary",
      message: `there is no etcd on the PATH; ${advice}`,
    });
    const missing = join(dir, "missing", "etcd");
    await expect(findEtcd(missing, "")).rejects.toMatchObject({
      code: "missing_binary",
      message: `${missing} cannot be run: no such file; ${advice}`,
    });
  });

  test("an old version and a foreign program are refused", async () => {
    const old = await script("old", 'echo "etcd Version: 3.3.25"');
    await expect(findEtcd(null, join(dir, "old"))).rejects.toMatchObject({
      code: "too_old",
      message: expect.stringContaining(`${old} is etcd 3.3.25, at least 3.4 is needed`),
    });
    const other = await script("other", 'echo "hello"');
    await expect(findEtcd(other, "")).rejects.toThrow("is not etcd");
    const newer = await script("newer", 'echo "etcd Version: 3.10.1"');
    expect(await findEtcd(newer, "")).toEqual({ path: newer, version: "3.10.1" });
  });

  test("a start without data and without --bootstrap or --join is refused", async () => {
    const at = await place("nothing");
    await expect(start(at, { kind: "resume" })).rejects.toMatchObject({
      code: "no_data",
      message: expect.stringContaining("--bootstrap"),
    });
  });

  test("the output of a process that ends at once is quoted", async () => {
    const at = await place("broken");
    const binary = await script(
      "dying",
      'test "$1" = --version && echo "etcd Version: 3.5.0" && exit\necho no luck; exit 1',
    );
    const member = startManagedMember({ ...optionsOf(at, founding(at)), binary });
    await expect(member).rejects.toMatchObject({ code: "did_not_start", message: expect.stringContaining("no luck") });
    expect(await readFile(join(at.dir, "etcd-output.txt"), "utf8")).toContain("no luck");
  });
});
