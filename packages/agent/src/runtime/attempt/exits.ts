// Reports the exit of an attempt's first process, and whether the kernel killed it for lack of memory.

import type { Exit } from "../../lifecycle/attempt.ts";
import { readGroup } from "../base/attempt-files.ts";
import { dirOf, groupOf, keptOf, placeOf, type RuntimeContext } from "./context.ts";
import { childEnd } from "./launch.ts";

export async function reportExit(context: RuntimeContext, key: string, exit: Exit): Promise<void> {
  context.listener.exited(key, await withMemory(context, key, exit), Date.now());
}

/** Called before the control groups are removed: only they know whether the kernel killed a process for lack of memory, or refused one. */
export async function withMemory(context: RuntimeContext, key: string, exit: Exit): Promise<Exit> {
  if (exit.kind !== "code" && exit.kind !== "signal") return exit;
  if (exit.kind === "code" && exit.code === 0) return exit;
  const { limits, prologue } = context;
  const group = groupOf(context, key);
  const kills = (await limits.oomKills(group)) || prologue.engines.container.oomKills(prologue.groupParent(group));
  if (kills === 0) {
    const reached = limits.reachedProcesses(group);
    return reached === null ? exit : { ...exit, limit: `it reached its limit of ${reached} processes and threads` };
  }
  return { ...exit, oom: `out of memory: the kernel ended ${kills} of its processes` };
}

/** Handles the end of a wrapper that this agent started. `status` is null when its parent shell has died. */
export function onChildEnd(context: RuntimeContext, key: string, pid: number, status: number | null): void {
  if (context.closing.signal.aborted) return;
  if (status === null) {
    context.watch.add(key, placeOf(context, key));
    return;
  }
  const end = childEnd(dirOf(context, key), { pid, status });
  if (end.kind === "exited") void reportExit(context, key, end.exit);
  else void followOther(context, key, end.pid);
}

/** An earlier wrapper claimed the attempt first; the agent watches that one. */
async function followOther(context: RuntimeContext, key: string, pid: number): Promise<void> {
  const { listener, log, isolation, processes, watch } = context;
  if (pid === 0) {
    // Claimed without a process id, and no such wrapper is alive: the disk took the name of the file and no content.
    const message = "its wrapper could not write to the attempt's folder";
    return listener.exited(key, { kind: "not_launched", message }, Date.now());
  }
  log.warn({ attempt: key, pid }, "another wrapper has claimed this attempt; watching that one");
  await isolation.remove(placeOf(context, key));
  const dir = dirOf(context, key);
  processes.set(key, { ...keptOf(dir), leader: pid, group: readGroup(dir) ?? key, signalled: new Set() });
  watch.add(key, placeOf(context, key));
}
