// The handover from the native launcher. When it loses its server, it writes its position to a file, and the Node
// program continues the launch from there. A launch that failed is handed over as a problem to report.

import { readFileSync } from "node:fs";
import type { LaunchPosition } from "@lattice/sdk";
import { ProblemError, problemFromJson } from "@lattice/wire";
import type { OutputChunk } from "./task-output.ts";

interface Handover {
  readonly resume: LaunchPosition;
  /** Lines without their newline so far. */
  readonly partialLines: readonly OutputChunk[];
}

interface HandoverFile {
  readonly launch_id: string;
  readonly positions: readonly number[];
  readonly call: number;
  readonly servers: readonly string[];
  readonly partial_lines: readonly {
    readonly rank: number;
    readonly stream: OutputChunk["stream"];
    readonly data: string;
  }[];
}

/** Returns null when no launch was handed over. */
export function readHandover(env: NodeJS.ProcessEnv): Handover | null {
  const file = env.LATTICE_LAUNCH_RESUME;
  delete env.LATTICE_LAUNCH_RESUME;
  if (file === undefined || file === "") return null;
  const {
    launch_id: launchId,
    positions,
    call,
    servers,
    partial_lines,
  } = JSON.parse(readFileSync(file, "latin1")) as HandoverFile;
  return {
    resume: { launchId, positions, call, servers },
    partialLines: partial_lines.map(({ rank, stream, data }) => ({ rank, stream, data: Buffer.from(data, "hex") })),
  };
}

/** LATTICE_LAUNCH_PATIENCE: how long to reconnect to a lost launch. Default: as long as servers keep it. */
export function reconnectOptions({ LATTICE_LAUNCH_PATIENCE: seconds }: NodeJS.ProcessEnv): { patienceMs?: number } {
  return seconds !== undefined && /^\d{1,5}$/.test(seconds) ? { patienceMs: Number(seconds) * 1000 } : {};
}

/** Throws the problem of a launch that failed in the native launcher. */
export function throwLaunchProblem(event: string | undefined): void {
  if (event === undefined) return;
  const what = problemFromJson((JSON.parse(event) as { problem?: unknown }).problem, 0);
  throw new ProblemError(what.code, what);
}
