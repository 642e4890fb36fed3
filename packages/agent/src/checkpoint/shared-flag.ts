// Requests a checkpoint by a flag in memory that agent and program share: a file of one page that the program maps. On one
// node an ordinary file is the same memory for every process that maps it. Numbers are unsigned 32-bit integers in the
// node's byte order:
//
//   0  request   number of the requested checkpoint; the program sets it to 0 when it has started or is done
//   4  done      set by the program to the number of the completed checkpoint
//   8  stop      1 when the program is stopped afterwards
//  12  percent   progress, set by the program
//  16  failed    set by the program to the number of a failed checkpoint

import { chownSync, closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { endianness } from "node:os";
import { join } from "node:path";
import type { FileOwner } from "./control.ts";
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

/** Created before the program starts; returns the variable that names it. */
export function makeFlag(folder: string, owner: FileOwner | null): Record<string, string> {
  const path = join(folder, FILE);
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  const file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  writeSync(file, Buffer.alloc(PAGE), 0, PAGE, 0);
  closeSync(file);
  if (owner !== null) chownSync(path, owner.uid, owner.gid);
  return { LATTICE_CHECKPOINT_SHM: path };
}

export function raiseFlag(folder: string, { number, thenStop }: ProgramCheckpoint): void {
  onFile(folder, (file) => {
    put(file, AT.stop, Number(thenStop));
    put(file, AT.percent, 0);
    // Last: from here on the program may look.
    put(file, AT.request, number);
  });
}

export function readFlag(folder: string): Flag {
  const page = Buffer.alloc(PAGE);
  onFile(folder, (file) => readSync(file, page, 0, PAGE, 0));
  const at = (offset: number): number => (isLittle ? page.readUInt32LE(offset) : page.readUInt32BE(offset));
  return { request: at(AT.request), done: at(AT.done), percent: at(AT.percent), failed: at(AT.failed) };
}

function put(file: number, offset: number, value: number): void {
  const word = Buffer.alloc(4);
  if (isLittle) word.writeUInt32LE(value);
  else word.writeUInt32BE(value);
  writeSync(file, word, 0, 4, offset);
}

function onFile(folder: string, act: (file: number) => void): void {
  const file = openSync(join(folder, FILE), constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    act(file);
  } finally {
    closeSync(file);
  }
}
