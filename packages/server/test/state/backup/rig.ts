// Parts for tests of backups: a state with all kinds of records, a real history, and temporary directories.

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Allocation,
  applyEntry,
  type Command,
  createState,
  duration,
  ENTRY_VERSION,
  type GroupId,
  instant,
  logIndex,
  minimalSpec,
  type NodeId,
  type State,
  snapshotLines,
  type TenantId,
  term,
  UNLIMITED,
  type UserName,
} from "@lattice/core";
import { pino } from "pino";
import { afterAll } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import type { BackupConfig } from "../../../src/base/config/index.ts";
import { type BackupParts, createBackups } from "../../../src/state/backup/service.ts";
import { type History, openHistory } from "../../../src/state/history/index.ts";
import type { ChainHead } from "../../../src/state/replica/replica.ts";
import { vcluster } from "../../lead/controllers/make.ts";

export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
export const never = new AbortController().signal;

export function temporary(): string {
  const dir = mkdtempSync(join(tmpdir(), "lattice-backup-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));
  return dir;
}

const origin = { user: "ada" as UserName, requestId: null, bodyHash: "" };
const EPOCH = 1_700_000_000_000;

/** The bootstrap of a new cluster, in one entry. */
const FIRST: readonly Command[] = [
  {
    kind: "tenant.create",
    origin,
    tenant: "default" as TenantId,
    description: "",
    quota: UNLIMITED,
    maxPreemptionClass: 10,
  },
  vcluster("batch"),
];

const submission = (n: number, text = "true"): Command => ({
  kind: "allocation.submit",
  origin,
  createTenant: false,
  spec: minimalSpec({ name: `job-${n}`, task: { kind: "script", text } }),
});

const registration: Command = {
  kind: "node.register",
  node: "n1" as NodeId,
  capabilities: {
    cpuCores: 8,
    memoryBytes: 2 ** 30,
    gpuType: "",
    gpuCount: 0,
    features: [],
    hostname: "n1",
    kernel: "6",
    isolation: "process_group",
    hollow: false,
  },
  group: "g" as GroupId,
  conformance: "",
  homeVCluster: null,
  address: "",
  agentVersion: "1",
  bootId: "b",
};

export interface Machine {
  readonly state: State;
  apply(...commands: readonly Command[]): ReturnType<typeof applyEntry>;
  head(): ChainHead;
  readonly replica: { snapshot(): { readonly at: ChainHead; readonly lines: Iterable<string> } };
}

export function machine(startMs = EPOCH): Machine {
  const state = createState();
  const apply = (...commands: readonly Command[]) =>
    applyEntry(state, {
      index: logIndex(state.index + 1),
      term: term(3),
      version: ENTRY_VERSION,
      at: instant(startMs + state.index),
      prevHash: "",
      commands,
    });
  apply(...FIRST);
  const head = (): ChainHead => ({ index: state.index, term: term(3), hash: sha256(`${state.index}`), at: state.at });
  const snapshot = () => {
    const at = head();
    const lines = snapshotLines(state, sha256);
    return {
      at,
      lines: (function* () {
        yield JSON.stringify(at);
        yield* lines;
      })(),
    };
  };
  return { state, apply, head, replica: { snapshot } };
}

/** Nodes, pending work, and finished work in the history. */
export async function busy(history: History, jobs = 40): Promise<Machine> {
  const one = machine();
  const records: { readonly index: number; readonly record: Allocation }[] = [];
  const keep = (applied: ReturnType<typeof applyEntry>): void => {
    for (const effect of applied.effects) {
      if (effect.kind === "archive") records.push({ index: applied.index, record: effect.record });
    }
  };
  keep(one.apply(registration, { kind: "retention.set", maxFinished: 3, maxFinishedAge: duration(10 ** 10) }));
  // Letters of every length in UTF-8 and UTF-16, so that cuts fall into them.
  for (let n = 1; n <= jobs; n += 1) keep(one.apply(submission(n, "é😀\n".repeat(n))));
  for (let n = 1; n <= jobs / 2; n += 1) {
    keep(one.apply({ kind: "allocation.cancel", origin, id: String(n) as never, reason: "enough" }));
  }
  // One by one, so that there are closed segments and an open one.
  for (const { index, record } of records) await history.append([{ index: logIndex(index), record }]);
  history.begin(logIndex(0));
  history.applied(one.state.index);
  return one;
}

export function openTestHistory(dir: string, segmentBytes = 4_096): Promise<History> {
  return openHistory({ dir: join(dir, "history"), segmentBytes });
}

export const DAY_MS = 86_400_000;
export const RULE = { all: duration(7 * DAY_MS), daily: duration(30 * DAY_MS), weekly: duration(90 * DAY_MS) };

export const configFor = (destination: string, change: Partial<BackupConfig> = {}): BackupConfig => ({
  destination,
  defaultDir: destination,
  interval: null,
  retention: RULE,
  s3: null,
  ...change,
});

/** A backup of a busy cluster. */
export async function takenBackup(dir: string) {
  const history = await openTestHistory(dir);
  const source = await busy(history);
  const place = join(dir, "backups");
  const backups = backupsOf(configFor(place), source, history);
  return { history, source, place, backups, backup: await backups.create("", never) };
}

/** A backup of a young cluster, whose state has the whole audit log. */
export const NO_ARCHIVE: BackupParts["audit"] = {
  flush: async () => undefined,
  files: async () => [],
  floor: () => 1,
  gap: () => null,
};

export const backupsOf = (config: BackupConfig, one: Machine, history: History, audit = NO_ARCHIVE) =>
  createBackups({
    audit,
    config,
    replica: one.replica,
    cluster: () => one.state.identity?.id ?? null,
    history,
    members: async () => [{ id: "server-1", address: "127.0.0.1:1" }],
    serverVersion: "1.2.3",
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
