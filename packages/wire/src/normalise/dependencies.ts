// Dependencies: `{ref, condition}`, `{name: condition}`, or text such as "123:success,456:any".

import { isObject, type Json, type JsonObject } from "../json/value.ts";
import type { Draft } from "./draft.ts";

const DEFAULT_CONDITION = "success";
const HINT = 'Write {"ref": "12345", "condition": "success"}.';

export function putDependencies(draft: Draft, value: Json, from: string): void {
  const items = Array.isArray(value) ? (value as readonly Json[]) : [value];
  const edges = items.flatMap((item) => edgesOf(item) ?? []);
  if (items.some((item) => edgesOf(item) === null)) draft.problems.add(from, "is not a list of dependencies", HINT);
  if (edges.length > 0) draft.put("depends_on", edges, from);
}

function edgesOf(item: Json): JsonObject[] | null {
  if (typeof item === "string" || typeof item === "number") return `${item}`.split(",").map(edgeOfText);
  if (!isObject(item)) return null;
  if ("ref" in item) return [item];
  return Object.entries(item).map(([ref, condition]) => ({ ref, condition }));
}

function edgeOfText(text: string): JsonObject {
  const at = text.lastIndexOf(":");
  if (at < 0) return { ref: text.trim(), condition: DEFAULT_CONDITION };
  return { ref: text.slice(0, at).trim(), condition: text.slice(at + 1).trim() };
}
