// Releases the resources of an attempt once none of its processes is left: container, GPUs, scratch directory and image
// pins. Its mounts ended with its processes. Each step runs even when another failed, and all are repeatable.

import { existsSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { removeOwn } from "../../files/own-tree.ts";
import { gpuUserOf } from "../../gpu-clear/decide.ts";
import { readAttempt } from "../base/attempt-files.ts";
import type { Engine, PrologueParts, PrologueTarget } from "../base/engine.ts";
import { PRIVATE } from "../base/entry-plan.ts";
import { SECRETS } from "../base/remote-sources.ts";
import { readHoldings, readShare } from "./attempt-holdings.ts";

export async function runEpilogue(
  parts: PrologueParts,
  { key, group, dir }: Pick<PrologueTarget, "key" | "group" | "dir">,
  log: Logger,
): Promise<void> {
  await logFailure(log, key, engineOf(parts, dir).clean(parts, { key, group }));
  await logFailure(log, key, leaveGpus(parts, dir));
  const whose = (): string => readAttempt(dir).order?.user ?? key;
  await logFailure(log, key, parts.scratch.clear(key, whose));
  // Removed after mounting, unless the attempt ended in between.
  const secrets = join(dir, SECRETS);
  if (existsSync(secrets)) await logFailure(log, key, removeOwn(secrets));
  await logFailure(log, key, removePrivate(parts, dir, whose));
  parts.shares.release(key);
  if (parts.network.kind !== "none") await logFailure(log, key, parts.network.leave(key));
}

/** Its own /tmp, usually empty by then. */
async function removePrivate({ trash }: PrologueParts, dir: string, whose: () => string): Promise<void> {
  const folder = join(dir, PRIVATE);
  if (!existsSync(folder)) return;
  try {
    rmdirSync(join(folder, "tmp"));
    rmdirSync(folder);
  } catch {
    await trash.take(dir, PRIVATE, whose());
  }
}

/** The engine that runs the attempt in this folder. */
export const engineOf = ({ engines }: PrologueParts, dir: string): Engine =>
  readHoldings(dir).container === null ? engines.process : engines.container;

/** Returns the GPUs of its share, or all of them for an exclusive attempt; none before the share is recorded. */
async function leaveGpus({ gpus, inside }: PrologueParts, dir: string): Promise<void> {
  const { units } = inside();
  if (gpus === null || units.length === 0) return;
  const [share, { order, pid }] = [await readShare(dir), readAttempt(dir)];
  if (order === null || pid === null) return;
  const own = order.limits === undefined ? units : units.filter(({ index }) => share?.gpus.includes(index));
  await gpus.release(own, gpuUserOf(order));
}

/** Removes leftovers of an earlier run that belong to no known attempt. Files of users are removed in the background. */
export async function sweepLeftovers(parts: PrologueParts, known: ReadonlySet<string>, log: Logger): Promise<void> {
  await parts.scratch.sweep(known, (key) =>
    log.warn({ attempt: key }, "removing a scratch folder of no known attempt"),
  );
  await parts.trash.sweep();
  await logFailure(log, "networks", parts.network.sweep(known));
  const { container } = parts.engines;
  for (const key of await container.attempts().catch(() => [])) {
    if (!known.has(key)) await logFailure(log, key, container.clean(parts, { key, group: key }));
  }
}

async function logFailure(log: Logger, key: string, work: Promise<void>): Promise<void> {
  await work.catch((error: Error) => log.error({ attempt: key, error: error.message }, "epilogue: cleanup failed"));
}
