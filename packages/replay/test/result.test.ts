// The figures of a replay, each against a small case computed by hand.

import { type Quota, UNLIMITED } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { easy, summarise } from "../src/index.ts";
import { reportHtml } from "../src/report/report.ts";
import { allocationsCsv } from "../src/result/csv.ts";
import { fairLevel } from "../src/result/shares.ts";
import { jain, percentile } from "../src/result/statistics.ts";
import { comparisonText, summaryText } from "../src/result/text.ts";
import { spanOf, timelineOf } from "../src/result/timeline.ts";
import { waitBins } from "../src/result/waits.ts";
import { change, percent, time, whole } from "../src/words/amounts.ts";
import { seededJobs, traceOfJobs } from "./make.ts";

const trace = traceOfJobs(4, [
  { submit: 0, run: 100, nodes: 4, user: "ada" },
  { submit: 0, run: 100, nodes: 4, user: "bob" },
]);
const outcomes = easy(trace, () => {});
const run = { name: "two", policy: "easy", perfect: false, gpus: 0 };

describe("statistics", () => {
  it("Jain's index", () => {
    expect(jain([3, 3, 3])).toBeCloseTo(1);
    expect(jain([1, 0, 0, 0])).toBeCloseTo(0.25);
    expect(jain([])).toBe(1);
  });

  it("takes percentiles by nearest rank", () => {
    const values = Float64Array.from({ length: 100 }, (_, i) => i + 1);
    expect([50, 95, 99, 100].map((percent) => percentile(values, percent))).toEqual([50, 95, 99, 100]);
    expect(percentile(new Float64Array(0), 99)).toBe(0);
  });

  it("nodes are divided as evenly as demands allow", () => {
    expect(fairLevel(Float64Array.of(2, 10, 10), 12)).toBe(5);
    expect(fairLevel(Float64Array.of(2, 3), 12)).toBe(12);
    expect(fairLevel(Float64Array.of(2, 20, 20), 14, Float64Array.of(1, 1, 3))).toBe(3);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 100 }),
        (wants, nodes) => {
          const level = fairLevel(Float64Array.from(wants), nodes);
          const alike = fairLevel(Float64Array.from(wants), nodes, new Float64Array(wants.length).fill(1));
          expect(alike).toBeCloseTo(level);
          const given = wants.reduce((sum, want) => sum + Math.min(want, level), 0);
          const wanted = wants.reduce((sum, want) => sum + want, 0);
          expect(given).toBeCloseTo(Math.min(wanted, nodes));
        },
      ),
    );
  });

  it("waits are binned by common bounds", () => {
    const bins = waitBins(Float64Array.of(0, 0, 60, 61, 100_000, 1e9));
    expect(bins.filter((bin) => bin.jobs > 0).map((bin) => `${bin.label} ${bin.jobs}`)).toEqual([
      "none 2",
      "1 min 1",
      "5 min 1",
      "3 d 1",
      "more 1",
    ]);
  });

  it("sums the timeline up to all work done", () => {
    const seeded = traceOfJobs(16, seededJobs(2, 200, 16));
    const replayed = easy(seeded, () => {});
    const span = spanOf(seeded, replayed);
    const { stepSeconds, used } = timelineOf(seeded, replayed, span);
    const work = used.reduce((sum, value) => sum + value * stepSeconds * seeded.nodes, 0);
    expect(work).toBeCloseTo(
      seeded.run.reduce((sum, seconds, row) => sum + seconds * (seeded.size[row] ?? 0), 0),
      3,
    );
    expect(Math.max(...used)).toBeLessThanOrEqual(1 + 1e-9);
  });
});

