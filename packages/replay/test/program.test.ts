// The program from its words to its files: summary, tables, refusals, the same bytes every time.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runReplay } from "../src/index.ts";
import { progressOn } from "../src/progress.ts";
import { seededJobs, swfLine } from "./make.ts";

const folder = mkdtempSync(join(tmpdir(), "rm-replay-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(...words: string[]): { status: number; out: string; err: string } {
  let out = "";
  let err = "";
  const status = runReplay(words, "1.2.3", {
    out: { write: (text) => (out += text) },
    err: { isTTY: false, write: (text) => (err += text) },
  });
  return { status, out, err };
}

const small = join(folder, "small.swf");
writeFileSync(
  small,
  [
    "; MaxProcs: 4",
    swfLine(1, { submit: 0, run: 100, nodes: 2, user: "1" }),
    swfLine(2, { submit: 1, run: 50, request: 60, nodes: 4, user: "2" }),
    swfLine(3, { submit: 2, run: 90, request: 98, nodes: 2, user: "1" }),
    swfLine(4, { submit: 3, run: 10, nodes: 5, user: "2" }),
  ].join("\n"),
);

describe("rm-replay", () => {
  it("prints a summary and writes both files", () => {
    const output = join(folder, "deep", "easy");
    const { status, out, err } = run("--trace", small, "--policy", "easy", "--output", output);
    expect([status, err]).toEqual([0, ""]);
    expect(out).toContain("Jobs                    3\n");
    expect(out).toContain("Dropped                 1 (no size 0, no run time 0, larger than the machine 1)\n");
    expect(readFileSync(join(output, "allocations.csv"), "utf8")).toBe(
      [
        "id,user,submit,start,end,nodes,wait,backfilled",
        "1,1,0,0,100,2,0,false",
        "2,2,1,100,150,4,99,false",
        "3,1,2,2,92,2,0,true",
        "",
      ].join("\n"),
    );
    expect(JSON.parse(readFileSync(join(output, "summary.json"), "utf8"))).toEqual({
      policy: "easy",
      nodes: 4,
      jobs: 3,
      dropped: 1,
      dropped_because: { no_size: 0, no_run_time: 0, too_large: 1 },
      makespan_seconds: 150,
      // 2 x 100 + 4 x 50 + 2 x 90 over 4 x 150
      utilisation: 0.966667,
      wait_seconds: { mean: 33, median: 0, p95: 99, p99: 99 },
      // 1, (99 + 50) / 50, 1
      mean_bounded_slowdown: 1.66,
      backfilled: 1,
    });
  });

  it.each(["lattice", "easy", "fcfs"])("gives the same bytes every time: %s", (policy) => {
    const trace = join(folder, `seeded-${policy}.swf`);
    const lines = seededJobs(5, 150, 16).map((job, i) => swfLine(i + 1, { ...job, user: String(i % 5) }));
    writeFileSync(trace, lines.join("\n"));
    const results = [1, 2].map((round) => {
      const output = join(folder, `${policy}-${round}`);
      const { status, out } = run("--trace", trace, "--nodes", "16", "--policy", policy, "--output", output);
      expect(status).toBe(0);
      const csv = readFileSync(join(output, "allocations.csv"), "utf8");
      expect(csv.split("\n").length).toBe(152);
      return [out, csv, readFileSync(join(output, "summary.json"), "utf8")];
    });
    expect(results[1]).toEqual(results[0]);
  });

  it("names the file and line of a bad trace", () => {
    const bad = join(folder, "bad.swf");
    writeFileSync(bad, "; MaxProcs: 4\n1 2 3\n");
    expect(run("--trace", bad)).toEqual({
      status: 1,
      out: "",
      err: `rm-replay: ${bad}:2: a job has 18 fields, this line has 3\n`,
    });
  });

  it.each([
    { name: "a file that is not there", words: ["--trace", join(folder, "none.swf")], text: "no such file" },
    { name: "no trace", words: [], text: "--trace" },
    { name: "an unknown policy", words: ["--trace", small, "--policy", "magic"], text: "lattice, easy, fcfs" },
    { name: "no nodes", words: ["--trace", small, "--nodes", "0"], text: "whole number from 1" },
    { name: "half a job", words: ["--trace", small, "--jobs", "1.5"], text: "whole number from 1" },
    { name: "an unknown option", words: ["--trace", small, "--polcy", "easy"], text: "--policy" },
    { name: "an output that is a file", words: ["--trace", small, "--output", small], text: "EEXIST" },
  ])("refuses $name", ({ words, text }) => {
    const { status, err } = run(...words);
    expect(status).toBe(1);
    expect(err).toContain(text);
  });

  it("answers help and version", () => {
    expect(run("--help")).toMatchObject({ status: 0, err: "" });
    expect(run("--version")).toEqual({ status: 0, out: "1.2.3\n", err: "" });
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

  it("is drawn once per per cent on a terminal, and wiped", () => {
    expect(draw(true).split("\r").length).toBe(101 + 3);
    expect(draw(true)).toContain("] 100 %");
  });

  it("is silent elsewhere", () => {
    expect(draw(false)).toBe("");
  });
});
