// A control plane without log, leader and agents: commands are applied at once by the real core, so that refusals,
// events and hashes are real. Tests control it through the extra methods.

import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  type AllocationId,
  type Applied,
  applyEntry,
  attempt,
  beginRestore,
  type Command,
  createState,
  ENTRY_VERSION,
  type GroupId,
  instant,
  type LogIndex,
  logIndex,
  type NodeId,
  seconds,
  snapshotLines,
  stateHash,
  type TenantId,
  term,
  UNLIMITED,
  type UserName,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import { pino } from "pino";
import { expect } from "vitest";
import type { ControlPlane } from "../../src/api/call/control-plane.ts";
import type { Membership } from "../../src/api/call/membership.ts";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/base/config/index.ts";
import type { Recorded } from "../../src/base/observe/recorder.ts";
import type { LogsQuery } from "../../src/nodes/output/query.ts";
import { prepareAuditKey } from "../../src/peers/audit-keys.ts";
import { createBackups } from "../../src/state/backup/index.ts";
import type { Cursor, NumberedEvent } from "../../src/state/events/cursor.ts";
import type { RowQuery } from "../../src/state/history/index.ts";
import { loneKeys } from "../state/audit/lone-keys.ts";

import { memoryInsight } from "./memory-insight.ts";

type Chunks = AsyncIterable<{ readonly data: Uint8Array; readonly offset: number }>;

export interface MemoryPlane extends ControlPlane {
  readonly auditKeys: ReturnType<typeof loneKeys>;
  apply(...commands: Command[]): Applied;
  addNode(id: string, address?: string, features?: readonly string[]): void;
  /** Places a pending allocation and reports it running. */
  start(id: string, nodes: readonly string[]): void;
  finish(id: string, exitCode: number): void;
  hash(): string;
  /** The hash of the records only, without the log index and the stored answers. */
  content(): string;
  /** Returns a function that restores the present state. */
  keep(): () => void;
  /** The sizes of the plane's own buffers: events, archived records, proposals. */
  forgetAll(): void;
  /** Drops events up to and including this entry. */
  forgetEvents(through: number): void;
  output: (query: LogsQuery, signal: AbortSignal) => Chunks;
  screen: ControlPlane["terminal"];
  readonly archiveRecords: Allocation[];
  readyReason: string;
  divergedReason: string | null;
  replayReason: string | null;
  onApplied: () => void;
  /** Commands that reached the log. */
  readonly proposed: Command[];
}

const noMembers = (): Promise<never> => Promise.reject(new ProblemError("conflict", { detail: "there are none" }));
const loneMembership: Membership = {
  list: async () => [
    create(pb.MemberSchema, { id: "server-1", address: "127.0.0.1:9000", leader: true, healthy: true }),
  ],
  refused: () => undefined,
  add: noMembers,
  remove: noMembers,
  transfer: noMembers,
};

