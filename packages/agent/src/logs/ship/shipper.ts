// Sends the output of all attempts of this node to the store, one chunk at a time, taking turns. When
// the store is away it waits, longer each time; the logs themselves are the buffer meanwhile. An attempt
// whose output cannot be sent waits by itself, and the others go on.

import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "pino";
import { attemptKey, type Order } from "../../lifecycle/attempt.ts";
import type { LogStore } from "../store/log-store.ts";
import type { Compress } from "./compress.ts";
import type { ShipLimits } from "./plan.ts";
import {
  newRecord,
  readRecord,
  type Shipment,
  type ShipmentRecord,
  STREAMS,
  type StreamName,
  shipment,
} from "./shipment.ts";
import { StoreAwayError, watchedStore } from "./watched-store.ts";

export interface ShipperOptions {
  readonly store: LogStore;
  readonly compress: Compress;
  readonly node: string;
  readonly dataDir: string;
  readonly limits: ShipLimits;
  readonly now: () => number;
  readonly log: Logger;
}

export interface ShipperHost {
  readonly logFile: (key: string, stream: StreamName) => Promise<string | null>;
  readonly live: (key: string) => boolean;
}

export interface Shipper {
  /** Takes up what an earlier life of this agent has not sent. */
  recover(host: ShipperHost): Promise<void>;
  /** Sends from now on: what still lives is known by then, and is not taken for ended. */
  begin(): void;
  add(key: string, order: Order): void;
  /** Before its attempt is put away: from then on nothing but the record tells that there is something to send. */
  keep(key: string): Promise<void>;
  /** Its logs are about to go, to make room. */
  removed(key: string): void;
  /** Below this a log holds nothing any more. */
  startOf(key: string, stream: StreamName): Promise<number>;
  /** Tells the same from now on, whatever is freed; null: nothing is freed of it any more. */
  startNow(key: string, stream: StreamName): (() => number) | null;
  waitingBytes(): number;
  droppedBytes(): number;
  /** Freed for newer output without ever being sent: there is no store. */
  trimmedBytes(): number;
  close(): Promise<void>;
}

export interface LogFigures {
  readonly waitingBytes: number;
  readonly droppedBytes: number;
  readonly trimmedBytes: number;
}

export const logFigures = ({ waitingBytes, droppedBytes, trimmedBytes }: Shipper): LogFigures => ({
  ...{ waitingBytes: waitingBytes(), droppedBytes: droppedBytes(), trimmedBytes: trimmedBytes() },
});

const LOOK_EVERY_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A store that fails for a moment is not away yet: what waits for it is not dropped at once. */
const PATIENCE_MS = 60_000;

