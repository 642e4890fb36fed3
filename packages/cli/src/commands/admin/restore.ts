// `lattice admin restore SOURCE`: restores a backup into a running cluster without data.

import type { Command } from "commander";
import { createContext } from "../../context.ts";
import { confirmOnTerminal } from "../../output/confirm.ts";
import { withSpinner } from "../../output/progress.ts";
import { showBackup } from "./backup.ts";

export function defineRestore(command: Command): void {
  command
    .argument("<source>", "path on the server, or s3://bucket/key")
    .option("--cluster <id>", "cluster of the backup, where several keep theirs in one place")
    .option("--yes", "do not ask");
  command.action(async (source: string, flags: { readonly yes?: boolean; readonly cluster?: string }) => {
    const context = await createContext(command);
    const { client, print, settings } = context;
    await confirmOnTerminal(
      flags.yes,
      `Restore ${source} into the cluster at ${settings.url}?`,
      `${source} not restored`,
    );
    const restored = await withSpinner(context, `Restoring ${source}`, () =>
      client.backups.restore(source, flags.cluster === undefined ? {} : { cluster_id: flags.cluster }),
    );
    if (print.structured) return print.document(restored);
    if (settings.quiet) return print.line(source);
    if (restored.backup !== undefined) showBackup(print, restored.backup);
    print.note(`Restored as log index ${restored.log_index ?? "unknown"} of this cluster. Start the agents now.`);
  });
}
