// The environment of a Slurm job, the commands that it finds, and the terminals of srun and salloc.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { CliResult } from "../harness/cli.ts";
import { root as repository } from "../harness/program.ts";
import { runShell } from "../harness/run-shell.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 1 });
const bin = (): string => join(cluster.dir, "slurm-bin");
const work = (): string => join(cluster.dir, "home");

beforeAll(async () => {
  expect(await cluster.cli(["compat", "install", bin()])).toMatchObject({ code: 0 });
  mkdirSync(work(), { recursive: true });
});

const sh = (line: string, env: Readonly<Record<string, string>> = {}): Promise<CliResult> =>
  runShell(line, work(), { ...cluster.cliEnvironment(env), PATH: `${bin()}:${process.env.PATH ?? ""}` });

test("a job has the environment of its submitter, and the commands of Lattice before those of a real Slurm", async () => {
  const real = join(cluster.dir, "real-slurm");
  mkdirSync(real, { recursive: true });
  writeFileSync(join(real, "srun"), "#!/bin/sh\necho the real one\n", { mode: 0o755 });
  const line = `PATH=${real}:$PATH FOO='a b' ${bin()}/sbatch -Q -W -o environment.txt`;
  const wrap = `--wrap 'command -v srun; srun echo step; echo "[$FOO] [$LATTICE_TOKEN]"; command -v lattice >/dev/null; echo $?'`;
  const shown = (line: string) => sh(`${line} && cat environment.txt`, { LATTICE_TOKEN: "secret" });
  expect(await shown(`${line} ${wrap}`)).toEqual({
    code: 0,
    stderr: "",
    stdout: expect.stringMatching(/^Submitted batch job \d+\n.*slurm-bin\/srun\nstep\n\[a b\] \[\]\n0\n$/),
  });
  const none = await shown(`${line} --export=NONE ${wrap}`);
  expect(none.stdout).toMatch(/slurm-bin\/srun\nstep\n\[\] \[\]\n0\n$/);
});

test("srun and salloc end in order and release their nodes when the terminal closes", async () => {
  const close = join(repository, "tests/acceptance/programs/closed_terminal.py");
  const waits = "sh -c 'echo ready; sleep 300'";
  for (const line of [`srun -t 5 ${waits}`, `srun -t 5 --pty ${waits}`, `salloc -t 5 ${waits}`]) {
    const { stdout } = await sh(`/usr/bin/python3 -B ${close} ${line}`);
    expect(stdout, line).toMatch(/^(exit \d+|signal 1)\n$/);
  }
  await sh('until [ -z "$(squeue -h)" ]; do sleep 0.2; done');
});
