// Connects to a program of a job as the job's user: root never opens a socket that a user names. The agent listens on a
// socket in its own folder and calls itself; each connection is passed by a process that has entered the program's network,
// if it has its own, and changed to its user before it connects.

import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { HELPER_ENVIRONMENT, spawn } from "../base/programs.ts";
import { removeOwnNow } from "../files/own-tree.ts";
import type { FileUser } from "../files/user-files.ts";
import { asUser } from "../host/user/user.ts";

interface RelayTarget {
  /** Where the program listens. */
  readonly at: { readonly path: string } | { readonly host: string; readonly port: number };
  /** The user of the program; `null` for the agent's own user. */
  readonly owner: FileUser | null;
  /** A process in the program's network; `null` when it is the node's. */
  readonly pid: number | null;
  /** A folder that only the agent can write. */
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

const PASS = `
const there = require("node:net").connect({ ...JSON.parse(process.argv[1]), allowHalfOpen: true });
const end = () => process.exit(1);
there.on("error", end); process.stdin.on("error", end); process.stdout.on("error", end);
process.stdin.pipe(there); there.pipe(process.stdout);`;

export function openRelay({ at, owner, pid, dir }: RelayTarget): Promise<Relay> {
  const [program = "", ...words] = [
    ...(pid === null ? [] : ["nsenter", `--target=${pid}`, "--net", "--"]),
    ...(owner === null ? [] : asUser(owner, true)),
    ...[process.execPath, "-e", PASS, JSON.stringify(at)],
  ];
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (here) => {
    const child = spawn(program, words, { cwd: "/", env: HELPER_ENVIRONMENT, stdio: ["pipe", "pipe", "ignore"] });
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
  const close = (): void => {
    server.close();
    for (const socket of open) socket.destroy();
    removeOwnNow(join(dir, name));
    closeSync(folder);
  };
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      closeSync(folder);
      reject(error);
    });
    server.listen(path, () => resolve({ path, close }));
  });
}
