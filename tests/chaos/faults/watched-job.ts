// One long job that a fault targets: where its process runs, whether a withdrawn attempt has ended, and that the job
// completes once.
import { eventually } from "../../harness/eventually.ts";
import { isAlive } from "../../harness/processes.ts";
import type { AllocationJson } from "../../harness/rest.ts";
import type { Ledger } from "../watch/ledger.ts";
import type { FaultContext } from "./fault.ts";
import { waitUntil } from "./recovery.ts";

export type Living = ReturnType<Ledger["living"]>[number];

const STARTS_WITHIN_MS = 60_000;
/** A node that reconnects learns at once which of its attempts are orphaned. */
const STOPPED_WITHIN_MS = 20_000;
const ENDS_WITHIN_MS = 90_000;

export async function runningSomewhere(ledger: Ledger, id: string): Promise<Living> {
  return await eventually(
    { what: `allocation ${id} runs`, withinMs: STARTS_WITHIN_MS, everyMs: 100 },
    () => ledger.living().find(({ allocation }) => allocation === id) ?? null,
  );
}

export async function supersededGone(_scene: FaultContext, old: Living): Promise<string[]> {
  const gone = await waitUntil(STOPPED_WITHIN_MS, () => !isAlive(old.pid));
  return gone ? [] : [`attempt ${old.allocation}.${old.attempt} still runs on ${old.node} though it was taken back`];
}

export async function endsOnce({ cluster, ledger }: FaultContext, id: string): Promise<string[]> {
  const record = await eventually({ what: `${id} ends`, withinMs: ENDS_WITHIN_MS, everyMs: 300 }, async () => {
    const { body } = await cluster.api<AllocationJson>(await cluster.leader(), "GET", `/allocations/${id}`);
    return ["completed", "failed", "cancelled"].includes(body.state) ? body : null;
  }).catch(() => null);
  if (record?.state !== "completed")
    return [`${id} ended ${record?.state ?? "never"}, ${record?.reason ?? ""} ${record?.message ?? ""}`];
  const finished = ledger.runs().filter((run) => run.allocation === id && run.finished);
  return finished.length === 1 ? [] : [`${id} did its work ${finished.length} times`];
}

/** The same attempt continued as if nothing had happened. */
export async function endsUndisturbed(context: FaultContext, run: Living): Promise<string[]> {
  const complaints = await endsOnce(context, run.allocation);
  const attempts = context.ledger.runs().filter(({ allocation }) => allocation === run.allocation);
  if (attempts.length !== 1) complaints.push(`${run.allocation} was started ${attempts.length} times`);
  return complaints;
}
