// Requests in tasks: the nodes, cores, memory and GPUs that follow from them.

import { create } from "@bufbuild/protobuf";
import type { Capabilities } from "@lattice/core";
import { pb } from "@lattice/wire";
import { expect, test } from "vitest";
import { layOutTasks } from "../../src/api/handlers/task-layout.ts";

const GIB = 2 ** 30;
const node = (cpuCores: number, memoryGb = 64, gpuCount = 0): Capabilities =>
  ({ cpuCores, memoryBytes: memoryGb * GIB, gpuCount, gpuType: "", features: [] }) as unknown as Capabilities;

type Request = Partial<Pick<pb.TaskRequest, "tasks" | "cpusPerTask" | "memoryGbPerCpu" | "gpus" | "overcommit">>;
interface Stated {
  readonly nodes?: readonly [number, number];
  readonly tasksPerNode?: number;
  readonly cpuCores?: number;
}
type Laid = readonly [min: number, max: number, perNode: number, cores: number, gb: number, gpus: number];

const FOUR = [node(8), node(8), node(8), node(8)];
const MIXED = [node(4), node(64), node(4), node(32)];
const GPUS = [node(8, 64, 4), node(8, 64, 4)];

test.each<[string, Request, Stated, readonly Capabilities[], Laid]>([
  ["one task", {}, {}, FOUR, [1, 1, 1, 1, 0, 0]],
  ["tasks that fit a node", { tasks: 8 }, {}, FOUR, [1, 1, 8, 8, 0, 0]],
  ["more tasks than a node has cores", { tasks: 9 }, {}, FOUR, [2, 2, 5, 5, 0, 0]],
  ["tasks of several cores", { tasks: 8, cpusPerTask: 4 }, {}, FOUR, [4, 4, 2, 8, 0, 0]],
  ["tasks that exceed the cluster", { tasks: 100 }, {}, FOUR, [13, 13, 8, 8, 0, 0]],
  ["tasks and nodes", { tasks: 7 }, { nodes: [2, 2] }, FOUR, [2, 2, 4, 4, 0, 0]],
  ["a range of nodes", { tasks: 8 }, { nodes: [2, 4] }, FOUR, [2, 4, 4, 4, 0, 0]],
  ["tasks for each node", { tasks: 10 }, { tasksPerNode: 4 }, FOUR, [3, 3, 4, 4, 0, 0]],
  ["nodes and tasks for each", { cpusPerTask: 2 }, { nodes: [2, 2], tasksPerNode: 3 }, FOUR, [2, 2, 3, 6, 0, 0]],
  ["tasks that only the largest nodes take", { tasks: 64 }, {}, MIXED, [1, 1, 64, 64, 0, 0]],
  ["tasks that do not divide evenly", { tasks: 90 }, {}, MIXED, [2, 2, 45, 45, 0, 0]],
  ["memory for each core", { tasks: 8, memoryGbPerCpu: 16 }, {}, FOUR, [2, 2, 4, 4, 64, 0]],
  ["GPUs of one node", { gpus: 3 }, {}, GPUS, [1, 1, 1, 1, 0, 3]],
  ["GPUs of two nodes", { gpus: 8 }, {}, GPUS, [2, 2, 1, 1, 0, 4]],
  ["GPUs and nodes", { gpus: 4 }, { nodes: [2, 2] }, GPUS, [2, 2, 1, 1, 0, 2]],
  ["tasks that share cores", { tasks: 100, overcommit: true }, {}, FOUR, [1, 1, 100, 1, 0, 0]],
  ["more cores than the tasks use", { tasks: 2 }, { cpuCores: 6 }, FOUR, [1, 1, 2, 6, 0, 0]],
  ["an empty cluster", { tasks: 12 }, {}, [], [1, 1, 12, 12, 0, 0]],
])("%s", (_, request, stated, offers, expected) => {
  const { nodes, tasksPerNode = 0, cpuCores = 0 } = stated;
  const resources = create(pb.ResourcesSchema, {
    ...(nodes === undefined ? {} : { nodes: { min: nodes[0], max: nodes[1] } }),
    tasksPerNode,
    constraints: { cpuCores },
    taskRequest: request,
  });
  const laid = layOutTasks(resources, () => offers);
  const { constraints } = laid;
  const shown = [laid.nodes?.min, laid.nodes?.max, laid.tasksPerNode];
  expect([...shown, constraints?.cpuCores, constraints?.memoryGb, constraints?.gpuCount]).toEqual(expected);
  expect(laid.taskRequest).toBeUndefined();
});

test("a request in nodes stays as it is", () => {
  const resources = create(pb.ResourcesSchema, { nodes: { min: 2, max: 2 } });
  expect(layOutTasks(resources, () => FOUR)).toBe(resources);
});
