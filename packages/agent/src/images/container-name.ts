// Names of container images: which registry and repository a name means, and whether the site allows it. A name without a
// registry is one of docker.io, whatever the settings of the engine: the meaning of a job must not differ by node.

import { containerNameProblem } from "@lattice/core";
import { PrologueError } from "../base/prologue-error.ts";

/** Throws unless the name is an image of an allowed registry. `allowed`: registries, or repositories below; empty: any. */
export function checkContainerName(name: string, allowed: readonly string[]): void {
  const problem = containerNameProblem(name);
  if (problem !== null) throw new PrologueError("image", `${name}: ${problem}`);
  const full = repositoryOf(name);
  if (allowed.length === 0 || allowed.some((place) => full.startsWith(`${place}/`) || full === place)) return;
  const places = allowed.join(", ");
  throw new PrologueError("image", `${name}: this node takes images from ${places} alone (--allow-registry)`);
}

/** Returns registry and path, without tag and digest. */
export function repositoryOf(name: string): string {
  const bare = withoutTag(name).split("@")[0] ?? "";
  const [host = "", ...rest] = bare.split("/");
  const path = rest.length === 0 ? `library/${host}` : bare;
  return rest.length > 0 && (/[.:]/.test(host) || host === "localhost") ? bare : `docker.io/${path}`;
}

export const digestOfName = (name: string): string | null => name.split("@")[1] ?? null;

/** Returns the name without its tag. */
export function withoutTag(name: string): string {
  const [head = "", digest] = name.split("@");
  const colon = head.lastIndexOf(":");
  const bare = colon > head.lastIndexOf("/") ? head.slice(0, colon) : head;
  return digest === undefined ? bare : `${bare}@${digest}`;
}
