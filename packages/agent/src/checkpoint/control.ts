// The folder between an agent and a program that takes checkpoints. The folder belongs to the job's user, its parent
// does not, so no user can replace it. `request` is written by the agent in shell syntax; `done` is written by the
// program when the checkpoint is complete. The agent's verdict is kept in the parent, where no user can change it.
//
// Files in the folder are read and written as the user, by another process: a link leads nowhere that the user could not
// go, and a file system that the user has mounted there blocks that process only, never the agent.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { quoted } from "../base/shell-text.ts";
import { handOver, makeFileFor, makeFolderFor } from "../files/own-tree.ts";
import type { FileUser, SmallFiles, UserFiles } from "../files/user-files.ts";
import { cutMessage } from "./message.ts";
import type { NodeCheckpointResult, ProgramCheckpoint } from "./types.ts";

const CONTROL_FOLDER = "checkpoint";
/** More than any answer of a program needs. */
const MAX_TEXT = 4_096;

export const controlFolder = (attemptDir: string): string => join(attemptDir, CONTROL_FOLDER);

export interface Control {
  /** The control folder. */
  readonly control: string;
  /** The user of the program; `null` for the agent's own user. */
  readonly owner: FileUser | null;
  readonly files: SmallFiles;
}

/**
 * Makes the folder with its files before it is handed to the user, and returns the variables by which a program finds
 * it. A folder of an interrupted start is removed first.
 */
export async function makeControl(
  attemptDir: string,
  owner: FileUser | null,
  files: Pick<UserFiles, "clear">,
  content: Readonly<Record<string, Uint8Array>> = {},
): Promise<Record<string, string>> {
  const folder = controlFolder(attemptDir);
  await files.clear(attemptDir, CONTROL_FOLDER, `control ${owner?.uid ?? ""}`);
  makeFolderFor(folder, null, 0o700);
  for (const [name, bytes] of Object.entries(content)) makeFileFor(join(folder, name), bytes, owner, 0o600);
  if (owner !== null) handOver(folder, owner, 0o700, "folder");
  return {
    LATTICE_CHECKPOINT_CONTROL: folder,
    LATTICE_CHECKPOINT_REQUEST: join(folder, "request"),
    LATTICE_CHECKPOINT_DONE: join(folder, "done"),
  };
}

/** Written before the program is notified. `directory` is where the checkpoint goes. */
export async function writeRequest(
  { control, owner, files }: Control,
  { number, thenStop, timeoutMs }: ProgramCheckpoint,
  directory: string,
): Promise<void> {
  const lines = [
    `CHECKPOINT_NUMBER=${number}`,
    `CHECKPOINT_DIR=${quoted(directory)}`,
    `CHECKPOINT_THEN=${thenStop ? "stop" : "continue"}`,
    `CHECKPOINT_TIMEOUT=${Math.ceil(timeoutMs / 1000)}`,
  ];
  // Of an earlier checkpoint; a folder of that name is the user's mistake.
  await files.drop(control, "done", owner).catch(() => undefined);
  await files.put(control, "request", `${lines.join("\n")}\n`, owner);
}

/** Returns the number of the newest request; 0 without one. */
export const requestedNumber = async (control: Control): Promise<number> =>
  Number(/^CHECKPOINT_NUMBER=(\d+)$/m.exec((await textIn(control, "request")) ?? "")?.[1] ?? 0);

/**
 * Returns null when the file is missing or names another checkpoint. An empty file, or one with the number, means
 * success.
 */
export async function readDone(
  control: Control,
  number: number,
): Promise<{ readonly ok: boolean; readonly message: string } | null> {
  const text = (await textIn(control, "done"))?.trim();
  if (text === undefined) return null;
  if (/^failed\b/i.test(text))
    return { ok: false, message: cutMessage(text.replace(/^failed[:\s]*/i, "")) || "it failed" };
  if (/^\d+$/.test(text) && Number(text) !== number) return null;
  return { ok: true, message: "" };
}

const DELIVERED_FILE = "checkpoint-delivered";

/** Notes that the program has received the request for this checkpoint. An agent that starts without this note repeats the request. */
export const keepDelivered = (folder: string, number: number): void =>
  replaceFile(join(dirname(folder), DELIVERED_FILE), String(number));

/** Returns 0 when the program has received none. */
export function deliveredNumber(folder: string): number {
  try {
    return Number(readFileSync(join(dirname(folder), DELIVERED_FILE), "utf8"));
  } catch {
    return 0;
  }
}

const RESULT_FILE = "checkpoint-result.json";

export const keepResult = (folder: string, result: NodeCheckpointResult): void =>
  replaceFile(join(dirname(folder), RESULT_FILE), JSON.stringify(result));

function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.tmp`, text, { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

export function keptResult(folder: string): NodeCheckpointResult | null {
  try {
    return JSON.parse(readFileSync(join(dirname(folder), RESULT_FILE), "utf8")) as NodeCheckpointResult;
  } catch {
    return null;
  }
}

export const readEndpoint = async (control: Control): Promise<string> =>
  ((await textIn(control, "endpoint")) ?? "").trim();

/** Null when there is no such file, or none that the user can read. */
const textIn = ({ control, owner, files }: Control, name: string): Promise<string | null> =>
  files.head(join(control, name), owner, MAX_TEXT).then(
    (bytes) => bytes.toString("utf8"),
    () => null,
  );
