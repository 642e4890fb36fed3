// The folder of one attempt and what is read from and written to it. `order.json` and `stop` and
// `end.json` are the agent's; `pid`, `exit`, `stdout` and `stderr` are the wrapper's. Nothing is
// synced: what is lost with a power cut is told apart by the boot id in the order. Each is one small page in
// the kernel's memory, so that handing the call to another thread would cost more than the call.

import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { End, Exit, Order, Stop } from "../../lifecycle/attempt.ts";
import { COPIERS_FILE } from "./copy-file.ts";

export interface AttemptFiles {
  readonly order: Order | null;
  readonly bootId: string;
  /** Null: not claimed. 0: claimed, but the wrapper did not get to write its number. */
  readonly pid: number | null;
  readonly claimedAtMs: number;
  readonly exit: Exit | null;
  readonly exitedAtMs: number;
  readonly stop: Stop | null;
  readonly end: End | null;
}

export function readAttempt(dir: string): AttemptFiles {
  const order = readJson<StoredOrder>(join(dir, "order.json"));
  return {
    order: completed(order),
    bootId: order?.bootId ?? "",
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
  readonly order: Order;
}

/** An older agent wrote orders that did not say these; all of them were exclusive. */
const UNSAID = { exclusive: true, arrivedAtMs: 0, project: "", probe: null };

const completed = (stored: StoredOrder | null): Order | null =>
  stored === null ? null : { ...UNSAID, ...stored.order };

/** Folder and order; the script, when there is one, beside it and executable. */
export function writeOrder(dir: string, order: Order, bootId: string): void {
  rewriteOrder(dir, order, bootId);
  if (order.script !== "") writeFileSync(join(dir, "script"), order.script, { mode: 0o700 });
}

/** For an order that waits, or that changed while it is carried out: never half of either. */
export function rewriteOrder(dir: string, order: Order, bootId: string): void {
  // Not to be listed, but to be passed through: the job's user reaches what belongs to it.
  mkdirSync(dir, { recursive: true, mode: 0o711 });
  const stored: StoredOrder = { bootId, order };
  writeWhole(join(dir, "order.json"), stored);
}

export function writeStop(dir: string, stop: Stop): void {
  writeWhole(join(dir, "stop"), stop);
}

export function writeEnd(dir: string, end: End): void {
  mkdirSync(dir, { recursive: true });
  writeWhole(join(dir, "end.json"), end);
}

/** Null while the wrapper has not recorded it, wholly. */
export function readExit(dir: string): Exit | null {
  const text = readText(join(dir, "exit"));
  if (text === null || !text.endsWith("\n")) return null;
  const line = text.slice(0, -1);
  if (line.startsWith("launch ")) return { kind: "not_launched", message: line.slice("launch ".length) };
  if (line.startsWith("prologue ")) return prologueFailure(line.slice("prologue ".length));
  const code = Number.parseInt(line, 10);
  return Number.isNaN(code) ? null : { kind: "code", code, recorded: true };
}

/** The stage, and what it said. */
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

/** The name of the group that its wrapper is in; null: not claimed, or by the wrapper of an older agent. */
export function readGroup(dir: string): string | null {
  return /^\d+ (\S+)\n$/.exec(readText(join(dir, "pid")) ?? "")?.[1] ?? null;
}

/** Processes that copy the output: none of the job's own. */
export const readCopiers = (dir: string): ReadonlySet<number> =>
  new Set((readText(join(dir, COPIERS_FILE)) ?? "").split(/\s+/).map(Number));

/** Of an attempt in namespaces of its own: the first process inside, as the node numbers it. */
export function readInitPid(dir: string): number | null {
  const pid = Number.parseInt(readText(join(dir, "init.pid")) ?? "", 10);
  return pid > 0 ? pid : null;
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
