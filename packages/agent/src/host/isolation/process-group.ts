// Isolation without control groups: the processes of an attempt are those of its wrapper's session and those with its
// marker in their environment, which children inherit even in a new session. A process that also clears its
// environment escapes; only control groups hold it.

import { readdir, readFile } from "node:fs/promises";
import { ownCommandLine } from "../own-process.ts";
import { type AttemptPlace, type Isolation, signalEach } from "./isolation.ts";
import { hasName } from "./wrapper-process.ts";

/** Every process of an attempt inherits this variable, so the agent finds a process that left its session. */
export const MARKER = "LATTICE_ATTEMPT_DIR";

export function processGroup(): Isolation {
  return {
    kind: "process_group",
    prepare: async () => "",
    folderOf: () => "",
    members: (place) => membersOf(place),
    async kill(place) {
      signalEach(await membersOf(place), "SIGKILL");
    },
    remove: async (place) => (await membersOf(place)).length === 0,
    groups: async () => [],
    close: async () => undefined,
  };
}

async function membersOf(place: AttemptPlace): Promise<number[]> {
  const marker = Buffer.from(`${MARKER}=${place.dir}\0`);
  const session = await ownSession(place);
  const members: number[] = [];
  for (const name of await readdir("/proc").catch(() => [])) {
    const pid = Number.parseInt(name, 10);
    if (Number.isNaN(pid) || pid === process.pid) continue;
    const status = await statusOf(pid);
    if (status === null || status.zombie) continue;
    if (status.session === session || (await carries(pid, marker))) members.push(pid);
  }
  return members;
}

/**
 * A session id stays in use while one of its processes lives. A living process with that id that is not the wrapper
 * means that the session is over and the id was reused. An exiting process has no command line.
 */
async function ownSession({ key, leader }: AttemptPlace): Promise<number | null> {
  if (leader === null) return null;
  const commandLine = await ownCommandLine(leader);
  return commandLine?.length === 0 || hasName(key, commandLine) ? leader : null;
}

async function statusOf(pid: number): Promise<{ session: number; zombie: boolean } | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (text === null) return null;
  // The name in brackets may contain anything; after the last bracket come state, ppid, pgrp and session.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { session: Number(fields[3]), zombie: fields[0] === "Z" || fields[0] === "X" };
}

async function carries(pid: number, marker: Buffer): Promise<boolean> {
  const environ = await readFile(`/proc/${pid}/environ`).catch(() => null);
  return environ?.includes(marker) === true;
}
