// Signed audit records in a cluster of three: one key on all members, signatures by every leader, rotation, and what a
// crash between two steps leaves behind. Members share a log in memory and talk over real connections.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import { type AuditKey, type Command, signedChain, type UserName, type View, verifyKeys } from "@lattice/core";
import { problemOf } from "@lattice/wire";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { startSequencer } from "../../src/lead/commit/sequencer.ts";
import { runAuditSigning } from "../../src/lead/controllers/audit/act.ts";
import { createMemoryStore, type MemoryStore, openMemoryLog } from "../../src/log/index.ts";
import { type AuditKeyring, createAuditKeyring } from "../../src/peers/audit-keys.ts";
import { connectPeer, type PeerClient } from "../../src/peers/client.ts";
import { type PeerServiceParts, peerService } from "../../src/peers/service.ts";
import { AuditKeyStore } from "../../src/state/audit/key-store.ts";
import { signatureCheck } from "../../src/state/audit/signature.ts";
import { openReplica, type Replica } from "../../src/state/replica/replica.ts";

const logger = pino({ level: "silent" });
const ORIGIN = { user: "ada" as UserName, requestId: null, bodyHash: "" };
const never = new AbortController().signal;

let dir = "";
let store: MemoryStore;
let members: Member[] = [];
const closers: (() => unknown)[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "lattice-audit-members-"));
  store = createMemoryStore();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  members = [];
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

interface Member {
  readonly id: string;
  readonly keys: AuditKeyStore;
  readonly keyring: AuditKeyring;
  readonly replica: Replica;
  readonly log: ReturnType<typeof openMemoryLog>;
  readonly address: string;
  isUp: boolean;
}

const others = (id: string) => members.filter((one) => one.isUp && one.id !== id);

async function join3(): Promise<readonly [Member, Member, Member]> {
  return [await joined("s1"), await joined("s2"), await joined("s3")];
}

async function joined(id: string): Promise<Member> {
  const log = openMemoryLog({ store, name: id });
  const replica = await openReplica(log, () => {});
  const keys = AuditKeyStore.open(join(dir, id));
  const address = await listen(keys);
  const clients = new Map<string, PeerClient>();
  const client = (other: string): PeerClient | null => {
    const known = members.find((one) => one.id === other && one.isUp);
    if (known === undefined) return null;
    const name = { id: other, address: known.address, token: "right", entryVersion: 1 };
    const found = clients.get(other) ?? connectPeer(name, credentials.createInsecure());
    clients.set(other, found);
    return found;
  };
  const keyring = createAuditKeyring({
    store: keys,
    view: () => replica.view,
    others: () => others(id).map((one) => ({ id: one.id, address: one.address, token: "right", entryVersion: 1 })),
    client,
    members: () => 3,
    clock: systemClock,
    logger,
  });
  closers.push(
    () => log.close(),
    () => replica.close(),
    () => keyring.close(),
    () => clients.forEach((one) => void one.close()),
  );
  const member = { id, keys, keyring, replica, log, address, isUp: true };
  members.push(member);
  return member;
}

