// No control groups: the processes of an attempt are those of its wrapper's session, and those
// that carry its marker in their environment, which children inherit even when they start a
// session of their own. A process that also wipes its environment escapes; only groups hold those.

import { readdir, readFile } from "node:fs/promises";
import { MARKER } from "../process/environment.ts";
import { commandLineOf, hasName } from "../process/reattach.ts";
import { type AttemptPlace, type Isolation, signalEach } from "./isolation.ts";

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
 * The number of a session stays taken while one of its processes lives. A living process under it
 * that is not the wrapper means that all of them are gone and the number is another's. One that
 * is exiting has no command line any more.
 */
async function ownSession({ key, leader }: AttemptPlace): Promise<number | null> {
  if (leader === null) return null;
  const commandLine = await commandLineOf(leader);
  return commandLine.length === 0 || hasName(key, commandLine) ? leader : null;
}

async function statusOf(pid: number): Promise<{ session: number; zombie: boolean } | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (text === null) return null;
  // The name in brackets may hold anything; what follows the last bracket is: state ppid pgrp session.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { session: Number(fields[3]), zombie: fields[0] === "Z" || fields[0] === "X" };
}

async function carries(pid: number, marker: Buffer): Promise<boolean> {
  const environ = await readFile(`/proc/${pid}/environ`).catch(() => null);
  return environ?.includes(marker) === true;
}
