// The folder between an agent and a program that takes checkpoints. The folder belongs to the job's user, its parent
// does not, so no user can replace it. `request` is written by the agent in shell syntax; `done` is written by the
// program when the checkpoint is complete. The agent's verdict is kept in the parent, where no user can change it.

import { renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { quoted } from "../base/shell-text.ts";
import { readControlFile, removeControlFile, writeControlFile } from "../files/control-file.ts";
import { handOver, makeFileFor, makeOwnFolderNow, type Owner, removeOwnNow } from "../files/own-tree.ts";
import type { NodeCheckpointResult, ProgramCheckpoint } from "./types.ts";

const CONTROL_FOLDER = "checkpoint";
/** More than any answer of a program needs. */
const MAX_TEXT = 4_096;

export const controlFolder = (attemptDir: string): string => join(attemptDir, CONTROL_FOLDER);

/**
 * Makes the folder with its files before it is handed to the user, and returns the variables by which a program finds
 * it. A folder of an interrupted start is taken back first.
 */
export function makeControl(
  attemptDir: string,
  owner: Owner | null,
  files: Readonly<Record<string, Uint8Array>> = {},
): Record<string, string> {
  const folder = controlFolder(attemptDir);
  makeOwnFolderNow(folder, 0o700);
  if (owner !== null) handOver(folder, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }, 0o700);
  for (const [name, bytes] of Object.entries(files)) {
    removeOwnNow(join(folder, name));
    makeFileFor(join(folder, name), bytes, owner, 0o600);
  }
  if (owner !== null) handOver(folder, owner, 0o700);
  return {
    LATTICE_CHECKPOINT_CONTROL: folder,
    LATTICE_CHECKPOINT_REQUEST: join(folder, "request"),
    LATTICE_CHECKPOINT_DONE: join(folder, "done"),
  };
}

/** Written before the program is notified. `directory` is where the checkpoint goes. */
export function writeRequest(
  folder: string,
  { number, thenStop, timeoutMs }: ProgramCheckpoint,
  directory: string,
): void {
  const lines = [
    `CHECKPOINT_NUMBER=${number}`,
    `CHECKPOINT_DIR=${quoted(directory)}`,
    `CHECKPOINT_THEN=${thenStop ? "stop" : "continue"}`,
    `CHECKPOINT_TIMEOUT=${Math.ceil(timeoutMs / 1000)}`,
  ];
  removeControlFile(folder, "done");
  writeControlFile(folder, "request", `${lines.join("\n")}\n`, 0o644);
}

/** Returns the number of the newest request; 0 without one. */
export const requestedNumber = (folder: string): number =>
  Number(/^CHECKPOINT_NUMBER=(\d+)$/m.exec(textOf(folder, "request"))?.[1] ?? 0);

/**
 * Returns null when the file is missing or names another checkpoint. An empty file, or one with the number, means
 * success.
 */
export function readDone(folder: string, number: number): { readonly ok: boolean; readonly message: string } | null {
  const text = textIn(folder, "done")?.trim();
  if (text === undefined) return null;
  if (/^failed\b/i.test(text)) return { ok: false, message: text.replace(/^failed[:\s]*/i, "") || "it failed" };
  if (/^\d+$/.test(text) && Number(text) !== number) return null;
  return { ok: true, message: "" };
}

const RESULT_FILE = "checkpoint-result.json";

export function keepResult(folder: string, result: NodeCheckpointResult): void {
  const path = join(dirname(folder), RESULT_FILE);
  writeFileSync(`${path}.tmp`, JSON.stringify(result), { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

export function keptResult(folder: string): NodeCheckpointResult | null {
  try {
    return JSON.parse(textOf(dirname(folder), RESULT_FILE)) as NodeCheckpointResult;
  } catch {
    return null;
  }
}

export const readEndpoint = (folder: string): string => textOf(folder, "endpoint").trim();

/** Null when there is no such file. */
const textIn = (folder: string, name: string): string | null =>
  readControlFile(folder, name, MAX_TEXT)?.toString("utf8") ?? null;

const textOf = (folder: string, name: string): string => textIn(folder, name) ?? "";
