// The folder between an agent and a program that takes checkpoints. The folder belongs to the job's user, its parent
// does not, so no user can replace it. `request` is written by the agent in shell syntax; `done` is written by the
// program when the checkpoint is complete; `result` is the agent's verdict. Files are moved into place whole, under
// unguessable temporary names, because an agent may write here as root.

import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { quoted } from "../base/shell-text.ts";
import type { CheckpointResult, ProgramCheckpoint } from "./types.ts";

const CONTROL_FOLDER = "checkpoint";
/** More than any answer of a program needs. */
const MAX_TEXT = 4_096;

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

export const controlFolder = (attemptDir: string): string => join(attemptDir, CONTROL_FOLDER);

/** Returns the variables by which a program finds the folder. */
export function makeControl(attemptDir: string, owner: FileOwner | null): Record<string, string> {
  const folder = controlFolder(attemptDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (owner !== null) chownSync(folder, owner.uid, owner.gid);
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
  rmSync(join(folder, "done"), { force: true });
  putWhole(folder, "request", `${lines.join("\n")}\n`, 0o644);
}

/** The number of the newest request; 0: there was none. */
export const requestedNumber = (folder: string): number =>
  Number(/^CHECKPOINT_NUMBER=(\d+)$/m.exec(textOf(folder, "request"))?.[1] ?? 0);

/**
 * Returns null when the file is missing or names another checkpoint. An empty file, or one with the number, means
 * success.
 */
export function readDone(folder: string, number: number): { readonly ok: boolean; readonly message: string } | null {
  const text = exists(folder, "done") ? textOf(folder, "done").trim() : null;
  if (text === null) return null;
  if (/^failed\b/i.test(text)) return { ok: false, message: text.replace(/^failed[:\s]*/i, "") || "it failed" };
  if (/^\d+$/.test(text) && Number(text) !== number) return null;
  return { ok: true, message: "" };
}

export const keepResult = (folder: string, result: CheckpointResult): void =>
  putWhole(folder, "result", JSON.stringify(result), 0o600);

export function keptResult(folder: string): CheckpointResult | null {
  try {
    return JSON.parse(textOf(folder, "result")) as CheckpointResult;
  } catch {
    return null;
  }
}

export const readEndpoint = (folder: string): string => textOf(folder, "endpoint").trim();

function putWhole(folder: string, name: string, text: string, mode: number): void {
  const passing = join(folder, `.${randomBytes(8).toString("hex")}`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = openSync(passing, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
  renameSync(passing, join(folder, name));
}

const exists = (folder: string, name: string): boolean => {
  try {
    closeSync(openSync(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
};

/** Never follows a link: its target may belong to another user. */
function textOf(folder: string, name: string): string {
  let file: number | null = null;
  try {
    file = openSync(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return readFileSync(file, "utf8").slice(0, MAX_TEXT);
  } catch {
    return "";
  } finally {
    if (file !== null) closeSync(file);
  }
}
