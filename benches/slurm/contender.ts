// Slurm and Lattice behind one interface: both are used through a client program per submission.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Cluster } from "../../tests/harness/cluster.ts";
import { cleanEnvironment, programPath } from "../../tests/harness/program.ts";
import { drainAll } from "../with-cluster.ts";
import { NODES, type SlurmCluster } from "./slurm-cluster.ts";

/** A client program with the arguments that submit a command line, and its environment. */
interface Client {
  readonly env: NodeJS.ProcessEnv;
  readonly submit: (line: string) => readonly string[];
}

export interface Contender {
  /** `share`: submissions measured, of the usual number; programs that take long get fewer. */
  readonly clients: readonly { readonly name: string; readonly share: number; readonly client: Client }[];
  /** Submits an array of so many elements of /bin/true. */
  submitArray(count: number): void;
  drain(): Promise<void>;
  undrain(): Promise<void>;
  /** Whether no submitted work is left. */
  isEmpty(): Promise<boolean>;
}

export function slurmContender(slurm: SlurmCluster): Contender {
  const nodes = NODES.join(",");
  const submit = (line: string): readonly string[] => ["/usr/bin/sbatch", "-o", "/dev/null", `--wrap=${line}`];
  return {
    clients: [{ name: "sbatch", share: 1, client: { env: slurm.env, submit } }],
    submitArray(count) {
      slurm.command("sbatch", ["-o", "/dev/null", `--array=0-${count - 1}`, "--wrap=/bin/true"]);
    },
    async drain() {
      slurm.command("scontrol", ["update", `nodename=${nodes}`, "state=drain", "reason=bench"]);
    },
    async undrain() {
      slurm.command("scontrol", ["update", `nodename=${nodes}`, "state=resume"]);
    },
    isEmpty: async () => slurm.command("squeue", ["-h", "-o", "%i"]).trim() === "",
  };
}

export function latticeContender(cluster: Cluster): Contender {
  const env = cleanEnvironment(cluster.cliEnvironment());
  const folder = join(cluster.dir, "slurm");
  run(programPath("lattice"), ["compat", "install", folder], env);
  const sbatch = [join(folder, "sbatch"), "-o", "/dev/null"];
  const url = `${cluster.apiUrl}/api/v1/allocations`;
  const curl = ["/usr/bin/curl", "-sf", "-o", "/dev/null", "-H", "content-type: application/json", url, "-d"];
  return {
    // Each sbatch of Lattice is a program in Node.js; curl is as small as Slurm's client.
    clients: [
      { name: "sbatch", share: 0.2, client: { env, submit: (line) => [...sbatch, `--wrap=${line}`] } },
      { name: "curl", share: 1, client: { env, submit: (line) => [...curl, JSON.stringify({ entrypoint: line })] } },
    ],
    submitArray(count) {
      run(sbatch[0] ?? "", [...sbatch.slice(1), `--array=0-${count - 1}`, "--wrap=/bin/true"], env);
    },
    drain: () => drainAll(cluster),
    async undrain() {
      for (const node of cluster.nodeIds) await cluster.api("POST", `/nodes/${node}/undrain`, { body: {} });
    },
    async isEmpty() {
      const states = "state=pending&state=staging&state=running&page_size=1";
      const { body } = await cluster.api<{ allocations?: unknown[] }>("GET", `/allocations?${states}`);
      return (body.allocations ?? []).length === 0;
    },
  };
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const done = spawnSync(program, args, { env, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${program} ${args.join(" ")}: ${done.stderr}`);
}

/** Submits the line so often, by so many programs at a time, and returns the seconds that this takes. */
export function submitMany(
  { env, submit }: Client,
  { line, count, atOnce }: { readonly line: string; readonly count: number; readonly atOnce: number },
): number {
  const from = performance.now();
  const words = ["-P", String(atOnce), "-I{}", ...submit(line)];
  const input = Array.from({ length: count }, (_, n) => n).join("\n");
  const done = spawnSync("/usr/bin/xargs", words, { env, input, encoding: "utf8", maxBuffer: 2 ** 26 });
  if (done.status !== 0) throw new Error(`a submission failed: ${done.stderr.slice(0, 500)}`);
  return (performance.now() - from) / 1000;
}
