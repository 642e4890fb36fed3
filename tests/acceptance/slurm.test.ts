// The Slurm commands on a real cluster as scripts use them: installed in a folder on the PATH, and combined in
// pipelines.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { CliResult } from "../harness/cli.ts";
import { compileMpi } from "../harness/mpi.ts";
import { runShell } from "../harness/run-shell.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 4, strict: true });
const bin = (): string => join(cluster.dir, "slurm-bin");
const work = (): string => join(cluster.dir, "home");

beforeAll(async () => {
  expect(await cluster.cli(["compat", "install", bin()])).toMatchObject({ code: 0 });
});

/** A shell with the Slurm commands first on its PATH. */
const sh = (line: string, env: Readonly<Record<string, string>> = {}): Promise<CliResult> =>
  runShell(line, work(), { ...cluster.cliEnvironment(env), PATH: `${bin()}:${process.env.PATH ?? ""}` });

function script(name: string, ...lines: readonly string[]): void {
  mkdirSync(work(), { recursive: true });
  writeFileSync(join(work(), name), ["#!/bin/bash", ...lines, ""].join("\n"));
}

const until = (id: string, states: string): string =>
  `until sacct -n -X -P -j ${id} --format=State | grep -qE '^(${states})'; do sleep 0.2; done`;

/** Nodes are free a moment after their jobs have ended. */
const IDLE = `until [ "$(sinfo -h -p hpc-batch -o '%D %t')" = "4 idle" ]; do sleep 0.2; done`;

