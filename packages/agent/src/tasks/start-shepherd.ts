// Starts a shepherd detached from the agent: in its own session, and in a mount namespace with its own /dev/shm where
// the kernel allows it, so that the ranks of one job on one node share memory only with each other. It learns its
// launch later.

import { closeSync, openSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { HELPER_PATH } from "../base/executable.ts";
import { mountsProgram } from "../base/mounts-program.ts";
import { spawn } from "../base/programs.ts";
import { makeOwnFolder } from "../files/own-tree.ts";
import { marked } from "./spec.ts";
import type { TaskContext } from "./task-context.ts";

interface ShepherdStart {
  readonly context: TaskContext;
  /** The bundled program. */
  readonly program: string;
  /** The mount namespace: the node's, a new one, or the one of this file. */
  readonly space: "none" | "new" | { readonly enter: string };
}

export interface StartedShepherd {
  readonly pid: number;
  readonly socket: Socket;
}

export const LAUNCHES_FOLDER = "launches";
const SOCKET_FD = 3;

export async function startShepherd(start: ShepherdStart): Promise<StartedShepherd> {
  const { context } = start;
  const folder = join(context.dir, LAUNCHES_FOLDER);
  await makeOwnFolder(folder, 0o700);
  const errors = openSync(join(folder, "shepherd.log"), "a", 0o600);
  try {
    const [program = "", ...args] = [...entering(start), process.execPath, start.program, folder, context.joinBy];
    const child = spawn(program, args, {
      cwd: "/",
      detached: true,
      // It runs as root, so it gets only the markers of the job's environment.
      env: { PATH: HELPER_PATH, ...marked(context) },
      stdio: ["ignore", errors, errors, "pipe"],
    });
    const failed = new Promise<never>((_, reject) => child.once("error", reject));
    failed.catch(() => undefined);
    child.unref();
    const socket = child.stdio[SOCKET_FD] as unknown as Socket;
    socket.on("error", () => undefined);
    if (child.pid === undefined) return await failed;
    return { pid: child.pid, socket };
  } finally {
    closeSync(errors);
  }
}

/** Each step execs the next, so that the shepherd has the process id of the started process. */
function entering({ space }: ShepherdStart): readonly string[] {
  if (space === "none") return [];
  if (space !== "new") return ["nsenter", `--mount=${space.enter}`, "--"];
  return [mountsProgram() ?? "lattice-mounts", "--shared-memory"];
}
