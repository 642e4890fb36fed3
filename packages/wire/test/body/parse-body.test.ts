// Bodies: both formats, every way they can be malformed, and the limits.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findFault } from "../../src/body/json-text.ts";
import { DEFAULT_BODY_LIMITS, parseBody } from "../../src/index.ts";
import { refusal } from "../refusal.ts";

const BOMB = `a: &a [x,x,x,x,x,x,x,x,x]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: [*c,*c,*c,*c,*c,*c,*c,*c,*c]`;

const STAIRS = Array.from({ length: 200 }, (_, step) => `${" ".repeat(step)}a:`).join("\n");
const WELL = "[".repeat(5_000) + "]".repeat(5_000);

describe("parseBody", () => {
  test.each([
    ["application/json", '{"nodes": 4}'],
    ["application/json; charset=utf-8", '\ufeff{"nodes": 4}'],
    ["Application/JSON", '{"nodes": 4}'],
    ["application/merge-patch+json", '{"nodes": 4}'],
    [undefined, '{"nodes": 4}'],
    ["application/yaml", "nodes: 4\n"],
    ["text/x-yaml", "# a comment\nnodes: 4"],
    ["application/yaml", "{nodes: 4}"],
  ])("reads %s", async (type, text) => {
    expect(await parseBody(type, text)).toEqual({ nodes: 4 });
    expect(await parseBody(type, new TextEncoder().encode(text))).toEqual({ nodes: 4 });
  });

  test("an empty body is undefined", async () => {
    expect(await parseBody("application/json", "")).toBeUndefined();
    expect(await parseBody("application/yaml", " \n")).toBeUndefined();
  });

  test("YAML keeps clock times, versions and words as text, and instants too", async () => {
    const text = "walltime: 72:00:00\nuenv: prgenv-gnu/24.11:v1\nyes: no\nat: 2026-01-01";
    expect(await parseBody("application/yaml", text)).toEqual({
      walltime: "72:00:00",
      uenv: "prgenv-gnu/24.11:v1",
      yes: "no",
      at: "2026-01-01",
    });
  });

  test.each<[string, string | undefined, string | Uint8Array, string, RegExp]>([
    [
      "a cut object",
      "application/json",
      '{"a": 1',
      "malformed_body",
      /line 1, column 8: expected "," or "}", found the end/,
    ],
    [
      "a wrong word",
      "application/json",
      '{"a": 1,\n "b": tru}',
      "malformed_body",
      /line 2, column 7: expected a value/,
    ],
    ["a trailing comma", "application/json", '{"a": 1,}', "malformed_body", /column 9: expected a key/],
    ["single quotes", "application/json", "{'a': 1}", "malformed_body", /column 2: expected a key/],
    ["two values", "application/json", "{} {}", "malformed_body", /column 4: expected the end/],
    ["a leading zero", "application/json", '{"a": 01}', "malformed_body", /line 1, column 7/],
    ["NaN", "application/json", '{"a": NaN}', "malformed_body", /column 7: expected a value, found "N"/],
    ["an open string", "application/json", '{"a": "x', "malformed_body", /column 7: expected a well-formed string/],
    ["a raw NUL in a string", "application/json", '{"a": "x\u0000"}', "malformed_body", /well-formed string/],
    ["deep JSON", "application/json", "[".repeat(100_000) + "]".repeat(100_000), "malformed_body", /more than 64 deep/],
    ["bad UTF-8", "application/json", new Uint8Array([0x22, 0xff, 0x22]), "malformed_body", /not valid UTF-8/],
    ["YAML indentation", "application/yaml", "a: 1\n b: 2", "malformed_body", /line \d+, column \d+/],
    [
      "a YAML duplicate key",
      "application/yaml",
      "a: 1\na: 2",
      "malformed_body",
      /line 2, column 1: Map keys must be unique/,
    ],
    ["two YAML documents", "application/yaml", "a: 1\n---\nb: 2", "malformed_body", /line \d+/],
    ["a YAML tag", "application/yaml", "a: !!js/function 'x'", "malformed_body", /tag/i],
    ["an alias bomb", "application/yaml", BOMB, "malformed_body", /aliases/],
    ["an alias to nothing", "application/yaml", "a: *b", "malformed_body", /alias/i],
    ["deep YAML", "application/yaml", "[".repeat(20_000), "malformed_body", /more than 64 deep/],
    ["deep YAML maps", "application/yaml", "{a: ".repeat(20_000), "malformed_body", /more than 64 deep/],
    ["deep YAML lists in a line", "application/yaml", "- ".repeat(20_000), "malformed_body", /more than 64 deep/],
    ["deep YAML keys", "application/yaml", "? ".repeat(20_000), "malformed_body", /more than 64 deep/],
    ["deep YAML by indentation", "application/yaml", STAIRS, "malformed_body", /more than 64 deep/],
    [
      "deep YAML within a whole document",
      "application/yaml",
      `a: 1\nb: ${WELL}`,
      "malformed_body",
      /more than 64 deep/,
    ],
    ["a form", "application/x-www-form-urlencoded", "a=1", "unsupported_media_type", /x-www-form-urlencoded/],
    ["plain text", "text/plain", "{}", "unsupported_media_type", /text\/plain/],
    ["too much", "application/json", " ".repeat(DEFAULT_BODY_LIMITS.maxBytes + 1), "body_too_large", /8388608 bytes/],
  ])("refuses %s", async (_what, type, body, code, detail) => {
    const problem = await refusal(() => parseBody(type, body));
    expect(problem.code).toBe(code);
    expect(problem.detail).toMatch(detail);
    expect(problem.hint).not.toBe("");
    expect(problem.detail.length).toBeLessThan(400);
  });

  test("brackets in the text of a YAML script are no nesting, and 64 deep is not too deep", async () => {
    const script = `script: |\n${"  [[ -n {$x ]\n".repeat(500)}name: "${"[{".repeat(500)}" # ${"[".repeat(500)}\n`;
    expect(await parseBody("application/yaml", script)).toMatchObject({ name: "[{".repeat(500) });
    const deepest = "[".repeat(64) + "]".repeat(64);
    expect(await parseBody("application/yaml", deepest)).toEqual(await parseBody("application/json", deepest));
  });

  test("YAML without its content type gets a hint", async () => {
    expect((await refusal(() => parseBody("application/json", "nodes: 4"))).hint).toContain("application/yaml");
  });

  test("the position of an error is always found, and never after the platform's", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom("", "}", "'", ",", "x", "\u0000", '"'), (text, at, put) => {
        const cut = at % (text.length + 1);
        const broken = text.slice(0, cut) + put + text.slice(cut + 1);
        try {
          JSON.parse(broken);
        } catch {
          const { offset, expected } = findFault(broken);
          expect(offset).toBeLessThanOrEqual(broken.length);
          expect(expected).not.toBe("");
        }
      }),
      { numRuns: 500 },
    );
  });
});
