// Prints one record as aligned `key: value` lines.

import type { Printer } from "../../output/printer.ts";
import { clean, pad } from "../../output/text.ts";

export function showFields(
  print: Printer,
  fields: readonly (readonly [string, string | number | boolean | undefined])[],
): void {
  const present = fields.filter(([, value]) => value !== undefined && value !== "");
  const width = Math.max(...present.map(([key]) => key.length)) + 2;
  for (const [key, value] of present) {
    const text = typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
    print.line(pad(`${key}:`, width) + clean(text));
  }
}
