// The native `srun` inside a job compared with the full program: equal output and exit status for options it supports,
// options it hands over, and failures.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { root } from "../harness/program.ts";
import { type ProgramResult, runProgram } from "../harness/run-program.ts";
import { useCluster } from "../harness/use-cluster.ts";

const dist = join(root, "packages/cli/dist");
const small = join(dist, "lattice-launch");
const whole = join(dist, "lattice-slurm.js");

const cluster = useCluster({ nodes: 2 });
let id = "";
beforeAll(async () => {
  id = await cluster.submit({ nodes: 2, walltime: "1h", command: ["sleep", "3000"] });
  await cluster.reaches(id, ["running"]);
  expect(await cluster.cli(["compat", "install", cluster.file("bin")])).toMatchObject({ code: 0 });
});

/** As in a script that runs once, on the first node of its job. */
const inside = (): Record<string, string> => ({
  LATTICE_ALLOC_ID: id,
  LATTICE_NNODES: "2",
  LATTICE_NODELIST: "node-1,node-2",
  LATTICE_NODE: "node-1",
  LATTICE_ATTEMPT: "1",
  LATTICE_SCRIPT_ONCE: "1",
  FROM_HERE: 'a "quoted" value',
});

const run = (
  program: readonly string[],
  words: readonly string[],
  env: Record<string, string>,
  started?: () => void,
): Promise<ProgramResult> => runProgram([...program, ...words], { ...cluster.cliEnvironment(), ...env }, started);

const bySmall = (words: readonly string[], env: Record<string, string> = {}, started?: () => void) =>
  run([small, whole, "srun"], words, { ...inside(), ...env }, started);
const byWhole = (words: readonly string[], env: Record<string, string> = {}, started?: () => void) =>
  run([process.execPath, whole, "srun"], words, { ...inside(), ...env }, started);

/** The order between tasks is arbitrary; the output of each is in order. */
const ordered = ({ code, out, err }: ProgramResult) => ({
  code,
  out: out.split("\n").sort(),
  err: err.split("\n").sort(),
});

const show =
  'echo "$LATTICE_RANK/$LATTICE_LOCAL_RANK on $LATTICE_NODE: $A $FROM_HERE $SLURM_CPUS_PER_TASK $PWD"; echo aside >&2';
const known: readonly (readonly [string, readonly string[]])[] = [
  ["what the job asked for", ["sh", "-c", show]],
  ["tasks", ["-n", "3", "sh", "-c", show]],
  ["tasks, labelled", ["-n3", "-l", "-u", "sh", "-c", show]],
  ["one node of two", ["-N1", "-n", "2", "sh", "-c", show]],
  ["both nodes", ["--nodes=2", "sh", "-c", show]],
  ["tasks on each node", ["--ntasks-per-node", "2", "sh", "-c", show]],
  ["a named node", ["-w", "node-2", "-n1", "--", "sh", "-c", show]],
  ["variables", ["-n1", "--export=ALL,A=a=b", "-c", "4", "sh", "-c", show]],
  ["one variable of here", ["-n1", "--export=FROM_HERE", "sh", "-c", show]],
  ["no variables", ["-n1", "--export=NONE", "sh", "-c", show]],
  ["options that say nothing to a step", ["-n1", "-J", "x", "-t", "5", "--cpu-bind=cores", "--exact", "-K", "true"]],
  ["without MPI", ["--mpi=none", "-n1", "sh", "-c", 'echo "fd: $PMI_FD"']],
  ["a code", ["-n", "1", "sh", "-c", "exit 42"]],
  ["a signal", ["-n", "1", "sh", "-c", "kill -9 $$"]],
  ["another signal", ["-n", "1", "sh", "-c", "kill -12 $$"]],
  ["no such program", ["-n", "1", "no-such-program"]],
];
const handedOver: readonly (readonly [string, readonly string[]])[] = [
  ["other letters", ["-n", "1", "echo", "Grüße"]],
  ["an unset variable", ["-n1", "--export=NOBODY_SET_IT", "true"]],
  ["a file for the output", ["-n1", "-o", "none", "echo", "unseen"]],
  ["a folder", ["-n1", "-D", "/tmp", "pwd"]],
  ["a name cut short", ["--ntas=1", "echo", "short"]],
  ["letters together", ["-lu", "-n1", "echo", "both"]],
  ["a bad number", ["-n", "many", "true"]],
  ["an unknown option", ["--frobnicate", "true"]],
  ["a type of MPI that is not there", ["--mpi=openmpi", "true"]],
  ["no command", ["-n", "1"]],
  ["help", ["--help"]],
  ["a foreign node", ["-w", "elsewhere", "true"]],
];

test("tasks that fail alike on one node are reported in one line", async () => {
  // The first failure ends the others: which of them are killed is random.
  const { code, out, err } = await bySmall(["-n", "4", "sh", "-c", "exit 7"]);
  expect([code, out]).toEqual([7, ""]);
  const how = "(Exited with exit code 7|Killed|Terminated)";
  for (const line of err.trimEnd().split("\n"))
    expect(line).toMatch(new RegExp(`^srun: error: node-[12]: (task \\d|tasks \\d([,-]\\d)*): ${how}$`));
});

describe("the native launcher and the full program agree", () => {
  test.each([...known, ...handedOver])("%s", async (_name, words) => {
    expect(ordered(await bySmall(words))).toEqual(ordered(await byWhole(words)));
  });

  test("both report an unknown job and an unreachable server alike", async () => {
    const words = ["--jobid=999999", "true"];
    expect(await bySmall(words)).toEqual(await byWhole(words));
    const unreachable = { LATTICE_API_URL: "http://127.0.0.1:1" };
    expect(await bySmall(["true"], unreachable)).toEqual(await byWhole(["true"], unreachable));
  });
});

test.each(known)("%s: the native launcher suffices", async (_name, words) => {
  const done = await bySmall(words, { LATTICE_LAUNCH_NODE: "/no/such/node" });
  expect(done.err).not.toContain("cannot start node");
});

test("the installed srun is the native launcher inside a job and allocates nodes outside", async () => {
  const srun = cluster.file("bin/srun");
  expect(existsSync(small)).toBe(true);
  expect(readFileSync(srun, "utf8")).toContain(small);
  expect(await run([srun], ["-n1", "sh", "-c", "echo here; exit 3"], inside())).toMatchObject({
    code: 3,
    out: "here\n",
    err: "srun: error: node-1: task 0: Exited with exit code 3\n",
  });
  await cluster.cli(["cancel", id]);
  await cluster.ends(id);
  expect(await run([srun], ["-n1", "echo", "alone"], {})).toMatchObject({ code: 0, out: "alone\n" });
});

test("the native srun reports an interrupted step like the full program", async () => {
  id = await cluster.submit({ nodes: 2, walltime: "1h", command: ["sleep", "3000"] });
  await cluster.reaches(id, ["running"]);
  const words = ["-n1", "sh", "-c", "echo started; exec sleep 3141"];
  const hasty = { LATTICE_LAUNCH_PATIENCE: "1" };
  let heard = 0;
  const started = (): void => {
    heard += 1;
  };
  const both = [bySmall(words, hasty, started), byWhole(words, hasty, started)];
  await eventually({ what: "both have heard of their task" }, () => (heard === 2 ? true : null));
  await cluster.server.kill();
  const [one, other] = await Promise.all(both);
  expect(one?.code).toBe(other?.code);
  for (const each of [one, other]) {
    expect(each?.out).toBe("started\n");
    expect(each?.err).toMatch(/^srun: error: the launch was interrupted/m);
  }
});
