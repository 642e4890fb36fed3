// Repeated `key=value` flags, gathered into one record. The last one of a key wins.

import { InvalidArgumentError } from "commander";

export function gatherPair(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at <= 0) throw new InvalidArgumentError("Write it as key=value.");
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Repeated flags with a plain value. */
export const gather = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];
