// Wall time of short commands from spawn to exit, as a shell sees it.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { cleanEnvironment, programPath, root } from "../tests/harness/program.ts";
import { type Bench, below, type Figure, quantile, withoutTarget } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const RUNS = 20;
const VERSION_MS = 80;
const STATUS_MS = 150;
const SQUEUE_MS = 150;

export const cliStart: Bench = (log) =>
  withCluster({ nodes: 1 }, async (cluster) => {
    await cluster.ends(await cluster.submit({ entrypoint: "true" }));
    const env = cleanEnvironment(cluster.cliEnvironment());
    const slurm = join(cluster.dir, "slurm");
    spawnSync(programPath("lattice"), ["compat", "install", slurm], { env });
    const measure = (
      name: string,
      [program = "", ...args]: readonly string[],
      target: number | null,
    ): readonly Figure[] => {
      const times = Array.from({ length: RUNS }, () => {
        const from = performance.now();
        // No input: piped input would be for the tasks of a step.
        const done = spawnSync(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
        if (done.status !== 0) throw new Error(`${name} exited with status ${done.status}: ${done.stderr}`);
        return performance.now() - from;
      });
      log(`${name}: ${times.map((time) => time.toFixed(0)).join(" ")} ms`);
      return [
        target === null
          ? withoutTarget(`${name}_median`, quantile(times, 0.5), "ms")
          : below(`${name}_median`, quantile(times, 0.5), "ms", target),
        withoutTarget(`${name}_min`, Math.min(...times), "ms"),
      ];
    };
    const lattice = programPath("lattice");
    const job = await cluster.submit({ command: ["sleep", "600"] });
    await cluster.reaches(job, ["running"]);
    const step = [join(slurm, "srun"), `--jobid=${job}`, "-n1", "true"];
    // The Node program without the native launcher.
    const byNode = [process.execPath, join(root, "packages/cli/dist/lattice-slurm.js"), "srun", ...step.slice(1)];
    return [
      ...measure("version", [lattice, "--version"], VERSION_MS),
      ...measure("status", [lattice, "status"], STATUS_MS),
      ...measure("squeue", [join(slurm, "squeue")], SQUEUE_MS),
      // Includes the launch of the task by server and agent.
      ...measure("srun_step", step, null),
      ...measure("srun_step_by_node", byNode, null),
    ];
  });
