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
  const called = findCommand(table, program, argv);
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
    return reportError(error, argv, pathOf(program, argv));
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

/** Global flags and error handling for a loaded command and everything below it, whose own flags come behind its name. */
function settle(command: Command): void {
  overrideExit(command);
  addGlobalOptions(command).enablePositionalOptions(command.commands.length > 0);
  for (const below of command.commands) settle(below);
}

/** Commander would print and exit by itself; we print errors in one place. */
function overrideExit(command: Command): Command {
  return command
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({ outputError: () => {} });
}

/** The first word that is neither a global flag nor the value of one. */
function findCommand(table: CommandTable, program: Command, argv: readonly string[]): string | null {
  const words = plainWords(program, argv);
  return words.length === 0 ? null : canonicalName(table, (words[0] === "help" ? words[1] : words[0]) ?? "");
}

/** The words that lead to the command that was called, as far as there is one: for what is said about it. */
function pathOf(program: Command, argv: readonly string[]): readonly string[] {
  const path: string[] = [];
  for (let at: Command | undefined = program; at !== undefined; ) {
    const word: string | undefined = plainWords(program, argv)[path.length];
    at = at.commands.find((one) => one.name() === word || one.aliases().includes(word ?? ""));
    if (at !== undefined) path.push(at.name());
  }
  return path;
}

/** Without flags and the values of those that every command has. */
function plainWords(program: Command, argv: readonly string[]): readonly string[] {
  const valued = new Set(
    program.options.filter(({ required }) => required).flatMap(({ short, long }) => [short, long]),
  );
  return argv.filter((word, at) => !word.startsWith("-") && !valued.has(argv[at - 1] ?? ""));
}

const canonicalName = (table: CommandTable, word: string): string =>
  Object.entries(table).find(([name, entry]) => name === word || entry.aliases?.includes(word) === true)?.[0] ?? word;
