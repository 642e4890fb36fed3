// One long job that a fault is aimed at: where its process runs, whether an attempt that was taken back is gone, and
// that it ends completed, once.
import { eventually } from "../../harness/eventually.ts";
import { isAlive } from "../../harness/processes.ts";
import type { AllocationJson } from "../../harness/rest.ts";
import type { Ledger } from "../watch/ledger.ts";
import type { Scene } from "./fault.ts";
import { becomes } from "./recovery.ts";

export type Living = ReturnType<Ledger["living"]>[number];

const STARTS_WITHIN_MS = 60_000;
/** A node that is heard again is told at once what it holds for nobody. */
const STOPPED_WITHIN_MS = 20_000;
const ENDS_WITHIN_MS = 90_000;

export async function runningSomewhere(ledger: Ledger, id: string): Promise<Living> {
  return await eventually(
    { what: `allocation ${id} runs`, withinMs: STARTS_WITHIN_MS, everyMs: 100 },
    () => ledger.living().find(({ allocation }) => allocation === id) ?? null,
  );
}

export async function supersededGone(_scene: Scene, old: Living): Promise<string[]> {
  const gone = await becomes(STOPPED_WITHIN_MS, () => !isAlive(old.pid));
  return gone ? [] : [`attempt ${old.allocation}.${old.attempt} still runs on ${old.node} though it was taken back`];
}

export async function endsOnce({ stage, ledger }: Scene, id: string): Promise<string[]> {
  const record = await eventually({ what: `${id} ends`, withinMs: ENDS_WITHIN_MS, everyMs: 300 }, async () => {
    const { body } = await stage.api<AllocationJson>(await stage.leader(), "GET", `/allocations/${id}`);
    return ["completed", "failed", "cancelled"].includes(body.state) ? body : null;
  }).catch(() => null);
  if (record?.state !== "completed")
    return [`${id} ended ${record?.state ?? "never"}, ${record?.reason ?? ""} ${record?.message ?? ""}`];
  const finished = ledger.runs().filter((run) => run.allocation === id && run.finished);
  return finished.length === 1 ? [] : [`${id} did its work ${finished.length} times`];
}

/** The same attempt went through, as if nothing had happened. */
export async function endsUndisturbed(scene: Scene, run: Living): Promise<string[]> {
  const complaints = await endsOnce(scene, run.allocation);
  const attempts = scene.ledger.runs().filter(({ allocation }) => allocation === run.allocation);
  if (attempts.length !== 1) complaints.push(`${run.allocation} was started ${attempts.length} times`);
  return complaints;
}