describe("sbatch", () => {
  test("sbatch runs a script once on the first node with Slurm's variables and its arguments", async () => {
    script(
      "two.sh",
      "#SBATCH -J two -N 2 --ntasks-per-node=2 -c 1",
      "#SBATCH --time=00:10:00 --mem=100M",
      'echo "$1 $SLURM_JOB_NAME nodes=$SLURM_JOB_NUM_NODES tasks=$SLURM_NTASKS cpus=$SLURM_CPUS_PER_TASK"',
      'test "$SLURM_CPUS_ON_NODE" -gt 0 && test -n "$SLURM_SUBMIT_HOST" && test "$SLURM_JOB_NODELIST" != "" && echo in $SLURM_JOB_PARTITION $SLURM_JOB_QOS $SLURM_JOB_UID $SLURM_TASKS_PER_NODE $SLURM_PROCID $SLURM_MEM_PER_NODE',
      "srun -l sh -c 'echo task $SLURM_PROCID'",
    );
    const { code, stdout, stderr } = await sh("sbatch --wait -o out-%x.txt two.sh 'an argument' && cat out-two.txt");
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^Submitted batch job \d+\n/);
    const lines = stdout.split("\n").slice(1, -1);
    expect(lines[0]).toBe("an argument two nodes=2 tasks=4 cpus=1");
    expect(lines[1]).toBe(`in hpc-batch normal ${process.getuid?.()} 2(x2) 0 100`);
    expect(lines.slice(2).sort()).toEqual(["0: task 0", "1: task 1", "2: task 2", "3: task 3"]);
    expect(code).toBe(0);
  });

  test("sbatch output files are written by the node while the job runs, by default and by name", async () => {
    mkdirSync(join(work(), "logs"), { recursive: true });
    const { stdout, stderr } = await sh(`set -e
      id=$(sbatch --parsable -t 10 --wrap 'echo started; until [ -e go ]; do sleep 0.1; done; echo done >&2')
      until grep -q started slurm-$id.out 2>/dev/null; do sleep 0.1; done
      touch go; ${until("$id", "COMPLETED")}; cat slurm-$id.out
      a=$(sbatch --parsable --wait -t 10 --array=2,4 -o logs/%A_%a.out -e logs/%a.err --wrap 'echo $SLURM_ARRAY_TASK_ID; echo e >&2')
      cat logs/"$a"_2.out logs/"$a"_4.out logs/4.err
      bad=$(sbatch --parsable -t 10 -o /no/such/place/%j.out --wrap 'touch ran'); ${until("$bad", "FAILED")}
      lattice status $bad | grep -o 'the output file: cannot create /no/such/place/[0-9]*.out' | sed "s/$bad/ID/"
      test ! -e ran`);
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n")).toEqual([
      "started",
      "done",
      "2",
      "4",
      "e",
      "the output file: cannot create /no/such/place/ID.out",
    ]);
  });

  test("steps run in parallel inside one job and see its node names", async () => {
    script(
      "steps.sh",
      "#SBATCH -N 2 -t 10",
      'scontrol show hostnames "$SLURM_JOB_NODELIST" | wc -l',
      'export OF_THE_SCRIPT="a b"; srun -N1 -n1 sh -c \'echo "$OF_THE_SCRIPT, step $SLURM_STEP_ID"\'',
      "srun -N1 -n1 sh -c 'sleep 0.2; echo left' &",
      "srun -N1 -n1 sh -c 'sleep 0.2; echo right' &",
      "wait",
      "srun sh -c 'exit 7' || echo \"step: $?\"",
    );
    const { code, stdout } = await sh("sbatch -Q -W -o steps.txt steps.sh && cat steps.txt");
    const [, nodes, ...lines] = stdout.trim().split("\n");
    expect(nodes).toBe("2");
    const shown = lines.filter((line) => !line.startsWith("srun: error")).sort();
    expect(shown).toEqual(["a b, step 0", "left", "right", "step: 7"]);
    expect(code).toBe(0);
  });

  test("srun runs an MPI program with all or fewer tasks of the job", async () => {
    const program = compileMpi(cluster.dir, "allreduce");
    script(
      "mpi.sh",
      "#SBATCH -N 2 --ntasks-per-node=2 -t 10",
      `srun ${program}`,
      `srun -n 2 -N 2 --mpi=pmi2 ${program}`,
    );
    const { stdout, stderr } = await sh("sbatch -Q -W -o mpi-%j.txt mpi.sh && cat mpi-*.txt");
    expect(stderr).toBe("");
    const lines = stdout.trim().split("\n").slice(1);
    expect(lines.filter((line) => line.includes("of 4: sum 6"))).toHaveLength(4);
    expect(lines.filter((line) => line.includes("of 2: sum 1"))).toHaveLength(2);
  });

  test("sacct and scontrol report the exit status of a job", async () => {
    const result = await sh(`id=$(sbatch --parsable -W --wrap 'exit 4'); echo "rc $?"
      sacct -j $id -X -n -P --format=JobID,JobName,State,ExitCode
      scontrol show job $id | grep -E 'JobState|ExitCode'`);
    expect(result.stderr).toBe("");
    expect(result.stdout.split("\n")).toEqual([
      "rc 4",
      expect.stringMatching(/^\d+\|wrap\|FAILED\|4:0$/),
      "   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)",
      expect.stringMatching(/ExitCode=4:0$/),
      "",
    ]);
  });

  test("a job on several nodes ends with its first node", async () => {
    expect(await sh("sbatch -Q -W -N 3 -t 5 --wrap 'exit 3'")).toMatchObject({ code: 3, stderr: "" });
    const { stdout, code } = await sh(`id=$(sbatch --parsable -N 3 --wrap 'sleep 300'); ${until("$id", "RUNNING")}
      scancel $id; ${until("$id", "CANCELLED")}
      ${IDLE}; echo free`);
    expect({ stdout, code }).toEqual({ stdout: "free\n", code: 0 });
  });

  test.each<[string, number, string[]]>([
    ["sbatch --nosuch x", 255, ["sbatch: unrecognized option '--nosuch'", 'Try "sbatch --help" for more information']],
    ["sbatch nothing.sh", 1, ["sbatch: error: Unable to open file nothing.sh"]],
    ["sbatch -t bogus --wrap hostname", 255, ["sbatch: error: Invalid --time specification"]],
    [
      "sbatch -p nope --wrap hostname",
      1,
      [
        "sbatch: error: invalid partition specified: nope",
        "sbatch: error: Batch job submission failed: Invalid partition name specified",
        expect.stringContaining("sbatch: error: available partitions: ") as unknown as string,
      ],
    ],
    [
      "echo hostname | sbatch",
      1,
      [
        "sbatch: error: This does not look like a batch script.  The first",
        "sbatch: error: line must start with #! followed by the path to an interpreter.",
        "sbatch: error: For instance: #!/bin/sh",
      ],
    ],
  ])("refuses in Slurm's words: %s", async (line, code, lines) => {
    const result = await sh(line);
    expect(result.stderr.trimEnd().split("\n")).toEqual(lines);
    expect(result).toMatchObject({ code, stdout: "" });
  });

  test("a held job waits for its release with a reason", async () => {
    const { stdout, stderr, code } = await sh(`set -e
      id=$(sbatch --parsable -H --comment 'a note' --wrap hostname)
      squeue -h -j $id -o '%t %r %k'
      scontrol update job=$id Comment=another QOS=high; squeue -h -j $id -o '%k %q'
      scontrol release $id; ${until("$id", "COMPLETED")}
      a=$(sbatch --parsable -N 4 -t 10 --wrap 'sleep 300'); ${until("$a", "RUNNING")}
      b=$(sbatch --parsable -N 4 -t 10 --wrap hostname)
      scontrol hold $b; scancel $a; ${until("$a", "CANCELLED")}; squeue -h -j $b -o '%t %R'
      scontrol release $b; ${until("$b", "COMPLETED")}`);
    expect({ stdout, stderr, code }).toEqual({
      stdout: "PD JobHeldUser a note\nanother high\nPD (JobHeldUser)\n",
      stderr: "",
      code: 0,
    });
    expect(await sh("scontrol hold 999999")).toMatchObject({
      code: 1,
      stderr: "Invalid job id specified for job 999999\n",
    });
  });

  test("sbatch --test-only reports start and nodes and submits nothing", async () => {
    const before = (await cluster.allocations()).length;
    const result = await sh("sbatch --test-only -N 2 -t 5 --wrap hostname");
    expect(result.stderr).toMatch(/^sbatch: Job to start at \d{4}-\S+ using 2 nodes on nodes node-\[\S+ in partition /);
    expect(result).toMatchObject({ code: 0, stdout: "" });
    expect((await cluster.allocations()).length).toBe(before);
  });

  test("sbatch accepts partitions and QoS by the site's names", async () => {
    writeFileSync(
      join(work(), "compat.yaml"),
      "partition_mapping: { normal: hpc-batch, debug: interactive }\nqos_mapping: { low: 1, special: 6 }\n",
    );
    const env = { LATTICE_COMPAT: join(work(), "compat.yaml") };
    const result = await sh(
      "id=$(sbatch --parsable -p normal -q special --wrap 'sleep 100') && squeue -h -j $id -o '%P %q' && scancel $id; sinfo -h -o %R",
      env,
    );
    expect(result).toMatchObject({ stderr: "" });
    const [job, ...partitions] = result.stdout.trim().split("\n");
    expect(job).toBe("normal special");
    expect(partitions).toEqual(expect.arrayContaining(["normal", "debug"]));
    const wrong = await sh("sbatch -p nope --wrap hostname", env);
    expect(wrong.stderr).toContain("available partitions: normal, debug");
  });
});

