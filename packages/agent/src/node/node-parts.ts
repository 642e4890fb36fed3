// The parts of a node that serve its attempts next to the lifecycle: terminals, checkpoints, liveness probes, usage,
// output times and launches. They read the table of attempts and report back through the hooks.

import type { After } from "../base/after.ts";
import { type AttemptCheckpoints, attemptCheckpoints } from "../checkpoint/attempt-checkpoints.ts";
import { type AttemptEvent, type AttemptState, type LiveAttempt, walltimeLeftMs } from "../lifecycle/attempt.ts";
import type { Link } from "../link/link.ts";
import type { ReportBody } from "../link/reports.ts";
import { type OutputTimes, recordOutputTimes } from "../logs/output-times.ts";
import { askProbe } from "../probes/probe.ts";
import { type Probes, probes } from "../probes/probes.ts";
import type { Runtime } from "../runtime/base/runtime.ts";
import { launches, type NodeLaunchTable } from "../tasks/launches.ts";
import { taskContext } from "../tasks/task-context.ts";
import { type AttemptMeter, measureAttempts } from "../telemetry/measure-attempts.ts";
import { type Terminals, terminals } from "../terminal/terminals.ts";
import type { NodeOptions } from "./node-options.ts";

export interface NodeParts {
  readonly runtime: Runtime;
  readonly logFile: Runtime["logFile"];
  readonly userOf: (key: string) => string;
  readonly terminals: Terminals;
  readonly checkpoints: AttemptCheckpoints;
  readonly liveness: Probes;
  readonly usage: AttemptMeter;
  readonly outputTimes: OutputTimes | null;
  readonly tasks: NodeLaunchTable | null;
}

interface NodeHooks {
  readonly after: After;
  readonly attempts: ReadonlyMap<string, AttemptState>;
  readonly live: ReadonlyMap<string, LiveAttempt>;
  /** `null` before the node has opened its link. */
  readonly link: () => Link | null;
  readonly on: (key: string, event: AttemptEvent) => void;
  readonly report: (key: string, body: ReportBody) => void;
}

export function openNodeParts(runtime: Runtime, options: NodeOptions, hooks: NodeHooks): NodeParts {
  const { log, now, identity, gpus, keepTimes, checkpointDir, probe } = options;
  const { after, attempts, link } = hooks;
  const logFile: Runtime["logFile"] = (key, stream) => runtime.logFile(key, stream);
  const isRunning = (key: string): boolean => attempts.get(key)?.kind === "running";
  const openTerminals = terminals({
    nodeId: identity.nodeId,
    firstProcess: async (key) => (isRunning(key) ? runtime.firstProcess(key) : null),
    walltimeLeftMs: (key) => walltimeLeftMs(attempts.get(key), now()),
  });
  const checkpoints = attemptCheckpoints({
    log,
    after,
    now,
    nodeId: identity.nodeId,
    folder: checkpointDir ?? "",
    target: runtime.checkpoints,
    sendProgress: (value) => link()?.send({ case: "checkpointProgress", value }),
    notice: (key, text) => openTerminals.notice(key, text),
    over: (key, checkpoint) => {
      const attempt = attempts.get(key);
      // An attempt that is being stopped reports its checkpoint with its end, which is near.
      if (attempt?.kind === "running") hooks.report(key, { kind: "running", atMs: attempt.startedAtMs, checkpoint });
    },
  });
  const liveness = probes({
    log,
    after,
    ask: probe ?? (async (each, key) => askProbe(each, (await runtime.firstProcess(key))?.pid ?? null)),
    failed: (key, message) => {
      log.error({ attempt: key, reason: message }, "stopping an attempt whose liveness probe failed");
      openTerminals.notice(key, `The allocation is being stopped: ${message}.`);
      hooks.on(key, { kind: "unhealthy", message });
    },
  });
  const usage = measureAttempts({
    log,
    now,
    after,
    runtime,
    link,
    well: () => liveness.well(),
    ...(gpus === undefined ? {} : { gpus }),
  });
  return {
    userOf: (key) => runtime.userOf?.(key) ?? "",
    runtime,
    logFile,
    terminals: openTerminals,
    checkpoints,
    liveness,
    usage,
    outputTimes: keepTimes === true ? recordOutputTimes({ live: () => hooks.live.keys(), logFile, now }) : null,
    tasks: openTasks(runtime, options, isRunning),
  };
}

function openTasks(
  runtime: Runtime,
  { identity, log, facilities, peers = null }: NodeOptions,
  running: (key: string) => boolean,
): NodeLaunchTable | null {
  if (facilities === undefined) return null;
  return launches({
    nodeId: identity.nodeId,
    log,
    facilities,
    peers,
    running,
    context: (key) => taskContext(runtime, key),
    members: async (key) => (await runtime.members?.(key)) ?? [],
    environ: async (key, pid) => (await runtime.environ?.(key, pid)) ?? Buffer.alloc(0),
  });
}
