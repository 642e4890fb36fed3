// The same work through Debian's Slurm and through Lattice, alternately on the same machine: submissions by a client
// program each, 1,000 x /bin/true and an array of it from undrain or submission to the last end, and the latency from
// the start of the client program to the start of the job. Slurm runs once with its defaults and once tuned for short
// jobs; each ratio uses the better figure of Slurm. Needs root and Slurm's packages; installs nothing.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, sleep } from "../tests/harness/eventually.ts";
import { atLeast, type Bench, type Figure, quantile, withoutTarget } from "./figure.ts";
import { type Contender, latticeContender, slurmContender, submitMany } from "./slurm/contender.ts";
import { missingPackages, SlurmCluster } from "./slurm/slurm-cluster.ts";
import { withCluster } from "./with-cluster.ts";

const JOBS = Math.round(1_000 * Number(process.env.BENCH_SHARE ?? 1));
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 1);
const STARTS = 20;
const AT_ONCE = 8;
const POLL_MS = 100;
const PAUSE_MS = 200;
const WITHIN_MS = 600_000;
const MIN_JOBS_RATIO = 5;

/** Figures of one system by name, one value for each round. */
type Measured = Map<string, number[]>;

export const compareSlurm: Bench = async (log) => {
  const missing = missingPackages();
  if (missing.length > 0) {
    log(`skipped: install ${missing.join(" ")} (Debian) to compare with Slurm`);
    return [];
  }
  const slurm: Measured = new Map();
  const tuned: Measured = new Map();
  const lattice: Measured = new Map();
  const before = cpuTimes();
  const [loadBefore = 0] = loadavg();
  await withCluster({ nodes: 4 }, async (cluster) => {
    const own = latticeContender(cluster);
    for (let round = 0; round < ROUNDS; round += 1) {
      await withSlurm(false, (peer) => measure(peer, slurm, (text) => log(`slurm: ${text}`)));
      await measure(own, lattice, (text) => log(`lattice: ${text}`));
      await withSlurm(true, (peer) => measure(peer, tuned, (text) => log(`slurm, tuned: ${text}`)));
      await measure(own, lattice, (text) => log(`lattice: ${text}`));
    }
  });
  return [
    ...figuresOf("slurm", slurm),
    ...figuresOf("slurm_tuned", tuned),
    ...figuresOf("lattice", lattice),
    ...ratios(lattice, [slurm, tuned]),
    withoutTarget("load_average_before", loadBefore, "processes"),
    withoutTarget("load_average_after", loadavg()[0] ?? 0, "processes"),
    withoutTarget("steal_time", stealShare(before, cpuTimes()) * 100, "%"),
  ];
};

async function withSlurm(isTuned: boolean, use: (peer: Contender) => Promise<void>): Promise<void> {
  const cluster = new SlurmCluster();
  try {
    await cluster.start(isTuned);
    await use(slurmContender(cluster));
  } finally {
    await cluster.close();
  }
}

async function measure(system: Contender, into: Measured, log: (text: string) => void): Promise<void> {
  await system.drain();
  let submitted = 0;
  for (const { name, share, client } of system.clients) {
    const count = Math.ceil(JOBS * share);
    const rate = count / submitMany(client, { line: "/bin/true", count, atOnce: AT_ONCE });
    log(`${rate.toFixed(0)} submissions/s by ${name}`);
    add(into, `submissions_by_${name}`, rate);
    submitted += count;
  }
  const jobs = submitted / (await secondsUntilEmpty(system, () => system.undrain()));
  log(`${jobs.toFixed(0)} jobs/s`);
  add(into, "jobs", jobs);
  const elements = JOBS / (await secondsUntilEmpty(system, async () => system.submitArray(JOBS)));
  log(`${elements.toFixed(0)} elements of an array/s`);
  add(into, "array", elements);
  for (const { name, client } of system.clients) add(into, `start_latency_by_${name}`, await startLatency(client));
}

async function secondsUntilEmpty(system: Contender, begin: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await begin();
  await eventually({ what: "all work has ended", withinMs: WITHIN_MS, everyMs: POLL_MS }, async () =>
    (await system.isEmpty()) ? true : null,
  );
  return (performance.now() - from) / 1000;
}

/** Returns the median from the start of the client program to the start of the job, on idle nodes. */
async function startLatency(client: Contender["clients"][number]["client"]): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "lattice-starts-"));
  const latencies: number[] = [];
  try {
    for (let n = 0; n < STARTS; n += 1) {
      const file = join(dir, String(n));
      const from = performance.timeOrigin + performance.now();
      submitMany(client, { line: `date +%s%N > ${file}.new && mv ${file}.new ${file}`, count: 1, atOnce: 1 });
      await eventually({ what: "the job has run", everyMs: 10 }, () => (existsSync(file) ? true : null));
      latencies.push(Number(readFileSync(file, "utf8")) / 1e6 - from);
      await sleep(PAUSE_MS);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return quantile(latencies, 0.5);
}

function add(into: Measured, name: string, value: number): void {
  into.set(name, [...(into.get(name) ?? []), value]);
}

const isLatency = (name: string): boolean => name.startsWith("start_latency");

const median = (measured: Measured, name: string): number => quantile(measured.get(name) ?? [], 0.5);

const figuresOf = (system: string, measured: Measured): readonly Figure[] =>
  [...measured.keys()].map((name) =>
    withoutTarget(`${system}_${name}`, median(measured, name), isLatency(name) ? "ms" : "1/s"),
  );

/** How many times better Lattice is than the better figure of Slurm, whose client is always sbatch. */
const ratios = (lattice: Measured, peers: readonly Measured[]): readonly Figure[] =>
  [...lattice.keys()].map((name) => {
    const theirs = peers.map((peer) => median(peer, name.replace("_by_curl", "_by_sbatch")));
    const own = median(lattice, name);
    const ratio = isLatency(name) ? Math.min(...theirs) / own : own / Math.max(...theirs);
    return name === "jobs"
      ? atLeast("ratio_jobs", ratio, "times", MIN_JOBS_RATIO)
      : withoutTarget(`ratio_${name}`, ratio, "times");
  });

interface CpuTimes {
  readonly total: number;
  readonly steal: number;
}

function cpuTimes(): CpuTimes {
  const [first = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  const times = first.split(/\s+/).slice(1, 9).map(Number);
  return { total: times.reduce((sum, time) => sum + time, 0), steal: times[7] ?? 0 };
}

const stealShare = (from: CpuTimes, to: CpuTimes): number => (to.steal - from.steal) / (to.total - from.total);