async function listen(keys: AuditKeyStore): Promise<string> {
  const server = new Server();
  const { definition, implementation } = peerService({ auditKeys: keys, token: "right" } as PeerServiceParts);
  server.addService(definition, implementation);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  closers.push(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}

/** Leads until `end` is called. With `signs: false` it dies before it can sign. */
async function lead({ log, replica, keyring, id }: Member, { signs = true } = {}) {
  const leadership = await log.campaign(id, never);
  await replica.waitFor(log.status().lastIndex, never);
  const sequencer = startSequencer({
    log,
    replica,
    leadership,
    clock: systemClock,
    onBatch: () => {},
    readers: () => [],
  });
  const over = new AbortController();
  const context = { replica, sequencer, keys: keyring, clock: systemClock, logger };
  const signing = signs ? runAuditSigning(context, over.signal) : Promise.resolve();
  return {
    propose: async (command: Command) => (await sequencer.propose(command)).outcome,
    async end() {
      over.abort();
      await signing;
      await sequencer.close();
      await leadership.resign();
    },
  };
}

const record = (detail: string): Command => ({
  kind: "audit.record",
  origin: ORIGIN,
  action: { scope: "cluster", action: "test", detail },
});

const rotation = async (keyring: AuditKeyring, lost = false): Promise<Command> => {
  const { holders: _holders, ...key } = await keyring.prepare(lost);
  return { kind: "audit.rotate_key", origin: ORIGIN, ...key };
};

const settled = (assertion: () => void) => vi.waitFor(assertion, { timeout: 10_000, interval: 20 });

/** Every record is signed, on this replica, and the keys and signatures are sound. */
async function allSigned({ replica: { view } }: Member, records: number): Promise<readonly AuditKey[]> {
  await settled(() => expect([view.lastAudit()?.n, view.signedAudit()]).toEqual([records, records]));
  const keys = [...view.auditKeys()];
  expect(problemIn(view)).toBeNull();
  return keys;
}

function problemIn(view: View): string | null {
  const keys = [...view.auditKeys()];
  const check = signatureCheck();
  const chain = signedChain("", keys, check);
  const broken = Array.from(view.audit(), (one) => chain.add(one)).find((one) => one !== null);
  return verifyKeys(keys, check).problem ?? broken?.problem ?? (chain.unsigned() > 0 ? "unsigned" : null);
}

describe("one key for the cluster", () => {
  test("every leader signs with the key of the first one", async () => {
    const [one, two, three] = await join3();
    for (const [n, member] of [one, two, three].entries()) {
      const leader = await lead(member);
      await leader.propose(record(`by ${member.id}`));
      expect(await allSigned(member, n + 2)).toHaveLength(1);
      await leader.end();
    }
    const key = one.replica.view.auditKey()?.id ?? "";
    expect([one, two, three].map(({ keys }) => keys.has(key))).toEqual([true, true, true]);
  });

  test("a server that joins later receives the key, and callers without the servers' token do not", async () => {
    const one = await joined("s1");
    const leader = await lead(one);
    const [key] = await allSigned(one, 1);
    const late = await joined("s2");
    await settled(() => expect(late.keys.has(key?.id ?? "")).toBe(true));
    const stranger = connectPeer(
      { id: "s1", address: one.address, token: "wrong", entryVersion: 1 },
      credentials.createInsecure(),
    );
    closers.push(() => stranger.close());
    for (const call of [stranger.getAuditKey(key?.id ?? ""), stranger.putAuditKey(one.keys.pem(key?.id ?? "") ?? "")])
      expect(await call.catch((error: unknown) => problemOf(error).code)).toBe("forbidden");
    await leader.end();
  });
});

describe("a crash", () => {
  test("between a record and its signature leaves the signature to the next leader", async () => {
    const [one, two] = await join3();
    const first = await lead(one);
    await allSigned(one, 1);
    await first.end();
    const dying = await lead(one, { signs: false });
    await dying.propose(record("committed, not signed"));
    expect(problemIn(one.replica.view)).toBe("unsigned");
    await dying.end();
    const next = await lead(two);
    await allSigned(two, 2);
    await next.end();
  });

  test("between the new key and its log entry changes nothing, and the rotation can be repeated", async () => {
    const [one, two] = await join3();
    const first = await lead(one);
    await allSigned(one, 1);
    const prepared = await one.keyring.prepare(false);
    expect(prepared.holders).toBe(3);
    await first.end();
    const next = await lead(two);
    await next.propose(record("with the old key"));
    expect(await allSigned(two, 2)).toHaveLength(1);
    expect(await next.propose(await rotation(two.keyring))).toMatchObject({ kind: "accepted" });
    expect(await allSigned(two, 3)).toHaveLength(2);
    await next.end();
  });

  test("of the rotating leader right after the log entry leaves the new key with the others", async () => {
    const [one, two, three] = await join3();
    const first = await lead(one);
    await allSigned(one, 1);
    await first.end();
    const dying = await lead(one, { signs: false });
    await dying.propose(await rotation(one.keyring));
    await dying.end();
    one.isUp = false;
    const next = await lead(three);
    const [old, current] = await allSigned(three, 2);
    expect([old?.last, current?.first]).toEqual([1, 2]);
    await next.end();
    // The old private key is deleted everywhere.
    await settled(() => expect([two, three].map(({ keys }) => keys.has(old?.id ?? ""))).toEqual([false, false]));
  });
});

describe("rotation", () => {
  test("is refused when no majority of the members stores the new key", async () => {
    const [one, two, three] = await join3();
    const leader = await lead(one);
    await allSigned(one, 1);
    two.isUp = false;
    three.isUp = false;
    const code = await rotation(one.keyring).catch((error: unknown) => problemOf(error).code);
    expect(code).toBe("majority_at_risk");
    two.isUp = true;
    expect(await leader.propose(await rotation(one.keyring))).toMatchObject({ kind: "accepted" });
    await allSigned(one, 2);
    three.isUp = true;
    await settled(() => expect(three.keys.has(one.replica.view.auditKey()?.id ?? "")).toBe(true));
    await leader.end();
  });

  test("of a key that is lost needs to say so, and is named by the verification", async () => {
    const one = await joined("s1");
    const leader = await lead(one);
    const [key] = await allSigned(one, 1);
    const two = await joined("s2");
    await settled(() => expect(two.keys.has(key?.id ?? "")).toBe(true));
    const code = (lost: boolean) => two.keyring.prepare(lost).catch((error: unknown) => problemOf(error).code);
    expect(await code(true)).toBe("conflict");
    for (const { keys } of [one, two]) keys.remove(key?.id ?? "");
    await leader.propose(record("waits"));
    expect(await code(false)).toBe("conflict");
    expect(await leader.propose(await rotation(two.keyring, true))).toMatchObject({ kind: "accepted" });
    const keys = await allSigned(one, 3);
    expect(verifyKeys(keys, signatureCheck()).unendorsed).toEqual([keys[1]?.id]);
    await leader.end();
  });
});
