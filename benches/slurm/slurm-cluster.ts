// Debian's Slurm on this machine in a folder of its own: munged, slurmctld and four slurmd on free ports. The
// configuration is lighter than production: no accounting, no task plugin, no prolog. `close` ends every process that
// mentions the folder and removes it.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../tests/harness/eventually.ts";
import { endProcessesIn } from "../../tests/harness/processes.ts";
import { freePorts } from "../../tests/harness/quorum.ts";

/** Slots for many short jobs at a time, more than the machine has cores: to Slurm's advantage. */
const CPUS_PER_NODE = 64;
export const NODES = ["n1", "n2", "n3", "n4"];

/** Settings that start queued jobs at once, at some cost for submissions. */
const TUNED =
  "batch_sched_delay=0,sched_min_interval=0,sched_interval=5,default_queue_depth=10000,bf_interval=5," +
  "bf_max_job_test=10000,bf_continue,bf_max_job_array_resv=1000";

const PROGRAMS: Readonly<Record<string, string>> = {
  "/usr/sbin/slurmctld": "slurmctld",
  "/usr/sbin/slurmd": "slurmd",
  "/usr/sbin/munged": "munge",
  "/usr/bin/sbatch": "slurm-client",
};

/** Returns the Debian packages that are not installed. */
export function missingPackages(): readonly string[] {
  return Object.entries(PROGRAMS)
    .filter(([path]) => !isProgram(path))
    .map(([, name]) => name);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export class SlurmCluster {
  readonly dir = mkdtempSync(join(tmpdir(), "lattice-slurm-"));
  readonly env: NodeJS.ProcessEnv = { ...process.env, SLURM_CONF: join(this.dir, "slurm.conf") };

  async start(isTuned: boolean): Promise<void> {
    const [control = 0, ...ports] = await freePorts(1 + NODES.length);
    // munged wants a folder that all users can enter.
    chmodSync(this.dir, 0o755);
    for (const name of ["state", ...NODES]) mkdirSync(join(this.dir, name));
    writeFileSync(join(this.dir, "munge.key"), randomBytes(1024), { mode: 0o400 });
    writeFileSync(join(this.dir, "slurm.conf"), configuration(this.dir, { control, ports, isTuned }));
    const at = (name: string): string => join(this.dir, name);
    this.#run("munged", "/usr/sbin/munged", [
      "--foreground",
      `--key-file=${at("munge.key")}`,
      `--socket=${at("munge.sock")}`,
      `--pid-file=${at("munge.pid")}`,
      `--log-file=${at("munge.log")}`,
      `--seed-file=${at("munge.seed")}`,
    ]);
    await eventually({ what: "munged answers" }, () =>
      spawnSync("/usr/bin/munge", ["--no-input", `--socket=${at("munge.sock")}`]).status === 0 ? true : null,
    );
    this.#run("slurmctld", "/usr/sbin/slurmctld", ["-D", "-f", at("slurm.conf")]);
    for (const node of NODES) this.#run(node, "/usr/sbin/slurmd", ["-D", "-N", node, "-f", at("slurm.conf")]);
    await eventually({ what: "all nodes of Slurm are idle" }, () =>
      this.command("sinfo", ["-h", "-t", "idle", "-o", "%D"]).trim() === String(NODES.length) ? true : null,
    );
  }

  /** Runs a client program and returns its output. */
  command(program: string, args: readonly string[]): string {
    const done = spawnSync(`/usr/bin/${program}`, args, { env: this.env, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`${program} ${args.join(" ")}: ${done.stderr}`);
    return done.stdout;
  }

  async close(): Promise<void> {
    await endProcessesIn(this.dir);
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 20 });
  }

  #run(name: string, path: string, args: readonly string[]): void {
    const log = openSync(join(this.dir, `${name}.out`), "a");
    spawn(path, args, { env: this.env, cwd: this.dir, stdio: ["ignore", log, log] });
  }
}

interface Layout {
  readonly control: number;
  readonly ports: readonly number[];
  readonly isTuned: boolean;
}

function configuration(dir: string, { control, ports, isTuned }: Layout): string {
  const host = hostname().split(".")[0] ?? "localhost";
  return `${[
    "ClusterName=bench",
    `SlurmctldHost=${host}(127.0.0.1)`,
    `SlurmctldPort=${control}`,
    "AuthType=auth/munge",
    "CredType=cred/munge",
    `AuthInfo=socket=${dir}/munge.sock`,
    "SlurmUser=root",
    "SlurmdUser=root",
    `StateSaveLocation=${dir}/state`,
    `SlurmdSpoolDir=${dir}/%n`,
    `SlurmctldPidFile=${dir}/slurmctld.pid`,
    `SlurmdPidFile=${dir}/slurmd-%n.pid`,
    `SlurmctldLogFile=${dir}/slurmctld.log`,
    `SlurmdLogFile=${dir}/slurmd-%n.log`,
    "SlurmdParameters=config_overrides",
    "ProctrackType=proctrack/linuxproc",
    "TaskPlugin=task/none",
    "MpiDefault=none",
    "JobAcctGatherType=jobacct_gather/none",
    "AccountingStorageType=accounting_storage/none",
    "SchedulerType=sched/backfill",
    ...(isTuned ? [`SchedulerParameters=${TUNED}`] : []),
    "SelectType=select/cons_tres",
    "SelectTypeParameters=CR_CPU",
    "ReturnToService=2",
    "PropagateResourceLimits=NONE",
    "MinJobAge=2",
    "MaxJobCount=50000",
    "MaxArraySize=10001",
    ...NODES.map(
      (name, n) => `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[n]} CPUs=${CPUS_PER_NODE}`,
    ),
    `PartitionName=bench Nodes=${NODES.join(",")} Default=YES MaxTime=INFINITE State=UP`,
  ].join("\n")}\n`;
}
