// Whether a program is in its own network namespace, which has no route from the node.

import { readlink } from "node:fs/promises";

/** Whether a process is in another network namespace. */
export async function hasOwnNetwork(pid: number): Promise<boolean> {
  const [own, theirs] = await Promise.all([networkOf("self"), networkOf(String(pid))]);
  return theirs !== null && own !== theirs;
}

const networkOf = (process: string): Promise<string | null> => readlink(`/proc/${process}/ns/net`).catch(() => null);
