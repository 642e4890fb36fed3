// Entries as text: an encoded entry is decoded to the same value, and unknown text is refused.

import {
  canonical,
  createState,
  decodeEntry,
  ENTRY_VERSION,
  EntryFormatError,
  encodeEntry,
  VersionTooNewError,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entryFor, submit, vcluster } from "./support/cluster.ts";

const entry = entryFor(createState(), 7, [vcluster("batch"), submit()]);
const changed = (change: Readonly<Record<string, unknown>>): string => JSON.stringify({ ...entry, ...change });

describe("codec", () => {
  it("decodes its own encoding", () => {
    expect(decodeEntry(encodeEntry(entry))).toEqual(entry);
    expect(encodeEntry(decodeEntry(encodeEntry(entry)))).toBe(encodeEntry(entry));
  });
  it("halts on an entry of a newer program, also with unknown commands", () => {
    const newer = changed({ version: ENTRY_VERSION + 1, commands: [{ kind: "planet.colonise" }] });
    expect(() => decodeEntry(newer)).toThrow(VersionTooNewError);
  });
  const broken: readonly (readonly [string, string])[] = [
    ["not JSON", "{"],
    ["a list", "[]"],
    ["no version", changed({ version: undefined })],
    ["index zero", changed({ index: 0 })],
    ["a fraction of an index", changed({ index: 1.5 })],
    ["no time", changed({ at: null })],
    ["no term", changed({ term: "1" })],
    ["no chain", changed({ prevHash: 3 })],
    ["no commands", changed({ commands: {} })],
    ["an unknown command", changed({ commands: [{ kind: "planet.colonise" }] })],
    ["a command from the prototype", changed({ commands: [{ kind: "toString" }] })],
    ["no command at all", changed({ commands: [null] })],
  ];
  it.each(broken)("refuses %s", (_what, text) => {
    expect(() => decodeEntry(text)).toThrow(EntryFormatError);
  });
});

describe("canonical text", () => {
  it("sorts keys at every depth and leaves out absent values", () => {
    expect(canonical({ b: [{ d: 1, c: null }], a: "é\n", x: undefined })).toBe('{"a":"é\\n","b":[{"c":null,"d":1}]}');
  });
  it("equals JSON with sorted keys", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), { maxKeys: 60, size: "max" }),
        (value) => {
          const text = canonical(value);
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
          expect(canonical(JSON.parse(text))).toBe(text);
          const shuffled = Object.fromEntries(Object.entries(value).reverse());
          expect(canonical(shuffled)).toBe(text);
        },
      ),
      { numRuns: 200 },
    );
  });
  it("keeps unusual keys, and refuses values without a text", () => {
    const odd = JSON.parse('{"__proto__":"x","a":1}') as unknown;
    expect(canonical(odd)).toBe('{"__proto__":"x","a":1}');
    expect(() => canonical({ a: Number.NaN })).toThrow(/not finite/);
    expect(() => canonical({ a: () => 1 })).toThrow(/function/);
  });
});
