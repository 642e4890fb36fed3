// The PMI server of one node for one launch, as a pure state machine: messages of ranks come in,
// replies and requests to the outside go out as effects. Keys become visible to other ranks with the
// fence that follows them. It serves PMI-1 and PMI-2 at once, since the rank chooses.

import type { Entry, NameAnswer, NameEffect } from "../name-types.ts";
import { nameAnswer1, nameAnswer2, nameQuestion } from "./names.ts";
import { formatLine, formatPairs, type PmiMessage } from "./words.ts";

export interface PmiJob {
  readonly jobId: string;
  readonly size: number;
  /** The ranks of this node. */
  readonly ranks: readonly number[];
  /** `PMI_process_mapping`. */
  readonly mapping: string;
}

export type PmiEffect =
  | { readonly kind: "reply"; readonly rank: number; readonly text: string }
  /** Every rank of this node has come; `fenceDone` is to be called when those of the others have. */
  | { readonly kind: "fence"; readonly number: number; readonly entries: readonly Entry[] }
  | { readonly kind: "abort"; readonly rank: number; readonly exitCode: number; readonly message: string }
  /** It wants more ranks, and has been refused. */
  | { readonly kind: "spawn"; readonly rank: number }
  /** About a published name; `named` is to be called with what is known. */
  | NameEffect;

export interface PmiServer {
  receive(rank: number, version: 1 | 2, message: PmiMessage): readonly PmiEffect[];
  /** What all nodes put before this fence. A fence that is over already is ignored. */
  fenceDone(number: number, entries: readonly Entry[]): readonly PmiEffect[];
  named(asked: NameEffect, answer: NameAnswer): readonly PmiEffect[];
  /** It has spoken PMI and has not said goodbye. */
  unfinished(rank: number): boolean;
  /** Some ranks wait for others in an exchange that must not take long: nothing was computed yet, or addresses are put. */
  wiringUp(): boolean;
  /** Of the ranks of this node, in a fence now. */
  waiting(): number;
}

export const MAXES = { kvsname_max: 256, keylen_max: 64, vallen_max: 1024 } as const;
const ABORTED = 1;

