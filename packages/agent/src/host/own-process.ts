// Which processes are the agent's own. The kernel reads a command line from the memory of its process, which the owner of the
// process can delay for as long as it likes, so the agent reads only those of its own user.

import { readFile } from "node:fs/promises";

/**
 * Returns null for a process of another user, and an empty list when the process does not exist or is exiting. `uid`: of
 * processes that the agent started and that gave up its user.
 */
export async function ownCommandLine(pid: number, uid: number | null = null): Promise<readonly string[] | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  if (status === "") return [];
  const uids = /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/).map(Number) ?? [];
  const known = [process.getuid?.() ?? 0, uid];
  if (uids.length !== 4 || !known.includes(uids[0] ?? null) || uids.some((one) => one !== uids[0])) return null;
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return text === "" ? [] : text.split("\0");
}
