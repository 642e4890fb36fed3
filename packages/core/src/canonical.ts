// One text for one value: JSON with sorted keys and without spaces. Replicas hash this text, so
// it must not depend on the order in which an object happened to be built.

import { invariant } from "./invariant.ts";

export function canonical(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return numeral(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  invariant(typeof value === "object", `a ${typeof value} has no canonical text`);
  return canonicalObject(value as Readonly<Record<string, unknown>>);
}

function numeral(value: number): string {
  invariant(Number.isFinite(value), "a number in replicated state is not finite");
  return JSON.stringify(value);
}

function canonicalObject(value: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(value).sort(byCodeUnits);
  let text = "";
  for (const key of keys) {
    const member = value[key];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonical(member)}`;
  }
  return `{${text}}`;
}

/** The total order of names: plain code units, never a locale. */
export const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
