// Isolation without control groups: the processes of an attempt are those of its wrapper's session, and those of its user
// with its marker in their environment, which children inherit even in a new session. A process that also clears its
// environment escapes; only control groups hold it.
//
// A user chooses the environment of its processes, and can keep it from being read. The marker therefore counts for
// processes that this user could end itself, and another program with a deadline reads it.

import { readdir, readFile } from "node:fs/promises";
import type { UserFiles } from "../../files/user-files.ts";
import { ownCommandLine } from "../own-process.ts";
import { type AttemptPlace, type Isolation, signalEach } from "./isolation.ts";
import { hasName } from "./wrapper-process.ts";

/** Every process of an attempt inherits this variable, so the agent finds a process that left its session. */
export const MARKER = "LATTICE_ATTEMPT_DIR";

/** Reads the environments of processes. */
export type ProcessReader = Pick<UserFiles, "environ">;

export function processGroup(reader: ProcessReader): Isolation {
  return {
    kind: "process_group",
    prepare: async () => "",
    folderOf: () => "",
    members: (place) => membersOf(place, reader),
    // Finding what left the session needs a search of all processes.
    isClean: () => false,
    async kill(place) {
      signalEach(await membersOf(place, reader), "SIGKILL");
    },
    remove: async (place) => (await membersOf(place, reader)).length === 0,
    groups: async () => [],
    close: async () => undefined,
  };
}

/** Processes whose environment is read at a time, and how long one search reads environments. */
const READ_AT_ONCE = 8;
const SEARCH_MS = 5_000;

async function membersOf(place: AttemptPlace, reader: ProcessReader): Promise<number[]> {
  const session = await ownSession(place);
  const own = process.getuid?.() ?? 0;
  const uids = new Set([own, place.uid ?? own]);
  const names = await readdir("/proc").catch(() => []);
  const pids = names.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  const members: number[] = [];
  const others: number[] = [];
  for (const pid of pids) {
    const found = await statusOf(pid);
    if (found === null || found.isOver) continue;
    if (found.session === session) members.push(pid);
    else if (!found.isKernels && uids.has((await realUid(pid)) ?? -1)) others.push(pid);
  }
  return [...members, ...(await marked(others, place, reader))];
}

async function marked(pids: readonly number[], { dir, uid }: AttemptPlace, reader: ProcessReader): Promise<number[]> {
  const marker = Buffer.from(`${MARKER}=${dir}\0`);
  const until = performance.now() + SEARCH_MS;
  const left = pids.values();
  const found: number[] = [];
  async function read(): Promise<void> {
    for (const pid of left) {
      if (performance.now() > until) return;
      const environment = await reader.environ(pid, `members ${uid ?? ""}`).catch(() => null);
      if (environment?.includes(marker) === true) found.push(pid);
    }
  }
  await Promise.all(Array.from({ length: READ_AT_ONCE }, read));
  return found;
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

interface ProcessStatus {
  readonly session: number;
  readonly isOver: boolean;
  /** A thread of the kernel. */
  readonly isKernels: boolean;
}

/** Index of the number of threads after the name. */
const THREADS = 17;
const KERNEL_THREAD = 0x0020_0000;

async function statusOf(pid: number): Promise<ProcessStatus | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (text === null) return null;
  // The name in brackets may contain anything; after the last bracket come state, ppid, pgrp, session, tty, tpgid, flags.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "", , , session, , , flags] = fields;
  const isKernels = (Number(flags) & KERNEL_THREAD) !== 0;
  // A process whose first thread has ended is shown as a zombie while its other threads run.
  const isOver = (state === "Z" || state === "X") && Number(fields[THREADS]) <= 1;
  return { session: Number(session), isOver, isKernels };
}

/** The user that started the process: it may end it, also after the process has changed its effective user. */
async function realUid(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const uid = /^Uid:\s+(\d+)/m.exec(status)?.[1];
  return uid === undefined ? null : Number(uid);
}
