// Launch of a small MPI program, from the request to the last exit, compared with Hydra's `mpiexec`. Both alternate in
// the same run, so that other work on the machine affects both.
import { spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { request } from "node:http";
import type { Cluster } from "../tests/harness/cluster.ts";
import { sleep } from "../tests/harness/eventually.ts";
import { compileMpi } from "../tests/harness/mpi.ts";
import { type Bench, below, type Figure, type Progress, quantile, withoutTarget } from "./figure.ts";
import { JOB_USERS, type JobUser, withCluster } from "./with-cluster.ts";

const RUNS = 15;
const WARM_UP_RUNS = 3;
const PAUSE_MS = 400;

interface Series {
  readonly nodes: number;
  readonly tasksPerNode: number;
  /** `null` without a target. */
  readonly apiFactor: number | null;
  /** `null` when the CLI is not measured. */
  readonly cliFactor: number | null;
}

export const mpiLaunch: Bench = async (log) => [
  ...(await measure({ nodes: 2, tasksPerNode: 2, apiFactor: 1.3, cliFactor: 1.6 }, log)),
  ...(await measure({ nodes: 4, tasksPerNode: 4, apiFactor: 2, cliFactor: null }, log)),
  ...(await measure({ nodes: 2, tasksPerNode: 2, apiFactor: null, cliFactor: null }, log, JOB_USERS[1])),
];

function measure(
  series: Series,
  log: Progress,
  { agentArgs, user, suffix }: JobUser = JOB_USERS[0],
): Promise<readonly Figure[]> {
  const { nodes, tasksPerNode, apiFactor, cliFactor } = series;
  const ranks = nodes * tasksPerNode;
  return withCluster({ nodes, agentArgs }, async (cluster) => {
    // Ranks of another user must be able to read the program.
    chmodSync(cluster.dir, 0o755);
    const program = compileMpi(cluster.dir, "hello");
    const headers = { "x-lattice-user": user };
    const id = await cluster.submit({ nodes, walltime: "1h", command: ["sleep", "3600"] }, { headers });
    await cluster.reaches(id, ["running"]);
    const times = { hydra: [] as number[], api: [] as number[], cli: [] as number[] };
    for (let run = 0; run < WARM_UP_RUNS + RUNS; run += 1) {
      const hydra = await timed(() => runHydra(ranks, program));
      const api = await timed(() => launch(cluster, { id, tasksPerNode, program, user }));
      const cli = cliFactor === null ? 0 : await timed(() => launchByCli(cluster, id, tasksPerNode, program));
      if (run < WARM_UP_RUNS) continue;
      times.hydra.push(hydra);
      times.api.push(api);
      times.cli.push(cli);
    }
    const hydra = quantile(times.hydra, 0.5);
    log(`${ranks} ranks: mpiexec ${Math.round(hydra)} ms, LaunchTasks ${Math.round(quantile(times.api, 0.5))} ms`);
    const name = `ranks_${ranks}${suffix}`;
    const factor = quantile(times.api, 0.5) / hydra;
    return [
      withoutTarget(`${name}_mpiexec_p50`, hydra, "ms"),
      withoutTarget(`${name}_launch_p50`, quantile(times.api, 0.5), "ms"),
      apiFactor === null
        ? withoutTarget(`${name}_launch_to_mpiexec`, factor, "times")
        : below(`${name}_launch_to_mpiexec`, factor, "times", apiFactor),
      ...(cliFactor === null
        ? []
        : [below(`${name}_cli_to_mpiexec`, quantile(times.cli, 0.5) / hydra, "times", cliFactor)]),
    ];
  });
}

/** Pauses first, until the previous run is cleaned up. */
async function timed(act: () => Promise<void>): Promise<number> {
  await sleep(PAUSE_MS);
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}

function runHydra(ranks: number, program: string): Promise<void> {
  return ended(spawn("mpiexec.hydra", ["-n", String(ranks), program], { stdio: "ignore" }));
}

function launchByCli(cluster: Cluster, id: string, tasksPerNode: number, program: string): Promise<void> {
  const args = ["launch", `--alloc=${id}`, `--tasks-per-node=${tasksPerNode}`, program];
  const env = { ...process.env, ...cluster.cliEnvironment() };
  return ended(spawn("node_modules/.bin/lattice", args, { stdio: "ignore", env }));
}

function ended(child: ReturnType<typeof spawn>): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`the launch exited with status ${code}`))));
  });
}

interface LaunchInput {
  readonly id: string;
  readonly tasksPerNode: number;
  readonly program: string;
  readonly user: string;
}

function launch(cluster: Cluster, { id, tasksPerNode, program, user }: LaunchInput): Promise<void> {
  const headers = { "content-type": "application/json", "x-lattice-user": user };
  return new Promise((resolve, reject) => {
    const url = `${cluster.apiUrl}/api/v1/allocations/${id}/launches`;
    const call = request(url, { method: "POST", headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      answer.on("end", () => {
        const end = JSON.parse(text.trim().split("\n").at(-1) ?? "{}") as { end?: { exit_code?: number } };
        if (answer.statusCode === 200 && end.end !== undefined && (end.end.exit_code ?? 0) === 0) resolve();
        else reject(new Error(text));
      });
    });
    call.once("error", reject);
    call.end(JSON.stringify({ command: [program], tasks_per_node: tasksPerNode }));
  });
}
