// Where the tasks of an attempt are started: beside the job, in its control groups and namespaces, as
// its user, with what it was given. What a runtime knows of the attempt comes together here with what
// can be read from its first process, so that every runtime is served alike.

import type { Order } from "../lifecycle/attempt.ts";
import type { FirstProcess } from "../runtime/first-process.ts";
import { enter } from "../terminal/enter.ts";
import type { Owner } from "../terminal/owner.ts";

export interface AttemptRoom {
  /** The attempt's own folder. */
  readonly dir: string;
  readonly order: Order;
  /** Files by which a process joins the attempt's control groups, one on each line. */
  readonly joinBy: string;
}

export interface TaskRoom extends AttemptRoom {
  /** That of the job itself. */
  readonly environment: Readonly<Record<string, string>>;
  /** Command that enters the attempt's namespaces and becomes its user; empty: nothing to enter. */
  readonly prefix: readonly string[];
  /** Whom it becomes; null: nobody else. */
  readonly owner: Owner | null;
  /** Its files, as the agent sees them. */
  readonly root: string;
  /** Where the job stands; ".": where whoever enters comes to stand. */
  readonly cwd: string;
  readonly umask: string;
}

export interface RoomHost {
  room?(key: string): Promise<AttemptRoom | null>;
  firstProcess(key: string): Promise<FirstProcess | null>;
}

/** Null: there is no such attempt here. */
export async function roomOf(host: RoomHost, key: string): Promise<TaskRoom | null> {
  const [room, first] = await Promise.all([host.room?.(key), host.firstProcess(key)]);
  return room === undefined || room === null || first === null ? null : enterRoom(room, first);
}

/** Null: its first process is gone, or is not the job yet. */
async function enterRoom(room: AttemptRoom, first: FirstProcess): Promise<TaskRoom | null> {
  const entered = await enter({ ...first, line: "", term: "" });
  if (entered === null) return null;
  // It is the terminal's, not the job's.
  const { TERM: _, ...environment } = entered.environment;
  const { prefix, owner, umask } = entered;
  const root = `/proc/${first.pid}/root`;
  return { ...room, environment, prefix, owner, umask, root, cwd: hasOwnFiles({ prefix }) ? "." : entered.cwd };
}

/** Its files are not the node's: what is there cannot be seen from here. */
export const hasOwnFiles = ({ prefix }: Pick<TaskRoom, "prefix">): boolean => prefix.includes("--mount");
