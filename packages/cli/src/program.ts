// Builds the command tree, with the called command loaded and all others as names only, and runs it.
// Turns every failure into a rendered problem and an exit status.

import { Command, CommanderError } from "commander";
import type { CommandTable } from "./command-module.ts";
import { addGlobalOptions } from "./global-options.ts";
import { endOnClosedOutput } from "./output/closed-output.ts";
import { reportError } from "./output/report-error.ts";
import { version } from "./version.ts";

/** The exit status of every usage error. */
const INCOMPLETE = 2;

export async function runCommand(table: CommandTable, argv: readonly string[]): Promise<number> {
  endOnClosedOutput();
  const program = createProgram();
  const called = findCommand(table, program, argv);
  try {
    for (const [name, entry] of Object.entries(table)) {
      const command = program.command(name, { hidden: entry.hidden === true }).description(entry.summary);
      command.aliases([...(entry.aliases ?? [])]);
      if (name !== called) continue;
      (await entry.load()).define(command, table);
      configure(command);
    }
    if (argv.length === 0) {
      // Without a command, show the list of commands.
      program.outputHelp();
      return 0;
    }
    await program.parseAsync(argv, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    // An incomplete command such as `lattice node`: commander has printed its help page.
    if (error instanceof CommanderError && error.code === "commander.help") return INCOMPLETE;
    const path = pathOf(program, argv);
    return reportError(error, argv, { path, flags: flagsAt(program, path) });
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

/** Adds global flags and error handling to a loaded command and its subcommands. */
function configure(command: Command): void {
  overrideExit(command);
  addGlobalOptions(command).enablePositionalOptions(command.commands.length > 0);
  for (const below of command.commands) configure(below);
}

/** Keeps commander from printing errors and exiting: `reportError` does both. */
function overrideExit(command: Command): Command {
  return command
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({ outputError: () => {} });
}

/** Returns the first word that is neither a global flag nor the value of one. */
function findCommand(table: CommandTable, program: Command, argv: readonly string[]): string | null {
  const words = plainWords(program, argv);
  return words.length === 0 ? null : canonicalName(table, (words[0] === "help" ? words[1] : words[0]) ?? "");
}

/** Returns the names of the called command and its parents, for error messages. */
function pathOf(program: Command, argv: readonly string[]): readonly string[] {
  const path: string[] = [];
  for (let at: Command | undefined = program; at !== undefined; ) {
    const word: string | undefined = plainWords(program, argv)[path.length];
    at = at.commands.find((one) => one.name() === word || one.aliases().includes(word ?? ""));
    if (at !== undefined) path.push(at.name());
  }
  return path;
}

/** Returns the long flags that the called command takes, for suggestions. */
function flagsAt(program: Command, path: readonly string[]): readonly string[] {
  let at: Command | undefined = program;
  for (const name of path) at = at?.commands.find((one) => one.name() === name);
  return (at?.options ?? []).filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []);
}

/** Drops flags, and the values of global flags. */
function plainWords(program: Command, argv: readonly string[]): readonly string[] {
  const valued = new Set(
    program.options.filter(({ required }) => required).flatMap(({ short, long }) => [short, long]),
  );
  return argv.filter((word, at) => !word.startsWith("-") && !valued.has(argv[at - 1] ?? ""));
}

const canonicalName = (table: CommandTable, word: string): string =>
  Object.entries(table).find(([name, entry]) => name === word || entry.aliases?.includes(word) === true)?.[0] ?? word;
