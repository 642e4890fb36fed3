// Gives back what an attempt had of the node, once none of its processes is left: its container, its
// GPUs, its scratch folder, its pins in the image cache. Mounts went with its processes. Each is tried whatever
// became of the others, and repeating it does no harm.

import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { gpuUserOf } from "../gpu-clear/decide.ts";
import { listContainers, removeContainer } from "../runtime/container/podman.ts";
import { forgetKills, notedKills } from "../runtime/container/runtime-script.ts";
import type { AttemptPlace } from "../runtime/isolation/isolation.ts";
import { processGroup } from "../runtime/isolation/process-group.ts";
import { readAttempt } from "../runtime/process/files.ts";
import { clear } from "../runtime/process/stop.ts";
import { nameOf, readHeld, readRoom } from "./held.ts";
import type { PrologueParts, Target } from "./parts.ts";
import { SECRETS } from "./remote-sources.ts";

export async function runEpilogue(
  parts: PrologueParts,
  { key, group, dir }: Pick<Target, "key" | "group" | "dir">,
  log: Logger,
): Promise<void> {
  const { container } = await readHeld(dir);
  const { containers } = parts;
  if (container !== null && typeof containers !== "string") {
    await tell(log, key, removeContainer(containers, container));
    forgetKills(containers.folder, parts.groupParent(group));
  }
  // Its runtime may have put a container into groups of its own, where what the attempt's group holds does not reach.
  if (container !== null && parts.sarus !== null)
    await tell(log, key, endMarked({ key: group, dir, leader: null }, log));
  await tell(log, key, leaveGpus(parts, dir));
  await tell(log, key, parts.scratch.clear(key));
  // Gone with the mount, unless the attempt was ended in the middle of it.
  const secrets = join(dir, SECRETS);
  if (existsSync(secrets)) await tell(log, key, rm(secrets, { recursive: true, force: true }));
  parts.images.cache.release(key);
  parts.shares.release(key);
  if (parts.network.kind !== "none") await tell(log, key, parts.network.leave(key));
}

const END_MARKED_WITHIN_MS = 60_000;

const endMarked = (place: AttemptPlace, log: Logger): Promise<void> =>
  clear(processGroup(), place, { signal: AbortSignal.timeout(END_MARKED_WITHIN_MS), log });

/** How often the kernel killed something in its container for want of memory. Asked before the epilogue. */
export const containerKills = ({ containers, groupParent }: PrologueParts, group: string): number =>
  typeof containers === "string" ? 0 : notedKills(containers.folder, groupParent(group));

/** Those of its share, or all of them when it had the node to itself; none where it never came to have any. */
async function leaveGpus({ gpus, inside }: PrologueParts, dir: string): Promise<void> {
  const { units } = inside();
  if (gpus === null || units.length === 0) return;
  const [room, { order, pid }] = [await readRoom(dir), readAttempt(dir)];
  if (order === null || pid === null) return;
  const own = order.share === undefined ? units : units.filter(({ index }) => room?.gpus.includes(index));
  await gpus.release(own, gpuUserOf(order));
}

/** What was left by an earlier life of this agent and belongs to no attempt that is known. */
export async function sweepLeftovers(parts: PrologueParts, known: ReadonlySet<string>, log: Logger): Promise<void> {
  for (const key of await readdir(parts.scratch.root).catch(() => [])) {
    if (known.has(key) || parts.scratch.keeps(key)) continue;
    log.warn({ attempt: key }, "removing a scratch folder that belongs to no attempt");
    await tell(log, key, rm(parts.scratch.pathOf(key), { recursive: true, force: true }));
  }
  await tell(log, "networks", parts.network.sweep(known));
  const { containers } = parts;
  if (typeof containers === "string") return;
  const names = new Set([...known].map(nameOf));
  for (const name of await listContainers(containers).catch(() => [])) {
    if (!names.has(name)) await tell(log, name, removeContainer(containers, name));
  }
}

async function tell(log: Logger, key: string, work: Promise<void>): Promise<void> {
  await work.catch((error: Error) => log.error({ attempt: key, error: error.message }, "something was left behind"));
}
