// Connects to a program of a job from inside its attempt: root never opens a socket that a user names, and nothing with
// the user's rights runs outside of the user's limits. The agent listens on a socket in its own folder and calls itself;
// each connection is passed by a process in the control groups and namespaces of the attempt, as its user.

import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { insideProgram } from "../base/inside-program.ts";
import { HELPER_ENVIRONMENT, spawn } from "../base/programs.ts";
import { removeOwnNow } from "../files/own-tree.ts";
import { MARKER } from "../host/isolation/process-group.ts";
import type { AttemptAccess } from "./types.ts";

interface RelayTarget {
  /** Where the program listens. */
  readonly at: { readonly path: string } | { readonly host: string; readonly port: number };
  readonly inside: AttemptAccess;
  /** The attempt's folder, which only the agent can write. */
  readonly dir: string;
}

interface Relay {
  /** Path of a socket in this process's file system. */
  readonly path: string;
  /** Ends the connections through it. */
  close(): void;
}

/** One call has one connection; gRPC may connect again. */
const MAX_CONNECTIONS = 4;
/** The program is started by its descriptor, because the files of the attempt may lack it. */
const PROGRAM_FD = 3;

export function openRelay({ at, inside, dir }: RelayTarget): Promise<Relay> {
  const file = insideProgram();
  if (file === null) throw new Error("lattice-inside was not built on this node");
  const [first = "", ...words] = [
    ...inside.groups,
    ...inside.enter,
    ...[`/proc/self/fd/${PROGRAM_FD}`, "relay", ...addressWords(at)],
  ];
  const env = { ...HELPER_ENVIRONMENT, [MARKER]: dir };
  const program = openSync(file, constants.O_RDONLY);
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (here) => {
    const child = spawn(first, words, { cwd: "/", env, stdio: ["pipe", "pipe", "ignore", program] });
    const end = (): void => {
      open.delete(here);
      here.destroy();
      child.kill("SIGKILL");
    };
    open.add(here);
    for (const part of [here, child, child.stdin, child.stdout]) part?.on("error", end);
    here.once("close", end);
    child.once("close", end);
    if (child.stdin !== null) here.pipe(child.stdin);
    child.stdout?.pipe(here);
  });
  server.maxConnections = MAX_CONNECTIONS;
  // By a descriptor of the folder: a socket's name may not be longer than a hundred characters, wherever the folder is.
  const folder = openSync(dir, constants.O_RDONLY | constants.O_DIRECTORY);
  const name = `relay-${randomBytes(6).toString("hex")}`;
  const path = join("/proc/self/fd", String(folder), name);
  const closeFiles = (): void => {
    for (const file of [folder, program]) closeSync(file);
  };
  const close = (): void => {
    server.close();
    for (const socket of open) socket.destroy();
    removeOwnNow(join(dir, name));
    closeFiles();
  };
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      closeFiles();
      reject(error);
    });
    server.listen(path, () => resolve({ path, close }));
  });
}

function addressWords(at: RelayTarget["at"]): readonly string[] {
  if ("path" in at) return ["unix", at.path];
  const port = String(at.port);
  return /^\d/.test(at.host) ? ["inet", at.host, port] : ["loopback", port];
}
