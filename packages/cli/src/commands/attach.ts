// `lattice attach ID`: opens a terminal in a running allocation, on its first node or a named one, with the user's shell
// or a command. The exit status is that of the shell or command.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { workToRead } from "../names/work-ids.ts";
import { clean } from "../output/text.ts";
import { currentSize, runTerminal } from "../terminal/run-terminal.ts";

interface AttachFlags {
  readonly node?: string;
  readonly command?: string;
}

/** Exit status of a terminal that lost its connection. */
export const EXIT_DISCONNECTED = 255;

export function define(command: Command): void {
  command
    .usage("<id> [flags] [-- command [args]]")
    .argument("<id>", "allocation: its id, its name, or last")
    .argument("[words...]", "command instead of the shell, after --")
    .option("--node <name>", "node of the allocation (default: the first)")
    .option("--command <line>", "command line instead of the shell")
    .action(async (word: string, words: readonly string[], flags: AttachFlags) => {
      const context = await createContext(command);
      const { client, print } = context;
      const id = await workToRead(context, word);
      const line = flags.command ?? (words.length === 0 ? undefined : words.map(quoted).join(" "));
      const terminal = await client.attach(id, {
        node: flags.node,
        command: line,
        size: currentSize(),
        term: process.env.TERM,
      });
      const { code, reason } = await runTerminal(terminal);
      if (reason !== "") print.note(clean(`${reason} (allocation ${id})`));
      process.exitCode = code < 0 ? EXIT_DISCONNECTED : code;
    });
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
