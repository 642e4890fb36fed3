// Starts the wrapper of one attempt, detached and without pipes: from then on it needs the agent
// for nothing. Starting is safe to repeat, since the wrapper claims the attempt before it does
// anything else; the caller learns from `claimedByOther` when an earlier wrapper was first.

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import type { Exit, Order } from "../../lifecycle/attempt.ts";
import { readExit, readPid } from "./files.ts";
import { NOT_CLAIMED } from "./wrapper.ts";

export interface Launch {
  readonly dir: string;
  readonly wrapper: string;
  /** Files by which the wrapper joins its control groups, one to a line. */
  readonly joinBy: string;
  readonly order: Order;
  readonly environment: Record<string, string>;
  /** Put before the command. */
  readonly before: readonly string[];
  readonly workdir: string;
  readonly umask: string;
}

export type LaunchResult =
  | { readonly kind: "spawned"; readonly child: ChildProcess; readonly pid: number }
  | { readonly kind: "not_launched"; readonly message: string };

export function launch(what: Launch): Promise<LaunchResult> {
  return new Promise((resolve) => {
    const fail = (error: Error): void => resolve({ kind: "not_launched", message: `cannot start: ${error.message}` });
    try {
      const { wrapper, dir, joinBy, workdir, umask, before } = what;
      const args = [wrapper, dir, joinBy, workdir, umask, ...before, ...commandOf(what.order, dir)];
      const child = spawn("/bin/sh", args, {
        cwd: what.dir,
        detached: true,
        env: what.environment,
        stdio: "ignore",
      });
      const { pid } = child;
      child.once("error", fail);
      if (pid !== undefined) resolve({ kind: "spawned", child, pid });
    } catch (error) {
      fail(error as Error);
    }
  });
}

function commandOf(order: Order, dir: string): readonly string[] {
  if (order.script !== "") {
    const script = join(dir, "script");
    return order.script.startsWith("#!") ? [script, ...order.command] : ["/bin/sh", script, ...order.command];
  }
  if (order.entrypoint !== "") return ["/bin/sh", "-c", order.entrypoint];
  return order.command;
}

export type ChildEnd =
  | { readonly kind: "exited"; readonly exit: Exit }
  /** Another wrapper has this attempt, under this number (0: it did not write it yet). */
  | { readonly kind: "claimed_by_other"; readonly pid: number };

/** What the end of our own child means, read together with what it left on disk. */
export async function childEnd(
  dir: string,
  child: { readonly pid: number; readonly code: number | null; readonly signal: NodeJS.Signals | null },
): Promise<ChildEnd> {
  if (child.code === NOT_CLAIMED) {
    const owner = await readPid(dir);
    if (owner !== null && owner !== child.pid) return { kind: "claimed_by_other", pid: owner };
  }
  const exit = await readExit(dir);
  if (exit !== null) return { kind: "exited", exit };
  if (child.signal !== null) {
    return { kind: "exited", exit: { kind: "signal", number: constants.signals[child.signal] } };
  }
  if ((await readPid(dir)) === null) {
    return { kind: "exited", exit: { kind: "not_launched", message: `cannot write to the attempt's folder ${dir}` } };
  }
  return { kind: "exited", exit: { kind: "code", code: child.code ?? 0, recorded: false } };
}
