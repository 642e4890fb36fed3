// One run: start the cluster, put it under load, strike it with one fault after another, let everything come to rest,
// and judge what was seen. Must be called inside namespaces of its own (`apart.ts`).
import { join } from "node:path";
import { sleep } from "../harness/eventually.ts";
import { begin } from "./begin.ts";
import { check } from "./check/check.ts";
import type { Fault, Injected, Scene } from "./faults/fault.ts";
import { recovered } from "./faults/recovery.ts";
import type { FaultRecord, History, Least } from "./history.ts";
import { LIMITED, startLoad } from "./load/load.ts";
import { randomFor } from "./load/random.ts";
import { type Report, reportOf } from "./report.ts";
import { comeToRest } from "./rest.ts";
import { clockLibrary } from "./setting/clock.ts";
import { createStage, PREFIX } from "./stage.ts";
import { openLedger } from "./watch/ledger.ts";
import { copyLog } from "./watch/log-copy.ts";
import { startPolls } from "./watch/polls.ts";

export interface ChaosOptions {
  readonly dir: string;
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** Faults strike again, in new orders, until so long has passed; 0: each once. */
  readonly minutes: number;
  readonly onLine: (line: string) => void;
}

const PER_SECOND = 3;
const BEFORE_FIRST_MS = 4_000;
const BETWEEN_MS = 1_500;
/** For each fault struck; a run of one fault is judged like one of twenty. */
const LEAST_PER_FAULT = { acknowledged: 8, runs: 8, entries: 25 } as const;

export async function runChaos(options: ChaosOptions): Promise<Report> {
  const { dir, seed, onLine } = options;
  const begunAt = Date.now();
  const stage = await createStage({ dir, clockLibrary: clockLibrary() });
  const ledger = openLedger(join(dir, "ledger"));
  const copy = copyLog(
    stage.servers.map(({ machine }) => machine),
    PREFIX,
  );
  try {
    await begin(stage, LIMITED);
    onLine(
      `a cluster of ${stage.servers.length} servers and ${stage.nodes.length} nodes after ${secondsSince(begunAt)} s`,
    );
    const polls = startPolls(stage);
    const load = startLoad({ stage, ledger, random: randomFor(seed, "load"), perSecond: PER_SECOND });
    const scene: Scene = { stage, load, ledger, random: randomFor(seed, "faults") };
    await sleep(BEFORE_FIRST_MS);
    const faults = await strike(scene, options);
    await load.stop();
    const end = await comeToRest(stage, ledger, load);
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
    await stage.close();
  }
}

async function strike(scene: Scene, { faults, minutes, seed, onLine }: ChaosOptions): Promise<FaultRecord[]> {
  const until = Date.now() + minutes * 60_000;
  const records: FaultRecord[] = [];
  const order = randomFor(seed, "order");
  for (let round = 0; round === 0 || Date.now() < until; round += 1) {
    for (const fault of order.shuffled(faults)) {
      if (round > 0 && Date.now() >= until) return records;
      const record = await strikeOnce(scene, fault, onLine);
      records.push(record);
      await sleep(BETWEEN_MS);
    }
  }
  return records;
}

async function strikeOnce(scene: Scene, fault: Fault, onLine: (line: string) => void): Promise<FaultRecord> {
  const begunAt = Date.now();
  const complaints: string[] = [];
  let injected: Injected | null = null;
  try {
    injected = await fault.inject(scene);
    await sleep(injected.holdMs);
  } catch (error) {
    complaints.push(`it could not be carried out: ${said(error)}`);
  }
  try {
    await injected?.heal();
    complaints.push(...(await recovered(scene)), ...((await injected?.verify()) ?? []));
  } catch (error) {
    complaints.push(`it could not be healed: ${said(error)}`);
  }
  const seconds = secondsSince(begunAt);
  const what = injected?.what ?? "nothing";
  onLine(`${fault.name}: ${what}; ${seconds} s, ${complaints.length === 0 ? "as expected" : complaints.join("; ")}`);
  return { name: fault.name, seconds, complaints };
}

function leastFor(faults: number): Least {
  const { acknowledged, runs, entries } = LEAST_PER_FAULT;
  return {
    acknowledged: acknowledged * faults,
    runs: runs * faults,
    entries: entries * faults,
    faults: Math.max(1, faults),
  };
}

const secondsSince = (at: number): number => Math.round((Date.now() - at) / 100) / 10;
const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));
