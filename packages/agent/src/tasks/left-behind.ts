// What a launch left on this node when its shepherd went without a word: ranks die with it by the kernel's hand, but not those
// that became another user where nothing could renew that promise, nor what they started. They are known by what they carry
// in their environment, and are looked for in the attempt's own groups alone.

import { readFile } from "node:fs/promises";
import { signalEach } from "../runtime/isolation/isolation.ts";

/** Whoever forks while it is looked for is found the next time. */
const LOOKS = 5;
const PAUSE_MS = 50;

/** `members`: the attempt's processes. Answers how many were ended. */
export async function endLeftBehind(members: () => Promise<readonly number[]>, launchId: string): Promise<number> {
  const mark = Buffer.from(`\0LATTICE_LAUNCH_ID=${launchId}\0`);
  const ended = new Set<number>();
  for (let look = 0; look < LOOKS; look += 1) {
    const found = await carrying(await members(), mark);
    if (found.length === 0) break;
    signalEach(found, "SIGKILL");
    for (const pid of found) ended.add(pid);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return ended.size;
}

async function carrying(pids: readonly number[], mark: Buffer): Promise<readonly number[]> {
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`).catch(() => Buffer.alloc(0));
      return Buffer.concat([Buffer.from("\0"), environ]).includes(mark) ? [pid] : [];
    }),
  );
  return found.flat();
}
