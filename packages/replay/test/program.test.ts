// The program from its words to its files: summary, tables, refusals, the same bytes every time.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { runReplay } from "../src/index.ts";
import { progressOn } from "../src/progress.ts";
import { seededJobs, swfLine } from "./make.ts";

const folder = mkdtempSync(join(tmpdir(), "rm-replay-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

async function run(...words: string[]): Promise<{ status: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const streams = {
    out: { write: (text: string) => (out += text) },
    err: { isTTY: false, write: (text: string) => (err += text) },
  };
  const status = await runReplay(words, { version: "1.2.3", streams, entry: null });
  return { status, out, err };
}

function write(name: string, text: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const small = write(
  "small.swf",
  [
    "; MaxProcs: 4",
    swfLine(1, { submit: 0, run: 100, nodes: 2, user: "1" }),
    swfLine(2, { submit: 1, run: 50, request: 60, nodes: 4, user: "2" }),
    swfLine(3, { submit: 2, run: 90, request: 98, nodes: 2, user: "1" }),
    swfLine(4, { submit: 3, run: 10, nodes: 5, user: "2" }),
  ].join("\n"),
);

describe("rm-replay", () => {
  it("prints a summary and writes three files", async () => {
    const output = join(folder, "deep", "first");
    const { status, out, err } = await run("--trace", small, "--policy", "easy", "--output", output);
    expect(status).toBe(0);
    expect(err).toMatch(/^rm-replay: 3 jobs read in [\d.]+ s, replayed in [\d.]+ s \([\d,]+ jobs\/s\)\n$/);
    expect(out).toContain("=== RM-Replay Results: first ===\n");
    expect(out).toContain("  Jobs: 3\n  Dropped: 1 (no size 0, no run time 0, larger than the machine 1)\n");
    expect(readdirSync(output).sort()).toEqual(["allocations.csv", "report.html", "summary.json"]);
    expect(readFileSync(join(output, "allocations.csv"), "utf8")).toBe(
      [
        "id,user,submit,start,end,nodes,wait,backfilled,tenant",
        "1,1,0,0,100,2,0,false,1",
        "2,2,1,100,150,4,99,false,2",
        "3,1,2,2,92,2,0,true,1",
        "",
      ].join("\n"),
    );
    expect(JSON.parse(readFileSync(join(output, "summary.json"), "utf8"))).toMatchObject({
      name: "first",
      policy: "easy",
      perfect: false,
      nodes: 4,
      jobs: 3,
      dropped: 1,
      dropped_because: { no_size: 0, no_run_time: 0, too_large: 1 },
      makespan_seconds: 150,
      // 2 x 100 + 4 x 50 + 2 x 90 over 4 x 150
      utilisation: 0.966667,
      wait_seconds: { mean: 33, median: 0, p95: 99, p99: 99, max: 99 },
      // 1, (99 + 50) / 50, 1
      mean_bounded_slowdown: 1.66,
      backfilled: 1,
      preemptions: 0,
      reserved: 0,
      started_late: 0,
    });
  });

  it.each(["lattice", "easy", "easy-sjbf", "fcfs"])("gives the same bytes every time: %s", async (policy) => {
    const lines = seededJobs(5, 100, 16).map((job, i) => swfLine(i + 1, { ...job, user: String(i % 5) }));
    const trace = write(`seeded-${policy}.swf`, lines.join("\n"));
    const results: string[][] = [];
    for (const round of ["one", "two"]) {
      const output = join(folder, round, policy);
      const { status, out } = await run("--trace", trace, "--nodes", "16", "--policy", policy, "--output", output);
      expect(status).toBe(0);
      results.push([out, ...readdirSync(output).map((name) => readFileSync(join(output, name), "utf8"))]);
    }
    expect(results[1]).toEqual(results[0]);
  });

  it("plans by run times with --perfect", async () => {
    const trace = write(
      "perfect.swf",
      [
        swfLine(1, { submit: 0, run: 10, request: 100, nodes: 3 }),
        swfLine(2, { submit: 1, run: 10, nodes: 4 }),
        swfLine(3, { submit: 2, run: 50, nodes: 1 }),
      ].join("\n"),
    );
    const output = join(folder, "perfect");
    await run("--trace", trace, "--nodes", "4", "--policy", "easy", "--perfect", "--output", output);
    expect(readFileSync(join(output, "allocations.csv"), "utf8")).toContain("\n3,1,2,20,70,1,18,false,1\n");
  });

  it("compares with earlier results, while replaying and afterwards", async () => {
    const [one, two] = [join(folder, "cmp", "base"), join(folder, "cmp", "other")];
    await run("--trace", small, "--policy", "fcfs", "--output", one);
    const during = await run("--trace", small, "--policy", "easy", "--output", two, "--compare", one);
    expect(during.out).toContain("  p50: 0.0 s (base: 1.6 min) ↓ 100%\n");
    expect(readFileSync(join(two, "report.html"), "utf8")).toContain("Mean bounded slowdown");
    const after = await run("--compare", one, two, "--output", join(folder, "cmp", "report"));
    expect(after.status).toBe(0);
    expect(after.out).toMatch(/^result.*\nbase .*\nother /);
    expect(readdirSync(join(folder, "cmp", "report"))).toEqual(["report.html"]);
  });

  it("an inventory and weights are applied, with a note on corrections", async () => {
    const nodes = write("machine.yaml", "groups: [g1, g2]\nnodes:\n  - {count: 4, groups: [g1, g2], gpu_count: 4}\n");
    const weights = write("weights.yaml", "hpc-batch:\n  priority: 1\n  wait_time: 1\n");
    const { status, out, err } = await run("--trace", small, "--nodes", nodes, "--weights", weights);
    expect(status).toBe(0);
    expect(out).toContain("GPU-hours consumed:");
    expect(err).toContain(`rm-replay: note: ${weights}:2: the weights of "hpc-batch" sum to 2, not 1: scaled\n`);
  });

  it("sorts unsorted lines, with a note", async () => {
    const lines = [30, 10].map((submit, i) => swfLine(i + 1, { submit, run: 1, nodes: 1 }));
    const { status, err } = await run(
      "--trace",
      write("late.swf", lines.join("\n")),
      "--nodes",
      "2",
      "--policy",
      "easy",
    );
    expect(status).toBe(0);
    expect(err).toContain("note: ");
    expect(err).toContain("late.swf: line 2 is out of order");
  });

  it("help and version are printed", async () => {
    expect(await run("--help")).toMatchObject({ status: 0, err: "" });
    expect(await run("tune", "--help")).toMatchObject({ status: 0, err: "" });
    expect(await run("--version")).toEqual({ status: 0, out: "1.2.3\n", err: "" });
  });
});

describe("the other commands", () => {
  it("generates a trace that it can replay", async () => {
    const trace = join(folder, "burst.jsonl");
    expect(await run("generate", "burst", "--seed", "7", "--jobs", "40", "--output", trace)).toMatchObject({
      status: 0,
    });
    const shown = await run("generate", "burst", "--seed", "7", "--jobs", "40");
    expect(shown.out).toBe(readFileSync(trace, "utf8"));
    expect((await run("--trace", trace)).status).toBe(0);
  });

  it("checks regressions against their marks", async () => {
    const { status, out } = await run("check", "empty-to-full", "--jobs", "60");
    expect(status).toBe(0);
    expect(out).toMatch(/empty-to-full +ramp-up.*pass\n$/);
  });

  it("tunes, and writes weights that it can replay with", async () => {
    const output = join(folder, "tuned");
    const words = ["tune", "--trace", small, "--budget", "9", "--seed", "2", "--output", output];
    const { status, out } = await run(...words);
    expect(status).toBe(0);
    expect(out).toContain("=== RM-Replay Tune: mean bounded slowdown against p99 wait, 9 profiles tried ===");
    expect(readdirSync(output).sort()).toEqual(["best.yaml", "front.json", "report.html"]);
    expect((await run("--trace", small, "--weights", join(output, "best.yaml"))).status).toBe(0);
    expect((await run(...words)).out).toBe(out);
  });
});

describe("refusals", () => {
  const broken = gzipSync(`${swfLine(1, { submit: 0, run: 1, nodes: 1 })}\n`.repeat(500));
  const at = (name: string, text: string | Buffer): string => write(name, text);

  it.each([
    { name: "a file that is not there", words: ["--trace", join(folder, "none.swf")], text: "no such file" },
    { name: "no trace", words: [], text: "--trace: is missing" },
    { name: "an unknown policy", words: ["--trace", small, "--policy", "magic"], text: "easy-sjbf, fcfs" },
    { name: "no nodes", words: ["--trace", small, "--nodes", "0"], text: "whole number from 1" },
    { name: "negative nodes", words: ["--trace", small, "--nodes", "-4"], text: "--nodes" },
    { name: "half a job", words: ["--trace", small, "--jobs", "1.5"], text: "whole number from 1" },
    { name: "an unknown option", words: ["--trace", small, "--polcy", "easy"], text: "--policy" },
    { name: "an output that is a file", words: ["--trace", small, "--output", small], text: "is not a folder" },
    { name: "a missing field", words: ["--trace", at("f.swf", "; a\n1 2 3\n")], text: "f.swf:2: a job has 18 fields" },
    {
      name: "a negative time",
      words: ["--trace", at("n.swf", `${swfLine(1, { submit: -3, run: 1, nodes: 1 })}\n`)],
      text: "n.swf:1: field 2 (submit time) is negative: -3",
    },
    {
      name: "a truncated gzip",
      words: ["--trace", at("t.swf.gz", broken.subarray(0, broken.length - 12))],
      text: "the file is truncated",
    },
    {
      name: "a weight that is no number",
      words: ["--trace", small, "--weights", at("w.yaml", "hpc:\n  priority: .nan\n")],
      text: 'w.yaml:2: "hpc.priority" must be a finite number',
    },
    {
      name: "an unknown group",
      words: ["--trace", small, "--nodes", at("i.yaml", "groups: [a]\nnodes:\n  - group: b\n")],
      text: 'i.yaml:3: "nodes[0].group" names the unknown group "b"',
    },
    {
      name: "a home that no profile defines",
      words: ["--trace", small, "--nodes", at("h.yaml", "nodes:\n  - {count: 4, vcluster: ml}\n")],
      text: 'belongs to vCluster "ml"',
    },
    { name: "no results to compare with", words: ["--compare", join(folder, "nowhere")], text: "no such file" },
    { name: "a search for nothing", words: ["tune", "--trace", small, "--against", "slowdown"], text: "must differ" },
    { name: "an unknown trace to make", words: ["generate", "calm"], text: "steady-state" },
    { name: "a negative seed", words: ["generate", "burst", "--seed", "-1"], text: "from 0 to" },
  ])("refuses $name with status 2, and writes nothing", async ({ words, text }) => {
    const output = join(folder, "never");
    const wanted = words.includes("--output") || words[0] === "generate" ? words : [...words, "--output", output];
    const { status, out, err } = await run(...wanted);
    expect(err).toContain(text);
    expect(status).toBe(2);
    expect(out).toBe("");
    expect(existsSync(output)).toBe(false);
  });

  it("a file that is no summary is refused", async () => {
    write("summary.json", "{}");
    expect(await run("--compare", folder)).toMatchObject({ status: 2, out: "" });
  });
});

describe("progress", () => {
  const draw = (isTTY: boolean): string => {
    let drawn = "";
    const progress = progressOn({ isTTY, write: (text) => (drawn += text) }, 1000);
    for (let done = 0; done <= 1000; done += 1) progress.update(done);
    progress.end();
    return drawn;
  };

  it("progress is drawn once per percent on a terminal and erased", () => {
    expect(draw(true).split("\r").length).toBe(101 + 3);
    expect(draw(true)).toContain("] 100 %");
  });

  it("there is no progress without a terminal", () => {
    expect(draw(false)).toBe("");
  });
});
