// The flags that every command takes, before or after the command's name. Commander keeps the two
// places apart (which `submit` needs: what follows a script belongs to the script), so the flags
// are declared on every command and merged here; the one nearer to the command's name wins.

import { type Command, Option } from "commander";
import type { Flags, OutputFormat } from "./settings/settings.ts";

export const OUTPUT_FORMATS: readonly OutputFormat[] = ["table", "wide", "json", "yaml"];

export function addGlobalOptions(command: Command): Command {
  const options = [
    new Option("-o, --output <format>", "output format").choices(OUTPUT_FORMATS),
    new Option("-q, --quiet", "print only what is asked for"),
    new Option("-v, --verbose", "say more about what happens"),
    new Option("-t, --tenant <name>", "tenant to act for"),
    new Option("--vcluster <name>", "vCluster to use"),
    new Option("--config <file>", "configuration file (default: ~/.config/lattice/config.yaml)"),
    new Option("--url <address>", "address of the server, or of several, with commas (default: http://127.0.0.1:8080)"),
    new Option("--ca <file>", "authority (PEM) of the servers' certificates"),
    new Option("--no-color", "no colours"),
  ];
  for (const option of options) {
    // A command may mean something of its own by one of them.
    if (command.options.some(({ long }) => long === option.long)) continue;
    command.addOption(option.helpGroup("Global options:"));
  }
  return command;
}

export function globalFlags(command: Command): Flags {
  const chain: Command[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) chain.unshift(at);
  const merged: Record<string, unknown> = {};
  for (const level of chain) {
    for (const [name, value] of Object.entries(level.opts())) {
      if (level.getOptionValueSource(name) === "cli") merged[name] = value;
    }
  }
  const text = (name: string) => (typeof merged[name] === "string" ? (merged[name] as string) : undefined);
  return {
    output: OUTPUT_FORMATS.find((format) => format === text("output")),
    quiet: merged.quiet === true,
    verbose: merged.verbose === true,
    tenant: text("tenant"),
    vcluster: text("vcluster"),
    config: text("config"),
    // What `login` calls it.
    url: text("url") ?? text("server"),
    ca: text("ca"),
    noColor: merged.color === false,
  };
}
