// Changes the size of a rank's terminal from outside. `script` created the terminal; it is found by the open files of
// the rank's descendants.

import { readFileSync, readlinkSync } from "node:fs";
import { HELPER_ENVIRONMENT, spawn } from "../../base/programs.ts";

export interface Size {
  readonly rows: number;
  readonly columns: number;
}

/** The terminal appears shortly after the start of its rank. */
const LOOK_EVERY_MS = 50;
const LOOK_TIMES = 100;
const MAX_PROCESSES = 1_000;

/** Resolves when the size is set, or there is no terminal. `over`: the rank has ended. */
export async function setSize(pid: number, { rows, columns }: Size, over: () => boolean): Promise<void> {
  for (let left = LOOK_TIMES; left > 0 && !over(); left -= 1) {
    const terminal = terminalBelow(pid);
    if (terminal !== null) return stty(terminal, rows, columns);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function stty(terminal: string, rows: number, columns: number): Promise<void> {
  return new Promise((resolve) => {
    const words = ["-F", terminal, "rows", String(rows), "cols", String(columns)];
    const child = spawn("stty", words, { stdio: "ignore", env: HELPER_ENVIRONMENT });
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
}

/** Returns a path by which it can be opened, or null when there is none yet. */
function terminalBelow(pid: number): string | null {
  const found = [pid];
  for (const one of found) {
    if (found.length > MAX_PROCESSES) return null;
    const open = [0, 1, 2].map((fd) => `/proc/${one}/fd/${fd}`).find(isTerminal);
    if (open !== undefined) return open;
    found.push(...childrenOf(one));
  }
  return null;
}

function isTerminal(file: string): boolean {
  try {
    return /^\/dev\/pts\/\d+$/.test(readlinkSync(file));
  } catch {
    return false;
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