describe("summary", () => {
  const summary = summarise(run, trace, outcomes);

  it("the summary counts all jobs", () => {
    expect(summary).toMatchObject({
      jobs: 2,
      makespanSeconds: 200,
      utilisation: 1,
      wait: { mean: 50, median: 0, p95: 100, p99: 100, max: 100 },
      meanBoundedSlowdown: 1.5,
      // (1 + 2)^2 / (2 (1 + 4))
      jainSlowdown: 0.9,
      backfilled: 0,
    });
  });

  it("the fairness gap shows that one of two tenants got everything", () => {
    // For the first half ada had the machine and bob waited; each was due a half.
    expect(summary.shareDeviation).toBeCloseTo(0.5);
    expect(summary.jainShare).toBeCloseTo(0.5);
    expect(summary.tenants.map(({ name, got, due }) => [name, got, due])).toEqual([
      ["ada", 1, 0.5],
      ["bob", 0, 0.5],
    ]);
  });

  it("shares are compared for tenants, not users, and scaled to the machine", () => {
    const shared = traceOfJobs(4, [
      { submit: 0, run: 100, nodes: 3, user: "ada", tenant: "physics" },
      { submit: 0, run: 100, nodes: 1, user: "bob", tenant: "biology" },
      { submit: 0, run: 100, nodes: 4, user: "cid", tenant: "physics" },
      { submit: 0, run: 100, nodes: 4, user: "dan", tenant: "biology" },
    ]);
    const replayed = easy(shared, () => {});
    const figures = (limits: typeof shared.limits) => summarise(run, { ...shared, limits }, replayed);
    const plain = figures([]);
    expect(plain.tenants.map(({ name, jobs }) => [name, jobs])).toEqual([
      ["physics", 2],
      ["biology", 2],
    ]);
    expect(plain.users).toHaveLength(4);
    const own = (name: string, quota: Partial<Quota>) => ({ name, quota: { ...UNLIMITED, ...quota } });
    const due = (limits: typeof shared.limits) => figures(limits).tenants.map((tenant) => tenant.due);
    // Both wait for the first 100 s; then physics has the machine and biology waits.
    expect(due([])).toEqual([0.5, 0.5]);
    expect(due([own("physics", { fairShareMilli: 750 }), own("biology", { fairShareMilli: 250 })])).toEqual([
      0.75, 0.25,
    ]);
    expect(due([own("physics", { maxNodes: 1 })])).toEqual([0.25, 0.75]);
  });

  it("a summary is compared with a baseline as in the tuning guide", () => {
    const slower = { ...summary, name: "slower", wait: { ...summary.wait, p99: 200 }, utilisation: 0.5 };
    const text = summaryText(slower, summary);
    expect(text).toContain("=== RM-Replay Results: slower ===\n");
    expect(text).toContain("  p99: 3.3 min (two: 1.7 min) ↑ 100%\n");
    expect(text).toContain("  ↓ 50.0% vs two (100.0%)\n");
    expect(comparisonText([summary, slower]).split("\n")).toHaveLength(4);
  });

  it("counts GPU-hours where there are GPUs", () => {
    const text = summaryText(summarise({ ...run, gpus: 16 }, trace, outcomes));
    expect(text).toContain("GPU-hours consumed: 1 / 1 available (100.0%)");
  });

  it("an empty trace has a complete, empty summary", () => {
    const nothing = traceOfJobs(4, []);
    const text = summaryText(
      summarise(
        run,
        nothing,
        easy(nothing, () => {}),
      ),
    );
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  });
});

describe("tables and pages", () => {
  it("CSV cells are quoted where needed", () => {
    const odd = traceOfJobs(4, [{ submit: 0, run: 1.5, nodes: 1, user: 'a,"b"' }]);
    expect(
      allocationsCsv(
        odd,
        easy(odd, () => {}),
      ),
    ).toBe('id,user,submit,start,end,nodes,wait,backfilled,tenant\n1,"a,""b""",0,0,1.5,1,0,false,"a,""b"""\n');
  });

  it("the page is self-contained and escapes its text", () => {
    const summary = summarise({ ...run, name: "<b>&" }, trace, outcomes);
    const html = reportHtml([summary, { ...summary, name: "other" }]);
    expect(html).toContain("&lt;b&gt;&amp;");
    expect(html).not.toContain("<b>");
    expect(html.match(/<svg/g)).toHaveLength(6);
    expect(html).not.toMatch(/https?:|<script|<link|src=|NaN|undefined/);
    for (const title of ["Utilization over time", "Wait distribution", "Share per tenant"])
      expect(html).toContain(title);
  });

  it("amounts are formatted", () => {
    expect([5, 90, 7200, 200_000].map(time)).toEqual(["5.0 s", "1.5 min", "2.0 hr", "2.3 d"]);
    expect([999, 1000, 1_234_567].map(whole)).toEqual(["999", "1,000", "1,234,567"]);
    expect([change(2, 1), change(1, 2), change(1, 1), change(1, 0)]).toEqual(["↑ 100%", "↓ 50%", "=", "↑"]);
    expect(percent(0.8234)).toBe("82.3%");
  });
});
