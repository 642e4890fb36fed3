// The flags that every command takes, before or after its name. Commander separates the two places
// (`submit` needs that: words after a script are its arguments), so every command declares the flags
// and this file merges them. A flag after the command's name wins.

import { type Command, Option } from "commander";
import type { Flags, OutputFormat } from "./settings/settings.ts";

export const OUTPUT_FORMATS: readonly OutputFormat[] = ["table", "wide", "json", "yaml"];

export function addGlobalOptions(command: Command): Command {
  const options = [
    new Option("-o, --output <format>", "output format").choices(OUTPUT_FORMATS),
    new Option("-q, --quiet", "print only ids or values"),
    new Option("-v, --verbose", "print debug messages"),
    new Option("-t, --tenant <name>", "tenant to act for"),
    new Option("--vcluster <name>", "vCluster to use"),
    new Option("--config <file>", "configuration file (default: ~/.config/lattice/config.yaml)"),
    new Option("--url <address>", "server addresses, separated by commas (default: http://127.0.0.1:8080)"),
    new Option("--ca <file>", "CA certificate (PEM) of the servers"),
    new Option("--no-color", "no colours"),
  ];
  for (const option of options) {
    // A command may define a flag of the same name with its own meaning.
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
    // `login` names this flag --server.
    url: text("url") ?? text("server"),
    ca: text("ca"),
    noColor: merged.color === false,
  };
}
