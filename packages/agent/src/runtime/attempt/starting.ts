// Starts an attempt: its limits, its prologue, and then a warm process that becomes its wrapper.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { pb } from "@lattice/wire";
import { PrologueError } from "../../base/prologue-error.ts";
import type { ReceivedOrder } from "../../lifecycle/attempt.ts";
import { hostFile } from "../../tasks/offered.ts";
import { writeOrder, writeScript } from "../base/attempt-files.ts";
import type { Prepared } from "../base/engine.ts";
import type { StartResult } from "../base/runtime.ts";
import { runPrologue } from "../prologue/prologue.ts";
import { dirOf, groupOf, type RuntimeContext } from "./context.ts";
import { environment, HOST_FILE } from "./environment.ts";
import { onChildEnd } from "./exits.ts";
import { prepareLaunch } from "./launch.ts";
import type { Warm } from "./warm.ts";

type NotLaunched = Extract<StartResult, { readonly kind: "not_launched" }>;

export async function startAttempt(
  context: RuntimeContext,
  key: string,
  received: ReceivedOrder,
): Promise<StartResult> {
  // Acknowledged in an earlier run of this agent: it must not run twice.
  if (context.retention.has(key))
    return { kind: "not_launched", message: "this attempt has ended on this node before" };
  const { order } = received;
  const dir = dirOf(context, key);
  const isFirst = storeOrder(context, key, received);
  writeFileSync(join(dir, HOST_FILE), hostFile(order.nodes, order.tasksPerNode));
  const warm = await context.warm.take();
  const before = context.counted.get(warm.group) ?? null;
  context.processes.set(key, { leader: warm.pid, group: warm.group, uid: null, before, signalled: new Set() });
  const refusal = await prepareWarm(context, warm, key, { received, isFirst }).catch((error: Error) => {
    warm.dismiss();
    throw error;
  });
  if (refusal !== null) {
    warm.dismiss();
    return refusal;
  }
  warm.become(dir, (status) => onChildEnd(context, key, warm.pid, status));
  return { kind: "started", atMs: Date.now() };
}

/** Returns whether the folder is new. The order of an attempt that has waited is on disk already. */
function storeOrder(context: RuntimeContext, key: string, received: ReceivedOrder): boolean {
  const dir = dirOf(context, key);
  const known = context.waiting.get(key);
  context.waiting.delete(key);
  if (known?.received !== received) return writeOrder(dir, received, context.bootId);
  writeScript(dir, received);
  return known.isFirst;
}

/** Returns why the attempt cannot start, or null when everything is ready for the wrapper. */
async function prepareWarm(
  context: RuntimeContext,
  { group }: Warm,
  key: string,
  { received, isFirst }: { readonly received: ReceivedOrder; readonly isFirst: boolean },
): Promise<NotLaunched | null> {
  const { order } = received;
  const limited = await limitFiles(context, key, order);
  const ready = await prepareNode(context, key, received);
  if ("kind" in ready) return ready;
  const known = context.processes.get(key);
  if (known !== undefined) context.processes.set(key, { ...known, uid: ready.owner?.uid ?? null });
  const { umask } = context.prologue;
  const launch = {
    dir: dirOf(context, key),
    wrapper: group,
    joinBy: limited.join("\n"),
    order,
    umask,
    isFirst,
    counted: known?.before ?? null,
    ...ready,
  };
  const problem = prepareLaunch(launch);
  return problem === null ? null : { kind: "not_launched", message: problem };
}

/** Returns the files by which a process joins the limits of the attempt, beyond its own group. */
export function limitFiles(context: RuntimeContext, key: string, order: pb.RunOrder): Promise<readonly string[]> {
  const contained = Boolean(order.environment?.image);
  return context.limits.prepare(groupOf(context, key), order.limits ?? null, contained).catch((error: Error) => {
    // Without enforceable limits the attempt fails; without limits only the OOM count is lost.
    if (order.limits !== undefined) throw error;
    return [];
  });
}

async function prepareNode(
  context: RuntimeContext,
  key: string,
  received: ReceivedOrder,
): Promise<Prepared | NotLaunched> {
  const { nodeId, prologue, preparing, closing, offered } = context;
  const abort = new AbortController();
  preparing.set(key, abort);
  const signal = AbortSignal.any([abort.signal, closing.signal]);
  const dir = dirOf(context, key);
  try {
    const base = environment(received, { nodeId, attemptDir: dir, base: process.env, offered: offered() });
    const target = { key, group: groupOf(context, key), dir, order: received.order, environment: base };
    return await runPrologue(prologue, target, signal);
  } catch (error) {
    const { message } = error as Error;
    if (signal.aborted) return { kind: "not_launched", message: "it was stopped before it began" };
    return { kind: "not_launched", message, ...(error instanceof PrologueError ? { stage: error.stage } : null) };
  } finally {
    preparing.delete(key);
  }
}
