// Prepares a node for one attempt, in stages: user, folders, share, checkpoints, mounts, memory policy, and then the
// engine. It returns how the command is started; nothing of the attempt runs yet. A failed stage names itself, and the
// epilogue releases what was taken before.

import { join } from "node:path";
import type { pb } from "@lattice/wire";
import { PrologueError } from "../../base/prologue-error.ts";
import { controlFolder, makeControl } from "../../checkpoint/control.ts";
import { dmtcpWords, missingDmtcp } from "../../checkpoint/dmtcp.ts";
import { FLAG_FILES, flagVariables } from "../../checkpoint/shared-flag.ts";
import type { FileUser, UserFiles } from "../../files/user-files.ts";
import { memoryPolicyWords } from "../../host/memory-policy.ts";
import { NOBODY, type RunAs } from "../../host/user/user.ts";
import type { Prepared, PrologueParts, PrologueTarget } from "../base/engine.ts";
import { attemptBinds } from "./attempt-binds.ts";
import { readShare, takeShare } from "./attempt-holdings.ts";
import { giveScript, makeFolders } from "./folders.ts";
import { dataMounts, refuseOverlap } from "./mounts.ts";

export async function runPrologue(
  parts: PrologueParts,
  target: PrologueTarget,
  signal: AbortSignal,
): Promise<Prepared> {
  const { key, order } = target;
  if (order.network === undefined) return prepare(parts, target, signal);
  const place = { key, network: order.network, nodes: order.nodes };
  const inside = await parts.network.join(place).catch((error: Error) => {
    throw new PrologueError("network", error.message);
  });
  const environment = { ...target.environment, ...inside.variables };
  const ready = await prepare(parts, { ...target, environment }, signal);
  // First, while the process still has the agent's user.
  return { ...ready, before: [...inside.before, ...ready.before] };
}

async function prepare(parts: PrologueParts, target: PrologueTarget, signal: AbortSignal): Promise<Prepared> {
  const { order, dir } = target;
  const inContainer = Boolean(order.environment?.image);
  const mapped = await parts.users.find(parts.mapping, order.user);
  const runAs = await runsAs(parts, order);
  const folders = await makeFolders(parts, target, runAs);
  if (runAs !== null && order.script !== "") giveScript(join(dir, "script"), runAs);
  const share = await takeShare(parts, target, signal);
  const checkpoints = await prepareCheckpoints({
    plan: order.checkpoint,
    dir,
    checkpoints: folders.LATTICE_CHECKPOINT_DIR,
    owner: runAs,
    files: parts.files,
    path: target.environment.PATH ?? "",
    contained: inContainer,
  });
  const own = { ...folders, ...checkpoints.variables, ...share, ...(runAs === null ? {} : userNames(runAs)) };
  const environment = { ...target.environment, ...own };
  const data = await dataMounts(parts, target, mapped);
  const policy = await memoryWords(parts, target);
  const binds = attemptBinds(target, folders);
  const attempt = { ...target, environment, runAs, folders, data, binds, policy, checkpointer: checkpoints.before };
  if (inContainer) {
    checkSignature(parts, attempt);
    refuseOverlap(data);
  }
  const engine = inContainer ? parts.engines.container : parts.engines.process;
  return engine.start(parts, attempt, await engine.prepare(parts, attempt, signal));
}

/** Returns the user that the command of this order runs as; null for the agent's own user. A container never is root. */
export async function runsAs(
  { users, mapping, isRoot }: Pick<PrologueParts, "users" | "mapping" | "isRoot">,
  order: pb.RunOrder,
): Promise<RunAs | null> {
  const mapped = await users.find(mapping, order.user);
  return mapped ?? (order.environment?.image && isRoot ? NOBODY : null);
}

/** No engine can check the signature of a container image. */
export function checkSignature(
  { images }: Pick<PrologueParts, "images">,
  { order }: Pick<PrologueTarget, "order">,
): void {
  if (!images.signedOnly && order.environment?.signRequired !== true) return;
  const why = images.signedOnly ? ", and only signed images may be used here (--require-signed)" : "";
  throw new PrologueError("image", `signatures of container images cannot be checked on this node${why}`);
}

/** Restricted to its share of the node. */
async function memoryWords({ memory }: PrologueParts, { dir, order }: PrologueTarget): Promise<readonly string[]> {
  const { memoryPolicy, limits, cxlMemory } = order;
  if (memoryPolicy === "") return [];
  const share = limits === undefined ? null : await readShare(dir);
  return memoryPolicyWords(memoryPolicy, memory, {
    cpus: share?.cpus ?? null,
    memory: share?.memory ?? null,
    cxl: cxlMemory,
  });
}

const userNames = ({ name, home, shell }: RunAs): Record<string, string> => ({
  USER: name,
  LOGNAME: name,
  HOME: home,
  SHELL: shell,
});

// The checkpoint stage of the prologue: the control folder, the variables that name the folders for writing and
// resuming, and for DMTCP the words before the command.

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

async function prepareCheckpoints(input: StageInput): Promise<CheckpointStage> {
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
