// The value and the cost of a checkpoint now, in seconds of one device: a GPU, or a node without GPUs. The caller
// measures or estimates the inputs. Value: work lost to a failure, times its probability until the next checkpoint;
// work lost to a preemption without a checkpoint; nodes freed for waiting work; work lost at the walltime. Cost:
// writing, idle devices, and storage. Failures and cost alone give the known rule that the best interval is the square
// root of twice the cost times the mean time between failures.

export interface WorthInput {
  readonly nodes: number;
  /** Over all of its nodes. */
  readonly devices: number;
  readonly sizeBytes: number;
  /** The time to write it. */
  readonly writeSeconds: number;
  /** Since its last complete checkpoint, or its start. */
  readonly sinceSeconds: number;
  /** How many of its nodes are unhealthy. */
  readonly unhealthyNodes: number;
  /** Waiting allocations that could preempt it, each weighted by the classes between them (0 to 1). */
  readonly urgencyAbove: number;
  /** Running allocations that they could preempt. */
  readonly candidates: number;
  /** Nodes that pending work needs, as a part of all nodes, at most 1. */
  readonly backlog: number;
  /** Until its walltime; `null` when unbounded. */
  readonly remainingSeconds: number | null;
}

export interface WorthRates {
  /** Mean time between failures of one node. */
  readonly nodeMtbfSeconds: number;
  /** The cost of storing one GB. */
  readonly storageSecondsPerGb: number;
  /** A checkpoint is due after this time without any other reason. */
  readonly quietSeconds: number;
}

export interface Worth {
  readonly failureProbability: number;
  readonly recomputeSaved: number;
  readonly preemptability: number;
  readonly backlogRelief: number;
  readonly walltimeRisk: number;
  readonly writeTime: number;
  readonly computeWaste: number;
  readonly storageCost: number;
  readonly value: number;
  readonly cost: number;
  /** It pays off, or it is due. */
  readonly pays: boolean;
  readonly reason: string;
}

/** An unhealthy node fails as often as this many healthy ones. */
const UNHEALTHY_FACTOR = 50;
/** The part of preemptions without a final checkpoint. */
const FORCED_SHARE = 0.1;
/** The part of an hour of freed nodes that shortens the queue. */
const RELIEF_SHARE = 0.01;
const HOUR = 3_600;
/** This close to its walltime, in addition to twice the write time, a last checkpoint is due. */
const LAST_CALL_SECONDS = 300;
/** Whether work that reaches its walltime needs more is unknown. */
const UNFINISHED_SHARE = 0.5;
/** The interval is at least this many times the write time. */
const LEAST_INTERVAL_FACTOR = 10;
const LEAST_INTERVAL_SECONDS = 60;
const GB = 1e9;

export function worthOf(input: WorthInput, rates: WorthRates): Worth {
  const { devices, sinceSeconds: since, writeSeconds } = input;
  const work = since * devices;
  const failureProbability = failureChance(input, rates);
  const recomputeSaved = work * failureProbability;
  const preemptability = work * preemptionChance(input) * FORCED_SHARE;
  const backlogRelief = reliefOf(input);
  const walltimeRisk = isLastCall(input) ? work * UNFINISHED_SHARE : 0;
  const writeTime = writeSeconds;
  const computeWaste = writeSeconds * devices;
  const storageCost = (input.sizeBytes / GB) * rates.storageSecondsPerGb;
  const value = recomputeSaved + preemptability + backlogRelief + walltimeRisk;
  const cost = writeTime + computeWaste + storageCost;
  const tooSoon = since < Math.max(LEAST_INTERVAL_SECONDS, writeSeconds * LEAST_INTERVAL_FACTOR);
  const due = since >= rates.quietSeconds;
  const pays = !tooSoon && (value > cost || due);
  const terms = { failureProbability, recomputeSaved, preemptability, backlogRelief, walltimeRisk };
  const costs = { writeTime, computeWaste, storageCost, value, cost };
  return { ...terms, ...costs, pays, reason: reasonOf({ ...terms, value, cost }, { tooSoon, due }) };
}

function failureChance({ nodes, unhealthyNodes, sinceSeconds }: WorthInput, { nodeMtbfSeconds }: WorthRates): number {
  const weighed = nodes + unhealthyNodes * (UNHEALTHY_FACTOR - 1);
  return 1 - Math.exp((-weighed * sinceSeconds) / nodeMtbfSeconds);
}

/** Each waiting allocation stops one of the candidates. */
function preemptionChance({ urgencyAbove, candidates }: WorthInput): number {
  return candidates === 0 ? 0 : Math.min(1, urgencyAbove / candidates);
}

/** Nothing while the newest checkpoint is recent. */
function reliefOf({ backlog, remainingSeconds, devices, sinceSeconds }: WorthInput): number {
  const freed = Math.min(remainingSeconds ?? HOUR, HOUR) * devices;
  return backlog * freed * RELIEF_SHARE * (1 - Math.exp(-sinceSeconds / HOUR));
}

/** There is still time to write it, and no later opportunity. */
function isLastCall({ remainingSeconds, writeSeconds, sinceSeconds }: WorthInput): boolean {
  if (remainingSeconds === null || remainingSeconds <= writeSeconds) return false;
  return remainingSeconds <= LAST_CALL_SECONDS + 2 * writeSeconds && sinceSeconds > remainingSeconds;
}

type Terms = Pick<Worth, "recomputeSaved" | "preemptability" | "backlogRelief" | "walltimeRisk" | "value" | "cost">;

function reasonOf(terms: Terms, { tooSoon, due }: { readonly tooSoon: boolean; readonly due: boolean }): string {
  if (tooSoon) return "its newest checkpoint, or its start, is too recent";
  if (terms.value <= terms.cost) return due ? "its regular checkpoint is due" : "it would cost more than it saves";
  const { recomputeSaved, preemptability, backlogRelief, walltimeRisk } = terms;
  const most = Math.max(recomputeSaved, preemptability, backlogRelief, walltimeRisk);
  if (most === walltimeRisk) return "its walltime is nearly over";
  if (most === preemptability) return "work of a higher class waits for nodes like its own";
  if (most === backlogRelief) return "many wait for nodes";
  return "a failure would lose more than it costs";
}