export function logShipper(options: ShipperOptions): Shipper {
  const { compress, node, limits, now, log, dataDir } = options;
  const store = watchedStore(options.store, () => {
    if (failures > 0) log.info({ store: store.place }, "the log store answers again");
    failures = 0;
  });
  /** Whoever failed stands at the end, so that nobody waits behind it. */
  const shipments = new Map<string, Shipment>();
  const troubles = new Map<string, Trouble>();
  /** All of it, in an earlier life: the front of its logs may be gone, and must not be sent again. */
  const sent = new Set<string>();
  let host: ShipperHost | null = null;
  let dropped = 0;
  let failures = 0;
  let failsSinceMs = 0;
  let closed = false;
  let timer: NodeJS.Timeout | null = null;
  let round: Promise<void> = Promise.resolve();

  function take(key: string, record: ShipmentRecord): void {
    if (shipments.has(key)) return;
    const made = shipment(
      {
        store,
        compress,
        node,
        limits,
        now,
        path: async (stream) => (await host?.logFile(key, stream)) ?? null,
        live: () => host?.live(key) === true,
        taken: () => takesFrom(key),
      },
      record,
    );
    shipments.set(key, made);
  }

  function takesFrom(key: string): boolean {
    const sinceMs = failures > 0 ? failsSinceMs : troubles.get(key)?.sinceMs;
    return sinceMs === undefined || now() - sinceMs < PATIENCE_MS;
  }

  async function look(): Promise<void> {
    let more = false;
    let away = false;
    for (const [key, one] of [...shipments]) {
      if (closed) return;
      const before = droppedIn(one);
      try {
        if (away || (troubles.get(key)?.untilMs ?? 0) > now()) await one.hold();
        else {
          more = (await one.step()) || more;
          troubles.delete(key);
        }
      } catch (error) {
        away = failed(key, one, error as Error) || away;
      }
      count(droppedIn(one) - before);
      if (one.record().complete || (await host?.logFile(key, "stdout")) === null) drop(key);
    }
    schedule(more);
  }

  /** True: it is the store, so that the others need not try. */
  function failed(key: string, one: Shipment, error: Error): boolean {
    const away = error instanceof StoreAwayError;
    const before = troubles.get(key);
    const times = (before?.times ?? 0) + 1;
    troubles.set(key, { times, sinceMs: before?.sinceMs ?? now(), untilMs: now() + pauseAfter(times) });
    if (shipments.delete(key)) shipments.set(key, one);
    if (away && failures === 0) failsSinceMs = now();
    if (away) failures += 1;
    const say = (away ? failures : times) === 1 ? "warn" : "debug";
    const words = away ? "the log store is away; output waits" : "the output of an attempt cannot be sent; it waits";
    log[say]({ store: store.place, attempt: key, error: error.message }, words);
    return away;
  }

  function drop(key: string): void {
    shipments.delete(key);
    troubles.delete(key);
  }

  function count(bytes: number): void {
    if (bytes <= 0) return;
    dropped += bytes;
    log.error({ bytes, store: store.place }, "output was dropped: more of it waited to be sent than may");
  }

  function schedule(more: boolean): void {
    if (closed) return;
    timer = setTimeout(
      () => {
        round = look();
      },
      failures > 0 ? pauseAfter(failures) : more ? 0 : LOOK_EVERY_MS,
    );
  }

  return {
    async recover(found) {
      host = found;
      for (const folder of ["attempts", "ended"]) {
        const dir = join(dataDir, folder);
        for (const key of await readdir(dir).catch(() => [])) {
          const record = await readRecord(join(dir, key));
          if (record?.complete) sent.add(key);
          else if (record !== null) take(key, record);
        }
      }
    },
    begin: () => schedule(true),
    add(key, order) {
      const { allocationId, attempt, tenant, project, user, nodes, nodeIndex } = order;
      if (key !== attemptKey(allocationId, attempt) || sent.has(key)) return;
      take(key, newRecord({ allocationId, attempt, tenant, project, user, nodes, nodeIndex }, now()));
    },
    async keep(key) {
      await shipments
        .get(key)
        ?.save()
        .catch((error: Error) => log.error({ attempt: key, error: error.message }, "cannot note what is to be sent"));
    },
    removed(key) {
      const one = shipments.get(key);
      if (one === undefined) return;
      const { streams } = one.record();
      const unsent = STREAMS.map((stream) => sizeOf(join(dataDir, "ended", key, stream)) - streams[stream].shipped);
      drop(key);
      count(unsent.reduce((sum, bytes) => sum + Math.max(0, bytes), 0));
    },
    startNow(key, stream) {
      const one = shipments.get(key);
      return one === undefined ? null : () => one.record().streams[stream].start;
    },
    async startOf(key, stream) {
      const known = shipments.get(key)?.record();
      if (known !== undefined) return known.streams[stream].start;
      const path = await host?.logFile(key, stream);
      const record = path === null || path === undefined ? null : await readRecord(dirname(path));
      return record?.streams[stream].start ?? 0;
    },
    waitingBytes: () => [...shipments.values()].reduce((sum, one) => sum + one.waiting(), 0),
    droppedBytes: () => dropped,
    trimmedBytes: () => 0,
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await round;
    },
  };
}

interface Trouble {
  readonly times: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

const pauseAfter = (failures: number): number => Math.min(LONGEST_PAUSE_MS, LOOK_EVERY_MS * 2 ** failures);

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

const droppedIn = (one: Shipment): number => {
  const { stdout, stderr } = one.record().streams;
  return stdout.dropped + stderr.dropped;
};