describe("Slurm pipelines", () => {
  test("a dependency chain is visible in squeue and ended by scancel", async () => {
    const { stdout, stderr, code } = await sh(`set -e
      first=$(sbatch --parsable -J first --wrap 'sleep 300')
      then=$(sbatch --parsable -J then -d afterok:$first --wrap hostname)
      ${until("$first", "RUNNING")}
      squeue -h -o '%i %j %t %r' -n first,then --me | sed "s/^$first /F /; s/^$then /T /"
      squeue -h --start -j $then -o '%t %R'
      scancel $first
      ${until("$first", "CANCELLED")}
      ${until("$then", "CANCELLED|FAILED")}
      squeue -h -j $first,$then | wc -l`);
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n")).toEqual(["T then PD Dependency", "F first R None", "PD (Dependency)", "0"]);
    expect(code).toBe(0);
  });

  test("a pending array is folded, its elements end one by one and have their variables", async () => {
    script(
      "array.sh",
      "#SBATCH --array=1-9:2%1 -t 10",
      'echo "$SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT in $SLURM_ARRAY_JOB_ID" > "array-$SLURM_ARRAY_TASK_ID"',
      'test "$SLURM_ARRAY_TASK_ID" -lt 3 || sleep 300',
    );
    const { stdout, stderr } = await sh(`set -e
      id=$(sbatch --parsable array.sh)
      ${until('"$id"_1', "COMPLETED")}
      until squeue -h -j $id -t R -o %i | grep -q _3; do sleep 0.2; done
      squeue -h -j $id -o '%i %t %F %K' | sed "s/^$id/ID/; s/ $id / ID /"
      squeue -h -r -j $id -o '%i' | wc -l
      scancel "$id"_[5-7]
      sacct -X -n -P -j "$id"_7 --format=State
      scancel $id
      until [ -z "$(squeue -h -j $id)" ]; do sleep 0.2; done
      sacct -n -X -P -j $id --format=JobID,State | sed "s/^$id/ID/"; cat array-1`);
    expect(stderr).toBe("");
    const lines = stdout.trim().split("\n");
    const by = `CANCELLED by ${process.getuid?.()}`;
    expect(lines.slice(0, 4)).toEqual(["ID_[5,7,9%1] PD ID 5,7,9%1", "ID_3 R ID 3", "4", by]);
    expect(lines).toContain("ID_1|COMPLETED");
    expect(lines).toContain(`ID_[5,7,9]|${by}`);
    expect(lines.at(-1)).toMatch(/^1 of 5 in \d+$/);
  });

  test("an array of listed indexes is folded, cancelled by index and readable", async () => {
    const { stdout, stderr } = await sh(`set -e
      id=$(sbatch --parsable -t 10 --array=1,3,5-8%2 --wrap 'echo index $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT; test $SLURM_ARRAY_TASK_ID != 3 || sleep 300; test $SLURM_ARRAY_TASK_ID != 5 || sleep 300')
      ${until('"$id"_1', "COMPLETED")}
      until [ "$(squeue -h -j $id -t R -o %i | wc -l)" = 2 ]; do sleep 0.2; done
      squeue -h -j $id -o '%i %t' | sed "s/^$id/ID/"; scancel "$id"_8; squeue -h -t PD -j $id -o '%i' | sed "s/^$id/ID/"
      scontrol hold "$id"_7; squeue -h -t PD -j $id -o '%i %r' | sed "s/^$id/ID/"; scontrol release "$id"_7
      scancel "$id"_[5-6]; ${until('"$id"_7', "COMPLETED")}
      scancel $id; until [ -z "$(squeue -h -j $id)" ]; do sleep 0.2; done
      lattice logs "$id"_7; lattice status $id | grep -o '6 (1,3,5-8), at most 2 at a time'
      sacct -n -X -P -j "$id"_3,"$id"_5,"$id"_6,"$id"_7 --format=JobID,State | sed "s/^$id/ID/"`);
    expect(stderr).toBe("");
    const lines = stdout.trim().split("\n");
    expect(lines.slice(0, 4)).toEqual(["ID_[6-8%2] PD", "ID_3 R", "ID_5 R", "ID_[6-7%2]"]);
    expect(lines.slice(4, 6)).toEqual(["ID_[6%2] JobArrayTaskLimit", "ID_7 JobHeldUser"]);
    expect(lines.slice(6, 8)).toEqual(["index 7 of 6", "6 (1,3,5-8), at most 2 at a time"]);
    const by = `CANCELLED by ${process.getuid?.()}`;
    expect(lines.slice(8)).toEqual([`ID_3|${by}`, `ID_5|${by}`, `ID_6|${by}`, "ID_7|COMPLETED"]);
  });

  test("squeue shows Slurm's pending reasons and start times", async () => {
    const { stdout, stderr } = await sh(`set -e
      a=$(sbatch --parsable -N 4 -t 10 --wrap 'sleep 300'); ${until("$a", "RUNNING")}
      b=$(sbatch --parsable -N 4 -t 10 --wrap hostname)
      until squeue -h -j $b -o %r | grep -q Resources; do sleep 0.2; done
      squeue -h -j $b -o '%t %M %l %D %R'
      squeue -h --start -j $b -o '%S' | grep -c T
      sacct -n -X -P -S now-1hour -s PD,R --format=State,ExitCode,NNodes,NodeList
      scancel $b $a; ${until("$a", "CANCELLED")}`);
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n")).toEqual([
      "PD 0:00 10:00 4 (Resources)",
      "1",
      "RUNNING|0:0|4|node-[1-4]",
      "PENDING|0:0|4|None assigned",
    ]);
  });

  test("scancel selects by name and state, ignores unknown ids, and signals steps and script", async () => {
    const { stdout, stderr } = await sh(`set -e
      sbatch --parsable -J doomed --wrap 'sleep 300' > ids
      sbatch --parsable -J doomed --wrap 'sleep 300' >> ids
      scancel -n doomed -u "$(id -un)"
      for id in $(cat ids); do ${until("$id", "CANCELLED")}; done
      scancel 999999; echo "rc $?"`);
    expect(stderr).toBe("");
    expect(stdout.trim()).toBe("rc 0");
    script(
      "told.sh",
      "trap 'echo script; exit 0' USR2",
      `srun sh -c 'trap "echo step; exit 0" USR1; touch step-waits; while :; do sleep 0.1; done'`,
      "touch script-waits; while :; do sleep 0.1; done",
    );
    const reported = await sh(`set -e; rm -f step-waits script-waits
      id=$(sbatch --parsable -t 10 -o told.txt told.sh)
      until [ -e step-waits ]; do sleep 0.1; done; scancel -s USR1 $id
      until [ -e script-waits ]; do sleep 0.1; done; scancel --batch -s USR2 $id
      ${until("$id", "COMPLETED")}; cat told.txt`);
    expect(reported).toMatchObject({ stdout: "step\nscript\n", stderr: "" });
    expect(await sh("scancel")).toMatchObject({ code: 1, stderr: "scancel: error: No job identification provided\n" });
    expect(await sh("squeue -j 999999")).toMatchObject({
      code: 1,
      stderr: "slurm_load_jobs error: Invalid job id specified\n",
    });
    expect(await sh("scontrol show job 999999")).toMatchObject({
      code: 1,
      stderr: "slurm_load_jobs error: Invalid job id specified\n",
    });
  });
});

