// The output of a command. Results go to standard output in the chosen format; notes and warnings go to
// standard error, so that a pipe carries only results.

import type { CliSettings } from "../settings/settings.ts";
import { createPaint, type Paint } from "./paint.ts";
import { type Column, renderTable } from "./table.ts";

export interface Printer {
  readonly paint: Paint;
  /** True for json and yaml. */
  readonly structured: boolean;
  line(text: string): void;
  lines(texts: readonly string[]): void;
  /** Prints a sentence about a finished action, or only the id with --quiet. */
  done(id: string, text: string): void;
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void;
  /** Prints the value as JSON or YAML. */
  document(value: unknown): Promise<void>;
  /** Prints one element of a stream: a line of JSON, or a YAML document. */
  streamed(value: unknown): Promise<void>;
  /** Prints a note to standard error, unless --quiet. */
  note(text: string): void;
  warn(text: string): void;
  /** Prints to standard error with --verbose. */
  debug(text: string): void;
}

export function createPrinter(settings: Pick<CliSettings, "output" | "quiet" | "verbose" | "color">): Printer {
  const { output, quiet, verbose, color } = settings;
  const width = process.stdout.isTTY === true ? process.stdout.columns : undefined;
  const out = (text: string) => void process.stdout.write(text);
  const err = (text: string) => void process.stderr.write(`${text}\n`);
  return {
    paint: createPaint(color),
    structured: output === "json" || output === "yaml",
    line: (text) => out(`${text}\n`),
    lines: (texts) => out(texts.map((text) => `${text}\n`).join("")),
    done: (id, text) => out(`${quiet ? id : text}\n`),
    table: (columns, rows) => out(renderTable(columns, rows, width)),
    document: async (value) => out(await renderDocument(value, output)),
    streamed: async (value) =>
      out(output === "yaml" ? `---\n${await renderDocument(value, "yaml")}` : `${JSON.stringify(value)}\n`),
    // Servers send an empty text for "no note".
    note: (text) => {
      if (!quiet && text !== "") err(text);
    },
    warn: (text) => err(`Warning: ${text}`),
    debug: (text) => {
      if (verbose) err(`debug: ${text}`);
    },
  };
}

async function renderDocument(value: unknown, format: CliSettings["output"]): Promise<string> {
  if (format !== "yaml") return `${JSON.stringify(value, null, 2)}\n`;
  const { stringifyYaml: stringify } = await import("../parse/yaml.ts");
  return stringify(value);
}
