// Makes a node ready for one attempt, stage by stage: user, images, views, mounts, scratch, memory
// policy, container. It answers how the command is to be started; nothing of the attempt runs yet. A stage
// that fails names itself, and whatever was taken before is given back by the epilogue.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { applyPatches } from "../images/views.ts";
import { memoryPolicyWords } from "../runtime/memory-policy.ts";
import { enterScript, enterWords } from "../runtime/uenv/enter.ts";
import { enterWorkdir } from "../runtime/user/enter-workdir.ts";
import { splitEnvironment } from "../runtime/user/safe-environment.ts";
import { asUser, type RunAs } from "../runtime/user/user.ts";
import { prepareCheckpoints } from "./checkpoint-stage.ts";
import { prepareContainer } from "./container.ts";
import { defaultWorkdir, giveScript, makeFolders } from "./folders.ts";
import { noteHeld, readRoom, takeShare } from "./held.ts";
import { containerBinds } from "./in-container.ts";
import { checkTargets, dataMounts } from "./mounts.ts";
import type { Prepared, PrologueParts, Target } from "./parts.ts";
import { PrologueError } from "./prologue-error.ts";
import { prepareUenvs } from "./uenvs.ts";

/** A container that would be root runs as nobody instead. */
const NOBODY: RunAs = { name: "nobody", uid: 65534, gid: 65534, groups: [65534], home: "/", shell: "/bin/sh" };

export async function runPrologue(parts: PrologueParts, target: Target, signal: AbortSignal): Promise<Prepared> {
  const { key, order } = target;
  if (order.network === undefined) return prepare(parts, target, signal);
  const place = { key, network: order.network, nodes: order.nodes };
  const inside = await parts.network.join(place).catch((error: Error) => {
    throw new PrologueError("network", error.message);
  });
  const environment = { ...target.environment, ...inside.variables };
  const ready = await prepare(parts, { ...target, environment }, signal);
  // First of all, while it is still the agent's user who begins it.
  return { ...ready, before: [...inside.before, ...ready.before] };
}

async function prepare(parts: PrologueParts, target: Target, signal: AbortSignal): Promise<Prepared> {
  const { order, dir } = target;
  const software = order.software ?? null;
  const mapped = await parts.users.find(parts.mapping, order.user);
  const runAs = software?.image ? (mapped ?? (parts.isRoot ? NOBODY : null)) : mapped;
  const folders = await makeFolders(parts, target, runAs);
  if (runAs !== null && order.script !== "") giveScript(join(dir, "script"), runAs);
  const share = await takeShare(parts, target, signal);
  const saving = prepareCheckpoints({
    plan: order.checkpoint,
    dir,
    checkpoints: folders.LATTICE_CHECKPOINT_DIR,
    owner: runAs,
    path: target.environment.PATH ?? "",
    contained: Boolean(software?.image),
  });
  const own = { ...folders, ...saving.variables, ...share, ...(runAs === null ? {} : userNames(runAs)) };
  let environment = { ...target.environment, ...own };

  const data = await dataMounts(parts, target, mapped);
  const policy = await memoryWords(parts, target);
  if (software?.image) {
    await checkTargets(data);
    const binds = containerBinds(target, data, environment, await parts.offered());
    return prepareContainer(parts, target, { software, runAs, data, environment, policy, binds }, signal);
  }

  const uenvs = software === null ? null : await prepareUenvs(parts.images, software, target.key, signal);
  const mounts = uenvs?.mounts ?? [];
  if (uenvs !== null) {
    environment = { ...applyPatches(environment, uenvs.patches), LATTICE_UENV: uenvs.listed };
  }
  const home = data.find(({ at }) => at === mapped?.home)?.at ?? null;
  const tells = mapped !== null && order.workdir !== "";
  const workdir = tells ? "/" : order.workdir || (home ?? (await defaultWorkdir(mapped, dir, folders)));
  const { safe, later } = mapped === null ? { safe: environment, later: [] } : splitEnvironment(environment);
  const change = [
    ...policy,
    ...(mapped === null ? [] : asUser(mapped, mounts.length + data.length > 0)),
    ...(tells ? enterWorkdir(order.workdir, mapped.name) : []),
    ...withVariables(later),
  ];
  const uid = mapped?.uid ?? null;
  const writer = mapped === null ? [] : asUser(mapped, true);
  const last = policy.length > 0 && mapped === null ? [...change, ...PLAIN_EXEC] : change;
  const before = [...last, ...saving.before];
  if (mounts.length === 0 && data.length === 0) {
    return { before, environment: safe, workdir, tells, uid, writer, variables: environment };
  }
  const script = join(dir, "enter");
  await checkTargets([...mounts, ...data]);
  mustBeRoot(parts, mounts.length > 0 ? "uenv" : "mounts");
  await noteHeld(parts, target, null);
  await writeFile(script, enterScript({ dir, images: mounts, data, workdir, before, byEngine: false }), {
    mode: 0o600,
  });
  return { before: enterWords(script), environment: safe, workdir: "/", tells, uid, writer, variables: environment };
}

/** In the part of the node that it has. */
async function memoryWords({ memory }: PrologueParts, { dir, order }: Target): Promise<readonly string[]> {
  const { memoryPolicy = "", share, cxlMemory = false } = order;
  if (memoryPolicy === "") return [];
  const room = share === undefined ? null : await readRoom(dir);
  return memoryPolicyWords(memoryPolicy, memory, {
    cpus: room?.cpus ?? null,
    memory: room?.memory ?? null,
    cxl: cxlMemory,
  });
}

const userNames = ({ name, home, shell }: RunAs): Record<string, string> => ({
  USER: name,
  LOGNAME: name,
  HOME: home,
  SHELL: shell,
});

/** env would take a command with "=" in its name for a variable; the shell's exec does not. */
const PLAIN_EXEC = ["/bin/sh", "-c", 'exec "$@"', "sh"];
const withVariables = (later: readonly string[]): readonly string[] =>
  later.length === 0 ? [] : ["/usr/bin/env", ...later, ...PLAIN_EXEC];

function mustBeRoot({ isRoot }: PrologueParts, stage: string): void {
  if (!isRoot) throw new PrologueError(stage, "the agent does not run as root and cannot mount anything");
}
