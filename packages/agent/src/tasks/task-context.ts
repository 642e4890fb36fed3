// Where the tasks of an attempt start: in its control groups and namespaces, as its user, with its environment.
// Combines what the runtime knows of the attempt with what its first process shows, so that every runtime is handled
// alike.

import type { pb } from "@lattice/wire";
import type { FileUser, UserFiles } from "../files/user-files.ts";
import type { FirstProcess } from "../host/first-process.ts";
import { enter } from "../terminal/enter.ts";

export interface AttemptContext {
  /** The attempt's own folder. */
  readonly dir: string;
  readonly order: pb.RunOrder;
  /** Files by which a process joins the attempt's control groups, one on each line. */
  readonly joinBy: string;
  readonly files: UserFiles;
}

export interface TaskContext extends AttemptContext {
  /** The environment of the job. */
  readonly environment: Readonly<Record<string, string>>;
  /** Command that enters the attempt's namespaces and becomes its user; empty when there is nothing to enter. */
  readonly prefix: readonly string[];
  /** The user it changes to; `null` when it keeps the agent's. */
  readonly owner: FileUser | null;
  /** Its root directory, as the agent sees it. */
  readonly root: string;
  /** Working directory of the job; "." for the one after entering. */
  readonly cwd: string;
  readonly umask: string;
}

interface ContextHost {
  attemptContext?(key: string): Promise<AttemptContext | null>;
  firstProcess(key: string): Promise<FirstProcess | null>;
}

/** Resolves to null when there is no such attempt here. */
export async function taskContext(host: ContextHost, key: string): Promise<TaskContext | null> {
  const [context, first] = await Promise.all([host.attemptContext?.(key), host.firstProcess(key)]);
  return context === undefined || context === null || first === null ? null : enterContext(context, first);
}

/** Resolves to null when its first process is gone, or is not the job yet. */
async function enterContext(context: AttemptContext, first: FirstProcess): Promise<TaskContext | null> {
  const entered = await enter({ ...first, line: "", term: "" });
  if (entered === null) return null;
  // TERM belongs to the terminal, not to the job.
  const { TERM: _, ...environment } = entered.environment;
  const { prefix, owner, umask } = entered;
  const root = `/proc/${first.pid}/root`;
  const cwd = hasOwnFiles({ prefix }) ? "." : entered.cwd;
  return { ...context, environment, prefix, owner, umask, root, cwd };
}

/** Its files are not the node's, so they cannot be checked from here. */
export const hasOwnFiles = ({ prefix }: Pick<TaskContext, "prefix">): boolean => prefix.includes("--mount");
