// What an attempt holds of the node, on disk beside it: for an agent that is started again while it runs,
// and for the epilogue.

import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GpuUnit } from "../discovery/gpus/inventory.ts";
import { gpuUserOf } from "../gpu-clear/decide.ts";
import type { Order } from "../lifecycle/attempt.ts";
import { gpuVariables, otherDevices, type Room } from "../runtime/isolation/node-shares.ts";
import type { PrologueParts, Target } from "./parts.ts";
import { PrologueError } from "./prologue-error.ts";

export interface HeldThings {
  readonly images: readonly string[];
  readonly container: string | null;
}

export async function noteHeld(
  { images }: PrologueParts,
  { key, dir }: Target,
  container: string | null,
): Promise<void> {
  const held: HeldThings = { images: images.cache.held(key), container };
  await writeFile(join(dir, "held.json"), JSON.stringify(held));
}

export async function readHeld(dir: string): Promise<HeldThings> {
  const path = join(dir, "held.json");
  const nothing: HeldThings = { images: [], container: null };
  // As a rule there is none, which is told soonest without another thread.
  if (!existsSync(path)) return nothing;
  try {
    return JSON.parse(await readFile(path, "utf8")) as HeldThings;
  } catch {
    return nothing;
  }
}

/** False while a process of it is still root's, on its way to becoming the user's. */
export async function isUsersOwn(uid: number | null, pid: number): Promise<boolean> {
  if (uid === null) return true;
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s+${uid}\\s`, "m").test(status);
}

/** A container's first process is the engine's own for a moment, with the engine's environment and without its filters. */
export async function hasBegun(pid: number): Promise<boolean> {
  const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
  return environ.includes("LATTICE_ALLOC_ID=");
}

/** The name of an attempt's container. */
export const nameOf = (key: string): string => `lattice-${key}`;

/** Only a share of a node has cores and GPUs of its own. */
export async function takeShare(
  parts: PrologueParts,
  { key, group, dir, order }: Target,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const inside = parts.inside();
  const claim = async (units: readonly GpuUnit[]): Promise<void> => {
    await parts.gpus?.claim(units, gpuUserOf(order), signal).catch((error: Error) => {
      throw new PrologueError("devices", error.message);
    });
  };
  if (order.share === undefined) {
    await claim(inside.units);
    return {};
  }
  const room = parts.shares.take(key, order.share);
  await writeFile(join(dir, "room.json"), JSON.stringify(room));
  await claim(inside.units.filter(({ index }) => room.gpus.includes(index)));
  if (room.cpus !== null) await parts.limits.pin(group, room.cpus, room.memory);
  if (inside.gpuCount === 0) return {};
  if (!deniesLater(parts, order)) await parts.limits.withoutDevices(group, otherDevices(inside, room.gpus));
  return gpuVariables(inside, room.gpus);
}

/**
 * An engine makes groups of its own below that of the attempt and begins with rules for all devices, which the kernel
 * refuses where some are denied above. It lets the container have its own devices alone; whoever enters later comes
 * into the group above, where the others are denied by then.
 */
const deniesLater = ({ containers }: PrologueParts, order: Order): boolean =>
  Boolean(order.software?.image) && typeof containers !== "string";

/** Before anybody enters the attempt; its container is there. */
export async function denyLate(
  parts: PrologueParts,
  { group, dir, order }: Pick<Target, "group" | "dir" | "order">,
): Promise<void> {
  const room = order.share === undefined || !deniesLater(parts, order) ? null : await readRoom(dir);
  const inside = parts.inside();
  if (room !== null && inside.gpuCount > 0) await parts.limits.withoutDevices(group, otherDevices(inside, room.gpus));
}

/** Null: it has no part of its own. */
export async function readRoom(dir: string): Promise<Room | null> {
  const path = join(dir, "room.json");
  if (!existsSync(path)) return null;
  return readFile(path, "utf8").then(
    (text) => JSON.parse(text) as Room,
    () => null,
  );
}
