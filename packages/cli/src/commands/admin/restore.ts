// `lattice admin restore SOURCE`: puts a backup into a running cluster that has nothing of its own.

import type { Command } from "commander";
import { createContext } from "../../context.ts";
import { showBackup } from "./backup.ts";

export function defineRestore(command: Command): void {
  command.argument("<source>", "a path on the server, or s3://bucket/key");
  command.action(async (source: string) => {
    const { client, print } = await createContext(command);
    const restored = await client.backups.restore(source);
    if (print.structured) return print.document(restored);
    if (restored.backup !== undefined) showBackup(print, restored.backup);
    print.note(`Restored, at entry ${restored.log_index ?? "unknown"} of this cluster's log. Start the agents now.`);
  });
}
