// Tasks in a running allocation. A caller who may change the allocation may start tasks in it. A launch
// that comes while the allocation is about to run waits for that: a job's own script may be
// faster than the report that it runs.

import { create } from "@bufbuild/protobuf";
import { type Allocation, isPlaced } from "@lattice/core";
import { pb, withDeadline } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import type { Call } from "../call.ts";
import { LAUNCH_WAIT_MS } from "../limits/limits.ts";
import { enterContent } from "./content.ts";
import { endOf } from "./watch.ts";
import { find } from "./work.ts";

export async function* launchTasks(call: Call, request: pb.LaunchTasksRequest): AsyncGenerator<pb.LaunchTasksResponse> {
  const record = await find(call, request.allocationId);
  await enterContent(call, "TaskService.LaunchTasks", record);
  if (request.resume === undefined && isAboutToRun(record)) await untilItRuns(call, record);
  yield* call.plane.tasks.launch(request, call.signal);
}

/** A terminal counts them in sixteen bits. */
const MOST_CELLS = 65_535;

export async function sendTaskInput(call: Call, request: pb.SendTaskInputRequest): Promise<pb.SendTaskInputResponse> {
  const record = await find(call, request.allocationId);
  await enterContent(call, "TaskService.SendTaskInput", record);
  for (const name of ["rows", "columns"] as const)
    if (request[name] > MOST_CELLS) throw invalid(name, `must be from 1 to ${MOST_CELLS}`);
  call.plane.tasks.input(request);
  return create(pb.SendTaskInputResponseSchema);
}

export async function controlLaunch(call: Call, request: pb.ControlLaunchRequest): Promise<pb.ControlLaunchResponse> {
  const record = await find(call, request.allocationId);
  await enterContent(call, "TaskService.ControlLaunch", record);
  call.plane.tasks.control(request);
  return create(pb.ControlLaunchResponseSchema);
}

/** Placed, but not all of its nodes have said that they run it. */
function isAboutToRun({ phase }: Allocation): boolean {
  if (!isPlaced(phase)) return false;
  return phase.kind === "staging" || phase.progress.some(({ state }) => state === "ordered" || state === "staging");
}

/** Gives up after a while: what is wrong is then said by the launch itself. */
async function untilItRuns(call: Call, record: Allocation): Promise<void> {
  const late = withDeadline(call.signal, LAUNCH_WAIT_MS);
  const view = call.plane.view();
  const waits = () => {
    const now = call.plane.view().allocation(record.id);
    return now !== undefined && isAboutToRun(now);
  };
  if (!waits()) return;
  for await (const _ of call.plane.events(endOf(view.index), late)) if (!waits()) return;
}
