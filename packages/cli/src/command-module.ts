// What a command file offers, and the table in which commands are listed.

import type { Command } from "commander";

export interface CommandModule {
  /** Adds arguments, options and the action to an empty command. Completion also needs to know all others. */
  readonly define: (command: Command, all: CommandTable) => void;
}

export interface CommandEntry {
  readonly summary: string;
  readonly aliases?: readonly string[];
  /** Not for people: not on the help page. */
  readonly hidden?: boolean;
  readonly load: () => Promise<CommandModule>;
}

export type CommandTable = Readonly<Record<string, CommandEntry>>;
