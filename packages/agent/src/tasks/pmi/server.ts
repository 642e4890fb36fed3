// The PMI server of one node for one launch, as a pure state machine: messages of ranks come in, replies and requests
// to other nodes go out as effects. A key becomes visible to other ranks with the fence that follows it. The server speaks
// PMI-1 and PMI-2 at the same time, since each rank chooses.

import {
  entryBytes,
  MAX_KEY_LENGTH,
  MAX_LAUNCH_BYTES,
  MAX_NODE_FENCE_BYTES,
  MAX_VALUE_LENGTH,
} from "../base/exchange-limits.ts";
import type { NameEffect, NameReply, PmiEntry } from "../base/name-types.ts";
import { nameAnswer1, nameAnswer2, nameQuestion } from "./names.ts";
import { formatLine, formatPairs, type PmiMessage } from "./words.ts";

interface PmiJob {
  readonly jobId: string;
  readonly size: number;
  /** The ranks of this node. */
  readonly ranks: readonly number[];
  /** `PMI_process_mapping`. */
  readonly mapping: string;
}

export type PmiEffect =
  | { readonly kind: "reply"; readonly rank: number; readonly text: string }
  /** Every rank of this node is in the fence; the caller calls `fenceDone` when the other nodes are too. */
  | { readonly kind: "fence"; readonly number: number; readonly entries: readonly PmiEntry[] }
  | { readonly kind: "abort"; readonly rank: number; readonly exitCode: number; readonly message: string }
  /** The rank requested more ranks, which is refused. */
  | { readonly kind: "spawn"; readonly rank: number }
  /** A request about a published name; the caller answers it with `named`. */
  | NameEffect;

export interface PmiServer {
  receive(rank: number, version: 1 | 2, message: PmiMessage): readonly PmiEffect[];
  /** Delivers the entries of all nodes. A fence that is already over is ignored. */
  fenceDone(number: number, entries: readonly PmiEntry[]): readonly PmiEffect[];
  named(asked: NameEffect, answer: NameReply): readonly PmiEffect[];
  /** Returns whether the rank initialized PMI and has not finalized it. */
  unfinished(rank: number): boolean;
  /** Returns whether ranks wait in a fence that must be short: the first one, or one that exchanges addresses. */
  wiringUp(): boolean;
  /** Returns how many ranks of this node are in a fence. */
  waiting(): number;
}

const MAXES = { kvsname_max: 256, keylen_max: MAX_KEY_LENGTH, vallen_max: MAX_VALUE_LENGTH } as const;
const ABORTED = 1;
const TOO_LONG = `key_or_value_too_long_at_most_${MAX_KEY_LENGTH}_and_${MAX_VALUE_LENGTH}`;
const mib = (bytes: number): string => `${bytes / 1024 / 1024} MiB`;

interface PmiState {
  readonly job: PmiJob;
  readonly kvs: Map<string, string>;
  /** Keys that no fence has delivered yet, and their size. */
  fresh: PmiEntry[];
  freshBytes: number;
  /** The size of all values. */
  bytes: number;
  readonly nodeAttributes: Map<string, string>;
  readonly attributeWaiters: Map<string, Set<number>>;
  /** Ranks in the fence, with the protocol version of each. */
  readonly inFence: Map<number, 1 | 2>;
  /** Ranks that have initialized and not finalized. */
  readonly open: Set<number>;
  fenceNumber: number;
  /** A fence has delivered entries. */
  exchanged: boolean;
}

export function pmiServer(job: PmiJob): PmiServer {
  const state: PmiState = {
    job,
    kvs: new Map(),
    fresh: [],
    freshBytes: 0,
    bytes: 0,
    nodeAttributes: new Map(),
    attributeWaiters: new Map(),
    inFence: new Map(),
    open: new Set(),
    fenceNumber: 0,
    exchanged: false,
  };
  return {
    receive: (rank, version, message) =>
      version === 1 ? receive1(state, rank, message) : receive2(state, rank, message),
    fenceDone: (number, entries) => fenceDone(state, number, entries),
    named: (asked, answer) =>
      asked.version === 1
        ? reply1(asked.rank, ...nameAnswer1(asked, answer))
        : reply2(asked.rank, ...nameAnswer2(asked, answer)),
    unfinished: (rank) => state.open.has(rank),
    wiringUp: () => state.inFence.size > 0 && (!state.exchanged || state.fresh.length > 0),
    waiting: () => state.inFence.size,
  };
}

const reply1 = (rank: number, cmd: string, fields?: Record<string, string | number>): PmiEffect[] => [
  { kind: "reply", rank, text: formatLine(cmd, fields) },
];

const reply2 = (rank: number, cmd: string, fields?: Record<string, string | number>): PmiEffect[] => [
  { kind: "reply", rank, text: formatPairs(`${cmd}-response`, fields) },
];

