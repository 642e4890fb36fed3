// Tasks with several servers: whichever is asked, the leader starts them. After a change of leader the tasks and their
// caller continue, and no output is lost or repeated.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spawnCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { compileMpi } from "../harness/mpi.ts";
import { processesIn } from "../harness/processes.ts";
import { programPath } from "../harness/program.ts";
import { Quorum } from "../harness/quorum.ts";
import { errorStatus, request } from "../harness/rest.ts";
import { type ProgramResult, runProgram } from "../harness/run-program.ts";

let quorum: Quorum;
let id: string;
const file = (name: string): string => join(quorum.dir, name);
beforeAll(async () => {
  quorum = await Quorum.start({ servers: 3, nodes: 2 });
  expect(await quorum.cli(1, "compat", "install", file("bin"))).toMatchObject({ code: 0 });
  writeFileSync(file("counts.sh"), COUNTS, { mode: 0o755 });
  const waits = `while [ ! -e ${file("begin")} ]; do sleep 0.1; done`;
  const step = `${file("bin")}/srun -l -n 2 ${file("counts.sh")} ${file("go")} 0; echo srun ended with $?`;
  id = await quorum.submit(1, { nodes: 2, walltime: "1h", command: ["sh", "-c", `${waits}; ${step}; sleep 3000`] });
  await quorum.reaches(1, id, "running");
});
afterAll(() => quorum?.close());

test("every server launches tasks and relays the leader's refusals", async () => {
  const program = compileMpi(quorum.dir, "allreduce");
  for (const n of [1, 2, 3]) {
    await quorum.reaches(n, id, "running");
    const result = await quorum.cli(n, "launch", `--alloc=${id}`, "-n", "4", "--tasks-per-node=2", program);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toContain("rank 3 of 4: sum 6, from 2: 2");
    const refused = await quorum.api(n, "POST", `/allocations/${id}/launches`, {
      body: { command: ["true"], tasks: 0 },
    });
    expect(errorStatus(refused)).toBe(400);
    const unknown = await quorum.api(n, "POST", `/allocations/${id}/launches/none/input`, { body: { end: true } });
    expect(unknown.status).toBe(404);
  }
});

