// Requests a checkpoint by a flag in memory that agent and program share: a file of one page that the program maps. On one
// node an ordinary file is the same memory for every process that maps it. Numbers are unsigned 32-bit integers in the
// node's byte order:
//
//   0  request   number of the requested checkpoint; the program sets it to 0 when it has started or is done
//   4  done      set by the program to the number of the completed checkpoint
//   8  stop      1 when the program is stopped afterwards
//  12  percent   progress, set by the program
//  16  failed    set by the program to the number of a failed checkpoint

import { readSync, writeSync } from "node:fs";
import { endianness } from "node:os";
import { join } from "node:path";
import { onControlFile } from "../files/control-file.ts";
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

/** Throws when the program has removed the flag. */
export function raiseFlag(folder: string, { number, thenStop }: ProgramCheckpoint): void {
  const raised = onControlFile(folder, FILE, (file) => {
    put(file, AT.stop, Number(thenStop));
    put(file, AT.percent, 0);
    // Written last: the program may read the page from now on.
    put(file, AT.request, number);
    return true;
  });
  if (raised === null) throw new Error("the program has removed its checkpoint flag");
}

/** Returns null when the program has removed the flag. */
export function readFlag(folder: string): Flag | null {
  const page = Buffer.alloc(PAGE);
  if (onControlFile(folder, FILE, (file) => readSync(file, page, 0, PAGE, 0)) === null) return null;
  const at = (offset: number): number => (isLittle ? page.readUInt32LE(offset) : page.readUInt32BE(offset));
  return { request: at(AT.request), done: at(AT.done), percent: at(AT.percent), failed: at(AT.failed) };
}

function put(file: number, offset: number, value: number): void {
  const word = Buffer.alloc(4);
  if (isLittle) word.writeUInt32LE(value);
  else word.writeUInt32BE(value);
  writeSync(file, word, 0, 4, offset);
}
