// Watches the health of the node: looks for faults every minute, and surveys the whole machine every few hours and on
// request. Two looks never overlap. Listeners receive the result; the servers decide what follows.

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { bytesToGb, pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import type { ExpectedHardware } from "../discovery/faults.ts";
import type { Survey } from "../discovery/survey.ts";
import { expectAlso } from "./expected.ts";

interface ConditionOptions {
  readonly first: Survey;
  /** Number of GPUs given by a flag; 0 without a flag. */
  readonly units: number;
  readonly expected: ExpectedHardware;
  readonly survey: (expected: ExpectedHardware) => Promise<Survey>;
  readonly look: (last: Survey, expected: ExpectedHardware) => Promise<readonly string[]>;
  readonly remember: (expected: ExpectedHardware) => Promise<void>;
  /** After every survey, and after every look that finds something broken. */
  readonly onSurvey: (survey: Survey) => void;
  readonly fingerprintEveryMs: number;
  readonly lookEveryMs: number;
  readonly now: () => number;
  readonly after: After;
  readonly log: Logger;
}

export interface Condition {
  latest(): Survey;
  /** `fresh` requests a new survey first. */
  describe(fresh: boolean): Promise<pb.NodeCondition>;
  /** Resolves when all writes are done. */
  close(): Promise<void>;
}

export const FINGERPRINT_EVERY_MS = 6 * 3_600_000;
export const LOOK_EVERY_MS = 60_000;

export function watchCondition(options: ConditionOptions): Condition {
  const { now, log } = options;
  let latest = options.first;
  let expected = options.expected;
  let surveying: Promise<void> | null = null;
  let remembering: Promise<void> = Promise.resolve();
  let closed = false;
  let cancel: () => void = () => undefined;

  async function take(found: Survey): Promise<void> {
    if (closed) return;
    for (const fault of found.faults) if (!latest.faults.includes(fault)) log.error({ fault }, "node faults found");
    if (found.conformance !== latest.conformance) {
      log.warn(
        { from: latest.conformance, to: found.conformance, changed: differences(latest, found) },
        "node configuration changed",
      );
    }
    latest = found;
    expected = expectAlso(expected, found, options.units);
    options.onSurvey(found);
    const known = expected;
    remembering = remembering
      .then(() => options.remember(known))
      .catch((error: Error) => log.warn({ error: error.message }, "expected hardware cannot be recorded"));
    await remembering;
  }

  /** A caller that arrives while a survey runs shares its result. */
  function survey(): Promise<void> {
    surveying ??= options
      .survey(expected)
      .then(take)
      .finally(() => {
        surveying = null;
      });
    return surveying;
  }

  async function look(): Promise<void> {
    const faults = await options.look(latest, expected);
    if (closed) return;
    for (const fault of faults) if (!latest.faults.includes(fault)) log.error({ fault }, "node faults found");
    latest = { ...latest, faults };
    if (faults.length > 0) options.onSurvey(latest);
  }

  function next(): void {
    const due = now() - latest.atMs >= options.fingerprintEveryMs;
    const work = due || surveying !== null ? survey() : look();
    work.catch((error: Error) => log.error({ error: error.message }, "node survey failed")).finally(arm);
  }

  function arm(): void {
    if (!closed) cancel = options.after(options.lookEveryMs, next);
  }

  for (const fault of latest.faults) log.error({ fault }, "node faults found");
  void take(latest);
  arm();
  return {
    latest: () => latest,
    async describe(fresh) {
      if (fresh) await survey();
      return conditionMessage(latest);
    },
    async close() {
      closed = true;
      cancel();
      await remembering;
    },
  };
}

/** Names of the components that differ. */
function differences(before: Survey, after: Survey): string[] {
  const names = new Set([...Object.keys(before.components), ...Object.keys(after.components)]);
  return [...names]
    .filter((name) => before.components[name] !== after.components[name])
    .sort((a, b) => (a < b ? -1 : 1));
}

function conditionMessage(survey: Survey): pb.NodeCondition {
  const affinity = survey.hardware.gpuTopology?.nicAffinity ?? {};
  return create(pb.NodeConditionSchema, {
    conformance: survey.conformance,
    components: { ...survey.components },
    faults: [...survey.faults],
    gpus: survey.gpus.units.map(({ memoryBytes, device: _, temperatureC, ...unit }) => ({
      ...unit,
      memoryGb: bytesToGb(memoryBytes),
      nic: affinity[String(unit.index)] ?? "",
      ...(temperatureC === null ? null : { temperatureC }),
    })),
    nics: survey.nics.map(({ name, firmware, fabric }) => ({ name, firmware, fabric })),
    disks: survey.disks.map(({ sizeBytes, ...disk }) => ({ ...disk, sizeGb: bytesToGb(sizeBytes) })),
    examinedAt: timestampFromMs(survey.atMs),
  });
}