describe("sinfo and scontrol", () => {
  test("sinfo prints Slurm's tables and formats", async () => {
    const { stdout } = await sh(
      `${IDLE}; sinfo; sinfo -h -o '%R|%a|%D|%t|%N|%c|%G' -p hpc-batch; sinfo -h -N -p hpc-batch -o %N`,
    );
    const lines = stdout.trim().split("\n");
    expect(lines[0]).toBe("PARTITION   AVAIL  TIMELIMIT  NODES  STATE NODELIST");
    expect(lines[1]).toMatch(/^\S+\* +up +\S+ +4 +idle node-\[1-4\]$/);
    expect(lines).toContainEqual(expect.stringMatching(/^hpc-batch\|up\|4\|idle\|node-\[1-4\]\|\d+\|\(null\)$/));
    expect(lines.slice(-4)).toEqual(["node-1", "node-2", "node-3", "node-4"]);
  });

  test("scontrol shows records, expands host lists, applies changes and refuses the rest", async () => {
    expect((await sh("scontrol show hostnames 'n[1-3,7]'")).stdout).toBe("n1\nn2\nn3\nn7\n");
    expect((await sh("scontrol show hostlist n1,n2,n3,x")).stdout).toBe("n[1-3],x\n");
    expect((await sh("scontrol show node node-1")).stdout).toMatch(/^NodeName=node-1 [\s\S]*State=IDLE/);
    expect((await sh("scontrol show partition")).stdout).toMatch(/PartitionName=hpc-batch\n[\s\S]*Nodes=node-\[1-4\]/);
    const changed = await sh(`id=$(sbatch --parsable -t 10 --wrap 'sleep 300')
      scontrol update job=$id TimeLimit=5; squeue -h -j $id -o %l; scancel $id`);
    expect(changed).toMatchObject({ stdout: "5:00\n", stderr: "" });
    const refused = await sh("scontrol suspend 1");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("scontrol suspend is not supported by Lattice");
  });
});

