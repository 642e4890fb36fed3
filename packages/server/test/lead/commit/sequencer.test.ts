// Commands become entries: batched during a write, numbered, stamped and chained. Outcomes come from durable, applied
// entries only, and a refused write leaves nothing behind.

import {
  type Command,
  decodeEntry,
  type LogIndex,
  type NodeId,
  type TenantId,
  UNLIMITED,
  type UserName,
} from "@lattice/core";
import { afterEach, describe, expect, it } from "vitest";
import { startSequencer } from "../../../src/lead/commit/sequencer.ts";
import type { EntryReader } from "../../../src/lead/commit/versions.ts";
import { LogError, type ReplicatedLog } from "../../../src/log/contract/replicated-log.ts";
import { type MemoryFaults, openMemoryLog } from "../../../src/log/memory/open.ts";
import { sha256 } from "../../../src/state/replica/hash.ts";
import { openReplica } from "../../../src/state/replica/replica.ts";
import { createTestClock } from "../../base/clock.ts";

const tenant = (id: string): Command => ({
  kind: "tenant.create",
  origin: { user: "root" as UserName, requestId: null, bodyHash: "" },
  tenant: id as TenantId,
  description: "",
  quota: UNLIMITED,
  maxPreemptionClass: 10,
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const setUp = (faults: MemoryFaults = {}, readers?: () => readonly EntryReader[]) =>
  setUpOn(openMemoryLog({ faults }), readers);

async function setUpOn(log: ReplicatedLog, readers: () => readonly EntryReader[] = () => []) {
  const replica = await openReplica(log, () => {});
  const leadership = await log.campaign("s1", new AbortController().signal);
  const clock = createTestClock();
  const batches: number[] = [];
  const sequencer = startSequencer({
    log,
    replica,
    leadership,
    clock,
    onBatch: (commands) => void batches.push(commands),
    readers,
  });
  closers.push(
    () => log.close(),
    () => replica.close(),
    () => sequencer.close(),
  );
  return { log, replica, leadership, clock, sequencer, batches };
}

function latch(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

async function entriesOf(log: ReplicatedLog, count: number) {
  const stop = new AbortController();
  const entries = [];
  for await (const batch of log.read(1 as LogIndex, stop.signal)) {
    entries.push(...batch);
    if (entries.length >= count) stop.abort();
  }
  return entries;
}

describe("sequencer", () => {
  it("answers with the outcome of apply and the entry's index", async () => {
    const { sequencer, replica } = await setUp();
    const first = await sequencer.propose(tenant("physics"));
    expect(first.outcome.kind).toBe("accepted");
    const again = await sequencer.propose(tenant("physics"));
    expect(again.outcome).toMatchObject({ kind: "rejected", refusal: { code: "already_exists" } });
    expect(again.index).toBe(first.index + 1);
    expect(replica.view.tenant("physics" as TenantId)?.id).toBe("physics");
  });

  it("gathers commands while a write is in flight", async () => {
    let release: () => void = () => {};
    let held = true;
    const { sequencer, batches } = await setUp({
      beforeAppend: () => (held ? new Promise<void>((resolve) => (release = resolve)) : undefined),
    });
    const first = sequencer.propose(tenant("t0"));
    await new Promise((resolve) => setImmediate(resolve));
    const rest = Array.from({ length: 100 }, (_, n) => sequencer.propose(tenant(`t${n + 1}`)));
    held = false;
    release();
    await Promise.all([first, ...rest]);
    expect(batches).toEqual([1, 100]);
  });

  it("chains entries by hash and never stamps backwards", async () => {
    const { sequencer, log, clock } = await setUp();
    await sequencer.propose(tenant("a"));
    await clock.advance(-5_000);
    await sequencer.propose(tenant("b"));
    const [one, two] = await entriesOf(log, 2);
    if (one === undefined || two === undefined) throw new Error("two entries were written");
    const first = decodeEntry(new TextDecoder().decode(one.bytes));
    const second = decodeEntry(new TextDecoder().decode(two.bytes));
    expect(first.prevHash).toBe("");
    expect(second.prevHash).toBe(sha256(one.bytes));
    expect(second.at).toBe(first.at);
  });

  it("answers 503 when the disk is full, changes nothing, and continues when there is space again", async () => {
    let full = true;
    const { sequencer, replica } = await setUp({
      beforeAppend: () => {
        if (full) throw new LogError("storage_full", "no space left on the device");
      },
    });
    await expect(sequencer.propose(tenant("lost"))).rejects.toMatchObject({
      problem: { code: "storage_full", status: 503 },
    });
    expect(replica.head().index).toBe(0);
    full = false;
    const { index } = await sequencer.propose(tenant("kept"));
    expect(index).toBe(1);
    expect([...replica.view.tenants()].map((one) => one.id)).toEqual(["kept"]);
  });

  it("gives no command the outcomes of an entry whose append reported a failure but succeeded", async () => {
    const [applied, second] = [latch(), latch()];
    let appends = 0;
    const inner = openMemoryLog({
      faults: {
        afterAppend: () => {
          throw new LogError("unavailable", "no answer");
        },
      },
    });
    const log: ReplicatedLog = {
      ...inner,
      async append(leadership, entries) {
        appends += 1;
        if (appends > 1) await second.promise;
        await inner.append(leadership, entries);
      },
      async *read(from, signal) {
        for await (const batch of inner.read(from, signal)) {
          await applied.promise;
          yield batch;
        }
      },
    };
    const { replica, sequencer } = await setUpOn(log);
    await expect(sequencer.propose(tenant("unanswered"))).rejects.toMatchObject({
      problem: { code: "log_unavailable" },
    });
    const other = sequencer.propose(tenant("other"));
    // The first entry takes the index that the second one has.
    applied.resolve();
    await replica.waitFor(1 as LogIndex, AbortSignal.timeout(60_000));
    second.resolve();
    await expect(other).rejects.toMatchObject({ problem: { code: "not_leader" } });
    expect([...replica.view.tenants()].map((one) => one.id)).toEqual(["unanswered"]);
  });

  it("refuses everything once the leadership is lost", async () => {
    const { sequencer, leadership } = await setUp();
    await leadership.resign();
    await expect(sequencer.propose(tenant("late"))).rejects.toMatchObject({ problem: { code: "not_leader" } });
  });

  it("gives a restarted replica the same state", async () => {
    const { sequencer, log, replica } = await setUp();
    for (let n = 0; n < 20; n += 1) await sequencer.propose(tenant(`t${n}`));
    await sequencer.propose({ kind: "node.health", node: "ghost" as NodeId, verdict: "late", reason: "" });
    const twin = await openReplica(log, () => {});
    await twin.waitFor(replica.head().index, AbortSignal.timeout(60_000));
    expect(twin.stateHash()).toBe(replica.stateHash());
    await twin.close();
  });
});

describe("a batch that is too large for one entry", () => {
  it("is split, and only a command that is too large by itself is refused", async () => {
    const { replica, sequencer } = await setUpOn(openMemoryLog({ maxEntryBytes: 4_000 }));
    const described = (id: string, length: number): Command =>
      ({ ...tenant(id), description: "x".repeat(length) }) as Command;
    const answers = await Promise.allSettled([
      ...Array.from({ length: 20 }, (_, n) => sequencer.propose(described(`t${n}`, 900))),
      sequencer.propose(described("fat", 9_000)),
      sequencer.propose(described("last", 10)),
    ]);
    const refused = answers.filter((answer) => answer.status === "rejected");
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toMatchObject({ problem: { code: "body_too_large" } });
    expect([...replica.view.tenants()]).toHaveLength(21);
  });
});

describe("a replica that cannot follow the log", () => {
  it("fails and cannot be saved", async () => {
    const log = openMemoryLog();
    const replica = await openReplica(log, () => {});
    const leadership = await log.campaign("s1", new AbortController().signal);
    closers.push(
      () => log.close(),
      () => replica.close(),
    );
    const bytes = new TextEncoder().encode(
      JSON.stringify({ index: 1, term: leadership.term, version: 999, at: 1, prevHash: "", commands: [] }),
    );
    await log.append(leadership, [{ index: 1 as LogIndex, term: leadership.term, bytes }]);
    await expect(replica.failed).rejects.toThrow(/version/);
    expect(() => replica.snapshot()).toThrow(/failed/);
  });
});
