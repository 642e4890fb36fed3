// Tasks in a running allocation. A caller who may change the allocation may start tasks in it. A launch
// during staging waits for the start: a job's own script may be
// faster than the report that it runs.

import { create } from "@bufbuild/protobuf";
import { type Allocation, isPlaced } from "@lattice/core";
import { pb, withDeadline } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import type { Call } from "../call/call.ts";
import { LAUNCH_WAIT_MS } from "../limits/limits.ts";
import { authorizeContent } from "./content.ts";
import { endOf } from "./watch.ts";
import { find } from "./work.ts";

export async function* launchTasks(call: Call, request: pb.LaunchTasksRequest): AsyncGenerator<pb.LaunchTasksResponse> {
  const record = await find(call, request.allocationId);
  await authorizeContent(call, "TaskService.LaunchTasks", record);
  if (request.resume === undefined && isAboutToRun(record)) await untilRunning(call, record);
  yield* call.plane.tasks.launch(request, call.signal);
}

/** Terminal sizes are 16-bit numbers. */
const MAX_CELLS = 65_535;

export async function sendTaskInput(call: Call, request: pb.SendTaskInputRequest): Promise<pb.SendTaskInputResponse> {
  const record = await find(call, request.allocationId);
  await authorizeContent(call, "TaskService.SendTaskInput", record);
  for (const name of ["rows", "columns"] as const)
    if (request[name] > MAX_CELLS) throw invalid(name, `must be from 1 to ${MAX_CELLS}`);
  call.plane.tasks.input(request);
  return create(pb.SendTaskInputResponseSchema);
}

export async function controlLaunch(call: Call, request: pb.ControlLaunchRequest): Promise<pb.ControlLaunchResponse> {
  const record = await find(call, request.allocationId);
  await authorizeContent(call, "TaskService.ControlLaunch", record);
  call.plane.tasks.control(request);
  return create(pb.ControlLaunchResponseSchema);
}

/** Whether it is placed, but not all of its nodes have reported `running`. */
function isAboutToRun({ phase }: Allocation): boolean {
  if (!isPlaced(phase)) return false;
  return phase.kind === "staging" || phase.progress.some(({ state }) => state === "ordered" || state === "staging");
}

/** Returns after a deadline as well; the launch then reports the problem. */
async function untilRunning(call: Call, record: Allocation): Promise<void> {
  const deadline = withDeadline(call.signal, LAUNCH_WAIT_MS);
  const view = call.plane.view();
  const waits = () => {
    const now = call.plane.view().allocation(record.id);
    return now !== undefined && isAboutToRun(now);
  };
  if (!waits()) return;
  for await (const _ of call.plane.events(endOf(view.index), deadline)) if (!waits()) return;
}
