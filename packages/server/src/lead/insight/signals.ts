// Signals that an operator's tools send to the scheduler: in the memory of the leader, valid for as long as the sender
// requested. A new leader has none until they are sent again; without signals the scheduler assumes nothing.

import type { AllocationId, GroupId, Instant } from "@lattice/core";
import type { Signals } from "@lattice/scheduler";
import type { SignalsRecord, SignalValues } from "./question.ts";

interface SignalStore {
  set(values: SignalValues, validUntil: Instant): SignalsRecord;
  /** Returns `null` when no signals are valid. */
  get(now: Instant): SignalsRecord | null;
  /** Returns the signals as a cycle takes them; undefined when none are valid. */
  forCycle(now: Instant): Signals | undefined;
}

export function createSignalStore(): SignalStore {
  let record: SignalsRecord | null = null;
  let made: Signals | undefined;
  const known = (now: Instant): SignalsRecord | null => {
    if (record !== null && record.validUntil <= now) {
      record = null;
      made = undefined;
    }
    return record;
  };
  return {
    set(values, validUntil) {
      record = { values, validUntil };
      made = asMaps(values);
      return record;
    },
    get: known,
    forCycle: (now) => (known(now) === null ? undefined : made),
  };
}

/** Without a storage signal the configured limit applies, against the requests of placed allocations. */
export function withStorage(signals: Signals | undefined, limit: number | null): Signals | undefined {
  if (limit === null || signals?.storage !== undefined) return signals;
  return { ...signals, storage: { limit, used: null } };
}

function asMaps({ energyPrice, power, storage, ...maps }: SignalValues): Signals {
  const map = <K extends string>(values: Readonly<Record<string, number>>): ReadonlyMap<K, number> | undefined =>
    Object.keys(values).length === 0 ? undefined : new Map(Object.entries(values) as [K, number][]);
  const congestion = map<GroupId>(maps.congestion);
  const efficiency = map<AllocationId>(maps.efficiency);
  const dataReady = map<AllocationId>(maps.dataReady);
  const checkpointMinutes = map<AllocationId>(maps.checkpointMinutes);
  return {
    ...(energyPrice === undefined ? {} : { energyPrice }),
    ...(power === undefined ? {} : { power }),
    ...(storage === undefined ? {} : { storage }),
    ...(congestion === undefined ? {} : { congestion }),
    ...(efficiency === undefined ? {} : { efficiency }),
    ...(dataReady === undefined ? {} : { dataReady }),
    ...(checkpointMinutes === undefined ? {} : { checkpointMinutes }),
  };
}
