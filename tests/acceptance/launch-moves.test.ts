// Tasks with several servers: whichever is asked, and whichever the agents have found, the leader starts
// them; when another server leads they go on, and so does whoever launched them: nothing is lost, nothing comes twice.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { compileMpi } from "../harness/mpi.ts";
import { commandLine, processesIn } from "../harness/processes.ts";
import { Quorum } from "../harness/quorum.ts";
import { refusalOf } from "../harness/rest.ts";

let quorum: Quorum;
let id: string;
beforeAll(async () => {
  quorum = await Quorum.start({ servers: 3, nodes: 2 });
  id = await quorum.submit(1, { nodes: 2, walltime: "1h", command: ["sleep", "3000"] });
  await quorum.reaches(1, id, "running");
}, 120_000);
afterAll(() => quorum?.close());

test("every server launches, and passes on what the leader refuses", async () => {
  const program = compileMpi(quorum.dir, "allreduce");
  for (const n of [1, 2, 3]) {
    await quorum.reaches(n, id, "running");
    const result = await quorum.cli(n, "launch", `--alloc=${id}`, "-n", "4", "--tasks-per-node=2", program);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toContain("rank 3 of 4: sum 6, from 2: 2");
    const refused = await quorum.api(n, "POST", `/allocations/${id}/launches`, {
      body: { command: ["true"], tasks: 0 },
    });
    expect(refusalOf(refused)).toBe(400);
    const nobody = await quorum.api(n, "POST", `/allocations/${id}/launches/none/input`, { body: { end: true } });
    expect(nobody.status).toBe(404);
  }
}, 90_000);

/** Counts in small steps, half of them before the file is there and half after it; then its exit code. */
const COUNTS = `#!/bin/sh
go=$1
at=0
while [ $at -lt 400 ]; do
  echo "line $at"
  at=$((at + 1))
  [ $at -ne 200 ] || { touch "$go.half.$$"; while [ ! -e "$go" ]; do sleep 0.1; done; }
done
exit $2
`;
const LINES = Array.from({ length: 400 }, (_, n) => `line ${n}`);

test("a launch goes on when its leader is killed, for callers at the leader, at others, and inside the job", async () => {
  const leader = await quorum.leader();
  const other = (leader % 3) + 1;
  const counts = join(quorum.dir, "counts.sh");
  writeFileSync(counts, COUNTS, { mode: 0o755 });
  const go = join(quorum.dir, "go");
  const rounds = compileMpi(quorum.dir, "until");
  const openRounds = compileMpi(quorum.dir, "until", "openmpi");
  const at = (n: number, ...words: readonly string[]) => quorum.cli(n, "launch", `--alloc=${id}`, ...words);
  const counting = [leader, other].map((n) => at(n, "-l", "-n", "2", counts, go, "3"));
  const mpich = at(leader, "-n", "4", "--tasks-per-node=2", rounds, go);
  const openmpi = at(other, "-n", "4", "--tasks-per-node=2", "--pmi=pmix", openRounds, go);
  const script = join(quorum.dir, "job.sh");
  writeFileSync(script, `#!/bin/sh\nsrun -n 2 ${counts} ${go} 0\necho "srun ended with $?"\n`, { mode: 0o755 });
  const job = await quorum.submit(other, { nodes: 2, walltime: "1h", command: [script], share: true, slurm_env: true });
  const marks = () => processesIn(quorum.dir).filter((pid) => /counts\.sh|-until/.test(commandLine(pid))).length;
  await eventually({ what: "all tasks run", withinMs: 120_000 }, () => (marks() >= 14 ? true : null));
  await quorum.server(leader).kill();
  await eventually({ what: "another leads", withinMs: 120_000 }, async () =>
    (await quorum.leader()) === leader ? null : true,
  );
  writeFileSync(go, "");
  for (const result of await Promise.all(counting)) {
    expect(result.code).toBe(3);
    for (const rank of [0, 1]) expect(linesOf(result.stdout, `${rank}: `)).toEqual(LINES);
  }
  for (const [kind, result] of [["mpich", await mpich], ["openmpi", await openmpi]] as const) {
    expect(result, kind).toMatchObject({ code: 0 });
    expect(result.stdout.match(/rank \d of 4 done/g)?.sort()).toEqual([0, 1, 2, 3].map((n) => `rank ${n} of 4 done`));
  }
  await quorum.reaches(other, job, "completed");
}, 300_000);

const linesOf = (text: string, before: string): readonly string[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith(before))
    .map((line) => line.slice(before.length));
