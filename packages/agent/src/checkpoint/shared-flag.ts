// Requests a checkpoint by a flag in memory that agent and program share: a file of one page that the program maps. On one
// node an ordinary file is the same memory for every process that maps it. Numbers are unsigned 32-bit integers in the
// node's byte order:
//
//   0  request   number of the requested checkpoint; the program sets it to 0 when it has started or is done
//   4  done      set by the program to the number of the completed checkpoint
//   8  stop      1 when the program is stopped afterwards
//  12  percent   progress, set by the program
//  16  failed    set by the program to the number of a failed checkpoint

import { endianness } from "node:os";
import { join } from "node:path";
import type { FileError } from "../files/user-files.ts";
import type { Control } from "./control.ts";
import type { ProgramCheckpoint } from "./types.ts";

const PAGE = 4_096;
const FILE = "flag";
const AT = { request: 0, done: 4, stop: 8, percent: 12, failed: 16 } as const;
const isLittle = endianness() === "LE";

interface Flag {
  readonly request: number;
  readonly done: number;
  readonly percent: number;
  readonly failed: number;
}

/** The files that the control folder has from the start. */
export const FLAG_FILES: Readonly<Record<string, Uint8Array>> = { [FILE]: Buffer.alloc(PAGE) };

/** The variable that names the flag. */
export const flagVariables = (folder: string): Record<string, string> => ({
  LATTICE_CHECKPOINT_SHM: join(folder, FILE),
});

/** Rejects when the program has removed the flag. */
export async function raiseFlag(
  { control, owner, files }: Control,
  { number, thenStop }: ProgramCheckpoint,
): Promise<void> {
  const numbers = [
    [AT.stop, Number(thenStop)],
    [AT.percent, 0],
    // Written last: the program may read the page from now on.
    [AT.request, number],
  ] as const;
  await files.poke(join(control, FILE), numbers, owner).catch((error: FileError) => {
    throw error.code === "ENOENT" ? new Error("the program has removed its checkpoint flag") : error;
  });
}

/** Resolves to null when the program has removed the flag. */
export async function readFlag({ control, owner, files }: Control): Promise<Flag | null> {
  const found = await files.head(join(control, FILE), owner, PAGE).catch(() => null);
  if (found === null) return null;
  const page = Buffer.concat([found, Buffer.alloc(PAGE)]);
  const at = (offset: number): number => (isLittle ? page.readUInt32LE(offset) : page.readUInt32BE(offset));
  return { request: at(AT.request), done: at(AT.done), percent: at(AT.percent), failed: at(AT.failed) };
}
