// `lattice admin restore SOURCE`: puts a backup into a running cluster that has nothing of its own.

import type { Command } from "commander";
import { createContext } from "../../context.ts";
import { askOnTerminal } from "../../output/ask-first.ts";
import { whileShown } from "../../output/progress.ts";
import { showBackup } from "./backup.ts";

export function defineRestore(command: Command): void {
  command.argument("<source>", "a path on the server, or s3://bucket/key").option("--yes", "do not ask");
  command.action(async (source: string, flags: { readonly yes?: boolean }) => {
    const context = await createContext(command);
    const { client, print, settings } = context;
    await askOnTerminal(flags.yes, `Put ${source} into the cluster at ${settings.url}?`, `${source} not restored`);
    const restored = await whileShown(context, `Restoring ${source}`, () => client.backups.restore(source));
    if (print.structured) return print.document(restored);
    if (settings.quiet) return print.line(source);
    if (restored.backup !== undefined) showBackup(print, restored.backup);
    print.note(`Restored, at entry ${restored.log_index ?? "unknown"} of this cluster's log. Start the agents now.`);
  });
}