function receive1(state: PmiState, rank: number, { cmd, fields }: PmiMessage): readonly PmiEffect[] {
  const field = (name: string): string => fields.get(name) ?? "";
  switch (cmd) {
    case "init":
      state.open.add(rank);
      return reply1(rank, "response_to_init", initAnswer(field("pmi_version"), field("pmi_subversion")));
    case "get_maxes":
      return reply1(rank, "maxes", { rc: 0, ...MAXES });
    case "get_appnum":
      return reply1(rank, "appnum", { rc: 0, appnum: 0 });
    case "get_my_kvsname":
      return reply1(rank, "my_kvsname", { rc: 0, kvsname: state.job.jobId });
    case "get_universe_size":
      return reply1(rank, "universe_size", { rc: 0, size: state.job.size });
    case "get_ranks2hosts":
      return reply1(rank, "put_result", { rc: -1, msg: "unsupported" });
    case "put":
      if (isTooLong(field("key"), field("value"))) return reply1(rank, "put_result", { rc: -1, msg: TOO_LONG });
      return put(state, rank, [field("key"), field("value")], reply1(rank, "put_result", { rc: 0, msg: "success" }));
    case "get":
      return reply1(rank, "get_result", found1(state, field("key")));
    case "barrier_in":
      return enterFence(state, rank, 1);
    case "finalize":
      state.open.delete(rank);
      return reply1(rank, "finalize_ack", { rc: 0 });
    case "abort":
      return [abort(rank, field("exitcode"), field("error_msg"))];
    case "spawn":
      return spawnRefused(rank, fields, reply1(rank, "spawn_result", { rc: -1, msg: "unsupported" }));
    default:
      return nameQuestion(rank, 1, cmd, fields) ?? reply1(rank, `${cmd}_result`, { rc: -1, msg: "unsupported" });
  }
}

function receive2(state: PmiState, rank: number, { cmd, fields }: PmiMessage): readonly PmiEffect[] {
  const field = (name: string): string => fields.get(name) ?? "";
  switch (cmd) {
    case "fullinit":
      state.open.add(rank);
      return reply2(rank, cmd, {
        rc: 0,
        "pmi-version": 2,
        "pmi-subversion": 0,
        rank,
        size: state.job.size,
        appnum: 0,
        debugged: "FALSE",
        pmiverbose: "FALSE",
      });
    case "job-getid":
      return reply2(rank, cmd, { rc: 0, jobid: state.job.jobId });
    case "info-getjobattr":
      return reply2(rank, cmd, found2(jobAttribute(state.job, field("key"))));
    case "info-putnodeattr":
      if (isTooLong(field("key"), field("value"))) return reply2(rank, cmd, { rc: 1, errmsg: TOO_LONG });
      return [...reply2(rank, cmd, { rc: 0 }), ...putNodeAttribute(state, rank, [field("key"), field("value")])];
    case "info-getnodeattr":
      return getNodeAttribute(state, rank, field("key"), field("wait") === "TRUE");
    case "kvs-put":
      if (isTooLong(field("key"), field("value"))) return reply2(rank, cmd, { rc: 1, errmsg: TOO_LONG });
      return put(state, rank, [field("key"), field("value")], reply2(rank, cmd, { rc: 0 }));
    case "kvs-get":
      return reply2(rank, cmd, found2(state.kvs.get(field("key"))));
    case "kvs-fence":
      return enterFence(state, rank, 2);
    case "finalize":
      state.open.delete(rank);
      return reply2(rank, cmd, { rc: 0 });
    case "abort":
      return [abort(rank, field("exitcode"), field("msg"))];
    case "spawn":
      return spawnRefused(rank, fields, reply2(rank, cmd, { rc: 1, errmsg: "unsupported" }));
    default:
      return nameQuestion(rank, 2, cmd, fields) ?? reply2(rank, cmd, { rc: 1, errmsg: "unsupported" });
  }
}

const isTooLong = (key: string, value: string): boolean =>
  key.length > MAX_KEY_LENGTH || value.length > MAX_VALUE_LENGTH;

function put(state: PmiState, rank: number, entry: PmiEntry, success: readonly PmiEffect[]): readonly PmiEffect[] {
  const freshBytes = state.freshBytes + entryBytes(entry);
  if (freshBytes > MAX_NODE_FENCE_BYTES)
    return [tooMuch(rank, `the ranks of this node put more than ${mib(MAX_NODE_FENCE_BYTES)} before a fence`)];
  state.freshBytes = freshBytes;
  state.fresh.push(entry);
  return store(state, state.kvs, entry) ? success : [tooMuchInAll(rank)];
}

