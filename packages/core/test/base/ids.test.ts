// Ids, instants and durations: which texts and numbers become one, and which do not. Everything behind the API trusts
// these functions.

import {
  after,
  attempt,
  between,
  duration,
  elementOf,
  instant,
  logIndex,
  parseAllocationId,
  parseDagId,
  parseGroupId,
  parseNodeId,
  parseTenantId,
  parseUserName,
  parseVClusterId,
  seconds,
  term,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allocationIdOf, dagIdOf, elementId, NO_ATTEMPT, nextAttempt } from "../../src/base/ids.ts";

describe("an allocation id", () => {
  it.each(["1", "9", "12345", "999999999999999", "12345_0", "12345_7", "1_999999999"])("may be %j", (text) => {
    expect(parseAllocationId(text)).toBe(text);
  });

  it.each([
    "",
    "0",
    "01",
    "-1",
    "+1",
    "1.5",
    "1e3",
    " 1",
    "1 ",
    "1\n",
    "1000000000000000",
    "1_",
    "_1",
    "1_2_3",
    "1_-2",
    "1_1000000000",
    "0_1",
    "dag-1",
    "१",
  ])("may not be %j", (text) => {
    expect(parseAllocationId(text)).toBeNull();
  });

  it("of an element is split into its group and its index", () => {
    expect(elementOf("12345_7")).toEqual({ group: "12345", index: 7 });
    expect(elementOf("12345")).toBeNull();
  });

  it("made by the counter is valid, alone and as part of an element's id", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 999_999_999_999_999 }),
        fc.integer({ min: 0, max: 999_999_999 }),
        (n, i) => {
          const id = allocationIdOf(n);
          const element = elementId(id, i);
          expect([parseAllocationId(id), parseAllocationId(element)]).toEqual([id, element]);
          expect(elementOf(element)).toEqual({ group: id, index: i });
        },
      ),
    );
  });
});

describe("a DAG id", () => {
  it.each(["dag-1", "dag-789", "dag-999999999999999"])("may be %j", (text) => {
    expect(parseDagId(text)).toBe(text);
  });

  it.each(["", "dag-", "dag-0", "dag-01", "DAG-1", "dag-1_2", "789", "dag-1000000000000000", "dag-1 "])(
    "may not be %j",
    (text) => {
      expect(parseDagId(text)).toBeNull();
    },
  );

  it("comes from the counter of allocations", () => {
    expect(dagIdOf(12)).toBe("dag-12");
    expect(() => dagIdOf(1.5)).toThrow(RangeError);
  });
});

describe("the name of a node, tenant, vCluster or topology group", () => {
  const parsers = [parseNodeId, parseTenantId, parseVClusterId, parseGroupId];

  it.each(["a", "A", "7", "n1", "nid000123", "rack-1.node_2", "a".repeat(63), "x--y", "a.b-c_d"])(
    "may be %j",
    (text) => {
      for (const parse of parsers) expect(parse(text)).toBe(text);
    },
  );

  it.each(["", "-a", "a-", ".a", "a.", "_a", "a_", "a b", "a/b", "a:b", "ä", "a\n", "a".repeat(64)])(
    "may not be %j",
    (text) => {
      for (const parse of parsers) expect(parse(text)).toBeNull();
    },
  );
});

describe("a user name", () => {
  it.each(["ada", "ada@example.org", "CORP\\ada", "münchen", "a".repeat(128), "-", "ada+test"])("may be %j", (text) => {
    expect(parseUserName(text)).toBe(text);
  });

  it.each(["", " ", "a b", "a\tb", "a\nb", "a/b", "a:b", "a\u0000", "a\u001f", "a".repeat(129)])(
    "may not be %j",
    (text) => {
      expect(parseUserName(text)).toBeNull();
    },
  );

  it("has no space, so that keys made of names are unambiguous", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const name = parseUserName(text);
        if (name !== null) expect(name).not.toMatch(/\s/);
      }),
    );
  });
});

describe("a number of the log", () => {
  const makers = { instant, duration, logIndex, term, attempt };

  it.each(Object.entries(makers))("made by %s is a whole number", (_name, make) => {
    expect(make(0)).toBe(0);
    expect(make(Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER);
    for (const bad of [0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER + 1]) {
      expect(() => make(bad)).toThrow("not a whole number");
    }
  });

  it("in seconds becomes milliseconds, and fractions of a millisecond are refused", () => {
    expect(seconds(2)).toBe(2000);
    expect(seconds(0.25)).toBe(250);
    expect(() => seconds(0.0005)).toThrow(RangeError);
  });

  it("of attempts counts from 1", () => {
    expect(NO_ATTEMPT).toBe(0);
    expect(nextAttempt(NO_ATTEMPT)).toBe(1);
    expect(nextAttempt(attempt(41))).toBe(42);
  });
});

describe("the time between two instants", () => {
  it("is never negative, so that a clock that was set back charges nothing", () => {
    expect(between(instant(1000), instant(4000))).toBe(3000);
    expect(between(instant(4000), instant(1000))).toBe(0);
    expect(between(instant(7), instant(7))).toBe(0);
  });

  it("undoes an addition", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (start, length) => {
        expect(between(instant(start), after(instant(start), duration(length)))).toBe(length);
      }),
    );
  });
});
