// Sends the output of all attempts of this node to the store, one chunk at a time, in turn. While the store is
// unavailable it waits with growing pauses; the logs are the buffer. An attempt whose output cannot be sent waits
// alone.

import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { pb } from "@lattice/wire";
import type { Logger } from "pino";
import { attemptKey } from "../../lifecycle/attempt.ts";
import type { LogStore } from "../store/log-store.ts";
import type { Compress } from "./compress.ts";
import type { LogOwnership } from "./metadata.ts";
import type { ShipLimits } from "./plan.ts";
import {
  droppedOf,
  newRecord,
  readRecord,
  type Shipment,
  type ShipmentRecord,
  STREAMS,
  type StreamName,
  shipment,
} from "./shipment.ts";
import { StoreAwayError, watchedStore } from "./watched-store.ts";

interface ShipperOptions {
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
  /** Continues with output that an earlier run of this agent has not sent. */
  recover(host: ShipperHost): Promise<void>;
  /** Starts sending. By now the live attempts are known and not mistaken for ended ones. */
  begin(): void;
  add(key: string, order: pb.RunOrder): void;
  /** Called before the attempt is archived: afterwards only the record shows that output is unsent. */
  keep(key: string): Promise<void>;
  /** Its logs are about to be removed to make room. */
  removed(key: string): void;
  /** The log is empty below this offset. */
  startOf(key: string, stream: StreamName): Promise<number>;
  /** Returns a function for the current start, or null when nothing of the log is freed any more. */
  startNow(key: string, stream: StreamName): (() => number) | null;
  waitingBytes(): number;
  droppedBytes(): number;
  /** Bytes freed without being sent, because there is no store. */
  trimmedBytes(): number;
  close(): Promise<void>;
}

export interface LogCounts {
  readonly waitingBytes: number;
  readonly droppedBytes: number;
  readonly trimmedBytes: number;
}

export const logCounts = ({ waitingBytes, droppedBytes, trimmedBytes }: Shipper): LogCounts => ({
  waitingBytes: waitingBytes(),
  droppedBytes: droppedBytes(),
  trimmedBytes: trimmedBytes(),
});

const LOOK_EVERY_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
/** A short failure of the store does not drop waiting output. */
const PATIENCE_MS = 60_000;

export const logShipper = (options: ShipperOptions): Shipper => new StoreShipper(options);

class StoreShipper implements Shipper {
  readonly #options: ShipperOptions;
  readonly #store: LogStore;
  /** In the order in which they are tried; a shipment that failed moves to the end. */
  readonly #shipments = new Map<string, Shipment>();
  readonly #troubles = new Map<string, Trouble>();
  /** Attempts sent completely in an earlier life: the front of their logs may be gone and must not be sent again. */
  readonly #sent = new Set<string>();
  #host: ShipperHost | null = null;
  #dropped = 0;
  #failures = 0;
  #failsSinceMs = 0;
  #closed = false;
  #timer: NodeJS.Timeout | null = null;
  #round: Promise<void> = Promise.resolve();

