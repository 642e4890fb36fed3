// Releases what an attempt had of the node, once none of its processes is left: its container, GPUs, scratch folder
// and image pins. Its mounts ended with its processes. Each step is tried even when another failed, and repeating it
// is harmless.

import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { gpuUserOf } from "../../gpu-clear/decide.ts";
import { readAttempt } from "../attempt/files.ts";
import type { Engine, PrologueParts, PrologueTarget } from "../engine.ts";
import { readHeld, readRoom } from "./attempt-holdings.ts";
import { SECRETS } from "./remote-sources.ts";

export async function runEpilogue(
  parts: PrologueParts,
  { key, group, dir }: Pick<PrologueTarget, "key" | "group" | "dir">,
  log: Logger,
): Promise<void> {
  await tell(log, key, engineOf(parts, dir).clean(parts, { key, group }));
  await tell(log, key, leaveGpus(parts, dir));
  await tell(log, key, parts.scratch.clear(key));
  // Gone with the mount, unless the attempt was ended in the middle of it.
  const secrets = join(dir, SECRETS);
  if (existsSync(secrets)) await tell(log, key, rm(secrets, { recursive: true, force: true }));
  parts.shares.release(key);
  if (parts.network.kind !== "none") await tell(log, key, parts.network.leave(key));
}

/** The engine that runs the attempt in this folder. */
export const engineOf = ({ engines }: PrologueParts, dir: string): Engine =>
  readHeld(dir).container === null ? engines.process : engines.container;

/** Those of its share, or all of them when it had the node to itself; none where it never came to have any. */
async function leaveGpus({ gpus, inside }: PrologueParts, dir: string): Promise<void> {
  const { units } = inside();
  if (gpus === null || units.length === 0) return;
  const [room, { order, pid }] = [await readRoom(dir), readAttempt(dir)];
  if (order === null || pid === null) return;
  const own = order.limits === undefined ? units : units.filter(({ index }) => room?.gpus.includes(index));
  await gpus.release(own, gpuUserOf(order));
}

/** What was left by an earlier life of this agent and belongs to no attempt that is known. */
export async function sweepLeftovers(parts: PrologueParts, known: ReadonlySet<string>, log: Logger): Promise<void> {
  for (const key of await readdir(parts.scratch.root).catch(() => [])) {
    if (known.has(key) || parts.scratch.keeps(key)) continue;
    log.warn({ attempt: key }, "removing a scratch folder of no known attempt");
    await tell(log, key, rm(parts.scratch.pathOf(key), { recursive: true, force: true }));
  }
  await tell(log, "networks", parts.network.sweep(known));
  const { container } = parts.engines;
  for (const key of await container.attempts().catch(() => [])) {
    if (!known.has(key)) await tell(log, key, container.clean(parts, { key, group: key }));
  }
}

async function tell(log: Logger, key: string, work: Promise<void>): Promise<void> {
  await work.catch((error: Error) => log.error({ attempt: key, error: error.message }, "epilogue: cleanup failed"));
}
