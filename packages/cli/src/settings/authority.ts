// The authority that servers' certificates are checked by, read when one is named.

import { ProblemError } from "@lattice/wire";

/** PEM; undefined: whatever this machine trusts. */
export async function authorityOf(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const { readFile } = await import("node:fs/promises");
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? "unreadable";
    throw new ProblemError("invalid_argument", {
      detail: `the authority ${path} cannot be read (${why})`,
      hint: "See --ca, LATTICE_CA, or ca in the configuration file.",
    });
  }
}
