// The metric of a service: which metrics are accepted, and that no part of one can escape from its place in a query.

import { parseMetric } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCluster, submit, verdict } from "./support/cluster.ts";
import { scalePolicy } from "./support/policies.ts";

const service = (metric: string) =>
  submit({
    lifecycle: { kind: "reactive", walltime: null, requeuePolicy: "always", scale: { ...scalePolicy(1, 3), metric } },
  });

const GOOD = ["queue_depth", "app:depth", "depth{}", `depth{job='x', zone!="b{1}",}`, "depth{pod=~'web-[0-9]{2}|x'}"];
const BAD = [
  "queue depth",
  "sum(x)",
  "x[5m]",
  "{a='b'}",
  "x{a}",
  "x{a=b}",
  "x{a='b'",
  "x{a='b'}) or max(other{",
  "x{a='b'}) or max(other{c='d'}",
  "x{a='b'} or other{c='d'}",
  "x{a='b' or c='d'}",
  "x{a='b\\'}",
  "x{a='b'}\n# {}",
  "x{__name__='other'}",
  "lattice_allocation_depth{allocation='8'}",
  `x{${Array.from({ length: 17 }, (_, n) => `l${n}='v'`).join(",")}}`,
];

describe("the metric of a service", () => {
  it.each(GOOD)("can be %s", (metric) => {
    expect(verdict(createCluster().one(service(metric)))).toBe("accepted");
  });

  it.each(BAD)("cannot be %s, and nothing changes", (metric) => {
    const c = createCluster();
    expect(c.one(service(metric))).toMatchObject({
      refusal: { code: "invalid_argument", fields: [{ field: "allocation.lifecycle.scale_policy.metric" }] },
    });
    expect([...c.state.allocations()]).toEqual([]);
  });

  it("has parts that cannot escape from their place in a query", () => {
    const piece = fc.constantFrom(
      "x",
      "{",
      "}",
      "'",
      '"',
      "\\",
      "=",
      "=~",
      ",",
      "a",
      "(",
      ")",
      " or ",
      "\n",
      "|",
      "__name__",
    );
    const text = fc.array(piece, { maxLength: 24 }).map((pieces) => `x{${pieces.join("")}}`);
    fc.assert(
      fc.property(text, (metric) => {
        const parsed = parseMetric(metric);
        if (parsed === null) return;
        expect(parsed.name).toMatch(/^[a-zA-Z_:][\w:]*$/);
        for (const { label, operator, value } of parsed.matchers ?? []) {
          expect(label).toMatch(/^(?!__)[a-zA-Z_]\w*$/);
          expect(["=", "!=", "=~", "!~"]).toContain(operator);
          expect(value).not.toMatch(/["'\\\n]/);
        }
      }),
    );
  });
});
