// A server's connection to the shared log: the real memory engine behind delays, a lease that expires while the server
// is paused or cut off, appends that fail before or after they are durable, duplicates and late appends, torn
// snapshots, and a leader that learns late that it has lost.

import { type LogIndex, logIndex, type Term } from "@lattice/core";
import type { MemoryStore, StoredEntry } from "@lattice/server";
import { type Leadership, LogError, openMemoryLog, type ReplicatedLog } from "@lattice/server";
import type { MessageFaults } from "../faults/message-faults.ts";
import type { Host } from "../world/host.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";

/** Lease: how long a leader may be away before another may lead. */
export const LEASE_MS = 3_000;
/** Timeout of a call over a cut connection. */
const CALL_TIMEOUT_MS = 2_000;

/** Faults for all servers; set by the fault module. */
export interface LogFaults {
  /** Probability that an append fails and nothing is written. */
  lossBefore: number;
  /** Probability that an append is written and its author does not learn it. */
  lossAfter: number;
  /** Added delay of each append. */
  slowMs: number;
  /** The next append is held until its author has lost leadership and, usually, another has won it. */
  stale: boolean;
}

export interface ServerLog {
  readonly log: ReplicatedLog;
  /** Cuts this server off from the log; the returned function heals it. */
  cut(): () => void;
  /** The log answers from another store, as a member does that has lost its data. */
  moveTo(store: MemoryStore): void;
  /** The process has died: its lease expires, then another may lead. */
  abandon(): void;
  /** The server was paused just now. */
  paused(): void;
  /** Paused, or cut off. */
  away(): boolean;
}

export interface ServerLogParts {
  readonly world: World;
  readonly host: Host;
  readonly random: Random;
  readonly store: MemoryStore;
  readonly logFaultRates: LogFaults;
  readonly messageFaults: MessageFaults;
  readonly onWon: (term: number) => void;
  /** The process dies during a write. */
  readonly onCut: (host: string) => void;
}

/** Delay of a late or repeated append. */
const LATE_MS: readonly [number, number] = [300, 9_000];
/** From the loss of leadership to the arrival of the held append. */
const STALE_MS: readonly [number, number] = [10, 2_500];

