// A YAML file as plain values that remember their lines, so that every error can name one. Only maps, lists, texts and
// numbers, which is all that inventories and weight profiles need.

import { readFileSync } from "node:fs";
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { BadInput } from "./bad-input.ts";

export interface YamlValue {
  readonly line: number;
  /** Its path in messages: "nodes[2].group". */
  readonly path: string;
  /** Creates the error of this value. */
  bad(detail: string): BadInput;
  entries(): readonly (readonly [string, YamlValue])[];
  list(): readonly YamlValue[];
  text(): string;
  number(): number;
  readonly isList: boolean;
}

export function readYaml(file: string): YamlValue {
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(file, "utf8"), { lineCounter: lines, uniqueKeys: true });
  const error = document.errors[0];
  if (error !== undefined) {
    throw new BadInput(file, lines.linePos(error.pos[0]).line, firstSentence(error.message));
  }
  if (document.contents === null) throw new BadInput(file, 1, "is empty");
  return yamlValue(document.contents as Node, { file, lines }, "");
}

interface Source {
  readonly file: string;
  readonly lines: LineCounter;
}

function yamlValue(node: Node, source: Source, path: string): YamlValue {
  const line = Math.max(1, source.lines.linePos(node.range?.[0] ?? 0).line);
  const name = path === "" ? "the file" : `"${path}"`;
  const bad = (detail: string): BadInput => new BadInput(source.file, line, `${name} ${detail}`);
  return {
    line,
    path,
    bad,
    isList: isSeq(node),
    entries() {
      if (!isMap(node)) throw bad("must be a map of names and values");
      return node.items.map(({ key, value }) => {
        const word = isScalar(key) ? String(key.value) : String(key);
        if (value === null) throw bad(`has no value for "${word}"`);
        return [word, yamlValue(value as Node, source, path === "" ? word : `${path}.${word}`)] as const;
      });
    },
    list() {
      if (!isSeq(node)) throw bad("must be a list");
      return node.items.map((item, i) => yamlValue(item as Node, source, `${path}[${i}]`));
    },
    text() {
      if (isScalar(node) && (typeof node.value === "string" || typeof node.value === "number")) {
        return String(node.source ?? node.value);
      }
      throw bad("must be a text");
    },
    number() {
      if (isScalar(node) && typeof node.value === "number") return node.value;
      throw bad("must be a number");
    },
  };
}

const firstSentence = (text: string): string => (text.split("\n")[0] ?? text).replace(/ at line \d+.*$/, "");
