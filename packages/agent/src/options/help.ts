// The line of one option in --help: its description, choices, and default. An empty default says nothing, and a default
// that the description explains is not repeated.

import type { Option } from "commander";

export function optionHelp({ description, argChoices, defaultValue, defaultValueDescription }: Option): string {
  const notes: string[] = [];
  if (argChoices !== undefined) notes.push(`choices: ${argChoices.join(", ")}`);
  const shown = defaultValueDescription ?? text(defaultValue);
  if (shown !== "" && !description.includes("default:")) notes.push(`default: ${shown}`);
  return notes.length === 0 ? description : `${description} (${notes.join("; ")})`;
}

const text = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
