// Where a command's output goes. Results go to standard output in the chosen format; remarks and
// warnings go to standard error, so that a pipe carries results alone.

import type { Settings } from "../settings/settings.ts";
import { createPaint, type Paint } from "./paint.ts";
import { type Column, renderTable } from "./table.ts";

export interface Printer {
  readonly paint: Paint;
  /** True for json and yaml. */
  readonly structured: boolean;
  line(text: string): void;
  lines(texts: readonly string[]): void;
  /** What was done, in a sentence; with quiet the id alone. */
  done(id: string, text: string): void;
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void;
  /** The value as JSON or YAML. */
  document(value: unknown): Promise<void>;
  /** One value per line, for streams: always JSON on one line, or a YAML document each. */
  streamed(value: unknown): Promise<void>;
  /** A remark that quiet leaves out. */
  note(text: string): void;
  warn(text: string): void;
  /** Only with --verbose. */
  debug(text: string): void;
}

export function createPrinter(settings: Pick<Settings, "output" | "quiet" | "verbose" | "color">): Printer {
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
    // A server that has nothing to say says so with an empty text.
    note: (text) => {
      if (!quiet && text !== "") err(text);
    },
    warn: (text) => err(`Warning: ${text}`),
    debug: (text) => {
      if (verbose) err(`debug: ${text}`);
    },
  };
}

async function renderDocument(value: unknown, format: Settings["output"]): Promise<string> {
  if (format !== "yaml") return `${JSON.stringify(value, null, 2)}\n`;
  const { stringifyYaml: stringify } = await import("./yaml.ts");
  return stringify(value);
}
