// The folder of one attempt and what is read from and written to it. `order.json` and `stop` and
// `end.json` are the agent's; `pid`, `exit`, `stdout` and `stderr` are the wrapper's. Nothing is
// synced: what is lost with a power cut is told apart by the boot id in the order.

import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { End, Exit, Order, Stop } from "../../lifecycle/attempt.ts";

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

export async function readAttempt(dir: string): Promise<AttemptFiles> {
  const [order, pid, claimedAtMs, exit, exitedAtMs, stop, end] = await Promise.all([
    readJson<StoredOrder>(join(dir, "order.json")),
    readPid(dir),
    changedAt(join(dir, "pid")),
    readExit(dir),
    changedAt(join(dir, "exit")),
    readJson<Stop>(join(dir, "stop")),
    readJson<End>(join(dir, "end.json")),
  ]);
  return { order: completed(order), bootId: order?.bootId ?? "", pid, claimedAtMs, exit, exitedAtMs, stop, end };
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
export async function writeOrder(dir: string, order: Order, bootId: string): Promise<void> {
  await rewriteOrder(dir, order, bootId);
  if (order.script !== "") await writeFile(join(dir, "script"), order.script, { mode: 0o700 });
}

/** For an order that waits, or that changed while it is carried out: never half of either. */
export async function rewriteOrder(dir: string, order: Order, bootId: string): Promise<void> {
  // Not to be listed, but to be passed through: the job's user reaches what belongs to it.
  await mkdir(dir, { recursive: true, mode: 0o711 });
  const stored: StoredOrder = { bootId, order };
  await writeWhole(join(dir, "order.json"), stored);
}

export async function writeStop(dir: string, stop: Stop): Promise<void> {
  await writeWhole(join(dir, "stop"), stop);
}

export async function writeEnd(dir: string, end: End): Promise<void> {
  await mkdir(dir, { recursive: true });
  await writeWhole(join(dir, "end.json"), end);
}

/** Null while the wrapper has not recorded it, wholly. */
export async function readExit(dir: string): Promise<Exit | null> {
  const text = await readText(join(dir, "exit"));
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

export async function readPid(dir: string): Promise<number | null> {
  const text = await readText(join(dir, "pid"));
  if (text === null) return null;
  const pid = Number.parseInt(text, 10);
  return Number.isNaN(pid) ? 0 : pid;
}

/** Of an attempt in namespaces of its own: the first process inside, as the node numbers it. */
export async function readInitPid(dir: string): Promise<number | null> {
  const pid = Number.parseInt((await readText(join(dir, "init.pid"))) ?? "", 10);
  return pid > 0 ? pid : null;
}

async function changedAt(path: string): Promise<number> {
  return stat(path).then(
    (found) => Math.round(found.mtimeMs),
    () => 0,
  );
}

async function writeWhole(path: string, value: object): Promise<void> {
  await writeFile(`${path}.tmp`, JSON.stringify(value), { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}

async function readJson<T>(path: string): Promise<T | null> {
  const text = await readText(path);
  if (text === null) return null;
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

async function readText(path: string): Promise<string | null> {
  return readFile(path, "utf8").catch(() => null);
}
