// The resources that an attempt holds on the node, recorded in its directory for a restarted agent and for the
// epilogue.

import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { pb } from "@lattice/wire";
import { PrologueError } from "../../base/prologue-error.ts";
import type { GpuUnit } from "../../discovery/gpus/base/inventory.ts";
import { gpuUserOf } from "../../gpu-clear/decide.ts";
import { gpuVariables, type NodePart, otherDevices } from "../../host/isolation/node-shares.ts";
import type { PrologueParts, PrologueTarget } from "../base/engine.ts";

interface Holdings {
  readonly images: readonly string[];
  readonly container: string | null;
}

export async function noteHoldings(
  { images }: PrologueParts,
  { key, dir }: PrologueTarget,
  container: string | null,
): Promise<void> {
  const held: Holdings = { images: images.cache.held(key), container };
  await writeFile(join(dir, "holdings.json"), JSON.stringify(held), { mode: 0o600 });
}

export function readHoldings(dir: string): Holdings {
  const path = join(dir, "holdings.json");
  const nothing: Holdings = { images: [], container: null };
  // Usually missing, which a synchronous call finds fastest.
  if (!existsSync(path)) return nothing;
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Holdings;
  } catch {
    return nothing;
  }
}

/** Returns false while the process is still root's, on its way to the user. */
export async function isUsersOwn(uid: number | null, pid: number): Promise<boolean> {
  if (uid === null) return true;
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s+${uid}\\s`, "m").test(status);
}

/** The name of an attempt's container. */
export const nameOf = (key: string): string => `${CONTAINER_PREFIX}${key}`;
export const keyOf = (name: string): string => name.slice(CONTAINER_PREFIX.length);
export const CONTAINER_PREFIX = "lattice-";

/** Only a share has its own cores and GPUs. */
export async function takeShare(
  parts: PrologueParts,
  { key, group, dir, order }: PrologueTarget,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const inside = parts.inside();
  const claim = async (units: readonly GpuUnit[]): Promise<void> => {
    await parts.gpus?.claim(units, gpuUserOf(order), signal).catch((error: Error) => {
      throw new PrologueError("devices", error.message);
    });
  };
  if (order.limits === undefined) {
    await claim(inside.units);
    return {};
  }
  const share = parts.shares.take(key, order.limits);
  await writeFile(join(dir, "share.json"), JSON.stringify(share), { mode: 0o600 });
  await claim(inside.units.filter(({ index }) => share.gpus.includes(index)));
  if (share.cpus !== null) await parts.limits.pin(group, share.cpus, share.memory);
  if (inside.gpuCount === 0) return {};
  if (!deniesLater(parts, order)) await parts.limits.withoutDevices(group, otherDevices(inside, share.gpus));
  return gpuVariables(inside, share.gpus);
}

/**
 * An engine creates groups below that of the attempt and starts with rules for all devices, which the kernel refuses
 * when some are denied above. The engine gives the container its own devices only; terminals and tasks join the group
 * above, where the other devices are denied by then.
 */
const deniesLater = ({ engines }: PrologueParts, order: pb.RunOrder): boolean =>
  Boolean(order.environment?.image) && engines.container.createsGroups;

/** Called before a terminal or task enters the attempt; its container exists. */
export async function denyLate(
  parts: PrologueParts,
  { group, dir, order }: Pick<PrologueTarget, "group" | "dir" | "order">,
): Promise<void> {
  const share = order.limits === undefined || !deniesLater(parts, order) ? null : await readShare(dir);
  const inside = parts.inside();
  if (share !== null && inside.gpuCount > 0) await parts.limits.withoutDevices(group, otherDevices(inside, share.gpus));
}

/** Returns null when the attempt has no share. */
export async function readShare(dir: string): Promise<NodePart | null> {
  const path = join(dir, "share.json");
  if (!existsSync(path)) return null;
  return readFile(path, "utf8").then(
    (text) => JSON.parse(text) as NodePart,
    () => null,
  );
}
