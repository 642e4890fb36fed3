// Sarus may put a container into other control groups, which the attempt's group does not hold. Processes that are
// left after the group is empty are found by their user and the marker in their environment.

import { withDeadline } from "@lattice/wire";
import type { AttemptPlace } from "../../host/isolation/isolation.ts";
import { processGroup } from "../../host/isolation/process-group.ts";
import type { StopContext } from "../base/engine.ts";
import { stop as stopProcesses } from "../process/stop.ts";

const STOP_MARKED_WITHIN_MS = 60_000;

export async function stop(place: AttemptPlace, context: StopContext): Promise<void> {
  await stopProcesses(place, context);
  if (context.signal.aborted) return;
  const signal = withDeadline(context.signal, STOP_MARKED_WITHIN_MS);
  await stopProcesses({ ...place, leader: null }, { ...context, isolation: processGroup(context.files), signal });
}
