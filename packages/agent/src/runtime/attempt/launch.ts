// Instructs a warm wrapper what to run, in a file of the attempt's folder; from then on it does not need the agent.
// Starting is safe to repeat, since the wrapper claims the attempt first; `claimed_by_other` reports that an earlier
// wrapper was first.

import { join } from "node:path";
import type { pb } from "@lattice/wire";
import type { ProcessUsage } from "../../host/usage/usage.ts";
import type { Exit } from "../../lifecycle/attempt.ts";
import { readExit, readPid } from "../base/attempt-files.ts";
import { COPY_FILE, writeCopy } from "../base/copy-file.ts";
import type { Prepared } from "../base/engine.ts";
import { writeLaunch } from "../base/launch-file.ts";
import { NOT_CLAIMED } from "./wrapper.ts";

interface LaunchPlan extends Prepared {
  readonly dir: string;
  readonly wrapper: string;
  readonly joinBy: string;
  readonly order: pb.RunOrder;
  readonly umask: string;
  readonly isFirst: boolean;
  /** The counters of the wrapper and its group at its start. */
  readonly counted: ProcessUsage | null;
}

/** Returns why the kernel would refuse the command, or null. */
export function prepareLaunch({
  dir,
  order,
  environment,
  before,
  wrapper,
  owner,
  writer,
  variables,
  counted,
  ...how
}: LaunchPlan): string | null {
  const command = [...before, ...commandOf(order, dir)];
  const problem = tooLong([...command, ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)]);
  if (problem !== null) return problem;
  const copy = writeCopy({ dir, order, workdir: how.workdir, writer }) ? join(dir, COPY_FILE) : "";
  writeLaunch(dir, { ...how, copy, environment, command, kept: { wrapper, owner, before: counted, variables } });
  return problem;
}

/** Linux limits: 32 pages for one word, a quarter of the default stack for all. */
const WORD_BYTES = 128 * 1024;
const ALL_BYTES = 2 * 1024 ** 2;
const POINTER_BYTES = 8;

function tooLong(words: readonly string[]): string | null {
  const sizes = words.map((word) => Buffer.byteLength(word) + 1);
  const all = sizes.reduce((sum, size) => sum + size + POINTER_BYTES, 0);
  const exceedsLimit = all > ALL_BYTES || sizes.some((size) => size > WORD_BYTES);
  return exceedsLimit ? "cannot start: command and environment are longer than the kernel takes (E2BIG)" : null;
}

function commandOf(order: pb.RunOrder, dir: string): readonly string[] {
  if (order.script !== "") {
    const script = join(dir, "script");
    return order.script.startsWith("#!") ? [script, ...order.command] : ["/bin/sh", script, ...order.command];
  }
  if (order.entrypoint !== "") return ["/bin/sh", "-c", order.entrypoint];
  return order.command;
}

type ChildEnd =
  | { readonly kind: "exited"; readonly exit: Exit }
  /** Another wrapper has claimed this attempt; its process id, or 0 if not yet written. */
  | { readonly kind: "claimed_by_other"; readonly pid: number };

/** A shell reports a process killed by signal n with exit code 128+n. */
const BY_SIGNAL = 128;

/** Interprets the end of our process together with its files. */
export function childEnd(dir: string, child: { readonly pid: number; readonly status: number }): ChildEnd {
  if (child.status === NOT_CLAIMED) {
    const owner = readPid(dir);
    if (owner !== null && owner !== child.pid) return { kind: "claimed_by_other", pid: owner };
  }
  const exit = readExit(dir);
  if (exit !== null) return { kind: "exited", exit };
  if (child.status > BY_SIGNAL) {
    return { kind: "exited", exit: { kind: "signal", number: child.status - BY_SIGNAL } };
  }
  if (readPid(dir) === null) {
    return { kind: "exited", exit: { kind: "not_launched", message: `cannot write to the attempt's folder ${dir}` } };
  }
  return { kind: "exited", exit: { kind: "code", code: child.status, recorded: false } };
}