/** Launches of an earlier leader. */
async function takenUpBy(server: number): Promise<number> {
  const { text } = await request(quorum.url(server), "GET", "/metrics");
  return Number(/^lattice_task_launches_resumed_total (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Counts, half before a file appears and half after; then exits with its code. */
const COUNTS = `#!/bin/sh
at=0
while [ $at -lt 400 ]; do
  echo "line $at"
  at=$((at + 1))
  [ $at -ne 200 ] || { touch "$1.half.$$"; while [ ! -e "$1" ]; do sleep 0.1; done; }
done
exit $2
`;
const LINES = Array.from({ length: 400 }, (_, n) => `line ${n}`);

test("a launch survives a killed leader for callers at the leader, at a follower and inside the job", async () => {
  const leader = await quorum.leader();
  const other = (leader % 3) + 1;
  const mpich = compileMpi(quorum.dir, "until");
  const openmpi = compileMpi(quorum.dir, "until", "openmpi");
  let heard = 0;
  const at = (n: number, ...words: readonly string[]): Promise<ProgramResult> => {
    const command = [programPath("lattice"), "launch", `--alloc=${id}`, ...words];
    return runProgram(command, quorum.cliEnvironment(n), () => {
      heard += 1;
    });
  };
  const counting = [leader, other].map((n) => at(n, "-l", "-n", "2", file("counts.sh"), file("go"), "0"));
  const failing = [leader, other].map((n) => at(n, "-n", "1", file("counts.sh"), file("go"), "3"));
  const ranks = [
    at(leader, "-n", "4", "--tasks-per-node=2", mpich, file("go")),
    at(other, "-n", "4", "--tasks-per-node=2", "--pmi=pmix", openmpi, file("go")),
  ];
  writeFileSync(file("begin"), "");
  await eventually({ what: "everything is half done, and all callers have heard of it" }, async () => {
    const half = readdirSync(quorum.dir).filter((name) => name.startsWith("go.half.")).length;
    if (half < 8 || heard < 6) return null;
    return (await quorum.cli(other, "logs", id)).stdout.includes("line 0") ? true : null;
  });
  await quorum.server(leader).kill();
  const next = await anotherThan(leader);
  writeFileSync(file("go"), "");
  for (const result of await Promise.all(counting)) {
    expect(result).toMatchObject({ code: 0, err: "" });
    for (const rank of [0, 1]) expect(linesOf(result.out, `${rank}: `)).toEqual(LINES);
  }
  for (const result of await Promise.all(failing)) {
    expect(result).toMatchObject({ code: 3, out: `${LINES.join("\n")}\n` });
    expect(result.err).toMatch(/^node-1: task 0: Exited with exit code 3\nLaunch failed: task 0 on node-1 ended/);
  }
  for (const result of await Promise.all(ranks)) {
    expect(result.code, result.err).toBe(0);
    expect(result.out.match(/rank \d of 4 done/g)?.sort()).toEqual([0, 1, 2, 3].map((n) => `rank ${n} of 4 done`));
  }
  await eventually({ what: "the step inside the job has ended, on both nodes" }, async () => {
    const { stdout } = await quorum.cli(next, "logs", id);
    return stdout.match(/srun ended with 0/g)?.length === 2 ? true : null;
  });
  const { stdout } = await quorum.cli(next, "logs", id);
  for (const rank of [0, 1]) expect(linesOf(stdout, `${rank}: `)).toEqual(LINES);
  const takenUp = await Promise.all([1, 2, 3].filter((n) => n !== leader).map(takenUpBy));
  expect(takenUp.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(7);
  await quorum.startServer(leader);
});

test("adopted launches end with their caller and by their id", async () => {
  const leader = await quorum.leader();
  const words = (mark: string) => [
    "launch",
    `--alloc=${id}`,
    "-n",
    "2",
    "sh",
    "-c",
    `echo started; exec sleep ${mark}`,
  ];
  let heard = 0;
  const started = (): void => {
    heard += 1;
  };
  const interrupted = spawnCli(words("3141"), { env: quorum.cliEnvironment(leader) });
  interrupted.stdout.once("data", started);
  const interruptedEnd = new Promise<number | null>((resolve) => interrupted.once("exit", resolve));
  const other = (leader % 3) + 1;
  const ended = runProgram([programPath("lattice"), ...words("3142")], quorum.cliEnvironment(other), started);
  const asleep = (mark: string) => processesIn(quorum.dir).filter((pid) => programOf(pid) === `sleep ${mark}`);
  await eventually({ what: "all tasks run, and both callers have heard of it" }, () =>
    heard === 2 && asleep("3141").length === 2 && asleep("3142").length === 2 ? true : null,
  );
  const launchId = variableOf(asleep("3142")[0] ?? 0, "LATTICE_LAUNCH_ID");
  await quorum.server(leader).kill();
  const next = await anotherThan(leader);
  await eventually({ what: "the new leader knows the launch" }, async () => {
    const reported = await quorum.api(next, "POST", `/allocations/${id}/launches/${launchId}`, { body: { end: true } });
    return reported.status === 200 ? true : null;
  });
  expect(await ended).toMatchObject({ code: 143 });
  interrupted.kill("SIGINT");
  expect(await interruptedEnd).toBe(130);
  await eventually({ what: "no task is left" }, () =>
    asleep("3141").length === 0 && asleep("3142").length === 0 ? true : null,
  );
});

const anotherThan = (leader: number): Promise<number> =>
  eventually({ what: "another leads" }, async () => {
    const now = await quorum.leader().catch(() => leader);
    return now === leader ? null : now;
  });

const variableOf = (pid: number, name: string): string =>
  readFileSync(`/proc/${pid}/environ`, "utf8")
    .split("\0")
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? "";

const linesOf = (text: string, before: string): readonly string[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith(before))
    .map((line) => line.slice(before.length));

function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, 2).join(" ").trim();
  } catch {
    return "";
  }
}
