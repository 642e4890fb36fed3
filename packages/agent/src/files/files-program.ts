// Sends file operations to lattice-files, a small native program with a closed set of verbs that runs beside a root agent.
// The program is started with the first request and again after it has died; requests under way then are rejected.

import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { spawn } from "../base/programs.ts";
import { FileError, type FileUser, type UserFiles } from "./user-files.ts";

/** A file system that hangs; removing a large tree has its own limit. */
const PATIENCE_MS = 60_000;
const REMOVE_PATIENCE_MS = 3_600_000;
/** Longer replies mean that this is not our program. */
const MAX_REPLY_BYTES = 256 * 1024;

interface Waiting {
  readonly resolve: (bytes: Buffer) => void;
  readonly reject: (error: FileError) => void;
  readonly timer: NodeJS.Timeout;
}

export const filesProgram = (program: string): UserFiles => new FilesProgram(program);

class FilesProgram implements UserFiles {
  readonly #program: string;
  readonly #waiting = new Map<string, Waiting>();
  #child: ChildProcess | null = null;
  #next = 0;
  #closed = false;

  constructor(program: string) {
    this.#program = program;
  }

  async makeOwned({ base, parts, ownedFrom, mode }: Parameters<UserFiles["makeOwned"]>[0], user: FileUser | null) {
    const words = [base, parts.join("/"), String(ownedFrom), mode.toString(8), ...wordsOf(user)];
    await this.#ask("folder", words);
  }

  async make(path: string, user: FileUser | null): Promise<void> {
    await this.#ask("make", [...wordsOf(user), path]);
  }

  async reach(path: string, user: FileUser | null): Promise<void> {
    await this.#ask("reach", [...wordsOf(user), path]);
  }

  read(path: string, user: FileUser | null, maxBytes: number): Promise<Buffer> {
    return this.#ask("read", [...wordsOf(user), path, String(maxBytes)]);
  }

  async size(path: string, user: FileUser | null, maxEntries: number) {
    const answer = await this.#ask("size", [...wordsOf(user), path, String(maxEntries)]);
    const [bytes = "", whole = ""] = answer.toString("latin1").split(" ");
    return { bytes: Number(bytes), isWhole: whole === "all" };
  }

  async remove(folder: string, names: readonly string[], user: FileUser | null): Promise<void> {
    if (names.length > 0) await this.#ask("remove", [...wordsOf(user), folder, ...names], REMOVE_PATIENCE_MS);
  }

  async clear(base: string, name: string): Promise<void> {
    await this.#ask("clear", [base, name], REMOVE_PATIENCE_MS);
  }

  close(): void {
    this.#closed = true;
    this.#child?.stdin?.end();
  }

  #ask(verb: string, words: readonly string[], patienceMs = PATIENCE_MS): Promise<Buffer> {
    const id = String(this.#next++);
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new FileError("ECANCELED", "the agent is stopping"));
      if (words.some((word) => word.includes("\0"))) return reject(new FileError("EINVAL", "a path has a zero byte"));
      const late = (): void => this.#fail(id, new FileError("ETIMEDOUT", `no answer within ${patienceMs / 1000} s`));
      this.#waiting.set(id, { resolve, reject, timer: setTimeout(late, patienceMs).unref() });
      const payload = Buffer.from([id, verb, ...words].map((word) => `${word}\0`).join(""));
      const length = Buffer.alloc(4);
      length.writeUInt32LE(payload.length);
      this.#input().write(Buffer.concat([length, payload]));
    });
  }

  #fail(id: string, error: FileError): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    waiting.reject(error);
  }

  #input(): Writable {
    this.#child ??= this.#start();
    return this.#child.stdin as Writable;
  }

  #start(): ChildProcess {
    const child = spawn(this.#program, [], { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"] });
    const over = (why: string): void => {
      if (this.#child === child) this.#child = null;
      for (const id of [...this.#waiting.keys()]) this.#fail(id, new FileError("EIO", why));
    };
    child.once("error", (error) => over(`lattice-files cannot be started: ${error.message}`));
    child.once("exit", (code, signal) => over(`lattice-files ended (${signal ?? code})`));
    child.stdin?.on("error", () => undefined);
    readReplies(
      child.stdout as Readable,
      (reply) => this.#take(reply),
      () => child.kill("SIGKILL"),
    );
    // Waiting requests keep the agent alive by their promises; the program itself must not.
    child.unref();
    return child;
  }

  #take(reply: Buffer): void {
    const [id = "", status = ""] = fieldsOf(reply, 2);
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    const rest = reply.subarray(id.length + status.length + 2);
    if (status !== "ok") {
      const [code = "EIO"] = fieldsOf(rest, 1);
      this.#fail(id, new FileError(code, rest.subarray(code.length + 1).toString()));
    } else {
      this.#waiting.delete(id);
      clearTimeout(waiting.timer);
      waiting.resolve(rest);
    }
  }
}

const wordsOf = (user: FileUser | null): readonly string[] => {
  const { uid, gid, groups } = user ?? ownUser();
  return [String(uid), String(gid), groups.join(",")];
};

const ownUser = (): FileUser => ({
  uid: process.getuid?.() ?? 0,
  gid: process.getgid?.() ?? 0,
  groups: process.getgroups?.() ?? [],
});

/** The first fields of a reply; each ends with a zero byte, the last one possibly with the reply. */
function fieldsOf(bytes: Buffer, count: number): readonly string[] {
  const fields: string[] = [];
  for (let at = 0; fields.length < count && at <= bytes.length; ) {
    const end = bytes.indexOf(0, at);
    fields.push(bytes.subarray(at, end < 0 ? bytes.length : end).toString());
    if (end < 0) break;
    at = end + 1;
  }
  return fields;
}

/** Splits the stream into replies: a length of four bytes, then that many. */
function readReplies(stream: Readable, take: (reply: Buffer) => void, refuse: () => void): void {
  let rest: Buffer = Buffer.alloc(0);
  stream.on("data", (bytes: Buffer) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= 4) {
      const length = rest.readUInt32LE(0);
      if (length > MAX_REPLY_BYTES) return refuse();
      if (rest.length < 4 + length) return;
      take(rest.subarray(4, 4 + length));
      rest = rest.subarray(4 + length);
    }
  });
}
