// The uenv images of an attempt: each name resolved to a digest, each image in the cache, verified and pinned, its views
// found. Mount points must not overlap.

import { firstOverlap, parseUenvs, targetProblem, type WantedUenv } from "@lattice/core";
import { PrologueError } from "../../base/prologue-error.ts";
import { CacheFullError, type MountableImage } from "../../images/cache.ts";
import { DEFAULT_MOUNT, type Patch, TOOLS_MOUNT } from "../../images/views.ts";
import type { EngineAttempt, PrologueParts } from "../base/engine.ts";
import type { ImageMount } from "../base/entry-plan.ts";

export interface MountedUenvs {
  /** False when the order requests no software. */
  readonly applies: boolean;
  readonly mounts: readonly ImageMount[];
  readonly patches: readonly Patch[];
  /** For the environment: "name:mount", with commas between. */
  readonly listed: string;
}

interface Placed extends MountableImage {
  readonly at: string;
}

const NONE: MountedUenvs = { applies: false, mounts: [], patches: [], listed: "" };

export async function prepare(
  { images }: PrologueParts,
  { key: holder, order }: EngineAttempt,
  signal: AbortSignal,
): Promise<MountedUenvs> {
  if (order.environment === undefined) return NONE;
  const { uenv, toolsUenv, view, signRequired } = order.environment;
  const main = parseUenvs(uenv) ?? [];
  const tools = parseUenvs(toolsUenv) ?? [];
  const placed: Placed[] = [];
  for (const wanted of main) placed.push(await bring(wanted, DEFAULT_MOUNT));
  const patches = patchesOf(placed, view);
  for (const wanted of tools) placed.push(await bring({ ...wanted, mount: wanted.mount || TOOLS_MOUNT }, TOOLS_MOUNT));
  const overlap = firstOverlap(placed.map(({ at }) => at));
  if (overlap !== null) {
    const second = placed[overlap];
    throw new PrologueError("uenv", `${second?.name} would be mounted over another image at ${second?.at}`);
  }
  return {
    applies: true,
    mounts: placed.map(({ path, at }) => ({ kind: "image", image: path, at })),
    patches,
    listed: placed.map(({ name, at }) => `${name}:${at}`).join(","),
  };

  async function bring(wanted: WantedUenv, fallback: string): Promise<Placed> {
    const held = await images.acquire(wanted.name, { holder, signRequired }, signal).catch((error: Error) => {
      if (signal.aborted || error instanceof PrologueError) throw error;
      const stage = error instanceof CacheFullError ? "cache" : "image";
      throw new PrologueError(stage, `${wanted.name}: ${error.message}`);
    });
    const at = wanted.mount || held.meta.mount || fallback;
    const problem = targetProblem(at);
    if (problem !== null) throw new PrologueError("uenv", `the mount point ${at} of ${wanted.name} ${problem}`);
    return { ...held, at };
  }
}

/** "view" of any image, or "image:view" where several have one of that name. */
function patchesOf(placed: readonly Placed[], view: string): Patch[] {
  const patches: Patch[] = [];
  for (const asked of view === "" ? [] : view.split(",")) {
    const [first = "", second] = asked.split(":");
    const among = second === undefined ? placed : placed.filter(({ name, meta }) => isNamed(name, meta.name, first));
    const found = among.flatMap(({ meta }) => meta.views.get(second ?? first) ?? [])[0];
    if (found === undefined) {
      const known = placed.flatMap(({ meta }) => [...meta.views.keys()]);
      const there = known.length === 0 ? "the image has no views" : `there are ${known.join(", ")}`;
      throw new PrologueError("view", `there is no view ${asked}: ${there}`);
    }
    patches.push(...found.patches);
  }
  return patches;
}

const isNamed = (label: string, own: string, asked: string): boolean =>
  own === asked || label.split(/[/:@]/)[0] === asked;
