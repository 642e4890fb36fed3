// Tasks with several servers: whichever is asked, and whichever the agents have found, the leader starts
// them; with the leader they end, and nothing of them stays behind.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { compileMpi } from "../harness/mpi.ts";
import { processesIn } from "../harness/processes.ts";
import { Quorum } from "../harness/quorum.ts";
import { refusalOf } from "../harness/rest.ts";

let quorum: Quorum;
beforeAll(async () => {
  quorum = await Quorum.start({ servers: 3, nodes: 2 });
});
afterAll(() => quorum?.close());

test("every server launches, and passes on what the leader refuses", async () => {
  const id = await quorum.submit(1, { nodes: 2, walltime: "1h", command: ["sleep", "3000"] });
  await quorum.reaches(1, id, "running");
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
});

test("kill -9 of the leader ends its launches, everywhere", async () => {
  const leader = await quorum.leader();
  const follower = (leader % 3) + 1;
  const id = (await quorum.api<{ allocations: { id: string }[] }>(follower, "GET", "/allocations?state=running")).body
    .allocations[0]?.id;
  const mark = "3141";
  const launched = quorum.cli(follower, "launch", `--alloc=${id}`, "-n", "2", "sleep", mark);
  const asleep = () => processesIn(quorum.dir).filter((pid) => commandOf(pid) === `sleep\0${mark}\0`);
  await eventually({ what: "both tasks run" }, () => (asleep().length === 2 ? true : null));
  await quorum.server(leader).kill();
  expect((await launched).code).not.toBe(0);
  await eventually({ what: "no task is left" }, () => (asleep().length === 0 ? true : null));
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
