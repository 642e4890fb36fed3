// Sends the output of all attempts of this node to the store, one chunk at a time, taking turns. When
// the store is away it waits, longer each time; the logs themselves are the buffer meanwhile.

import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "pino";
import { attemptKey, type Order } from "../../lifecycle/attempt.ts";
import type { LogStore } from "../store/log-store.ts";
import type { Compress } from "./compress.ts";
import type { ShipLimits } from "./plan.ts";
import { newRecord, readRecord, type Shipment, type ShipmentRecord, type StreamName, shipment } from "./shipment.ts";

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
  add(key: string, order: Order): void;
  /** Below this a log holds nothing any more. */
  startOf(key: string, stream: StreamName): Promise<number>;
  waitingBytes(): number;
  droppedBytes(): number;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

export function logShipper(options: ShipperOptions): Shipper {
  const { store, compress, node, limits, now, log, dataDir } = options;
  const shipments = new Map<string, Shipment>();
  let host: ShipperHost | null = null;
  let dropped = 0;
  let failures = 0;
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
      },
      record,
    );
    shipments.set(key, made);
  }

  async function look(): Promise<void> {
    let more = false;
    for (const [key, one] of shipments) {
      if (closed) return;
      const before = droppedIn(one);
      try {
        more = (await one.step()) || more;
        if (failures > 0) log.info({ store: store.place }, "the log store answers again");
        failures = 0;
      } catch (error) {
        failures += 1;
        const say = failures === 1 ? "warn" : "debug";
        log[say]({ store: store.place, error: (error as Error).message }, "the log store is away; output waits");
      }
      count(droppedIn(one) - before);
      if (one.record().complete || (await host?.logFile(key, "stdout")) === null) shipments.delete(key);
      if (failures > 0) break;
    }
    schedule(more);
  }

  function count(bytes: number): void {
    if (bytes <= 0) return;
    dropped += bytes;
    log.error({ bytes, store: store.place }, "output was dropped: the log store is away for too long");
  }

  function schedule(more: boolean): void {
    if (closed) return;
    const backoff = Math.min(LONGEST_PAUSE_MS, LOOK_EVERY_MS * 2 ** failures);
    timer = setTimeout(
      () => {
        round = look();
      },
      failures > 0 ? backoff : more ? 0 : LOOK_EVERY_MS,
    );
  }

  return {
    async recover(found) {
      host = found;
      for (const folder of ["attempts", "ended"]) {
        const dir = join(dataDir, folder);
        for (const key of await readdir(dir).catch(() => [])) {
          const record = await readRecord(join(dir, key));
          if (record !== null && !record.complete) take(key, record);
        }
      }
      schedule(true);
    },
    add(key, order) {
      const { allocationId, attempt, tenant, project, user, nodes, nodeIndex } = order;
      if (key !== attemptKey(allocationId, attempt)) return;
      take(key, newRecord({ allocationId, attempt, tenant, project, user, nodes, nodeIndex }, now()));
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
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await round;
    },
  };
}

const droppedIn = (one: Shipment): number => {
  const { stdout, stderr } = one.record().streams;
  return stdout.dropped + stderr.dropped;
};
