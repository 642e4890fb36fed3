// Which container engine this node has: podman with crun or runc below it, whichever the site names or there is, or Sarus where
// the site names that. Found by looking, once at start. What was named and is not there is no reason to take another.

import { delimiter, join } from "node:path";
import { isExecutable } from "../memory-policy.ts";
import { HELPER_PATH } from "../user/way-in.ts";

export const RUNTIME_CHOICES = ["auto", "crun", "runc", "sarus"] as const;
export type RuntimeChoice = (typeof RUNTIME_CHOICES)[number];

export interface ContainerEngine {
  readonly podman: string;
  readonly runtime: string;
}

/** Where control groups of v2 are mounted beside those of v1; null: they are not. */
export type Beside = string | null;

/** In words why there is none, or the engine. `folders`: where programs are looked for. */
export function detectEngine(
  folders: readonly string[],
  choice: Exclude<RuntimeChoice, "sarus"> = "auto",
  beside: Beside = null,
): ContainerEngine | string {
  const podman = programIn(folders, "podman");
  if (podman === null) return "podman is not installed on this node";
  // crun works only by detours where v1 and v2 are mounted side by side; there runc goes first.
  const order = beside === null ? (["crun", "runc"] as const) : (["runc", "crun"] as const);
  const wanted = choice === "auto" ? order : [choice];
  const runtime = wanted.map((name) => programIn(folders, name)).find((path) => path !== null);
  if (runtime !== undefined) return { podman, runtime };
  return choice === "auto"
    ? "podman is installed, but neither crun nor runc is"
    : `podman is installed, but ${choice} is not (--container-runtime)`;
}

/** In words why there is none, or its path. */
export const detectSarus = (folders: readonly string[]): { readonly program: string } | string => {
  const program = programIn(folders, "sarus");
  return program === null ? "sarus is not installed on this node (--container-runtime)" : { program };
};

/** An agent started by a service manager has a short path of its own. */
export const programFolders = (path: string): readonly string[] => [
  ...path.split(delimiter).filter((folder) => folder !== ""),
  ...HELPER_PATH.split(delimiter),
];

function programIn(folders: readonly string[], name: string): string | null {
  const found = folders.find((folder) => isExecutable(join(folder, name)));
  return found === undefined ? null : join(found, name);
}