export function pmiServer(job: PmiJob): PmiServer {
  const kvs = new Map<string, string>();
  let fresh: Entry[] = [];
  const nodeAttributes = new Map<string, string>();
  const nodeWaiters = new Map<string, number[]>();
  /** Ranks in the fence, with the version that each is to be answered in. */
  const inFence = new Map<number, 1 | 2>();
  const open = new Set<number>();
  let fenceNumber = 0;
  let exchanged = false;

  const reply1 = (rank: number, cmd: string, fields?: Record<string, string | number>): PmiEffect[] => [
    { kind: "reply", rank, text: formatLine(cmd, fields) },
  ];
  const reply2 = (rank: number, cmd: string, fields?: Record<string, string | number>): PmiEffect[] => [
    { kind: "reply", rank, text: formatPairs(`${cmd}-response`, fields) },
  ];

  function put(key: string, value: string): void {
    kvs.set(key, value);
    fresh.push([key, value]);
  }

  function enterFence(rank: number, version: 1 | 2): PmiEffect[] {
    inFence.set(rank, version);
    if (inFence.size < job.ranks.length) return [];
    fenceNumber += 1;
    return [{ kind: "fence", number: fenceNumber, entries: fresh }];
  }

  function first(rank: number, { cmd, fields }: PmiMessage): readonly PmiEffect[] {
    const field = (name: string): string => fields.get(name) ?? "";
    switch (cmd) {
      case "init":
        open.add(rank);
        return reply1(rank, "response_to_init", initAnswer(field("pmi_version"), field("pmi_subversion")));
      case "get_maxes":
        return reply1(rank, "maxes", { rc: 0, ...MAXES });
      case "get_appnum":
        return reply1(rank, "appnum", { rc: 0, appnum: 0 });
      case "get_my_kvsname":
        return reply1(rank, "my_kvsname", { rc: 0, kvsname: job.jobId });
      case "get_universe_size":
        return reply1(rank, "universe_size", { rc: 0, size: job.size });
      case "get_ranks2hosts":
        return reply1(rank, "put_result", { rc: -1, msg: "unsupported" });
      case "put":
        put(field("key"), field("value"));
        return reply1(rank, "put_result", { rc: 0, msg: "success" });
      case "get":
        return reply1(rank, "get_result", found1(field("key")));
      case "barrier_in":
        return enterFence(rank, 1);
      case "finalize":
        open.delete(rank);
        return reply1(rank, "finalize_ack", { rc: 0 });
      case "abort":
        return [abort(rank, field("exitcode"), field("error_msg"))];
      case "spawn":
        return spawnRefused(rank, fields, reply1(rank, "spawn_result", { rc: -1, msg: "unsupported" }));
      default:
        return nameQuestion(rank, 1, cmd, fields) ?? reply1(rank, `${cmd}_result`, { rc: -1, msg: "unsupported" });
    }
  }

  function second(rank: number, { cmd, fields }: PmiMessage): readonly PmiEffect[] {
    const field = (name: string): string => fields.get(name) ?? "";
    switch (cmd) {
      case "fullinit":
        open.add(rank);
        return reply2(rank, cmd, {
          rc: 0,
          "pmi-version": 2,
          "pmi-subversion": 0,
          rank,
          size: job.size,
          appnum: 0,
          debugged: "FALSE",
          pmiverbose: "FALSE",
        });
      case "job-getid":
        return reply2(rank, cmd, { rc: 0, jobid: job.jobId });
      case "info-getjobattr":
        return reply2(rank, cmd, found2(jobAttribute(field("key"))));
      case "info-putnodeattr":
        return [...reply2(rank, cmd, { rc: 0 }), ...putNodeAttribute(field("key"), field("value"))];
      case "info-getnodeattr":
        return getNodeAttribute(rank, field("key"), field("wait") === "TRUE");
      case "kvs-put":
        put(field("key"), field("value"));
        return reply2(rank, cmd, { rc: 0 });
      case "kvs-get":
        return reply2(rank, cmd, found2(kvs.get(field("key"))));
      case "kvs-fence":
        return enterFence(rank, 2);
      case "finalize":
        open.delete(rank);
        return reply2(rank, cmd, { rc: 0 });
      case "abort":
        return [abort(rank, field("exitcode"), field("msg"))];
      case "spawn":
        return spawnRefused(rank, fields, reply2(rank, cmd, { rc: 1, errmsg: "unsupported" }));
      default:
        return nameQuestion(rank, 2, cmd, fields) ?? reply2(rank, cmd, { rc: 1, errmsg: "unsupported" });
    }
  }

  function found1(key: string): Record<string, string | number> {
    const value = key === "PMI_process_mapping" ? job.mapping : kvs.get(key);
    if (value === undefined) return { rc: -1, msg: `key_${key}_not_found`, value: "unknown" };
    return { rc: 0, msg: "success", value };
  }

  function jobAttribute(key: string): string | undefined {
    if (key === "PMI_process_mapping") return job.mapping;
    return key === "universeSize" ? String(job.size) : undefined;
  }

  function putNodeAttribute(key: string, value: string): PmiEffect[] {
    nodeAttributes.set(key, value);
    const waiters = nodeWaiters.get(key) ?? [];
    nodeWaiters.delete(key);
    return waiters.flatMap((rank) => reply2(rank, "info-getnodeattr", found2(value)));
  }

  /** One that waits is answered when a rank of this node has put it. */
  function getNodeAttribute(rank: number, key: string, wait: boolean): PmiEffect[] {
    const value = nodeAttributes.get(key);
    if (value !== undefined || !wait) return reply2(rank, "info-getnodeattr", found2(value));
    nodeWaiters.set(key, [...(nodeWaiters.get(key) ?? []), rank]);
    return [];
  }

  return {
    receive: (rank, version, message) => (version === 1 ? first(rank, message) : second(rank, message)),
    fenceDone(number, entries) {
      if (number !== fenceNumber || inFence.size < job.ranks.length) return [];
      for (const [key, value] of entries) kvs.set(key, value);
      exchanged ||= entries.length > 0;
      fresh = [];
      const effects = [...inFence].flatMap(([rank, version]) =>
        version === 1 ? reply1(rank, "barrier_out", { rc: 0 }) : reply2(rank, "kvs-fence", { rc: 0 }),
      );
      inFence.clear();
      return effects;
    },
    named: (asked, answer) =>
      asked.version === 1
        ? reply1(asked.rank, ...nameAnswer1(asked, answer))
        : reply2(asked.rank, ...nameAnswer2(asked, answer)),
    unfinished: (rank) => open.has(rank),
    wiringUp: () => inFence.size > 0 && (!exchanged || fresh.length > 0),
    waiting: () => inFence.size,
  };
}

/** What is wanted comes in several messages, of which the last is answered. */
function spawnRefused(rank: number, fields: ReadonlyMap<string, string>, reply: readonly PmiEffect[]) {
  if (fields.get("spawnssofar") !== fields.get("totspawns")) return [];
  return [{ kind: "spawn", rank } as const, ...reply];
}

/** Stock clients accept no other version than the one they asked for. */
function initAnswer(version: string, subversion: string): Record<string, string | number> {
  const known = version === "1" || version === "2";
  return { rc: known ? 0 : -1, pmi_version: known ? version : "2", pmi_subversion: known ? subversion : "0" };
}

const found2 = (value: string | undefined): Record<string, string | number> =>
  value === undefined ? { rc: 0, found: "FALSE" } : { rc: 0, found: "TRUE", value };

/** PMI-1 says a code, PMI-2 only a text: then it is 1. */
function abort(rank: number, code: string, message: string): PmiEffect {
  const exitCode = /^-?\d+$/.test(code) ? Number(code) : ABORTED;
  return { kind: "abort", rank, exitCode, message };
}