  constructor(options: ShipperOptions) {
    this.#options = options;
    this.#store = watchedStore(options.store, () => {
      if (this.#failures > 0) options.log.info({ store: this.#store.place }, "log store available again");
      this.#failures = 0;
    });
  }

  async recover(host: ShipperHost): Promise<void> {
    this.#host = host;
    for (const folder of ["attempts", "ended"]) {
      const dir = join(this.#options.dataDir, folder);
      for (const key of await readdir(dir).catch(() => [])) {
        const record = await readRecord(join(dir, key));
        if (record?.complete) this.#sent.add(key);
        else if (record !== null) this.#take(key, record);
      }
    }
  }

  begin(): void {
    this.#schedule(true);
  }

  add(key: string, order: pb.RunOrder): void {
    const { allocationId, attempt } = order;
    if (key !== attemptKey(allocationId, attempt) || this.#sent.has(key)) return;
    this.#take(key, newRecord(ownerOf(order), this.#options.now()));
  }

  async keep(key: string): Promise<void> {
    await this.#shipments
      .get(key)
      ?.save()
      .catch((error: Error) =>
        this.#options.log.error(
          { attempt: key, error: error.message },
          "the record of unsent output cannot be written",
        ),
      );
  }

  removed(key: string): void {
    const one = this.#shipments.get(key);
    if (one === undefined) return;
    const { streams } = one.record();
    const dir = join(this.#options.dataDir, "ended", key);
    const unsent = STREAMS.map((stream) => sizeOf(join(dir, stream)) - streams[stream].shipped);
    this.#forget(key);
    this.#count(unsent.reduce((sum, bytes) => sum + Math.max(0, bytes), 0));
  }

  startNow(key: string, stream: StreamName): (() => number) | null {
    const one = this.#shipments.get(key);
    return one === undefined ? null : () => one.record().streams[stream].start;
  }

  async startOf(key: string, stream: StreamName): Promise<number> {
    const known = this.#shipments.get(key)?.record();
    if (known !== undefined) return known.streams[stream].start;
    return startOnDisk((await this.#host?.logFile(key, stream)) ?? null, stream);
  }

  waitingBytes(): number {
    return [...this.#shipments.values()].reduce((sum, one) => sum + one.waiting(), 0);
  }

  droppedBytes(): number {
    return this.#dropped;
  }

  trimmedBytes(): number {
    return 0;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#round;
  }

  #take(key: string, record: ShipmentRecord): void {
    if (this.#shipments.has(key)) return;
    const { compress, node, limits, now } = this.#options;
    const host = {
      store: this.#store,
      compress,
      node,
      limits,
      now,
      path: async (stream: StreamName) => (await this.#host?.logFile(key, stream)) ?? null,
      live: () => this.#host?.live(key) === true,
      taken: () => this.#takesFrom(key),
    };
    this.#shipments.set(key, shipment(host, record));
  }

  /** Returns whether the store takes the output of this attempt, as far as the shipper knows. */
  #takesFrom(key: string): boolean {
    const sinceMs = this.#failures > 0 ? this.#failsSinceMs : this.#troubles.get(key)?.sinceMs;
    return sinceMs === undefined || this.#options.now() - sinceMs < PATIENCE_MS;
  }

  async #look(): Promise<void> {
    let more = false;
    let away = false;
    for (const [key, one] of [...this.#shipments]) {
      if (this.#closed) return;
      const before = droppedOf(one.record());
      try {
        if (away || (this.#troubles.get(key)?.untilMs ?? 0) > this.#options.now()) await one.hold();
        else {
          more = (await one.step()) || more;
          this.#troubles.delete(key);
        }
      } catch (error) {
        away = this.#onFailure(key, one, error as Error) || away;
      }
      this.#count(droppedOf(one.record()) - before);
      if (one.record().complete || (await this.#host?.logFile(key, "stdout")) === null) this.#forget(key);
    }
    this.#schedule(more);
  }

  /** Returns true when the store itself failed, so that the other shipments need not try. */
  #onFailure(key: string, one: Shipment, error: Error): boolean {
    const { now, log } = this.#options;
    const away = error instanceof StoreAwayError;
    const before = this.#troubles.get(key);
    const times = (before?.times ?? 0) + 1;
    this.#troubles.set(key, { times, sinceMs: before?.sinceMs ?? now(), untilMs: now() + pauseAfter(times) });
    if (this.#shipments.delete(key)) this.#shipments.set(key, one);
    if (away && this.#failures === 0) this.#failsSinceMs = now();
    if (away) this.#failures += 1;
    const level = (away ? this.#failures : times) === 1 ? "warn" : "debug";
    const text = away
      ? "the log store is unavailable; output waits"
      : "the output of an attempt cannot be sent; it waits";
    log[level]({ store: this.#store.place, attempt: key, error: error.message }, text);
    return away;
  }

  #forget(key: string): void {
    this.#shipments.delete(key);
    this.#troubles.delete(key);
  }

  #count(bytes: number): void {
    if (bytes <= 0) return;
    this.#dropped += bytes;
    this.#options.log.error({ bytes, store: this.#store.place }, "output dropped: send buffer full");
  }

  #schedule(more: boolean): void {
    if (this.#closed) return;
    const pause = this.#failures > 0 ? pauseAfter(this.#failures) : more ? 0 : LOOK_EVERY_MS;
    this.#timer = setTimeout(() => {
      this.#round = this.#look();
    }, pause);
  }
}

/** Returns where a log begins according to the record next to it. */
export async function startOnDisk(path: string | null, stream: StreamName): Promise<number> {
  return path === null ? 0 : ((await readRecord(dirname(path)))?.streams[stream].start ?? 0);
}

export const ownerOf = ({
  allocationId,
  attempt,
  tenant,
  project,
  user,
  nodes,
  nodeIndex,
}: pb.RunOrder): LogOwnership => ({
  allocationId,
  attempt,
  tenant,
  project,
  user,
  nodes,
  nodeIndex,
});

interface Trouble {
  readonly times: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

const pauseAfter = (failures: number): number => Math.min(MAX_PAUSE_MS, LOOK_EVERY_MS * 2 ** failures);

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
