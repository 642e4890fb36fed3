// The resources that an attempt has used so far, from readings of its counters. Counters of processes can go backwards when processes
// end, so the highest reading counts. Pure.

import type { UsageValues } from "@lattice/core";
import type { ProcessUsage } from "../host/usage/usage.ts";

export function usedWith(used: UsageValues, reading: ProcessUsage): UsageValues {
  const { cpuMs, memoryBytes, io, network } = reading;
  return {
    ...used,
    processorMs: highest(used.processorMs, cpuMs),
    ...(memoryBytes > 0 ? { peakMemoryBytes: highest(used.peakMemoryBytes, memoryBytes) } : {}),
    ...(io === null
      ? {}
      : {
          readBytes: highest(used.readBytes, io.readBytes),
          writtenBytes: highest(used.writtenBytes, io.writtenBytes),
        }),
    ...(network === null
      ? {}
      : {
          receivedBytes: highest(used.receivedBytes, network.received),
          sentBytes: highest(used.sentBytes, network.sent),
        }),
  };
}

/** The kernel's own peak includes its page cache, so it counts only for an attempt too short to be sampled. */
export function usedAtEnd(used: UsageValues, reading: ProcessUsage): UsageValues {
  const last = usedWith(used, reading);
  const { peakMemoryBytes } = reading;
  return last.peakMemoryBytes !== undefined || peakMemoryBytes === null ? last : { ...last, peakMemoryBytes };
}

/** Adds what was kept before, by an earlier agent too. */
export function usedSince(kept: UsageValues, used: UsageValues): UsageValues {
  const fields = Object.keys({ ...kept, ...used }) as (keyof UsageValues)[];
  return Object.fromEntries(fields.map((field) => [field, Math.max(kept[field] ?? 0, used[field] ?? 0)]));
}

const highest = (known: number | undefined, read: number): number => Math.max(known ?? 0, Math.round(read));
