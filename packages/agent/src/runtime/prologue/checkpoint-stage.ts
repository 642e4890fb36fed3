// The checkpoint stage of the prologue: the control folder, the variables that name the folders for writing and
// resuming, and for DMTCP the words before the command.

import { join } from "node:path";
import type { pb } from "@lattice/wire";
import { PrologueError } from "../../base/prologue-error.ts";
import { controlFolder, makeControl } from "../../checkpoint/control.ts";
import { dmtcpWords, missingDmtcp } from "../../checkpoint/dmtcp.ts";
import { FLAG_FILES, flagVariables } from "../../checkpoint/shared-flag.ts";
import type { FileUser, UserFiles } from "../../files/user-files.ts";

interface CheckpointStage {
  readonly variables: Record<string, string>;
  /** Prefix of the command. */
  readonly before: readonly string[];
}

const NONE: CheckpointStage = { variables: {}, before: [] };

interface StageInput {
  readonly plan: pb.CheckpointPlan | undefined;
  readonly dir: string;
  /** Directory of checkpoints; undefined when the node has none. */
  readonly checkpoints: string | undefined;
  readonly owner: FileUser | null;
  readonly files: Pick<UserFiles, "clear" | "missingProgram">;
  readonly path: string;
  /** Whether it runs in a container. */
  readonly contained: boolean;
}

export async function prepareCheckpoints(input: StageInput): Promise<CheckpointStage> {
  const { plan, dir, checkpoints, owner, files, path, contained } = input;
  if (plan === undefined) return NONE;
  if (checkpoints === undefined) {
    const why = "this node has no folder for checkpoints: its agent was started without --output-dir";
    throw new PrologueError("checkpoint", why);
  }
  const { mode, resumeFrom } = plan;
  if (mode === "dmtcp" && contained) throw new PrologueError("checkpoint", "dmtcp does not reach into a container");
  const missing = mode === "dmtcp" ? await missingDmtcp(path, owner, files) : null;
  if (missing !== null) throw new PrologueError("checkpoint", missing);
  const from = resumeFrom > 0 ? join(checkpoints, String(resumeFrom)) : "";
  const control = controlFolder(dir);
  return {
    variables: {
      LATTICE_CHECKPOINT_MODE: mode,
      ...(await makeControl(dir, owner, files, mode === "shmem" ? FLAG_FILES : {})),
      ...(mode === "shmem" ? flagVariables(control) : {}),
      ...(mode === "grpc" ? { LATTICE_CHECKPOINT_ENDPOINT: join(control, "endpoint") } : {}),
      ...(from === "" ? {} : { LATTICE_RESUME_CHECKPOINT: String(resumeFrom), LATTICE_RESUME_FROM: from }),
    },
    before: mode === "dmtcp" ? dmtcpWords({ control, checkpoints, from }) : [],
  };
}