/** Returns false when the values of the launch are too many; the value is not stored then. */
function store(state: PmiState, values: Map<string, string>, entry: PmiEntry): boolean {
  const [key, value] = entry;
  const before = values.get(key);
  const bytes = state.bytes + entryBytes(entry) - (before === undefined ? 0 : entryBytes([key, before]));
  if (bytes > MAX_LAUNCH_BYTES) return false;
  state.bytes = bytes;
  values.set(key, value);
  return true;
}

const tooMuch = (rank: number, message: string): PmiEffect => ({ kind: "abort", rank, exitCode: ABORTED, message });

const tooMuchInAll = (rank: number): PmiEffect =>
  tooMuch(rank, `the ranks of the launch keep more than ${mib(MAX_LAUNCH_BYTES)} of PMI values`);

function enterFence(state: PmiState, rank: number, version: 1 | 2): PmiEffect[] {
  state.inFence.set(rank, version);
  if (state.inFence.size < state.job.ranks.length) return [];
  state.fenceNumber += 1;
  return [{ kind: "fence", number: state.fenceNumber, entries: state.fresh }];
}

function fenceDone(state: PmiState, number: number, entries: readonly PmiEntry[]): readonly PmiEffect[] {
  const { kvs, inFence, job } = state;
  if (number !== state.fenceNumber || inFence.size < job.ranks.length) return [];
  for (const entry of entries) if (!store(state, kvs, entry)) return [tooMuchInAll(job.ranks[0] ?? 0)];
  state.exchanged ||= entries.length > 0;
  state.fresh = [];
  state.freshBytes = 0;
  const effects = [...inFence].flatMap(([rank, version]) =>
    version === 1 ? reply1(rank, "barrier_out", { rc: 0 }) : reply2(rank, "kvs-fence", { rc: 0 }),
  );
  inFence.clear();
  return effects;
}

function found1({ job, kvs }: PmiState, key: string): Record<string, string | number> {
  const value = key === "PMI_process_mapping" ? job.mapping : kvs.get(key);
  if (value === undefined) return { rc: -1, msg: `key_${key}_not_found`, value: "unknown" };
  return { rc: 0, msg: "success", value };
}

function jobAttribute(job: PmiJob, key: string): string | undefined {
  if (key === "PMI_process_mapping") return job.mapping;
  return key === "universeSize" ? String(job.size) : undefined;
}

function putNodeAttribute(state: PmiState, rank: number, entry: PmiEntry): readonly PmiEffect[] {
  const { nodeAttributes, attributeWaiters } = state;
  const [key, value] = entry;
  if (!store(state, nodeAttributes, entry)) return [tooMuchInAll(rank)];
  const waiters = [...(attributeWaiters.get(key) ?? [])];
  attributeWaiters.delete(key);
  return waiters.flatMap((waiter) => reply2(waiter, "info-getnodeattr", found2(value)));
}

/** A rank that waits receives its answer when another rank of this node puts the attribute. */
function getNodeAttribute(state: PmiState, rank: number, key: string, wait: boolean): readonly PmiEffect[] {
  const value = state.nodeAttributes.get(key);
  // A key that may not be put never arrives.
  if (value !== undefined || !wait || isTooLong(key, "")) return reply2(rank, "info-getnodeattr", found2(value));
  const waiters = state.attributeWaiters.get(key) ?? new Set();
  if (state.attributeWaiters.size >= MAX_WAITED_FOR && waiters.size === 0)
    return reply2(rank, "info-getnodeattr", found2(undefined));
  state.attributeWaiters.set(key, waiters.add(rank));
  return [];
}

/** A rank waits for one attribute at a time; more indicate a program that does not read replies. */
const MAX_WAITED_FOR = 4_096;

/** A spawn request comes in several messages; the last one is answered. */
function spawnRefused(rank: number, fields: ReadonlyMap<string, string>, reply: readonly PmiEffect[]) {
  if (fields.get("spawnssofar") !== fields.get("totspawns")) return [];
  return [{ kind: "spawn", rank } as const, ...reply];
}

/** Stock clients accept only the version that they requested. */
function initAnswer(version: string, subversion: string): Record<string, string | number> {
  const known = version === "1" || version === "2";
  return { rc: known ? 0 : -1, pmi_version: known ? version : "2", pmi_subversion: known ? subversion : "0" };
}

const found2 = (value: string | undefined): Record<string, string | number> =>
  value === undefined ? { rc: 0, found: "FALSE" } : { rc: 0, found: "TRUE", value };

const MAX_MESSAGE_CHARACTERS = 1_000;

/** PMI-1 sends an exit code; PMI-2 sends only a text, so the code is 1. */
function abort(rank: number, code: string, message: string): PmiEffect {
  const exitCode = /^-?\d{1,9}$/.test(code) ? Number(code) : ABORTED;
  return { kind: "abort", rank, exitCode, message: message.slice(0, MAX_MESSAGE_CHARACTERS) };
}
