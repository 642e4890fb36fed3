// The part of the prologue for an attempt that takes checkpoints: the folder between agent and program, the
// variables that say where checkpoints go and where to go on from, and, for DMTCP, the words before the command.

import { join } from "node:path";
import { controlFolder, makeControl, type Owner } from "../checkpoint/control.ts";
import { dmtcpWords, missingDmtcp } from "../checkpoint/dmtcp.ts";
import { makeFlag } from "../checkpoint/shared-flag.ts";
import type { CheckpointPlan } from "../lifecycle/attempt.ts";
import { PrologueError } from "./prologue-error.ts";

export interface CheckpointStage {
  readonly variables: Record<string, string>;
  /** Put before the command itself. */
  readonly before: readonly string[];
}

const NONE: CheckpointStage = { variables: {}, before: [] };

export interface StageInput {
  readonly plan: CheckpointPlan | undefined;
  readonly dir: string;
  /** Where checkpoints go; undefined: this node has no such folder. */
  readonly checkpoints: string | undefined;
  readonly owner: Owner | null;
  readonly path: string;
  /** It runs in a container. */
  readonly contained: boolean;
}

export function prepareCheckpoints({ plan, dir, checkpoints, owner, path, contained }: StageInput): CheckpointStage {
  if (plan === undefined) return NONE;
  if (checkpoints === undefined) {
    const why = "this node has no folder for checkpoints: its agent was started without --output-dir";
    throw new PrologueError("checkpoint", why);
  }
  const { mode, resumeFrom } = plan;
  if (mode === "dmtcp" && contained) throw new PrologueError("checkpoint", "dmtcp does not reach into a container");
  const missing = mode === "dmtcp" ? missingDmtcp(path) : null;
  if (missing !== null) throw new PrologueError("checkpoint", missing);
  const from = resumeFrom > 0 ? join(checkpoints, String(resumeFrom)) : "";
  const control = controlFolder(dir);
  return {
    variables: {
      LATTICE_CHECKPOINT_MODE: mode,
      ...makeControl(dir, owner),
      ...(mode === "shmem" ? makeFlag(control, owner) : {}),
      ...(mode === "grpc" ? { LATTICE_CHECKPOINT_ENDPOINT: join(control, "endpoint") } : {}),
      ...(from === "" ? {} : { LATTICE_RESUME_CHECKPOINT: String(resumeFrom), LATTICE_RESUME_FROM: from }),
    },
    before: mode === "dmtcp" ? dmtcpWords({ control, checkpoints, from }) : [],
  };
}
