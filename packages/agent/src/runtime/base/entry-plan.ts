// The plan by which lattice-mounts takes an attempt from root to its user: mounts, working directory, user and
// variables. The file holds the job's variables, so only root can read it, and none of them is on a command line.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { MOUNT_ROOTS } from "@lattice/core";
import { PrologueError } from "../../base/prologue-error.ts";
import type { RunAs } from "../../host/user/user.ts";

export interface ImageMount {
  readonly kind: "image";
  readonly image: string;
  readonly at: string;
}

export interface BindMount {
  /** `own`: only root can change the path of the source. */
  readonly kind: "bind" | "own";
  readonly source: string;
  readonly at: string;
  readonly readOnly: boolean;
}

interface ProgramMount {
  readonly kind: "run";
  /** A program that mounts on the folder that replaces `{}`. */
  readonly words: readonly string[];
  readonly at: string;
  readonly readOnly: boolean;
  /** A file needed only for mounting, removed afterwards. */
  readonly secret?: string;
}

export type DataMount = (BindMount & { readonly kind: "bind" }) | ProgramMount;

export type EntryStep =
  | ImageMount
  | BindMount
  | ProgramMount
  | { readonly kind: "private" | "keep"; readonly at: string }
  | { readonly kind: "memory"; readonly at: string; readonly bytes: number }
  | { readonly kind: "shared-memory" };

/** How this node takes attempts from root to their users. */
export interface AttemptEntry {
  /** Path of lattice-mounts; `null` where it was not built. */
  readonly program: string | null;
  /** Folders of the agent, which nothing is mounted on. */
  readonly protects: readonly string[];
  /** Whether attempts of the node's users get their own /tmp and /dev/shm. */
  readonly privateTmp: boolean;
  /** In memory, of this size; `null`: a folder of the attempt. */
  readonly privateTmpBytes: number | null;
  /** Folders of the node that jobs need, wherever they are. */
  readonly offers: readonly string[];
}

interface EntryPlan {
  /** The attempt's folder. */
  readonly dir: string;
  /** `null` keeps the agent's user. */
  readonly user: RunAs | null;
  /** The command keeps the agent's user; this user's rights decide what is mounted. Not together with `user`. */
  readonly rights?: RunAs | null;
  readonly steps: readonly EntryStep[];
  /** Nothing that the command starts can gain privileges. */
  readonly confined: boolean;
  /** The home folder that the site mounts; it may be outside of the usual roots. */
  readonly home: string | null;
  readonly workdir: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The command is the job's own: others may enter by its process. */
  readonly enters: boolean;
}

/** Writes the plan and returns the words before the command. */
export function writeEntry({ program, protects }: AttemptEntry, plan: EntryPlan, name = "entry"): readonly string[] {
  if (program === null) throw new PrologueError("mounts", "lattice-mounts was not built on this node");
  const { dir, user, rights = null, steps, home } = plan;
  const variables = Object.entries(plan.variables).map(([key, value]) => `${key}=${value}`);
  const fields = [
    ...["folder", dir],
    ...(user === null ? [] : ["user", ...idsOf(user)]),
    ...(rights === null ? [] : ["rights", ...idsOf(rights)]),
    ...MOUNT_ROOTS.flatMap((root) => ["allow", root]),
    ...protects.flatMap((path) => ["protect", path]),
    ...(home === null ? [] : ["home", home]),
    ...["workdir", plan.workdir],
    ...["variables", String(variables.length), ...variables],
    ...(plan.confined ? ["confined"] : []),
    ...(plan.enters ? ["enter"] : []),
    ...steps.flatMap(fieldsOf),
  ];
  if (fields.some((field) => field.includes("\0"))) throw new PrologueError("mounts", "a name or path has a zero byte");
  const file = join(dir, name);
  writeFileSync(file, fields.map((field) => `${field}\0`).join(""), { mode: 0o600 });
  return [program, file];
}

const idsOf = ({ uid, gid, groups, name }: RunAs): readonly string[] => [
  ...[String(uid), String(gid), groups.join(","), name],
];

function fieldsOf(step: EntryStep): readonly string[] {
  switch (step.kind) {
    case "shared-memory":
      return [step.kind];
    case "private":
    case "keep":
      return [step.kind, step.at];
    case "memory":
      return [step.kind, String(step.bytes), step.at];
    case "image":
      return [step.kind, step.image, step.at];
    case "bind":
    case "own":
      return [step.kind, step.readOnly ? "ro" : "rw", step.source, step.at];
    case "run": {
      const { words, at, secret } = step;
      const run = [step.kind, step.readOnly ? "ro" : "rw", at, String(words.length), ...words];
      return secret === undefined ? run : [...run, "secret", secret];
    }
  }
}

/** In the attempt's folder, with the content of its own /tmp; lattice-mounts makes it. */
export const PRIVATE = "private";
const OWN_TMP = "/tmp";

/** An own /tmp and /dev/shm; folders that the job needs stay visible when they are below /tmp. */
export function privateSteps(needed: readonly string[], bytes: number | null): readonly EntryStep[] {
  const hidden = needed.filter((path) => path.startsWith(`${OWN_TMP}/`)).toSorted();
  const outermost = hidden.filter((path) => !hidden.some((other) => path !== other && path.startsWith(`${other}/`)));
  return [
    bytes === null ? { kind: "private", at: OWN_TMP } : { kind: "memory", at: OWN_TMP, bytes },
    { kind: "shared-memory" },
    ...[...new Set(outermost)].map((at) => ({ kind: "keep", at }) as const),
  ];
}
