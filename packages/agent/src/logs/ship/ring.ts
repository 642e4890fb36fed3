// Without a configured store, the newest output of every log stays on the node and the rest is freed, so that no job
// fills the disk. It behaves like a store that is never reachable, with a buffer as large as the ring: a store
// configured later gets the rest. Freed bytes are counted, and readers see the gap.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { LogStore } from "../store/log-store.ts";
import type { ShipLimits } from "./plan.ts";
import { droppedOf, newRecord, readRecord, type Shipment, type ShipmentRecord, shipment } from "./shipment.ts";
import { ownerOf, type Shipper, type ShipperHost, startOnDisk } from "./shipper.ts";

interface RingOptions {
  readonly node: string;
  readonly dataDir: string;
  readonly limits: ShipLimits;
  readonly now: () => number;
  readonly log: Logger;
}

/** A job that prints a gigabyte per second exceeds the ring by that much until the next check. */
const LOOK_EVERY_MS = 1_000;

export function logRing(options: RingOptions): Shipper {
  const { node, now, log, dataDir } = options;
  const limits: ShipLimits = { ...options.limits, bufferBytes: options.limits.ringBytes, whileSent: 1 };
  const held = new Map<string, Shipment>();
  const reported = new Set<string>();
  let host: ShipperHost | null = null;
  let trimmed = 0;
  let closed = false;
  let timer: NodeJS.Timeout | null = null;
  let round: Promise<void> = Promise.resolve();

  function take(key: string, record: ShipmentRecord): void {
    if (held.has(key)) return;
    const path = async (stream: "stdout" | "stderr") => (await host?.logFile(key, stream)) ?? null;
    const live = (): boolean => host?.live(key) === true;
    held.set(key, shipment({ store: NOWHERE, compress: nothing, node, limits, now, path, live, taken: never }, record));
  }

  async function look(): Promise<void> {
    for (const [key, one] of [...held]) {
      if (closed) return;
      // Read before the sizes: output written while the attempt lived is in the files by then.
      const live = host?.live(key) === true;
      const before = droppedOf(one.record());
      await one.hold().catch((error: Error) => {
        if (!reported.has(key))
          log.error({ attempt: key, error: error.message }, "old output of an attempt cannot be freed");
        reported.add(key);
      });
      count(key, droppedOf(one.record()) - before);
      if (!live) forget(key);
    }
    schedule();
  }

  function count(key: string, bytes: number): void {
    if (bytes <= 0) return;
    trimmed += bytes;
    if (!reported.has(key))
      log.info({ attempt: key, ringBytes: limits.ringBytes }, "old output freed for newer output");
    reported.add(key);
  }

  function forget(key: string): void {
    held.delete(key);
    reported.delete(key);
  }

  function schedule(): void {
    if (closed) return;
    timer = setTimeout(() => {
      round = look();
    }, LOOK_EVERY_MS);
  }

  return {
    async recover(found) {
      host = found;
      const dir = join(dataDir, "attempts");
      for (const key of await readdir(dir).catch(() => [])) {
        const record = await readRecord(join(dir, key));
        if (record !== null) take(key, record);
      }
    },
    begin: schedule,
    add: (key, order) => take(key, newRecord(ownerOf(order), now())),
    async keep(key) {
      // Final output after the last check; only then is there something to record.
      const one = held.get(key);
      const before = one === undefined ? 0 : droppedOf(one.record());
      await one
        ?.hold()
        .catch((error: Error) =>
          log.error({ attempt: key, error: error.message }, "old output of an attempt cannot be freed"),
        );
      if (one !== undefined) count(key, droppedOf(one.record()) - before);
      forget(key);
    },
    removed: forget,
    startNow(key, stream) {
      const one = held.get(key);
      return one === undefined ? null : () => one.record().streams[stream].start;
    },
    async startOf(key, stream) {
      const known = held.get(key)?.record();
      if (known !== undefined) return known.streams[stream].start;
      return startOnDisk((await host?.logFile(key, stream)) ?? null, stream);
    },
    waitingBytes: () => 0,
    droppedBytes: () => 0,
    trimmedBytes: () => trimmed,
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await round;
    },
  };
}

/** Only the retention part of a shipment is used here; nothing is sent. */
const NOWHERE: LogStore = {
  place: "nowhere",
  put: () => Promise.reject(new Error("there is no store for output")),
  get: () => Promise.reject(new Error("there is no store for output")),
};

const never = (): boolean => false;

const nothing = (): Promise<Buffer> => Promise.reject(new Error("there is no store for output"));
