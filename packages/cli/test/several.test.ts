// Commands on several objects continue after a rejection; submit names flags in errors and can be interrupted.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { flagOf, inFlagNames } from "../src/commands/submit/flag-names.ts";
import { linesOf } from "../src/commands/top/follow.ts";
import { localTime } from "../src/output/time.ts";
import { useScripted } from "./scripted.ts";

const rig = useScripted();
const dir = mkdtempSync(join(tmpdir(), "lattice-several-"));
afterAll(() => rmSync(dir, { recursive: true, maxRetries: 9 }));
const record = (id: string, state = "running") => ({ id, state, spec: { name: `job-${id}` } });
const conflict = { code: "conflict", detail: "node b is disabled", status: 409 };

describe("several ids", () => {
  test("status shows known ids, reports the others, and exits as the first of them", async () => {
    rig.answers = { "GET /api/v1/allocations/1": [200, record("1")], "GET /api/v1/allocations/3": [200, record("3")] };
    expect(await rig.run("status", "1", "2", "3", "4")).toBe(3);
    expect(rig.out).toMatch(/1 +job-1[\s\S]*3 +job-3/);
    expect(rig.err).toMatch(/allocations\/2\n[\s\S]*allocations\/4\n/);
  });

  test("JSON output is a list, whatever was found", async () => {
    rig.answers = { "GET /api/v1/allocations/1": [200, record("1")] };
    expect(await rig.run("status", "1", "2", "-o", "json")).toBe(3);
    expect(JSON.parse(rig.out)).toEqual({ allocations: [record("1")] });
    expect(JSON.parse(rig.err)).toMatchObject({ code: "unknown_allocation" });
  });

  test("none found leaves standard output empty", async () => {
    expect(await rig.run("status", "8", "9")).toBe(3);
    expect(rig.out).toBe("");
  });

  test("drain continues after a rejection", async () => {
    rig.answers = {
      "POST /api/v1/nodes/a/drain": [200, { node: { id: "a", state: "draining" } }],
      "POST /api/v1/nodes/b/drain": [409, conflict],
      "POST /api/v1/nodes/c/drain": [200, { node: { id: "c", state: "drained" } }],
    };
    expect(await rig.run("node", "drain", "a", "b", "c", "nowhere")).toBe(5);
    expect(rig.out).toBe("a: Draining\nc: Drained\n");
    expect(rig.err).toMatch(/node b is disabled[\s\S]*nowhere/);
  });

  test("equal rejections share one hint and are counted", async () => {
    expect(await rig.run("node", "drain", "x[1-3]")).toBe(3);
    expect(rig.err.match(/Hint:/g)).toHaveLength(1);
    expect(rig.err.match(/Error:/g)).toHaveLength(3);
    rig.err = "";
    expect(await rig.run("node", "drain", "x[1-30]")).toBe(3);
    expect(rig.err.match(/Error:/g)).toHaveLength(10);
    expect(rig.err).toMatch(/x10\/drain \(and 20 more like it\)\nHint: Look again\.\n$/);
    rig.err = "";
    expect(await rig.run("node", "drain", "x[1-30]", "-o", "json")).toBe(3);
    expect(
      rig.err
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).hint),
    ).toHaveLength(30);
  });

  test("nodes shows known names", async () => {
    rig.answers = { "GET /api/v1/nodes/a": [200, { id: "a", state: "ready" }] };
    expect(await rig.run("nodes", "a", "b")).toBe(3);
    expect(rig.out).toMatch(/^a +Ready/m);
  });
});

test("equal errors of nodes are shown once, with a hint", async () => {
  const nodes = ["n1", "n2"].map((node) => ({ node, error: "no registry is configured on this node (--registry)" }));
  rig.answers = { "POST /api/v1/cache/warm": [200, { nodes }], "POST /api/v1/cache/evict": [200, { nodes }] };
  expect(await rig.run("cache", "warm", "--image=gnu/1:v1")).toBe(3);
  expect(rig.err).toMatch(/^Error: n1, n2: no registry is configured on this node \(--registry\)\nHint: Ask an admin/);
  rig.err = "";
  expect(await rig.run("cache", "evict", "--image=gnu/1:v1")).toBe(3);
  expect(rig.err).toContain("Hint: List cached images with: lattice cache status\n");
});

test("streamed values have units", () => {
  const values = { cpu_utilization: 5.613352, memory_used: 48746496, io_read_bytes: 0, queue: 3 };
  expect(linesOf({ allocation_id: "7", node: "n1", values, alerts: [], unavailable_reason: "" })).toEqual([
    "n1  cpu_utilization=5.6% memory_used=48.7MB io_read_bytes=0.0B/s queue=3.0",
  ]);
});

