// Collects repeated flags: `key=value` pairs into a record, where the last value of a key wins, or values into a list.

import { InvalidArgumentError } from "commander";

export function collectPair(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at <= 0) throw new InvalidArgumentError("Write key=value.");
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Collects the values of a repeated flag. */
export const collect = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];
