// Changes the size of a rank's terminal from outside. `script` created the terminal; it is found by the open files of
// the rank's descendants. They can be replaced at any moment, so the terminal is opened with the rights of their user.

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

interface SizedRank {
  readonly pid: number;
  /** The command that sets the size as its user; empty for the shepherd's own. */
  readonly by: readonly string[];
}

/** Resolves when the size is set, or there is no terminal. `over`: the rank has ended. */
export async function setSize({ pid, by }: SizedRank, { rows, columns }: Size, over: () => boolean): Promise<void> {
  for (let left = LOOK_TIMES; left > 0 && !over(); left -= 1) {
    const terminal = terminalBelow(pid);
    if (terminal !== null)
      return by.length > 0
        ? run([...by, terminal, String(rows), String(columns)])
        : run(["stty", "-F", terminal, "rows", String(rows), "cols", String(columns)]);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** The user can stop the process, and later input waits for it. */
const SET_WITHIN_MS = 2_000;

function run([program = "", ...words]: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const how = { timeout: SET_WITHIN_MS, killSignal: "SIGKILL" } as const;
    const child = spawn(program, words, { stdio: "ignore", env: HELPER_ENVIRONMENT, ...how });
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
