// Asking by a flag in memory that agent and program share: a file of one page that the program maps. It is
// an ordinary file, which on one node is the same memory for all who map it. Numbers are unsigned, of 32
// bits, in the node's byte order:
//
//   0  request   number of the checkpoint wanted; the program sets it to 0 when it has begun or is done
//   4  done      set by the program to the number of the checkpoint that is complete
//   8  stop      1: the program is stopped afterwards
//  12  percent   set by the program as it likes
//  16  failed    set by the program to the number of a checkpoint that cannot be had

import { chownSync, closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { endianness } from "node:os";
import { join } from "node:path";
import type { Owner } from "./control.ts";
import type { Wanted } from "./types.ts";

const PAGE = 4_096;
const FILE = "flag";
const AT = { request: 0, done: 4, stop: 8, percent: 12, failed: 16 } as const;
const isLittle = endianness() === "LE";

export interface Flag {
  readonly request: number;
  readonly done: number;
  readonly percent: number;
  readonly failed: number;
}

/** Made before the program begins; answers the variable that names it. */
export function makeFlag(folder: string, owner: Owner | null): Record<string, string> {
  const path = join(folder, FILE);
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  const file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  writeSync(file, Buffer.alloc(PAGE), 0, PAGE, 0);
  closeSync(file);
  if (owner !== null) chownSync(path, owner.uid, owner.gid);
  return { LATTICE_CHECKPOINT_SHM: path };
}

export function raiseFlag(folder: string, { number, thenStop }: Wanted): void {
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
