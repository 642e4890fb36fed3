// Reaches a program in its own network namespace, which has no route from the node. A process inside connects to the
// program and is itself reached by a socket in the file system. It ends with its caller.

import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync } from "node:fs";
import { readlink } from "node:fs/promises";
import { join } from "node:path";
import { HELPER_ENVIRONMENT, spawn } from "../base/programs.ts";

interface NetworkEntry {
  /** Port of the program inside. */
  readonly host: string;
  readonly port: number;
  /** A process in the same network. */
  readonly pid: number;
  readonly dir: string;
}

interface NetworkCall {
  /** Path of a socket in this process's file system. */
  readonly path: string;
  /** Ends the connections through it. */
  close(): void;
}

/** Whether a process is in another network namespace. */
export async function hasOwnNetwork(pid: number): Promise<boolean> {
  const [own, theirs] = await Promise.all([networkOf("self"), networkOf(String(pid))]);
  return theirs !== null && own !== theirs;
}

const networkOf = (process: string): Promise<string | null> => readlink(`/proc/${process}/ns/net`).catch(() => null);

/** A process and its socket start quickly; a longer wait means that it hangs. */
const LIMIT_MS = 10_000;

/** The folder is its fourth file: a socket's name may not be longer than a hundred characters, wherever the folder is. */
const PASS = `
const net = require("node:net");
const [name, host, port] = process.argv.slice(1);
const path = "/proc/self/fd/3/" + name;
process.umask(0o077);
net.createServer({ allowHalfOpen: true }, (here) => {
  const there = net.connect({ host, port: Number(port), allowHalfOpen: true });
  const end = () => { here.destroy(); there.destroy(); };
  here.on("error", end); there.on("error", end);
  here.pipe(there); there.pipe(here);
}).listen(path, () => process.stdout.write("ready"));
process.stdin.resume().on("end", () => { require("node:fs").rmSync(path, { force: true }); process.exit(0); });`;

/** `dir`: folder of the temporary socket. Rejects when no process can enter the namespace. */
export function enterNetwork({ host, port, pid, dir }: NetworkEntry): Promise<NetworkCall> {
  const folder = openSync(dir, constants.O_RDONLY | constants.O_DIRECTORY);
  const name = `door-${randomBytes(6).toString("hex")}`;
  const words = [`--target=${pid}`, "--net", "--", process.execPath, "-e", PASS, name, host, String(port)];
  const child = spawn("nsenter", words, { cwd: "/", env: HELPER_ENVIRONMENT, stdio: ["pipe", "pipe", "pipe", folder] });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("a process without pipes");
  stdin.on("error", () => undefined);
  const close = (): void => void stdin.end();
  child.once("close", () => closeSync(folder));
  return new Promise((resolve, reject) => {
    let errorText = "";
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    stderr.on("data", (bytes: Buffer) => {
      errorText = `${errorText}${bytes}`.slice(0, 500);
    });
    stdout.once("data", () => {
      clearTimeout(timer);
      resolve({ path: join("/proc/self/fd", String(folder), name), close });
    });
    const failed = (why: string): void => {
      clearTimeout(timer);
      reject(new Error(`no process can enter the network of process ${pid}: ${why}`));
    };
    child.once("error", (error) => failed(error.message));
    child.once("close", (code) => failed(errorText.trim() || `exit ${code}`));
  });
}
