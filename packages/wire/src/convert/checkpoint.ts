// Converts the checkpoint settings of a submission and the checkpoints of an allocation. The caller adds the progress
// of a running checkpoint, which only the leader knows.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  type AllocationPhase,
  CHECKPOINT_MODES,
  type CheckpointMode,
  type CheckpointSpec,
  DEFAULT_CHECKPOINT_TIMEOUT,
  DEFAULT_MAX_DEFERRAL,
  seconds,
} from "@lattice/core";
import { type Checkpoint, CheckpointSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import * as proto from "../../gen/lattice/v1/checkpoints_pb.ts";
import type { FieldList } from "../errors/field-list.ts";
import { timestampFromMs } from "../json/timestamp.ts";

const STRATEGIES: readonly string[] = ["auto", "manual"];

/** Returns undefined for an allocation without checkpoint support. */
export function checkpointFromProto(asked: Checkpoint | undefined, problems: FieldList): CheckpointSpec | undefined {
  const strategy = asked?.strategy.toLowerCase() ?? "";
  if (asked === undefined || strategy === "none" || (strategy === "" && asked.mode === "")) return undefined;
  const named = isMode(strategy) ? strategy : null;
  if (strategy !== "" && named === null && !STRATEGIES.includes(strategy)) {
    const hint = `The strategies are auto, manual and none; ${CHECKPOINT_MODES.join(", ")} mean auto with that mode.`;
    problems.add("allocation.checkpoint.strategy", `${JSON.stringify(asked.strategy)} is not a strategy`, hint);
  }
  const mode = asked.mode.toLowerCase() || (named ?? "signal");
  if (!isMode(mode)) {
    problems.add("allocation.checkpoint.mode", `must be one of ${CHECKPOINT_MODES.join(", ")}`);
    return undefined;
  }
  if (named !== null && named !== mode) {
    problems.add("allocation.checkpoint.mode", `is ${mode}, but the strategy is ${named}`);
  }
  return {
    mode,
    auto: strategy !== "manual",
    port: asked.port,
    timeout: asked.timeoutSeconds === 0 ? DEFAULT_CHECKPOINT_TIMEOUT : seconds(asked.timeoutSeconds),
    maxDeferral: asked.maxDeferralSeconds === undefined ? DEFAULT_MAX_DEFERRAL : seconds(asked.maxDeferralSeconds),
  };
}

const isMode = (word: string): word is CheckpointMode => (CHECKPOINT_MODES as readonly string[]).includes(word);

export const checkpointToProto = ({ mode, auto, port, timeout, maxDeferral }: CheckpointSpec): Checkpoint =>
  create(CheckpointSchema, {
    strategy: auto ? "auto" : "manual",
    mode,
    port,
    timeoutSeconds: Math.ceil(timeout / 1000),
    maxDeferralSeconds: Math.ceil(maxDeferral / 1000),
  });

/** Returns undefined when no checkpoint was requested. */
export function checkpointStatus({ phase, spec, checkpoints }: Allocation): proto.CheckpointStatus | undefined {
  if (checkpoints === undefined) return undefined;
  const { asked, taken, last, failure } = checkpoints;
  const current = currentOf(phase);
  return create(proto.CheckpointStatusSchema, {
    mode: spec.checkpoint?.mode ?? "",
    requested: asked,
    completed: taken,
    ...(last === undefined
      ? null
      : {
          last: create(proto.CompletedCheckpointSchema, {
            number: last.n,
            attempt: last.attempt,
            at: timestampFromMs(last.at),
            bytes: last.bytes,
            seconds: last.took / 1000,
            cause: last.cause,
          }),
        }),
    ...(failure === undefined
      ? null
      : {
          failure: create(proto.FailedCheckpointSchema, {
            number: failure.n,
            at: timestampFromMs(failure.at),
            message: failure.message,
          }),
        }),
    ...(current === null ? null : { current }),
  });
}

function currentOf(phase: AllocationPhase): proto.RunningCheckpoint | null {
  if (phase.kind !== "checkpointing") return null;
  const { n, cause, next, message, answers } = phase.request;
  return create(proto.RunningCheckpointSchema, {
    number: n,
    since: timestampFromMs(phase.since),
    cause,
    suspendAfter: next === "suspend",
    message,
    nodes: answers.length,
    nodesDone: answers.filter((bytes) => bytes !== null).length,
  });
}
