// Reads the CA certificate that the servers' certificates are verified with, when the settings name one.

import { ProblemError } from "@lattice/wire";

/** Returns the certificate as PEM; `undefined` means the system's trust store. */
export async function readCaCertificate(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const { readFile } = await import("node:fs/promises");
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? "unreadable";
    throw new ProblemError("invalid_argument", {
      detail: `the CA certificate ${path} cannot be read (${why})`,
      hint: "Check --ca, LATTICE_CA, or ca in the configuration file.",
    });
  }
}
