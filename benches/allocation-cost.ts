// The processor time of one allocation in the server, in microseconds per step of its path: a CPU profile of the main thread
// and of the planner while hollow nodes run 2,000 allocations. A sample counts for the innermost step on its stack.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "../tests/harness/cluster.ts";
import { eventually, sleep } from "../tests/harness/eventually.ts";
import { cpuSeconds, kill } from "../tests/harness/processes.ts";
import { root } from "../tests/harness/program.ts";
import { type Bench, below, type Figure, type Progress, withoutTarget } from "./figure.ts";
import { startHollow } from "./hollow-nodes.ts";
import { runClient } from "./load-client.ts";
import { withCluster } from "./with-cluster.ts";

const NODES = 4;
const JOBS = 2_000;
const CONNECTIONS = 8;
const MAX_SERVER_MS = 1.5;
const BODY = { command: ["/bin/true"], env: { LATTICE_HOLLOW_RUNTIME_MS: "1" } };

/** The functions of each step, without the numbers that the bundler appends. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  parse: ["parseBody", "normaliseSubmission", "specFromProto"],
  authorise: ["authorize", "authenticate"],
  propose: ["propose", "#gather", "batchSize"],
  encode: ["encodeEntry", "canonical"],
  append: ["append", "datasync", "#append"],
  decode: ["decodeEntry"],
  apply: ["applyEntry"],
  hash: ["stateHash", "warmStateHash", "sha256"],
  events: ["record", "onEvents"],
  planner: ["#flush", "#receive", "postMessage"],
  plan: ["recordCycle", "runCycle"],
  commit: ["commitPlan"],
  order: ["performEffects", "#send"],
  report: ["#report", "#commit", "receive"],
  history: ["archive", "writeRecords"],
  list: ["listAllocations"],
  answer: ["answerUnary", "invokeUnary"],
  collect: ["(garbage collector)"],
};

export const allocationCost: Bench = async (log) => {
  const dir = mkdtempSync(join(tmpdir(), "lattice-cost-"));
  const serverEnv = {
    NODE_OPTIONS: `--import ${join(root, "benches", "clients", "profile.mjs")}`,
    LATTICE_BENCH_PROFILE_DIR: dir,
  };
  try {
    return await withCluster({ nodes: 0, serverEnv }, async (cluster) => {
      await startHollow(cluster, NODES);
      await submitAndRun(cluster);
      log("warm");
      return await measure(cluster, dir, log);
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

async function measure(cluster: Cluster, dir: string, log: Progress): Promise<Figure[]> {
  const { pid } = cluster.server;
  const unprofiled = cpuSeconds(pid);
  await submitAndRun(cluster);
  const perJobMs = ((cpuSeconds(pid) - unprofiled) * 1000) / JOBS;
  kill(pid, "SIGUSR2");
  await sleep(100);
  await submitAndRun(cluster);
  kill(pid, "SIGUSR2");
  await eventually({ what: "profiles are written" }, () => (readdirSync(dir).length >= 2 ? true : null));
  await sleep(500);
  const figures = [below("server_cpu_per_allocation", perJobMs, "ms", MAX_SERVER_MS)];
  for (const file of readdirSync(dir).sort()) {
    const thread = file === "main.json" ? "main" : "planner";
    const spent = spentIn(JSON.parse(readFileSync(join(dir, file), "utf8")) as Profile);
    if (thread === "planner" && (spent.get("plan") ?? 0) === 0) continue;
    for (const [step, us] of [...spent].sort((a, b) => b[1] - a[1]))
      figures.push(withoutTarget(`${thread}_${step.replace(" ", "_")}`, us / JOBS, "us"));
  }
  log(`${figures.length - 1} steps`);
  return figures;
}

async function submitAndRun(cluster: Cluster): Promise<void> {
  await runClient("rest-load", { address: cluster.restAddress, connections: CONNECTIONS, calls: JOBS, body: BODY });
  await eventually({ what: "all have ended", withinMs: 300_000, everyMs: 500 }, async () => {
    const { body } = await cluster.api<{ total?: number }>(
      "GET",
      "/allocations?state=pending&state=running&page_size=1",
    );
    return (body.total ?? 0) === 0 ? true : null;
  });
}

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Microseconds by step, without idle time. */
function spentIn({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const stepOf = new Map<string, string>();
  for (const [step, names] of Object.entries(STEPS)) for (const name of names) stepOf.set(name, step);
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const names = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName.replace(/\d+$/, "")]));
  const spent = new Map<string, number>();
  for (const [n, sample] of samples.entries()) {
    if (names.get(sample) === "(idle)") continue;
    let at: number | undefined = sample;
    let step: string | undefined;
    while (at !== undefined && step === undefined) {
      step = stepOf.get(names.get(at) ?? "");
      at = parents.get(at);
    }
    spent.set(step ?? "rest", (spent.get(step ?? "rest") ?? 0) + (timeDeltas[n] ?? 0));
  }
  return spent;
}