const ORIGIN = { user: "root" as UserName, requestId: null, bodyHash: "" };
const EPOCH = 1_700_000_000_000;
/** Different for each test file, but equal for all planes of a file, whose answers are compared. */
const backupDir = (): string =>
  join(tmpdir(), `lattice-api-test-${process.pid}`, basename(expect.getState().testPath ?? "none"), "backups");
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export function memoryPlane(): MemoryPlane {
  let state = createState();
  const events: NumberedEvent[] = [];
  const archiveRecords: Allocation[] = [];
  const wakers = new Set<() => void>();
  let forgotten = -1;
  let plane: MemoryPlane;
  const auditKeys = loneKeys(
    () => join(backupDir(), "..", "audit-keys"),
    () => state,
  );

  function apply(...commands: Command[]): Applied {
    const index = logIndex(state.index + 1);
    const at = instant(EPOCH + index * 1_000);
    const applied = applyEntry(state, { index, term: term(1), version: ENTRY_VERSION, at, prevHash: "", commands });
    for (const [n, event] of applied.events.entries()) events.push({ cursor: { index, n }, at, event });
    for (const effect of applied.effects) if (effect.kind === "archive") archiveRecords.push(effect.record);
    plane?.onApplied();
    for (const wake of wakers) wake();
    wakers.clear();
    return applied;
  }

  async function* read(after: Cursor | null, signal: AbortSignal) {
    if (after !== null && after.index <= forgotten) throw new ProblemError("cursor_gone");
    let position =
      after === null
        ? events.length
        : events.filter(
            ({ cursor }) => cursor.index - after.index < 0 || (cursor.index === after.index && cursor.n <= after.n),
          ).length;
    while (!signal.aborted) {
      const batch = events.slice(position);
      position += batch.length;
      if (batch.length > 0) yield batch;
      else
        await new Promise<void>((resolve) => {
          wakers.add(resolve);
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
    }
  }

  const recorded: Recorded = {
    server: "server-1",
    startedAt: instant(EPOCH),
    at: instant(EPOCH + 60_000),
    since: instant(EPOCH),
    series: [
      {
        name: "lattice_scheduling_cycles_total",
        labels: { vcluster: "default" },
        value: 7,
        points: [
          { at: EPOCH, value: 3 },
          { at: EPOCH + 60_000, value: 7 },
        ],
      },
    ],
  };
  const insight = memoryInsight(
    () => state,
    () => recorded,
  );
  plane = {
    serverId: "server-1",
    version: "0.0.0-test",
    proposed: [],
    archiveRecords,
    readyReason: "",
    divergedReason: null,
    replayReason: null,
    onApplied: () => undefined,
    view: () => state,
    now: () => state.at,
    async propose(command) {
      plane.proposed.push(command);
      const { index, outcomes } = apply(command);
      const outcome = outcomes[0];
      if (outcome === undefined) throw new Error("no outcome");
      return { outcome, index };
    },
    async waitFor(index, signal) {
      while (state.index < index) {
        signal.throwIfAborted();
        await new Promise<void>((resolve) => {
          wakers.add(resolve);
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      }
    },
    waitForHead: async () => undefined,
    events: read,
    stale: () => false,
    diverged: () => plane.divergedReason,
    replaying: () => plane.replayReason,
    knownReasons: () => [],
    pendingReasons: async () => [{ code: "busy", text: "1 of 1 matching nodes is busy" }],
    estimatedStart: () => ({ at: instant(EPOCH + 3_600_000), reserved: false }),
    askScheduler: (question) => insight.answer(question),
    liveness: () => ({ lastHeardAt: instant(EPOCH), connected: true }),
    logs: (query, signal) => plane.output(query, signal),
    terminal: (query, input, signal) => plane.screen(query, input, signal),
    async *screen() {
      yield* [];
    },
    askImages: async (_node, ask) =>
      create(pb.ImageAnswerSchema, {
        images: [{ name: "prgenv-gnu/24.11:v1", digest: `sha256:${"0".repeat(64)}`, sizeBytes: 1024 }],
        ...(ask.case === "evict" ? { error: "the image is in use" } : null),
        ...(ask.case === "condition" ? { condition: { conformance: "f00d" } } : null),
      }),
    tasks: { launch: noTasks, input: () => undefined, control: () => undefined },
    archived: async (id) => archiveRecords.find((record) => record.id === id) ?? null,
    archive: async (query) => archived(archiveRecords, query),
    recorded: async () => recorded,
    logStatus: () => ({
      engine: "memory",
      term: term(1),
      firstIndex: logIndex(1),
      lastIndex: state.index,
      snapshot: null,
      bytes: 123,
      leader: "server-1",
      unwritable: null,
      appliedIndex: state.index as LogIndex,
      isLeader: true,
    }),
    audit: { archived: async function* () {}, prepareKey: (lost) => prepareAuditKey(auditKeys, lost) },
    auditKeys,
    membership: loneMembership,
    backups: createBackups({
      config: { ...loadConfig(null).backup, destination: backupDir(), defaultDir: backupDir() },
      cluster: () => state.identity?.id ?? null,
      replica: {
        snapshot: () => {
          const at = { index: state.index, term: term(1), hash: "", at: state.at };
          return { at, lines: [JSON.stringify(at), ...snapshotLines(state, sha256)] };
        },
      },
      history: { flush: async () => undefined, segments: async () => [], through: () => state.index },
      audit: { flush: async () => undefined, files: async () => [], floor: () => 1, gap: () => null },
      members: async () => [],
      serverVersion: "0.0.0-test",
      clock: systemClock,
      logger: pino({ level: "silent" }),
    }),
    stateHash: () => stateHash(state, sha256),
    ready: () => ({ ok: plane.readyReason === "", reason: plane.readyReason }),
    apply,
    hash: () => stateHash(state, sha256),
    content: () => {
      const { requests: _requests, ...tables } = state.tables;
      const digests = Object.values(tables).map((table) => table.digest(sha256));
      return `${digests.join(" ")} ${state.counters.nextAllocation} ${JSON.stringify(state.retention)}`;
    },
    keep() {
      const lines = [...snapshotLines(state, sha256)];
      const lengths = [events, archiveRecords, plane.proposed].map((list) => ({ list, length: list.length }));
      return () => {
        const restore = beginRestore(sha256);
        for (const line of lines) restore.line(line);
        state = restore.finish();
        for (const { list, length } of lengths) list.length = length;
        plane.onApplied();
      };
    },
    forgetAll() {
      events.length = 0;
      archiveRecords.length = 0;
      plane.proposed.length = 0;
    },
    forgetEvents: (through) => {
      forgotten = through;
    },
    output: async function* () {},
    addNode(id, address = "127.0.0.1", features = []) {
      apply({
        kind: "node.register",
        node: id as NodeId,
        capabilities: {
          cpuCores: 8,
          memoryBytes: 2 ** 34,
          gpuType: "",
          gpuCount: 0,
          features,
          hostname: id,
          kernel: "6.1",
          isolation: "process_group",
          hollow: false,
        },
        group: "g0" as GroupId,
        conformance: "",
        homeVCluster: null,
        address,
        agentVersion: "0.1.0",
        bootId: "boot",
      });
    },
    start(id, nodes) {
      const record = state.allocation(id as AllocationId);
      if (record === undefined) throw new Error(`no allocation ${id}`);
      const next = attempt(record.attempt + 1);
      const placement = {
        allocation: record.id,
        attempt: next,
        nodes: nodes as NodeId[],
        scores: {},
        backfilled: false,
      };
      const { outcomes } = apply({
        kind: "plan.commit",
        vcluster: record.spec.vcluster,
        basis: state.index,
        placements: [placement],
      });
      const outcome = outcomes[0];
      if (outcome?.kind !== "accepted" || outcome.placements?.[0]?.refusal !== null)
        throw new Error(`not placed: ${JSON.stringify(outcome)}`);
      report(id, "running", null);
    },
    finish: (id, exitCode) => report(id, exitCode === 0 ? "completed" : "failed", exitCode),
  };

  function report(id: string, to: "running" | "completed" | "failed", exitCode: number | null): void {
    const record = state.allocation(id as AllocationId);
    if (record === undefined || !("nodes" in record.phase)) throw new Error(`${id} is not placed`);
    for (const node of record.phase.nodes)
      apply({
        kind: "attempt.report",
        node,
        allocation: record.id,
        attempt: record.attempt,
        state: to,
        exitCode,
        reason: to === "failed" ? "exit_code" : null,
        message: "",
      });
  }

  seed(apply);
  return plane;
}

function seed(apply: (...commands: Command[]) => Applied): void {
  apply(
    {
      kind: "tenant.create",
      origin: ORIGIN,
      tenant: "default" as TenantId,
      description: "",
      quota: UNLIMITED,
      maxPreemptionClass: 10,
    },
    {
      kind: "vcluster.create",
      origin: ORIGIN,
      vcluster: "hpc-batch" as VClusterId,
      description: "",
      tenant: null,
      scheduler: "hpc_backfill",
      weights: WEIGHT_PROFILES.hpc_backfill,
      cycleInterval: seconds(15),
      backfillDepth: 100,
      defaultWalltime: seconds(3_600),
      maxWalltime: null,
      isDefault: true,
    },
  );
}

function archived(records: readonly Allocation[], query: RowQuery): Allocation[] {
  return records
    .filter((r) => query.before === undefined || Number(r.id) < Number(query.before))
    .filter((r) => query.states === undefined || query.states.includes(r.phase.kind))
    .filter((r) => query.user === undefined || r.user === query.user)
    .filter((r) => query.tenant === undefined || r.spec.tenant === query.tenant)
    .filter((r) => query.name === undefined || r.spec.name === query.name)
    .filter((r) => query.submittedBefore === undefined || r.submittedAt < query.submittedBefore)
    .sort((a, b) => Number(b.id) - Number(a.id))
    .slice(0, query.limit);
}

async function* noTasks(): AsyncGenerator<never> {}