describe("salloc and srun", () => {
  test("srun outside a job allocates nodes, returns the exit status and releases them", async () => {
    const result = await sh("srun -n2 -l sh -c 'echo hello $SLURM_PROCID/$SLURM_NTASKS'");
    expect(result.stdout.split("\n").sort()).toEqual(["", "0: hello 0/2", "1: hello 1/2"]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    const failed = await sh("srun -n2 false");
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/^srun: error: node-\d: tasks? \S+: Exited with exit code 1$/m);
    expect((await sh("srun -N2 sh -c 'echo $SLURMD_NODENAME' | sort -u | wc -l")).stdout).toBe("2\n");
    expect((await sh(`until [ -z "$(squeue -h)" ]; do sleep 0.2; done; ${IDLE}; echo free`)).stdout).toBe("free\n");
  });

  test("srun supports a terminal, standard input, output files and signals", async () => {
    const typed = await sh("script -qec \"srun --pty sh -c 'test -t 0 && echo on a terminal; exit 5'\" /dev/null");
    expect(typed.stdout).toContain("on a terminal");
    expect(typed.code).toBe(5);
    expect((await sh("echo words | srun tr a-z A-Z")).stdout).toBe("WORDS\n");
    const files = await sh("srun -n2 -o step-%t.txt sh -c 'echo $SLURM_PROCID' && cat step-0.txt step-1.txt");
    expect(files).toMatchObject({ stdout: "0\n1\n", stderr: "" });
    expect((await sh("srun sh -c 'kill -9 $$'")).code).toBe(137);
  });

  test("salloc runs a local command whose srun uses the allocated nodes", async () => {
    const result = await sh(
      "salloc -N2 -t 5 bash -c 'echo $SLURM_JOB_ID $SLURM_NNODES $SLURM_NTASKS; srun hostname | wc -l; exit 3'",
    );
    const id = result.stdout.split(" ")[0];
    expect(result.stdout).toBe(`${id} 2 2\n2\n`);
    expect(result.stderr).toContain(`salloc: Granted job allocation ${id}\n`);
    expect(result.stderr).toContain(`salloc: Relinquishing job allocation ${id}\n`);
    expect(result.code).toBe(3);
    const reported = await sh(`sacct -j ${id} -X -n -P --format=State,ExitCode; srun -J bad sh -c 'exit 9'; echo rc $?
      sacct -X -n -P -S now-1hour --name=bad --format=State,ExitCode`);
    expect(reported.stdout).toBe("FAILED|3:0\nrc 9\nFAILED|9:0\n");
    const kept = await sh(`id=$(salloc --no-shell -t 5 2>&1 | grep -o '[0-9]*$'); squeue -h -j $id -o %t; scancel $id
      salloc -N 99 -t 5 -I1 true 2>&1 | grep -c 'Requested node configuration is not available'`);
    expect(kept.stdout).toBe("R\n1\n");
  });
});

test("compat install replaces its own files and no others", async () => {
  expect(await cluster.cli(["compat", "install", bin()])).toMatchObject({ code: 0 });
  writeFileSync(join(bin(), "squeue"), "#!/bin/sh\necho theirs\n");
  const refused = await cluster.cli(["compat", "install", bin()]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("already has squeue");
  expect(readFileSync(join(bin(), "squeue"), "utf8")).toContain("theirs");
  expect(await cluster.cli(["compat", "install", "--force", bin()])).toMatchObject({ code: 0 });
  const aliases = await cluster.cli(["compat-aliases"]);
  expect(readFileSync(aliases.stdout.trim(), "utf8")).toMatch(/^alias sbatch=/);
  expect((await cluster.cli(["compat-aliases", "--print"])).stdout).toMatch(/^alias sbatch=/);
});
