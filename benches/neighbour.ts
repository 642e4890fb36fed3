// Throughput of a job on a shared node while another user's job, on the other core, is a fork bomb, exhausts its memory, or
// does both. The node is a real agent that is root, with accounts of the machine and its control groups. The comparison is
// with an ordinary job on the other core, which runs before and after each: two busy cores of a processor are slower than
// one.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cluster } from "../tests/harness/cluster.ts";
import { sleep } from "../tests/harness/eventually.ts";
import { atLeast, type Bench, type Figure, quantile, withoutTarget } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const WINDOW_MS = 2_000;
/** Until the bomb has reached its limit and the memory is full. */
const WARM_UP_MS = 1_000;
const ATTACK_SECONDS = 15;
const MIN_SHARE = 0.9;
/** Programs that read the command lines of all processes, such as ps, wait for each of them. */
const PROCESSES = 300;
/** Of all groups of agents: 64 times the preset, or the most. */
const WEIGHTS = [
  ["/sys/fs/cgroup/cpu/lattice/cpu.shares", 65_536],
  ["/sys/fs/cgroup/lattice/cpu.weight", 10_000],
] as const;
const NEIGHBOUR = "lattice-bench-1";
const ATTACKER = "lattice-bench-2";
const SHARE = { vcluster: "small", walltime: "1h", workdir: "/", constraints: { cpu_cores: 1, memory_gb: 1 } };

/** Hashes memory and starts `/bin/true`, a tenth of a second each, and prints how often within how many seconds. */
const WORK = `import hashlib, os, time
block = bytearray(1 << 20)
def compute():
    hashlib.sha256(block).digest()
    block[:] = bytes(block)
def starts():
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
while True:
    for work in (compute, starts):
        began = time.monotonic()
        done = 0
        while time.monotonic() - began < 0.1:
            work()
            done += 1
        print(work.__name__, int(time.time() * 1000), done, time.monotonic() - began, flush=True)
`;
/** All end by themselves, so that a bench that is interrupted leaves nothing behind. */
const UNTIL = `import os, time
until = time.monotonic() + ${ATTACK_SECONDS}
`;
const BOMB = `while time.monotonic() < until:
    try:
        os.fork()
    except OSError:
        pass
`;
/** Each part fills memory until the kernel ends it, again and again. */
const HOG = `while time.monotonic() < until:
    if os.fork() == 0:
        parts = []
        while time.monotonic() < until:
            parts.append(bytearray(b"x") * (1 << 24))
    os.wait()
`;
const BOTH = `if os.fork() == 0:
    exec(${JSON.stringify(HOG)})
${BOMB}`;
const ORDINARY = `${UNTIL}while time.monotonic() < until:
    pass
`;
const ATTACKS = {
  fork_bomb: UNTIL + BOMB,
  memory_hog: UNTIL + HOG,
  fork_bomb_and_memory_hog: UNTIL + BOTH,
};

interface Rates {
  readonly compute: number;
  readonly starts: number;
}

export const neighbour: Bench = async (log) => {
  const size = ["--cpu-cores", "2", "--memory-gb", "4", "--max-pids", String(PROCESSES)];
  const agentArgs = ["--user-mapping", "passwd", "--allow-unauthenticated", ...size];
  const restore = preferJobs();
  try {
    return await withCluster({ nodes: 1, agentArgs }, (cluster) => measure(cluster, log), [NEIGHBOUR, ATTACKER]);
  } finally {
    restore();
  }
};

/** Other programs of the machine get little CPU time meanwhile, as on a node that runs jobs only. */
function preferJobs(): () => void {
  const [file, weight] = WEIGHTS.find(([path]) => existsSync(path)) ?? [null, 0];
  if (file === null) return () => undefined;
  const before = readFileSync(file, "utf8");
  writeFileSync(file, String(weight));
  return () => writeFileSync(file, before);
}

async function measure(cluster: Cluster, log: (text: string) => void): Promise<Figure[]> {
  const made = await cluster.cli([
    "admin",
    "vcluster",
    "create",
    "small",
    "--scheduler=interactive-fifo",
    "--share-nodes",
  ]);
  if (made.code !== 0) throw new Error(made.stderr);
  const id = await start(cluster, NEIGHBOUR, WORK);
  const output = join(cluster.dir, "agent-node-1", "attempts", `${id}.1`, "stdout");
  const window = async (): Promise<Rates> => {
    const from = Date.now();
    await sleep(WINDOW_MS);
    return ratesOf(readFileSync(output, "utf8"), from);
  };
  const beside = async (program: string): Promise<Rates> => {
    const other = await start(cluster, ATTACKER, program);
    await sleep(WARM_UP_MS);
    const rates = await window();
    await end(cluster, other);
    return rates;
  };
  const all = new Map(["ordinary_job", ...Object.keys(ATTACKS)].map((name) => [name, [] as Rates[]]));
  for (let round = 1; round <= ROUNDS; round += 1) {
    await sleep(WARM_UP_MS);
    const alone = await window();
    let before = await beside(ORDINARY);
    note("ordinary_job", shareOf(before, alone));
    for (const [name, program] of Object.entries(ATTACKS)) {
      const under = await beside(program);
      const after = await beside(ORDINARY);
      note(name, shareOf(under, { compute: mean(before, after, "compute"), starts: mean(before, after, "starts") }));
      before = after;
    }
  }
  await end(cluster, id);
  return [...all].flatMap(([name, rates]) => {
    const [compute, starts] = [median(rates, "compute"), median(rates, "starts")];
    if (name === "ordinary_job") return [withoutTarget(`throughput_beside_${name}`, compute, "of alone")];
    return [
      atLeast(`throughput_beside_${name}`, compute, "of ordinary", MIN_SHARE),
      atLeast(`process_starts_beside_${name}`, starts, "of ordinary", MIN_SHARE),
    ];
  });

  function note(name: string, share: Rates): void {
    all.get(name)?.push(share);
    log(`${name}: ${share.compute.toFixed(3)}, starts ${share.starts.toFixed(3)}`);
  }
}

const shareOf = (rates: Rates, base: Rates): Rates => ({
  compute: rates.compute / base.compute,
  starts: rates.starts / base.starts,
});
const mean = (a: Rates, b: Rates, of: keyof Rates): number => (a[of] + b[of]) / 2;

async function start(cluster: Cluster, user: string, program: string): Promise<string> {
  const body = { ...SHARE, command: ["python3", "-c", program] };
  const id = await cluster.submit(body, { headers: { "x-lattice-user": user } });
  await cluster.reaches(id, ["running"]);
  return id;
}

async function end(cluster: Cluster, id: string): Promise<void> {
  await cluster.api("DELETE", `/allocations/${id}`);
  await cluster.ends(id);
  await cluster.released(id);
}

/** Per second since then. A start that is delayed counts with its whole time. */
function ratesOf(output: string, from: number): Rates {
  const lines = output.split("\n").map((line) => line.split(" "));
  const rate = (of: keyof Rates): number => {
    const since = lines.filter(([name, at]) => name === of && Number(at) >= from);
    const sum = (column: number): number => since.reduce((total, line) => total + Number(line[column]), 0);
    return since.length === 0 ? 0 : sum(2) / sum(3);
  };
  return { compute: rate("compute"), starts: rate("starts") };
}

const median = (rates: readonly Rates[], of: keyof Rates): number =>
  quantile(
    rates.map((each) => each[of]),
    0.5,
  );
