// The files in the folder of one attempt. The agent writes `order.json`, `stop` and `end.json`; the wrapper writes
// `pid`, `exit`, `stdout` and `stderr`. Nothing is synced: the boot id in the order reveals what a power cut has lost.
// Each file is small, so synchronous calls cost less than another thread.

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import type { UsageValues } from "@lattice/core";
import { pb } from "@lattice/wire";
import { makeOwnFolderNow } from "../../files/own-tree.ts";
import type { End, Exit, ReceivedOrder, Stop } from "../../lifecycle/attempt.ts";
import { COPIERS_FILE } from "./copy-file.ts";

interface AttemptFiles {
  readonly order: pb.RunOrder | null;
  readonly arrivedAtMs: number;
  readonly bootId: string;
  /** `null` when not claimed; 0 when claimed before the wrapper wrote its process id. */
  readonly pid: number | null;
  readonly claimedAtMs: number;
  readonly exit: Exit | null;
  readonly exitedAtMs: number;
  readonly stop: Stop | null;
  readonly end: End | null;
}

export function readAttempt(dir: string): AttemptFiles {
  const stored = readOrder(dir);
  return {
    order: stored?.order ?? null,
    arrivedAtMs: stored?.arrivedAtMs ?? 0,
    bootId: stored?.bootId ?? "",
    pid: readPid(dir),
    claimedAtMs: changedAt(join(dir, "pid")),
    exit: readExit(dir),
    exitedAtMs: changedAt(join(dir, "exit")),
    stop: readJson<Stop>(join(dir, "stop")),
    end: readJson<End>(join(dir, "end.json")),
  };
}

interface StoredOrder {
  readonly bootId: string;
  readonly arrivedAtMs: number;
  /** The message in its canonical JSON form. */
  readonly order: JsonValue;
}

/** Returns null when the order is missing or was cut short. A newer agent may have written fields that this one ignores. */
function readOrder(dir: string): (ReceivedOrder & { readonly bootId: string }) | null {
  const stored = readJson<StoredOrder>(join(dir, "order.json"));
  if (stored === null) return null;
  try {
    const order = fromJson(pb.RunOrderSchema, stored.order, { ignoreUnknownFields: true });
    return { bootId: stored.bootId, arrivedAtMs: stored.arrivedAtMs, order };
  } catch {
    return null;
  }
}

/** Writes the folder, the order, and the executable script if there is one. Returns whether the folder is new. */
export function writeOrder(dir: string, received: ReceivedOrder, bootId: string): boolean {
  const isNew = rewriteOrder(dir, received, bootId);
  writeScript(dir, received);
  return isNew;
}

export function writeScript(dir: string, { order }: ReceivedOrder): void {
  if (order.script !== "") writeFileSync(join(dir, "script"), order.script, { mode: 0o700 });
}

/**
 * For an order that waits, or that changed while its attempt runs. In a new folder a partial file only means that nothing
 * was started. Returns whether the folder is new.
 */
export function rewriteOrder(dir: string, { order, arrivedAtMs }: ReceivedOrder, bootId: string): boolean {
  // Not listable, but searchable: the job's user reaches its own files.
  const isNew = makeOwnFolderNow(dir, 0o711);
  const stored: StoredOrder = { bootId, arrivedAtMs, order: toJson(pb.RunOrderSchema, order) };
  if (isNew) writeFileSync(join(dir, "order.json"), JSON.stringify(stored), { mode: 0o600 });
  else writeWhole(join(dir, "order.json"), stored);
  return isNew;
}

export function writeStop(dir: string, stop: Stop): void {
  writeWhole(join(dir, "stop"), stop);
}

export function writeEnd(dir: string, end: End): void {
  makeOwnFolderNow(dir, 0o711);
  writeWhole(join(dir, "end.json"), end);
}

export function writeUsed(dir: string, used: UsageValues): void {
  const file = join(dir, "used.json");
  // A first one that is cut short by a crash reads as none.
  if (existsSync(file)) writeWhole(file, used);
  else if (existsSync(dir)) writeFileSync(file, JSON.stringify(used), { mode: 0o600 });
}

export const readUsed = (dir: string): UsageValues | null => readJson<UsageValues>(join(dir, "used.json"));

/** Returns null until the wrapper has written the whole line. */
export function readExit(dir: string): Exit | null {
  const text = readText(join(dir, "exit"));
  if (text === null || !text.endsWith("\n")) return null;
  const line = text.slice(0, -1);
  if (line.startsWith("launch ")) return { kind: "not_launched", message: line.slice("launch ".length) };
  if (line.startsWith("prologue ")) return prologueFailure(line.slice("prologue ".length));
  const code = Number.parseInt(line, 10);
  return Number.isNaN(code) ? null : { kind: "code", code, recorded: true };
}

/** The stage and its message. */
function prologueFailure(text: string): Exit {
  const [stage = ""] = text.split(" ");
  return { kind: "not_launched", stage, message: text.slice(stage.length).trim() };
}

export function readPid(dir: string): number | null {
  const text = readText(join(dir, "pid"));
  if (text === null) return null;
  const pid = Number.parseInt(text, 10);
  return Number.isNaN(pid) ? 0 : pid;
}

/** Returns the name of the wrapper's group, or null when the attempt is not claimed. */
export function readGroup(dir: string): string | null {
  return /^\d+ (\S+)\n$/.exec(readText(join(dir, "pid")) ?? "")?.[1] ?? null;
}

/** Processes that copy the output: none of the job's own. */
export const readCopiers = (dir: string): ReadonlySet<number> =>
  new Set((readText(join(dir, COPIERS_FILE)) ?? "").split(/\s+/).map(Number));

const MAX_PID_BYTES = 32;

interface InitProcess {
  readonly pid: number;
  /** The file belongs to the agent's user: no program of the job has written the number. */
  readonly isCertain: boolean;
}

/** Where an engine keeps what its user shares, and no user enters. */
export const ENGINE_FOLDER = "engine";

/** The file with the first process inside: in the engine's folder if there is one. */
export const initFile = (dir: string): string => {
  const folder = join(dir, ENGINE_FOLDER);
  return join(existsSync(folder) ? folder : dir, "init.pid");
};

/** The first process inside the attempt's namespaces, by its process id on the node. */
export function readInit(dir: string): InitProcess | null {
  const found = readHead(initFile(dir), MAX_PID_BYTES);
  const pid = Number.parseInt(found?.text ?? "", 10);
  return found !== null && pid > 0 ? { pid, isCertain: found.uid === process.getuid?.() } : null;
}

function changedAt(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 0 : Math.round(found.mtimeMs);
}

function writeWhole(path: string, value: object): void {
  writeFileSync(`${path}.tmp`, JSON.stringify(value), { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

function readJson<T>(path: string): T | null {
  const text = readText(path);
  if (text === null) return null;
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** For a file that a program of the job may have written: never follows a link, waits for a pipe, or reads much. */
function readHead(path: string, maxBytes: number): { readonly text: string; readonly uid: number } | null {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = fstatSync(file);
      if (!found.isFile()) return null;
      const bytes = Buffer.alloc(maxBytes);
      return { text: bytes.toString("latin1", 0, readSync(file, bytes, 0, maxBytes, 0)), uid: found.uid };
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
