// Verifies a backup without a server, for the command line; any file may be named.

import type { BackupConfig } from "../../base/config/index.ts";
import { anyBackup } from "./places.ts";
import type { Verification } from "./verification.ts";
import { verifyBackup } from "./verify.ts";

export async function verifyAnywhere(source: string, config: BackupConfig): Promise<Verification> {
  const { store, name } = anyBackup(source, config);
  const copy = await store.fetch(name, AbortSignal.any([]));
  try {
    return await verifyBackup(copy.path, copy.sha256);
  } finally {
    await copy.done();
  }
}
