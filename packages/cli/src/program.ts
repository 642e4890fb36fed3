// Builds the command tree with the called command loaded and the others as names, runs it, and
// turns whatever goes wrong into a rendered problem and an exit status.

import { Command, CommanderError } from "commander";
import type { CommandTable } from "./command-module.ts";
import { addGlobalOptions } from "./global-options.ts";
import { endOnClosedOutput } from "./output/closed-output.ts";
import { reportError } from "./output/report-error.ts";
import { version } from "./version.ts";

/** As for any other usage error. */
const INCOMPLETE = 2;

export async function runCommand(table: CommandTable, argv: readonly string[]): Promise<number> {
  endOnClosedOutput();
  const program = createProgram();
  const called = findCommand(table, argv);
  try {
    for (const [name, entry] of Object.entries(table)) {
      const command = program.command(name, { hidden: entry.hidden === true }).description(entry.summary);
      command.aliases([...(entry.aliases ?? [])]);
      if (name !== called) continue;
      (await entry.load()).define(command, table);
      settle(command);
    }
    if (argv.length === 0) {
      // Without a command there is nothing to do but to show what there is.
      program.outputHelp();
      return 0;
    }
    await program.parseAsync(argv, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    // The command was incomplete, such as `lattice node`; its help page has been printed.
    if (error instanceof CommanderError && error.code === "commander.help") return INCOMPLETE;
    return reportError(error, argv);
  }
}

function createProgram(): Command {
  const program = new Command("lattice")
    .description("Lattice: a distributed workload scheduler for HPC and AI")
    .version(`lattice ${version}`, "-V, --version", "print the version")
    .enablePositionalOptions()
    .addHelpText("after", "\nRun `lattice COMMAND --help` for the flags of a command.");
  addGlobalOptions(program);
  return overrideExit(program);
}

/** Global flags and error handling for a loaded command and everything below it. */
function settle(command: Command): void {
  overrideExit(command);
  if (command.commands.length === 0) addGlobalOptions(command);
  for (const below of command.commands) settle(below);
}

/** Commander would print and exit by itself; we print errors in one place. */
function overrideExit(command: Command): Command {
  return command
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({ outputError: () => {} });
}

const GLOBALS_WITH_VALUE = new Set(["-o", "--output", "-t", "--tenant", "--vcluster", "--config", "--url"]);

/** The first word that is neither a global flag nor the value of one. */
function findCommand(table: CommandTable, argv: readonly string[]): string | null {
  for (let i = 0; i < argv.length; i += 1) {
    const arg = argv[i] ?? "";
    if (GLOBALS_WITH_VALUE.has(arg)) i += 1;
    else if (!arg.startsWith("-")) return canonicalName(table, arg === "help" ? (argv[i + 1] ?? "") : arg);
  }
  return null;
}

const canonicalName = (table: CommandTable, word: string): string =>
  Object.entries(table).find(([name, entry]) => name === word || entry.aliases?.includes(word) === true)?.[0] ?? word;
