// Sends file operations to lattice-files, a small native program with a closed set of verbs that runs beside a root agent.
// The program is started with the first request and again after it has died; requests under way then are rejected. Every
// request has a deadline, after which its process is killed.

import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { spawn } from "../base/programs.ts";
import { encodeRequest, fieldsOf, readReplies } from "./messages.ts";
import { createTurns } from "./turns.ts";
import { FileError, type FileUser, type OwnedFolder, SEARCH, type UserFiles } from "./user-files.ts";

/** Healthy storage takes milliseconds; removing a large tree takes minutes. */
const PATIENCE_MS = 60_000;
const SMALL_FILE_PATIENCE_MS = 5_000;
const REMOVE_PATIENCE_MS = 3_600_000;

interface Waiting {
  readonly resolve: (bytes: Buffer) => void;
  readonly reject: (error: FileError) => void;
  readonly timer: NodeJS.Timeout;
  readonly release: () => void;
}

interface Request {
  readonly key: string;
  readonly verb: string;
  readonly words: readonly string[];
  readonly patienceMs?: number;
}

/** `jobsAreRoot`: jobs run as the agent's user, so that requests may name it. */
export const filesProgram = (program: string, jobsAreRoot: boolean): FilesProgram =>
  new FilesProgram(program, jobsAreRoot);

class FilesProgram implements UserFiles {
  readonly #program: string;
  readonly #jobsAreRoot: boolean;
  readonly #waiting = new Map<string, Waiting>();
  readonly #turns = createTurns();
  #child: ChildProcess | null = null;
  #next = 0;
  #closed = false;

  constructor(program: string, jobsAreRoot: boolean) {
    this.#program = program;
    this.#jobsAreRoot = jobsAreRoot;
  }

  /** Rejects when the program or its kernel cannot do its work. */
  async probe(): Promise<void> {
    await this.#ask({ key: "probe", verb: "probe", words: [], patienceMs: SMALL_FILE_PATIENCE_MS });
  }

  async makeOwned(folder: OwnedFolder, user: FileUser | null): Promise<void> {
    const words = [...wordsOfFolder(folder), folder.mode.toString(8), ...wordsOf(user)];
    await this.#ask({ key: keyOf(user), verb: "folder", words });
  }

  async make(path: string, user: FileUser | null): Promise<void> {
    await this.#askAs(user, "make", [path]);
  }

  async reach(path: string, user: FileUser | null): Promise<void> {
    await this.#askAs(user, "reach", [path], SMALL_FILE_PATIENCE_MS);
  }

  async missingProgram(searchPath: string, names: readonly string[], user: FileUser | null): Promise<string | null> {
    const missing = await this.#askAs(user, "find", [searchPath, ...names], SMALL_FILE_PATIENCE_MS);
    return missing.length === 0 ? null : missing.toString();
  }

  read(path: string, user: FileUser | null, maxBytes: number): Promise<Buffer> {
    return this.#askAs(user, "read", [path, String(maxBytes)], SMALL_FILE_PATIENCE_MS);
  }

  head(path: string, user: FileUser | null, maxBytes: number): Promise<Buffer> {
    return this.#askAs(user, "head", [path, String(maxBytes)], SMALL_FILE_PATIENCE_MS);
  }

  async put(folder: string, name: string, text: string, user: FileUser | null): Promise<void> {
    await this.#askAs(user, "put", [folder, name, text], SMALL_FILE_PATIENCE_MS);
  }

  async drop(folder: string, name: string, user: FileUser | null): Promise<void> {
    await this.#askAs(user, "drop", [folder, name], SMALL_FILE_PATIENCE_MS);
  }

  async poke(path: string, numbers: Parameters<UserFiles["poke"]>[1], user: FileUser | null): Promise<void> {
    await this.#askAs(user, "poke", [path, ...numbers.flat().map(String)], SMALL_FILE_PATIENCE_MS);
  }

  async size(path: string, user: FileUser | null, maxEntries: number) {
    const answer = await this.#askAs(user, "size", [path, String(maxEntries)]);
    const [bytes = "", whole = ""] = answer.toString("latin1").split(" ");
    return { bytes: Number(bytes), isWhole: whole === "all" };
  }

  async search(path: string, text: string, user: FileUser | null): Promise<Buffer | null> {
    const words = [path, text, String(SEARCH.bytes), String(SEARCH.within)];
    const found = await this.#askAs(user, "search", words, SMALL_FILE_PATIENCE_MS);
    return found.length === 0 ? null : found;
  }

  environ(pid: number, whose: string): Promise<Buffer> {
    const words = [String(pid)];
    return this.#ask({ key: `process ${whose}`, verb: "environ", words, patienceMs: SMALL_FILE_PATIENCE_MS });
  }

  async io(pids: readonly number[], whose: string) {
    const words = pids.map(String);
    const answer = await this.#ask({ key: `process ${whose}`, verb: "io", words, patienceMs: SMALL_FILE_PATIENCE_MS });
    const [readBytes = 0, writtenBytes = 0] = answer.toString("latin1").split(" ").map(Number);
    return { readBytes, writtenBytes };
  }

