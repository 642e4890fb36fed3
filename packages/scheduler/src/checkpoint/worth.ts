// What a checkpoint taken now is worth, and what it costs. All amounts are in seconds of one device: a GPU, or
// a node without GPUs. Inputs are measured or estimated by the caller; their units are in their names.
//
// Value: the work that would be lost to a failure, weighed with how likely one is before as much time passes
// again; the work that would be lost to a preemption that has to do without; room that could be made for those
// who wait; and what walltime would take. Cost: the time of writing, the devices that stand still meanwhile, and
// the storage. Failures and cost alone give the well-known rule that the best interval is the square root of
// twice the cost times the time between failures.

export interface WorthInput {
  readonly nodes: number;
  /** Of all its nodes together. */
  readonly devices: number;
  readonly sizeBytes: number;
  /** How long writing takes. */
  readonly writeSeconds: number;
  /** Since its last complete checkpoint, or its start. */
  readonly sinceSeconds: number;
  /** Of its nodes, those that are not well. */
  readonly unhealthyNodes: number;
  /** Waiting allocations that could have it stopped, each weighed by the classes between them (0 to 1). */
  readonly urgencyAbove: number;
  /** Running allocations that could be stopped for those. */
  readonly candidates: number;
  /** Nodes that are waited for, as a share of all there are, at most 1. */
  readonly backlog: number;
  /** Until its walltime is over; null: it has none. */
  readonly remainingSeconds: number | null;
}

export interface WorthRates {
  /** Mean time between failures of one node. */
  readonly nodeMtbfSeconds: number;
  /** Of keeping one GB. */
  readonly storageSecondsPerGb: number;
  /** Without any other reason one is taken this often. */
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
  /** It pays, or it is time. */
  readonly pays: boolean;
  readonly reason: string;
}

/** A node that is not well fails as often as so many that are. */
const UNHEALTHY_FACTOR = 50;
/** Of preemptions, those in which the checkpoint of that moment cannot be had. */
const FORCED_SHARE = 0.1;
/** Of freed nodes, how much of an hour of theirs shortens the queue. */
const RELIEF_SHARE = 0.01;
const HOUR = 3_600;
/** So near to its walltime, beside twice the time of writing, it is asked a last time. */
const LAST_CALL_SECONDS = 300;
/** Whether work that runs into its walltime would have needed more is not known. */
const UNFINISHED_SHARE = 0.5;
/** Writing may take up no more than this share of an allocation's time. */
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

/** Whoever waits stops one of the candidates. */
function preemptionChance({ urgencyAbove, candidates }: WorthInput): number {
  return candidates === 0 ? 0 : Math.min(1, urgencyAbove / candidates);
}

/** Nothing for one whose newest checkpoint is fresh. */
function reliefOf({ backlog, remainingSeconds, devices, sinceSeconds }: WorthInput): number {
  const freed = Math.min(remainingSeconds ?? HOUR, HOUR) * devices;
  return backlog * freed * RELIEF_SHARE * (1 - Math.exp(-sinceSeconds / HOUR));
}

/** There is still time to write it, and there will not be another good moment. */
function isLastCall({ remainingSeconds, writeSeconds, sinceSeconds }: WorthInput): boolean {
  if (remainingSeconds === null || remainingSeconds <= writeSeconds) return false;
  return remainingSeconds <= LAST_CALL_SECONDS + 2 * writeSeconds && sinceSeconds > remainingSeconds;
}

type Terms = Pick<Worth, "recomputeSaved" | "preemptability" | "backlogRelief" | "walltimeRisk" | "value" | "cost">;

function reasonOf(terms: Terms, { tooSoon, due }: { readonly tooSoon: boolean; readonly due: boolean }): string {
  if (tooSoon) return "its newest checkpoint, or its start, is too recent";
  if (terms.value <= terms.cost)
    return due ? "it is time for one, quiet as things are" : "it would cost more than it saves";
  const { recomputeSaved, preemptability, backlogRelief, walltimeRisk } = terms;
  const most = Math.max(recomputeSaved, preemptability, backlogRelief, walltimeRisk);
  if (most === walltimeRisk) return "its walltime is nearly over";
  if (most === preemptability) return "work of a higher class waits for nodes like its own";
  if (most === backlogRelief) return "many wait for nodes";
  return "a failure would lose more than it costs";
}
