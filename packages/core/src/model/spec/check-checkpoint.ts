// Checks the checkpoint settings of a spec.

import { CHECKPOINT_MODES, type CheckpointSpec, MAX_CHECKPOINT_SPAN } from "../checkpoint/spec.ts";
import { isCount, type Problems } from "../checks.ts";
import { MAX_PORT } from "./limits.ts";

/** `service`: the work is unbounded and its nodes may change. */
export function checkCheckpoint(problems: Problems, spec: CheckpointSpec | undefined, service: boolean): void {
  if (spec === undefined) return;
  const { mode, port, timeout, maxDeferral } = spec;
  const field = "allocation.checkpoint";
  problems.unless(!service, field, "is for batch work only: a service does not keep its nodes");
  problems.unless(CHECKPOINT_MODES.includes(mode), `${field}.mode`, `must be one of ${CHECKPOINT_MODES.join(", ")}`);
  const listens = port === 0 || (mode === "grpc" && isCount(port, 1, MAX_PORT));
  problems.unless(listens, `${field}.port`, `must be a whole number from 1 to ${MAX_PORT}, and requires mode grpc`);
  const span = (name: string, value: number, least: number): void =>
    problems.unless(isCount(value, least, MAX_CHECKPOINT_SPAN), `${field}.${name}`, "must be at most a day");
  span("timeout_seconds", timeout, 1);
  span("max_deferral_seconds", maxDeferral, 0);
}