  commandFor(act: "output" | "resize", user: FileUser | null): readonly string[] {
    return user === null ? [] : [this.#program, act, ...wordsOf(user)];
  }

  async prune(folder: OwnedFolder, { below, kept, whose }: Parameters<UserFiles["prune"]>[1]): Promise<void> {
    const words = [...wordsOfFolder(folder), String(below ?? 0), kept.join(",")];
    await this.#ask({ key: `prune ${whose}`, verb: "prune", words, patienceMs: REMOVE_PATIENCE_MS });
  }

  async clear(base: string, name: string, whose = name): Promise<void> {
    await this.#ask({ key: `clear ${whose}`, verb: "clear", words: [base, name], patienceMs: REMOVE_PATIENCE_MS });
  }

  close(): void {
    this.#closed = true;
    this.#child?.stdin?.end();
  }

  #askAs(user: FileUser | null, verb: string, words: readonly string[], patienceMs?: number): Promise<Buffer> {
    const request = { key: keyOf(user), verb, words: [...wordsOf(user), ...words] };
    return this.#ask(patienceMs === undefined ? request : { ...request, patienceMs });
  }

  #ask({ key, verb, words, patienceMs = PATIENCE_MS }: Request): Promise<Buffer> {
    const id = String(this.#next++);
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new FileError("ECANCELED", "the agent is stopping"));
      const message = encodeRequest([id, key.slice(0, MAX_KEY), verb, ...words]);
      if (typeof message === "string") return reject(new FileError("EINVAL", message));
      let hasBegun = false;
      const late = (): void => {
        if (hasBegun) this.#send(encodeRequest([id, "", "cancel"]) as Buffer);
        this.#fail(id, new FileError("ETIMEDOUT", `no answer within ${patienceMs / 1000} s`));
      };
      const timer = setTimeout(late, patienceMs).unref();
      // Not in the queue before it is among the waiting: it may fail at once.
      const begin = (): void => {
        hasBegun = true;
        queueMicrotask(() => this.#waiting.has(id) && this.#send(message));
      };
      const release = this.#turns.take({ key, isRemoval: patienceMs === REMOVE_PATIENCE_MS, begin });
      if (release === null) {
        clearTimeout(timer);
        return reject(new FileError("EBUSY", "too many file operations wait on this node"));
      }
      this.#waiting.set(id, { resolve, reject, timer, release });
    });
  }

  #settle(id: string): Waiting | null {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return null;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    waiting.release();
    if (this.#waiting.size === 0) (this.#child?.stdout as Socket | undefined)?.unref();
    return waiting;
  }

  #fail(id: string, error: FileError): void {
    this.#settle(id)?.reject(error);
  }

  #send(message: Buffer): void {
    this.#child ??= this.#start();
    // Only a request under way keeps this process alive.
    if (this.#waiting.size > 0) (this.#child.stdout as Socket).ref();
    this.#child.stdin?.write(message);
  }

  #start(): ChildProcess {
    const words = this.#jobsAreRoot ? ["root-jobs"] : [];
    const child = spawn(this.#program, words, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"] });
    const over = (why: string): void => {
      if (this.#child === child) this.#child = null;
      for (const id of [...this.#waiting.keys()]) this.#fail(id, new FileError("EIO", why));
    };
    child.once("error", (error) => over(`lattice-files cannot be started: ${error.message}`));
    child.once("exit", (code, signal) => over(`lattice-files ended (${signal ?? code})`));
    const [input, output] = [child.stdin as Socket, child.stdout as Socket];
    input.on("error", () => undefined);
    readReplies(
      output,
      (reply) => this.#take(reply),
      () => child.kill("SIGKILL"),
    );
    child.unref();
    input.unref();
    output.unref();
    return child;
  }

  #take(reply: Buffer): void {
    const [id = "", status = ""] = fieldsOf(reply, 2);
    const rest = reply.subarray(id.length + status.length + 2);
    if (status === "ok") {
      this.#settle(id)?.resolve(rest);
      return;
    }
    const [code = "EIO"] = fieldsOf(rest, 1);
    this.#fail(id, new FileError(code, rest.subarray(code.length + 1).toString()));
  }
}

/** Bytes that the program keeps of a key. */
const MAX_KEY = 60;

const wordsOfFolder = ({ base, parts, ownedFrom }: OwnedFolder): readonly string[] => [
  base,
  parts.join("/"),
  String(ownedFrom),
];

const wordsOf = (user: FileUser | null): readonly string[] => {
  const { uid, gid, groups } = user ?? ownUser();
  return [String(uid), String(gid), groups.join(",")];
};

const keyOf = (user: FileUser | null): string => `user ${user?.uid ?? ""}`;

const ownUser = (): FileUser => ({
  uid: process.getuid?.() ?? 0,
  gid: process.getgid?.() ?? 0,
  groups: process.getgroups?.() ?? [],
});
