// Outcomes and refusals: their shape, and the bound on text that an answer repeats.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvariantError, invariant, present } from "../../src/base/invariant.ts";
import { accepted, quote, refuse, refuseFields, unchanged } from "../../src/base/outcome.ts";
import { failed, ok } from "../../src/base/result.ts";

describe("a quoted text in an answer", () => {
  it.each([
    ["ada", '"ada"'],
    ["", '""'],
    ['a"b', '"a\\"b"'],
    ["a\nb", '"a\\nb"'],
    ["x".repeat(80), `"${"x".repeat(80)}"`],
    ["x".repeat(81), `"${"x".repeat(80)}..."`],
  ])("of %j is %s", (text, quoted) => {
    expect(quote(text)).toBe(quoted);
  });

  it("is one line and bounded, whatever a client sends", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 500 }), (text) => {
        const quoted = quote(text);
        expect(quoted).not.toContain("\n");
        expect(quoted.length).toBeLessThanOrEqual(6 * 80 + 5);
      }),
    );
  });
});

describe("an outcome", () => {
  it("of a repeated command is marked as repeated", () => {
    expect(accepted("7")).toEqual({ kind: "accepted", id: "7" });
    expect(unchanged("7")).toEqual({ kind: "accepted", id: "7", repeated: true });
  });

  it("that is rejected has figures only where there are some", () => {
    expect(refuse("stale_plan", "old")).toEqual({ kind: "rejected", refusal: { code: "stale_plan", detail: "old" } });
    expect(refuse("quota_exceeded", "full", { limit: 1, current: 1 })).toEqual({
      kind: "rejected",
      refusal: { code: "quota_exceeded", detail: "full", figures: { limit: 1, current: 1 } },
    });
  });

  it("that is rejected for fields names each of them in one sentence", () => {
    const fields = [
      { field: "a.b", detail: "is missing" },
      { field: "c", detail: "must be 1" },
    ];
    expect(refuseFields(fields)).toEqual({
      kind: "rejected",
      refusal: { code: "invalid_argument", detail: "a.b: is missing; c: must be 1", fields },
    });
  });
});

describe("an invariant", () => {
  it("that holds does nothing, and one that is broken throws its message", () => {
    expect(() => invariant(true, "unused")).not.toThrow();
    expect(() => invariant(false, "claims overlap")).toThrow(new InvariantError("claims overlap"));
  });

  it("of presence returns the value, also when the value is falsy", () => {
    expect(present(0, "gone")).toBe(0);
    expect(present("", "gone")).toBe("");
    expect(present(null, "gone")).toBeNull();
    expect(() => present(undefined, "allocation 7 is gone")).toThrow("allocation 7 is gone");
  });
});

describe("a result", () => {
  it("has a value or an error, never both", () => {
    expect(ok(1)).toEqual({ ok: true, value: 1 });
    expect(failed("no")).toEqual({ ok: false, error: "no" });
  });
});
