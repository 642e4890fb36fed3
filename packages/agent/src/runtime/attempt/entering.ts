// Where terminals, probes, tasks and checkpoints enter a running attempt.

import { join } from "node:path";
import type { pb } from "@lattice/wire";
import { HELPER_PATH } from "../../base/executable.ts";
import { controlFolder } from "../../checkpoint/control.ts";
import { outputFolders, ownedFolder } from "../../checkpoint/output-folders.ts";
import { type CheckpointPlace, checkpointTarget } from "../../checkpoint/target.ts";
import type { AttemptAccess, CheckpointTarget } from "../../checkpoint/types.ts";
import type { FileUser } from "../../files/user-files.ts";
import type { FirstProcess } from "../../host/first-process.ts";
import type { RunAs } from "../../host/user/user.ts";
import type { NetworkPlace } from "../../network/driver.ts";
import type { AttemptContext } from "../../tasks/task-context.ts";
import { enter } from "../../terminal/enter.ts";
import { readAttempt, readCopiers, readInit } from "../base/attempt-files.ts";
import type { PrologueParts } from "../base/engine.ts";
import { type KeptLaunch, readLaunch } from "../base/launch-file.ts";
import { denyLate, isUsersOwn } from "../prologue/attempt-holdings.ts";
import { runsAs } from "../prologue/prologue.ts";
import { dirOf, groupOf, placeOf, type RuntimeContext } from "./context.ts";
import { childOf, descendsFrom } from "./reattach.ts";
import { limitFiles } from "./starting.ts";

export async function firstProcess(context: RuntimeContext, key: string): Promise<FirstProcess | null> {
  const dir = dirOf(context, key);
  const leader = context.processes.get(key)?.leader ?? null;
  const launched = readLaunch(dir);
  if (leader === null || launched === null) return null;
  const init = initOf(dir, leader);
  const { order } = readAttempt(dir);
  const inContainer = Boolean(order?.environment?.image);
  // Before its container exists, only the engine runs, outside of it.
  if (init === null && inContainer) return null;
  // A user must not enter a process that is still root's: the wrapper, and its child for a moment. The wrapper is not
  // in the network domain of the job either.
  const plain = launched.owner === null && order?.network === undefined;
  const pid = init ?? (plain ? leader : childOf(leader, readCopiers(dir)));
  if (pid === null || !(await isUsersOwn(launched.owner?.uid ?? null, pid))) return null;
  const whose = String(launched.owner?.uid ?? "");
  const variables = inContainer ? await variablesInside(context.prologue, whose, pid) : launched.variables;
  if (variables === null) return null;
  return {
    pid,
    variables,
    owner: ownerOf(launched),
    filters: join(dir, "filters"),
    joinBy:
      order === null ? await context.isolation.prepare(placeOf(context, key)) : await joinFiles(context, key, order),
  };
}

/** Sarus has the first process inside write its own number, and any program of the job could write another one. */
function initOf(dir: string, leader: number): number | null {
  const init = readInit(dir);
  return init !== null && (init.isCertain || descendsFrom(init.pid, leader)) ? init.pid : null;
}

const ownerOf = ({ owner }: KeptLaunch): FileUser | null => (owner?.uid === process.getuid?.() ? null : owner);

/**
 * The variables of an image are known only inside. A container's first process is the engine's own for a moment, with the
 * engine's environment and without its filters; then this is null.
 */
async function variablesInside(
  { files }: PrologueParts,
  whose: string,
  pid: number,
): Promise<Readonly<Record<string, string>> | null> {
  const environ = await files.environ(pid, whose).catch(() => Buffer.alloc(0));
  const variables: Record<string, string> = {};
  for (const entry of environ.toString().split("\0")) {
    const at = entry.indexOf("=");
    if (at > 0) variables[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return variables.LATTICE_ALLOC_ID === undefined ? null : variables;
}

async function joinFiles(context: RuntimeContext, key: string, order: pb.RunOrder): Promise<string> {
  const { isolation, prologue } = context;
  const files = [await isolation.prepare(placeOf(context, key)), ...(await limitFiles(context, key, order))];
  const dir = dirOf(context, key);
  if (readInit(dir) !== null) await denyLate(prologue, { group: groupOf(context, key), dir, order });
  return files.filter((file) => file !== "").join("\n");
}

export async function attemptContext(context: RuntimeContext, key: string): Promise<AttemptContext | null> {
  const dir = dirOf(context, key);
  const { order } = readAttempt(dir);
  const { files } = context.prologue;
  return order === null ? null : { dir, order, files, joinBy: await joinFiles(context, key, order) };
}

export async function checkpointsOf(context: RuntimeContext, key: string): Promise<CheckpointTarget | null> {
  const dir = dirOf(context, key);
  const { order } = readAttempt(dir);
  if (order === null) return null;
  const { prologue } = context;
  const owner = await runsAs(prologue, order);
  const path = readLaunch(dir)?.variables.PATH ?? HELPER_PATH;
  const place = checkpointPlace(prologue, { dir, order, owner, path });
  if (place === null) return null;
  const members = async (): Promise<readonly number[]> => {
    const all = await context.isolation.members(placeOf(context, key));
    return all.filter((pid) => pid !== context.processes.get(key)?.leader);
  };
  const inside = async (): Promise<AttemptAccess | null> => {
    const first = await firstProcess(context, key);
    const entered = first === null ? null : await enter({ ...first, line: "", term: "" });
    if (first === null || entered === null) return null;
    // Nothing to enter would mean the agent's own user.
    if (owner !== null && entered.prefix.length === 0) return null;
    return { groups: joinWords(first.joinBy), enter: entered.prefix };
  };
  return checkpointTarget({ ...place, members, inside, now: Date.now });
}

/** Returns the network domains of started attempts; before its start an attempt's prologue opens them. */
export function networksOf(context: RuntimeContext): readonly NetworkPlace[] {
  return [...context.processes.keys()].flatMap((key) => {
    const dir = dirOf(context, key);
    const { network, nodes = [] } = readAttempt(dir).order ?? {};
    return network === undefined || placeOf(context, key).leader === null || readLaunch(dir) === null
      ? []
      : [{ key, network, nodes }];
  });
}

/** `joinBy`: files to join by, one on each line. */
const joinWords = (joinBy: string): readonly string[] => (joinBy === "" ? [] : ["/bin/sh", "-c", JOIN, "sh", joinBy]);

const JOIN = `(set -f; IFS='
'; for group in $1; do echo $$ >"$group" || exit 1; done) || exit 126
shift
exec "$@"`;

/** Returns null when the attempt takes no checkpoints. `owner`: the user of the program, null for the agent's own. */
function checkpointPlace(
  { outputRoot, files }: Pick<PrologueParts, "outputRoot" | "files">,
  { dir, order, owner, path }: { dir: string; order: pb.RunOrder; owner: RunAs | null; path: string },
): Omit<CheckpointPlace, "members" | "inside" | "now"> | null {
  if (order.checkpoint === undefined || outputRoot === "") return null;
  const { mode, port } = order.checkpoint;
  const { checkpoints } = outputFolders(outputRoot, order);
  const owned = ownedFolder(outputRoot, order);
  const isFirst = order.nodeIndex === 0;
  return { mode, port, control: controlFolder(dir), checkpoints, owned, isFirst, owner, files, path };
}
