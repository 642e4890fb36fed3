// The nodes that a request in tasks needs. Tasks are packed: each takes its cores, and a node takes as many tasks as it
// has cores (and memory, where it is requested per core) for. The answer is an ordinary request in nodes; whether
// nodes can satisfy it is checked elsewhere.

import { create } from "@bufbuild/protobuf";
import { type Capabilities, type NodeOffer, usableMemory } from "@lattice/core";
import { pb } from "@lattice/wire";

const GIB = 2 ** 30;

/** `offers`: the nodes that the work may use, read only when the number of nodes follows from them. */
export function layOutTasks(resources: pb.Resources, offers: () => readonly Capabilities[]): pb.Resources {
  const { taskRequest: request } = resources;
  if (request === undefined) return resources;
  const cpus = Math.max(1, request.cpusPerTask);
  const { nodes, perNode } = shapeOf(resources, request, offers);
  const constraints = resources.constraints ?? create(pb.ConstraintsSchema);
  const cores = request.overcommit ? cpus : perNode * cpus;
  return create(pb.ResourcesSchema, {
    ...resources,
    taskRequest: undefined,
    nodes,
    tasksPerNode: perNode,
    constraints: {
      ...constraints,
      cpuCores: Math.max(constraints.cpuCores, cores),
      memoryGb: Math.max(constraints.memoryGb, cores * request.memoryGbPerCpu),
      gpuCount: Math.max(constraints.gpuCount, Math.ceil(request.gpus / nodes.min)),
    },
  });
}

interface Shape {
  readonly nodes: pb.NodeCount;
  readonly perNode: number;
}

function shapeOf(resources: pb.Resources, request: pb.TaskRequest, offers: () => readonly Capabilities[]): Shape {
  const { tasks } = request;
  const stated = resources.nodes;
  const least = stated === undefined ? 0 : Math.max(stated.min, 1);
  if (least > 0) {
    const max = Math.max(least, stated?.max ?? 0);
    return { ...exactly(least, max), perNode: tasks > 0 ? Math.ceil(tasks / least) : resources.tasksPerNode || 1 };
  }
  if (resources.tasksPerNode > 0) {
    return { ...exactly(Math.ceil((tasks || 1) / resources.tasksPerNode)), perNode: resources.tasksPerNode };
  }
  const count = packed(resources, request, tasks > 1 || request.gpus > 1 ? offers() : []);
  return { ...exactly(count), perNode: Math.max(1, Math.ceil(tasks / count)) };
}

const exactly = (min: number, max = min): Pick<Shape, "nodes"> => ({ nodes: create(pb.NodeCountSchema, { min, max }) });

/** Returns the least number of nodes with enough room, as if all were free; one where there is none to count on. */
function packed(resources: pb.Resources, request: pb.TaskRequest, offers: readonly Capabilities[]): number {
  const tasks = Math.max(1, request.tasks);
  const byTasks = offers.map((offer) => roomFor(resources, request, offer));
  const byGpus = offers.map(({ gpuCount }) => gpuCount);
  return Math.max(fewest(byTasks, tasks), fewest(byGpus, request.gpus));
}

/** Returns how many of the largest amounts, taken evenly, give the sum; more than there are when all do not. */
function fewest(amounts: readonly number[], wanted: number): number {
  const descending = amounts.filter((amount) => amount > 0).sort((a, b) => b - a);
  if (wanted <= 1 || descending.length === 0) return 1;
  for (const [n, amount] of descending.entries()) if (amount * (n + 1) >= wanted) return n + 1;
  return Math.ceil(wanted / (descending[0] ?? 1));
}

function roomFor(resources: pb.Resources, request: pb.TaskRequest, offer: NodeOffer): number {
  if (request.overcommit) return Number.MAX_SAFE_INTEGER;
  const cpus = Math.max(1, request.cpusPerTask);
  const byCores = Math.floor(offer.cpuCores / cpus);
  if (request.memoryGbPerCpu === 0) return byCores;
  const memory = usableMemory(offer, resources.constraints?.allowCxlMemory === true);
  return Math.min(byCores, Math.floor(memory / (request.memoryGbPerCpu * GIB * cpus)));
}
