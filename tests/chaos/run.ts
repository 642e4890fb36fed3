// One run: start the cluster, load it, inject one fault after another, let everything finish, and judge the history.
// Must run inside its own namespaces (`namespaces.ts`).
import { join } from "node:path";
import { sleep } from "../harness/eventually.ts";
import { bootstrapCluster } from "./bootstrap.ts";
import { check } from "./check/check.ts";
import { createChaosCluster, PREFIX } from "./cluster.ts";
import { clockLibrary } from "./environment/clock.ts";
import type { Fault, FaultContext, Injected } from "./faults/fault.ts";
import { recovered } from "./faults/recovery.ts";
import type { FaultRecord, History, Minimums } from "./history.ts";
import { LIMITED, startLoad, UNLIMITED } from "./load/load.ts";
import { randomFor } from "./load/random.ts";
import { type Report, reportOf } from "./report.ts";
import { settle } from "./settle.ts";
import { openLedger } from "./watch/ledger.ts";
import { copyLog } from "./watch/log-copy.ts";
import { startPolls } from "./watch/polls.ts";

export interface ChaosOptions {
  readonly dir: string;
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** Repeats the faults in new orders for this long; 0: each once. */
  readonly minutes: number;
  /** The least number of runs of each fault. */
  readonly rounds: number;
  readonly onLine: (line: string) => void;
}

const PER_SECOND = 3;
const BEFORE_FIRST_MS = 4_000;
const BETWEEN_MS = 1_500;
/** Per injected fault, so that a run with one fault is judged like one with twenty. */
const MIN_PER_FAULT = { acknowledged: 8, runs: 8, entries: 25 } as const;

export async function runChaos(options: ChaosOptions): Promise<Report> {
  const { dir, seed, onLine } = options;
  const begunAt = Date.now();
  const cluster = await createChaosCluster({ dir, clockLibrary: clockLibrary() });
  const ledger = openLedger(join(dir, "ledger"));
  const copy = copyLog(
    cluster.servers.map(({ machine }) => machine),
    PREFIX,
  );
  try {
    await bootstrapCluster(cluster, { limited: LIMITED, others: UNLIMITED });
    onLine(
      `a cluster of ${cluster.servers.length} servers and ${cluster.nodes.length} nodes after ${secondsSince(begunAt)} s`,
    );
    const polls = startPolls(cluster);
    const load = startLoad({ cluster, ledger, random: randomFor(seed, "load"), perSecond: PER_SECOND });
    const context: FaultContext = { cluster, load, ledger, random: randomFor(seed, "faults") };
    await sleep(BEFORE_FIRST_MS);
    const faults = await strike(context, options);
    await load.stop();
    const end = await settle(cluster, ledger, load);
    await polls.close();
    await copy.catchUp();
    const history: History = {
      submissions: load.submissions,
      contradictions: load.contradictions,
      runs: ledger.runs(),
      polls: polls.all(),
      log: copy.entries(),
      faults,
      end,
      limits: { quotas: new Map([[LIMITED.tenant, LIMITED.nodes]]), least: leastFor(faults.length) },
    };
    return reportOf({ history, verdict: check(history), seed, seconds: secondsSince(begunAt) });
  } finally {
    await copy.close();
    await ledger.close();
    await cluster.close();
  }
}

async function strike(
  context: FaultContext,
  { faults, minutes, rounds, seed, onLine }: ChaosOptions,
): Promise<FaultRecord[]> {
  const until = Date.now() + minutes * 60_000;
  const records: FaultRecord[] = [];
  const order = randomFor(seed, "order");
  for (let round = 0; round < rounds || Date.now() < until; round += 1) {
    for (const fault of order.shuffled(faults)) {
      if (round >= rounds && Date.now() >= until) return records;
      const record = await strikeOnce(context, fault, onLine);
      records.push(record);
      await sleep(BETWEEN_MS);
    }
  }
  return records;
}

async function strikeOnce(context: FaultContext, fault: Fault, onLine: (line: string) => void): Promise<FaultRecord> {
  const begunAt = Date.now();
  const complaints: string[] = [];
  let injected: Injected | null = null;
  try {
    injected = await fault.inject(context);
    await sleep(injected.holdMs);
  } catch (error) {
    complaints.push(`it could not be carried out: ${output(error)}`);
  }
  try {
    await injected?.heal();
    complaints.push(...(await recovered(context)), ...((await injected?.verify()) ?? []));
  } catch (error) {
    complaints.push(`it could not be healed: ${output(error)}`);
  }
  const seconds = secondsSince(begunAt);
  const what = injected?.what ?? "nothing";
  onLine(`${fault.name}: ${what}; ${seconds} s, ${complaints.length === 0 ? "as expected" : complaints.join("; ")}`);
  return { name: fault.name, seconds, complaints };
}

function leastFor(faults: number): Minimums {
  const { acknowledged, runs, entries } = MIN_PER_FAULT;
  return {
    acknowledged: acknowledged * faults,
    runs: runs * faults,
    entries: entries * faults,
    faults: Math.max(1, faults),
  };
}

const secondsSince = (at: number): number => Math.round((Date.now() - at) / 100) / 10;
const output = (error: unknown): string => (error instanceof Error ? error.message : String(error));