export function openServerLog(parts: ServerLogParts): ServerLog {
  const { world, host, random, logFaultRates, messageFaults, onWon } = parts;
  let store = parts.store;
  let moved = new AbortController();
  let inner = openInner();
  const innerOf = new WeakMap<Leadership, Leadership>();
  let cuts = 0;
  let healed: (() => void)[] = [];
  let held: Leadership | null = null;

  const away = (): boolean => cuts > 0 || host.paused();
  const untilHealed = async (): Promise<void> => {
    while (cuts > 0) await new Promise<void>((resolve) => healed.push(resolve));
  };
  const unavailable = (): LogError => new LogError("unavailable", "the log does not answer");

  /** A round trip: the effect happens whether or not the caller survives. */
  async function call<T>(work: () => Promise<T>): Promise<T> {
    await host.wait(random.between(0, 3));
    if (cuts > 0) {
      await host.wait(CALL_TIMEOUT_MS);
      throw unavailable();
    }
    const done = await work().then(
      (value) => ({ ok: true as const, value }),
      (error: unknown) => ({ ok: false as const, error }),
    );
    await host.wait(random.between(0, 3));
    if (cuts > 0) {
      await host.wait(CALL_TIMEOUT_MS);
      throw unavailable();
    }
    if (!done.ok) throw done.error;
    return done.value;
  }

  function openInner(): ReplicatedLog {
    const afterAppend = (entries: readonly StoredEntry[]): void => fenced(at, entries);
    const at = store;
    return openMemoryLog({ store, name: host.name, nowMs: world.now, faults: { afterAppend } });
  }

  /** An append of a former leader must be refused, even if its index is the next. */
  function fenced(at: MemoryStore, entries: readonly StoredEntry[]): void {
    const leader = at.election.leader();
    for (const { index, term } of entries)
      if (leader?.candidate !== host.name || term !== at.term)
        world.violated("fencing", `entry ${index} of term ${term} by ${host.name} was taken, who leads no more`);
  }

  /** The round trip of an append: it arrives whatever became of its author. */
  async function append(leadership: Leadership, entries: readonly StoredEntry[]): Promise<void> {
    const target = inner;
    await worldWait(world, random.between(1, 4) + logFaultRates.slowMs);
    if (random.chance(logFaultRates.lossBefore)) {
      messageFaults.met("append_refused");
      throw unavailable();
    }
    const write = (): Promise<void> => target.append(innerOf.get(leadership) ?? leadership, entries);
    const later = ([least, most]: readonly [number, number]): void =>
      void world.after(random.between(least, most), () => {
        write().then(
          () => messageFaults.met("late_append_taken"),
          () => messageFaults.met("late_append_fenced"),
        );
      });
    if (logFaultRates.stale || messageFaults.strikes("append_late")) {
      later(logFaultRates.stale ? STALE_MS : LATE_MS);
      if (logFaultRates.stale) messageFaults.met("append_stale");
      if (logFaultRates.stale) store.election.depose();
      logFaultRates.stale = false;
      await worldWait(world, CALL_TIMEOUT_MS);
      throw unavailable();
    }
    if (messageFaults.strikes("append_repeated")) later(LATE_MS);
    await write();
    if (!random.chance(logFaultRates.lossAfter)) return;
    messageFaults.met("append_unanswered");
    throw unavailable();
  }

  /** Torn with its author. The rest is invisible, or visible and fails verification. */
  function tear(at: { readonly index: LogIndex; readonly term: Term }, lines: Iterable<string>): void {
    const whole = [...lines];
    const kept = whole.slice(0, random.between(0, whole.length - 1));
    const bytes = kept.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    const info = { index: at.index, term: at.term, bytes, takenAtMs: world.now() };
    if (random.chance(0.5)) store.snapshots = [...store.snapshots, { info, lines: kept, corrupt: true }];
    parts.onCut(host.name);
  }

  /** A lease that is not renewed is lost. */
  function expire(): void {
    const mine = held;
    if (mine === null || !away()) return;
    world.after(LEASE_MS, () => {
      if (held === mine && away()) void mine.resign();
    });
  }

  function wrap(won: Leadership): Leadership {
    const lost = new AbortController();
    held = won;
    if (store === parts.store) onWon(won.term);
    won.lost.addEventListener("abort", () => {
      if (held === won) held = null;
      // Learned from a watch, later than others.
      host.after(random.between(0, 1_500), () => lost.abort(won.lost.reason));
    });
    world.atEnd(() => lost.abort(new LogError("closed", "the world is over")));
    const leadership: Leadership = {
      term: won.term,
      lost: lost.signal,
      async resign() {
        lost.abort(new LogError("lost_leadership", "resigned"));
        await won.resign();
      },
    };
    innerOf.set(leadership, won);
    return leadership;
  }

  return {
    cut() {
      cuts += 1;
      expire();
      return () => {
        cuts -= 1;
        if (cuts > 0) return;
        const waiting = healed;
        healed = [];
        for (const wake of waiting) host.deliver(wake);
      };
    },
    moveTo(next) {
      const [before, left] = [inner, moved];
      store = next;
      moved = new AbortController();
      inner = openInner();
      left.abort();
      void before.close();
    },
    abandon: () => world.after(LEASE_MS, () => void inner.close()),
    paused: expire,
    away,
    log: {
      ...inner,
      async campaign(candidate, signal) {
        await host.wait(random.between(1, 400));
        await untilHealed();
        const leadership = wrap(await inner.campaign(candidate, AbortSignal.any([signal, host.dead])));
        expire();
        await host.wait(random.between(0, 5));
        return leadership;
      },
      append: (leadership, entries) => call(() => append(leadership, entries)),
      async *read(from, signal) {
        let next = from;
        while (!signal.aborted && !host.dead.aborted) {
          for await (const batch of inner.read(next, AbortSignal.any([signal, host.dead, moved.signal]))) {
            await host.wait(random.between(0, 4));
            await untilHealed();
            yield batch;
            next = logIndex(next + batch.length);
          }
        }
      },
      head: () => call(() => inner.head()),
      saveSnapshot: (at, lines) =>
        call(async () => {
          if (!messageFaults.strikes("snapshot_torn")) return inner.saveSnapshot(at, lines);
          tear(at, lines);
          return new Promise(() => undefined);
        }),
      loadSnapshot: () => call(() => inner.loadSnapshot()),
      truncate: (through) => call(() => inner.truncate(through)),
      status: () => inner.status(),
      present: () => inner.present(),
      members: () => inner.members(),
      close: () => inner.close(),
    },
  };
}

const worldWait = (world: World, waitMs: number): Promise<void> =>
  new Promise((resolve) => {
    world.after(waitMs, resolve);
  });
