// A launch when its caller or its leader changes: no event is lost, and none is repeated.
import { create } from "@bufbuild/protobuf";
import type { NodeId } from "@lattice/core";
import { pb } from "@lattice/wire";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { Launch } from "../../../src/nodes/tasks/launch.ts";
import type { LaunchFailure } from "../../../src/nodes/tasks/outcome.ts";

const shares = [
  { node: "n1" as NodeId, firstRank: 0, tasks: 1 },
  { node: "n2" as NodeId, firstRank: 1, tasks: 1 },
];

const launchOf = (adopted: boolean): Launch =>
  new Launch("7.1.x.1", {
    shares,
    clock: systemClock,
    resumable: true,
    adopted,
    askNames: () => undefined,
    discarded: () => undefined,
  });

function nodeOf(launch: Launch, node: string) {
  const orders: pb.TasksOrder["order"][] = [];
  const stream = { send: (order: pb.TasksOrder["order"]) => void orders.push(order), end() {}, drop() {} };
  launch.attach(node, stream, true);
  const say = (number: number, report: pb.TasksReport["report"]) =>
    launch.report(node, create(pb.TasksReportSchema, { number, report }));
  return {
    kinds: () => orders.map((order) => order.case),
    taken: () => orders.flatMap((order) => (order.case === "taken" ? [order.value.number] : [])),
    writes: (number: number, text: string) =>
      say(number, { case: "output", value: create(pb.TaskOutputSchema, { data: new TextEncoder().encode(text) }) }),
    exits: (number: number, rank: number, exitCode = 0) =>
      say(number, { case: "taskEnd", value: create(pb.TaskEndSchema, { rank, node, exitCode }) }),
    killed: (number: number, exitCode: number, reason: string) =>
      say(number, { case: "killed", value: create(pb.TasksKillSchema, { exitCode, reason }) }),
    done: (number: number) => say(number, { case: "done", value: create(pb.TasksDoneSchema) }),
  };
}

/** Everything that the caller receives, as text. */
async function read(launch: Launch, from: readonly number[], most = 99): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const { event, nodeIndex, number } of launch.events(from, new AbortController().signal)) {
    if (event.case === "output") seen.push(`${nodeIndex}.${number} ${new TextDecoder().decode(event.value.data)}`);
    if (event.case === "taskEnd") seen.push(`${nodeIndex}.${number} rank ${event.value.rank} ${event.value.exitCode}`);
    if (event.case === "end") seen.push(`end ${event.value.exitCode}`);
    if (seen.length >= most) break;
  }
  return seen;
}

test("a caller that comes back receives what it lacks, and reports in flight count once", async () => {
  const launch = launchOf(false);
  const [first, second] = [nodeOf(launch, "n1"), nodeOf(launch, "n2")];
  first.writes(1, "a");
  first.writes(2, "b");
  first.writes(3, "c");
  expect(await read(launch, [], 2)).toEqual(["0.1 a", "0.2 b"]);
  launch.acknowledge([1]);
  expect(first.taken()).toEqual([1]);
  const rest = read(launch, [2, 0]);
  expect(first.kinds().at(-1)).toBe("again");
  // In flight before the node was asked to repeat.
  first.writes(4, "d");
  for (const [at, text] of ["b", "c", "d"].entries()) first.writes(at + 2, text);
  first.exits(5, 0);
  first.done(6);
  second.exits(1, 1);
  second.done(2);
  expect(await rest).toEqual(["0.3 c", "0.4 d", "0.5 rank 0 0", "1.1 rank 1 0", "end 0"]);
  launch.close();
  expect([first.taken().at(-1), second.taken().at(-1)]).toEqual([6, 2]);
});

test("a leader that adopts a launch ends it for the reason that nodes know, and repeats the ends", async () => {
  const launch = launchOf(true);
  const [first, second] = [nodeOf(launch, "n1"), nodeOf(launch, "n2")];
  // Confirmed long ago, and repeated for the new leader.
  first.exits(2, 0);
  second.killed(3, 7, "task 5 aborted the launch");
  expect(first.kinds()).toContain("kill");
  const all = read(launch, [4, 2]);
  first.done(5);
  second.exits(4, 1, 143);
  second.done(5);
  // Reports that came too early are repeated.
  second.killed(3, 7, "task 5 aborted the launch");
  second.exits(4, 1, 143);
  second.done(5);
  expect(await all).toEqual(["0.2 rank 0 0", "1.4 rank 1 143", "end 7"]);
  const how: LaunchFailure | null = await launch.ended;
  expect(how).toEqual({ exitCode: 7, reason: "task 5 aborted the launch" });
});

test("a reader is sent away when another server leads", async () => {
  const launch = launchOf(false);
  const reading = read(launch, []);
  launch.leave();
  await expect(reading).rejects.toMatchObject({ problem: { code: "not_leader" } });
});
