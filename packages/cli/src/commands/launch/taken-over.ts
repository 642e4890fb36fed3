// A launch that the small program began and whose server it lost: what it has shown of it, for the whole program to go on with.

import { readFileSync } from "node:fs";
import type { LaunchPosition } from "@lattice/sdk";
import type { Piece } from "./label.ts";

export interface TakenOver {
  readonly resume: LaunchPosition;
  /** Lines that are not whole yet. */
  readonly rests: readonly Piece[];
}

interface Left {
  readonly launch_id: string;
  readonly positions: readonly number[];
  readonly call: number;
  readonly servers: readonly string[];
  readonly rests: readonly { readonly rank: number; readonly stream: Piece["stream"]; readonly data: string }[];
}

/** Null: there is none. */
export function takenOver(env: NodeJS.ProcessEnv): TakenOver | null {
  const file = env.LATTICE_LAUNCH_RESUME;
  delete env.LATTICE_LAUNCH_RESUME;
  if (file === undefined || file === "") return null;
  const { launch_id: launchId, positions, call, servers, rests } = JSON.parse(readFileSync(file, "latin1")) as Left;
  return {
    resume: { launchId, positions, call, servers },
    rests: rests.map(({ rank, stream, data }) => ({ rank, stream, data: Buffer.from(data, "hex") })),
  };
}

/** How long a launch whose server is lost is tried to be taken up again; undefined: as long as servers wait for it. */
export function patienceOf({ LATTICE_LAUNCH_PATIENCE: seconds }: NodeJS.ProcessEnv): { patienceMs?: number } {
  return seconds !== undefined && /^\d{1,5}$/.test(seconds) ? { patienceMs: Number(seconds) * 1000 } : {};
}
