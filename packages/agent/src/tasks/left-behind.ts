// Kills what a launch left on this node when its shepherd died. The kernel kills most ranks with their shepherd; ranks that
// changed their user, and their children, survive. They are found by their environment, in the attempt's own groups.

import { signalEach } from "../host/isolation/isolation.ts";

/** A process forked during a pass is found by the next one. */
const LOOKS = 5;
const PAUSE_MS = 50;

interface Processes {
  /** The attempt's. */
  members(): Promise<readonly number[]>;
  environ(pid: number): Promise<Buffer>;
}

/** Returns how many were killed. */
export async function endLeftBehind({ members, environ }: Processes, launchId: string): Promise<number> {
  const mark = Buffer.from(`\0LATTICE_LAUNCH_ID=${launchId}\0`);
  const ended = new Set<number>();
  for (let look = 0; look < LOOKS; look += 1) {
    const found = await carrying(await members(), environ, mark);
    if (found.length === 0) break;
    signalEach(found, "SIGKILL");
    for (const pid of found) ended.add(pid);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return ended.size;
}

async function carrying(
  pids: readonly number[],
  environ: Processes["environ"],
  mark: Buffer,
): Promise<readonly number[]> {
  const found = await Promise.all(
    pids.map(async (pid) => {
      const variables = await environ(pid).catch(() => Buffer.alloc(0));
      return Buffer.concat([Buffer.from("\0"), variables]).includes(mark) ? [pid] : [];
    }),
  );
  return found.flat();
}
