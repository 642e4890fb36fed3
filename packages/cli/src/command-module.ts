// The interface of a command file, and the type of the table that lists all commands.

import type { Command } from "commander";

interface CommandModule {
  /** Adds arguments, options and the action to an empty command. `all` is for completion, which describes every command. */
  readonly define: (command: Command, all: CommandTable) => void;
}

interface CommandEntry {
  readonly summary: string;
  readonly aliases?: readonly string[];
  /** Left out of the help page: the command is for programs. */
  readonly hidden?: boolean;
  readonly load: () => Promise<CommandModule>;
}

export type CommandTable = Readonly<Record<string, CommandEntry>>;