test("a task group shows no attempt", async () => {
  rig.answers = {
    "GET /api/v1/allocations/1": [200, { ...record("1"), attempt: 2 }],
    "GET /api/v1/allocations/2": [200, { ...record("2"), attempt: 0, group: { size: 4, running: 4 } }],
  };
  expect(await rig.run("status", "1"), rig.err).toBe(0);
  expect(rig.out).toMatch(/^Attempt: +2$/m);
  rig.out = "";
  expect(await rig.run("status", "2"), rig.err).toBe(0);
  expect(rig.out).not.toContain("Attempt:");
});

test("watch of an ended allocation shows the time of its end", async () => {
  const ended_at = "2026-03-02T00:23:01Z";
  rig.answers = { "GET /api/v1/allocations/1": [200, { ...record("1", "completed"), ended_at }] };
  expect(await rig.run("watch", "1")).toBe(0);
  expect(rig.out).toBe(`${localTime(ended_at)}  Completed\n`);
});

describe("submit", () => {
  const accepted = [200, { id: "34", state: "pending", warnings: ["careful"] }] as const;

  test("--quiet suppresses warnings", async () => {
    rig.answers = { "POST /api/v1/allocations": accepted };
    const path = join(dir, "job.sh");
    writeFileSync(path, "#!/bin/sh\n#SBATCH --mem=1G\ntrue\n");
    expect(await rig.run("submit", "-q", path)).toBe(0);
    expect([rig.out, rig.err]).toEqual(["34\n", ""]);
  });

  test("Ctrl-C ends the wait, not the job", async () => {
    let opened = () => {};
    const open = new Promise<void>((resolve) => {
      opened = resolve;
    });
    rig.answers = {
      "POST /api/v1/allocations": accepted,
      "GET /api/v1/allocations/34": [200, record("34")],
      "GET /api/v1/events": (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
        opened();
      },
    };
    const before = process.listenerCount("SIGINT");
    const status = rig.run("submit", "--wait", "--", "sleep", "600");
    await open;
    process.emit("SIGINT");
    expect(await status).toBe(130);
    expect(rig.err).toContain("Allocation 34 continues; to cancel it run: lattice cancel 34\n");
    expect(rig.requests.filter((line) => line.includes("cancel"))).toEqual([]);
    expect(process.listenerCount("SIGINT")).toBe(before);
  });

  const field = "allocation.lifecycle.preemption_class";
  const refusal = {
    code: "invalid_argument",
    status: 400,
    detail: `${field}: must be from 0 to 10`,
    fields: [{ field, detail: "must be from 0 to 10" }],
  };

  test("an error names the flag of a refused field", async () => {
    rig.answers = { "POST /api/v1/allocations": [400, refusal] };
    expect(await rig.run("submit", "--preemption-class=99", "--", "true")).toBe(2);
    expect(rig.err).toMatch(/^Error: --preemption-class: must be from 0 to 10\n/);
    expect(rig.err).not.toContain("lifecycle");
  });

  test("JSON output and documents keep the field names", async () => {
    rig.answers = { "POST /api/v1/allocations": [400, refusal] };
    await rig.run("submit", "-o", "json", "--", "true");
    expect(JSON.parse(rig.err).fields[0].field).toBe(field);
    rig.err = "";
    const path = join(dir, "job.json");
    writeFileSync(path, '{"entrypoint": "true"}');
    await rig.run("submit", "--file", path);
    expect(rig.err).toContain(field);
  });

  test.each([
    ["nodes", "--nodes"],
    ["allocation.resources.nodes.min", "--nodes"],
    ["constraint[1]", "--constraint"],
    ["environment.variables.HOME", "--env"],
    ["allocation.resources.constraints.topology", "--topology"],
    ["script", null],
    ["--wibble=3", null],
    ["allocation", null],
  ])("the flag of %s is %s", (path, flag) => {
    expect(flagOf(path)).toBe(flag);
  });

  test("flags replace names in lists and hints", () => {
    const shown = inFlagNames({
      code: "invalid_argument",
      title: "",
      status: 400,
      retryable: false,
      hint: "",
      detail: "2 fields are not acceptable: priority, walltime",
      fields: [
        { field: "priority", detail: "no", hint: "Use preemption_class for a number." },
        { field: "walltime", detail: "no" },
      ],
    });
    expect(shown.detail).toBe("2 fields are not acceptable: --priority, --walltime");
    expect(shown.fields[0]?.hint).toBe("Use --preemption-class for a number.");
  });

  test("help hides unsupported flags", async () => {
    expect(await rig.run("submit", "--help")).toBe(0);
    expect(rig.out).toContain("--walltime");
    expect(rig.out).toContain("--checkpoint");
    expect(rig.out).not.toContain("--sensitive");
  });

  test.each([
    [["hostname"], "lattice submit -- hostname\n"],
    [["ls", "-l", "a b"], "lattice submit -- ls -l 'a b'\n"],
    [["./absent.sh"], "lattice submit -- COMMAND\n"],
  ])("%j is no script, and the hint suggests --", async (words, hint) => {
    expect(await rig.run("submit", ...words)).toBe(2);
    expect(rig.err.endsWith(hint)).toBe(true);
  });
});
