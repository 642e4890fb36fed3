// Every key that the configuration file may have, read from the schema, so that there is one list: what is shown while the
// server runs, what a misspelt key is compared with, and what is checked against the example file.

import { z } from "zod";
import { fileSchema } from "./schema.ts";

export interface FileKey {
  /** For example "backup.s3.region". */
  readonly key: string;
  /** What it is when it is left out; null where that depends on something else, or is nothing. */
  readonly preset: unknown;
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly default?: unknown;
}

let root: SchemaNode | undefined;
let keys: readonly FileKey[] | undefined;

/** In the order of the schema. */
export function fileKeys(): readonly FileKey[] {
  keys ??= below(schemaNode(), []);
  return keys;
}

/** The names that the file may have at a path. */
export function namesAt(path: readonly string[]): string[] {
  let at: SchemaNode | undefined = schemaNode();
  for (const step of path) at = at?.properties?.[step];
  return Object.keys(at?.properties ?? {});
}

function schemaNode(): SchemaNode {
  root ??= z.toJSONSchema(fileSchema, { io: "input", unrepresentable: "any" }) as SchemaNode;
  return root;
}

function below(node: SchemaNode, at: readonly string[]): readonly FileKey[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, inner]): readonly FileKey[] => {
    const path = [...at, name];
    return inner.properties === undefined
      ? [{ key: path.join("."), preset: inner.default ?? null }]
      : below(inner, path);
  });
}
