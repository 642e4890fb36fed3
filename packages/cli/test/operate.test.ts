// Commands for operators and for inspecting work: requests and output.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { flagOf } from "../src/commands/submit/flag-names.ts";
import { useScripted } from "./scripted.ts";

const rig = useScripted();
const V = "/api/v1";

describe("requests", () => {
  test.each<[string[], string, unknown]>([
    [
      ["status", "--state=failed", "--user", "ada", "--tag", "run=1", "--tag", "x"],
      `${V}/allocations?state=failed&user=ada&tag=run%3D1&tag=x&page_size=50`,
      {},
    ],
    [["status", "--all", "--state=pending", "--count"], `${V}/allocations?state=pending&page_size=1`, { total: 7 }],
    [
      ["top", "7", "--per-gpu", "--metric=memory_used"],
      `${V}/allocations/7/metrics?mode=per_gpu&metrics=memory_used`,
      {},
    ],
    [["metrics", "7", "--duration", "1h"], `${V}/allocations/7/metrics?mode=summary&duration_seconds=3600`, {}],
    [["diag", "7"], `${V}/allocations/7/diagnostics`, {}],
    [["diagnostics", "7", "--network"], `${V}/allocations/7/diagnostics?section=network`, {}],
    [["compare", "7", "8", "--metric=gpu_utilization"], `${V}/compare?ids=7&ids=8&metrics=gpu_utilization`, {}],
    [
      ["history", "--all", "--since", "2026-03-01"],
      `${V}/accounting?since=2026-03-01T00%3A00%3A00.000Z&page_size=500`,
      {},
    ],
    [
      ["admin", "scheduler", "status", "--vcluster=hpc"],
      `${V}/admin/scheduler?vcluster=hpc`,
      { vclusters: [{ vcluster: "hpc" }] },
    ],
    [["admin", "config", "get", "log.level"], `${V}/admin/config?key=log.level`, { settings: [] }],
    [["admin", "vcluster", "queue", "hpc", "--limit", "5"], `${V}/vclusters/hpc/queue?page_size=5`, {}],
    [["audit", "query", "--alloc=7"], `${V}/audit?allocation=7&newest_first=true&page_size=100`, { records: [] }],
    [["services"], `${V}/services`, {}],
    [["__complete", "nodes"], `${V}/nodes?page_size=200`, { nodes: [{ id: "n1" }] }],
  ])("%s", async (argv, asked, answer) => {
    rig.answers[`GET ${asked}`] = [200, answer];
    expect(await rig.run(...argv), rig.err).toBe(0);
    expect(rig.requests).toEqual([`GET ${asked}`]);
  });

  test("a cycle interval is a duration, and an export is written to --file", async () => {
    rig.answers[`PATCH ${V}/vclusters/hpc`] = [200, { vcluster: { id: "hpc", cycle_interval_seconds: 15 } }];
    expect(await rig.run("admin", "vcluster", "set-config", "--name=hpc", "--cycle-interval=15s"), rig.err).toBe(0);
    const file = join(mkdtempSync(join(tmpdir(), "lattice-cli-")), "audit-report.json.sig");
    rig.answers[`GET ${V}/audit`] = [200, { records: [{ number: "1" }], public_key: "" }];
    expect(await rig.run("audit", "export", "--user=dr-x", `--output=${file}`), rig.err).toBe(0);
    expect(readFileSync(file, "utf8")).toBe('{"number":"1"}\n');
    expect(await rig.run("audit", "export", "-o", "json"), rig.err).toBe(0);
    expect(rig.out).toContain('{"number":"1"}\n');
  });

  test("the token of an enrolment is alone on standard output, and --nodes must be a number", async () => {
    const enrolment = {
      enrolment_id: "0123456789ab",
      max_nodes: 200,
      valid_until: "2026-03-01T00:00:00Z",
      state: "open",
    };
    rig.answers[`POST ${V}/admin/enrolments`] = [200, { enrolment, token: "lte_0123456789ab_secret" }];
    const create = ["admin", "enrolment", "create", "--valid", "7d", "--network", "10.1.0.0/16"];
    expect(await rig.run(...create, "--nodes", "200"), rig.err).toBe(0);
    expect(rig.out).toBe("lte_0123456789ab_secret\n");
    expect(rig.err).toMatch(/enrolment 0123456789ab for 200 nodes until .*; its token is not shown again/);
    rig.answers[`GET ${V}/admin/enrolments`] = [200, { enrolments: [{ ...enrolment, nodes: ["n1"] }] }];
    expect(await rig.run("admin", "enrolment", "list"), rig.err).toBe(0);
    expect(rig.out).toMatch(/0123456789ab +open +1\/200 .* all/);
    for (const wrong of ["0", "many", "-1", "1.5"]) {
      expect(await rig.run(...create, `--nodes=${wrong}`)).toBe(2);
      expect(rig.err).toContain("--nodes must be a number of nodes, at least 1");
    }
  });

  test("--count prints a number or JSON", async () => {
    rig.answers[`GET ${V}/allocations`] = [200, { total: 7 }];
    await rig.run("status", "--all", "--count");
    expect(rig.out).toBe("7\n");
  });

  test("host ranges are expanded", async () => {
    for (const n of [8, 9, 10]) {
      const id = `n${String(n).padStart(2, "0")}`;
      rig.answers[`POST ${V}/nodes/${id}/drain`] = [200, { node: { id, state: "draining" } }];
    }
    expect(await rig.run("node", "drain", "n[08-10]", "--reason", "fans", "-q")).toBe(0);
    expect(rig.out).toBe("n08\nn09\nn10\n");
    expect(await rig.run("nodes", "n[3-1]")).toBe(2);
    expect(rig.err).toContain('"n[3-1]" is not a list of nodes');
  });
});

describe("destructive commands need a confirmation", () => {
  test.each([
    [["admin", "tenant", "delete", "art"], `DELETE ${V}/tenants/art`],
    [["admin", "vcluster", "delete", "--name=old"], `DELETE ${V}/vclusters/old`],
  ])("%s", async (argv, call) => {
    rig.answers[call] = [200, { id: "x" }];
    expect(await rig.run(...argv)).toBe(2);
    expect(rig.requests).toEqual([]);
    expect(rig.err).toContain("--yes");
    expect(await rig.run(...argv, "--yes")).toBe(0);
    expect(rig.requests.map((one) => one.split("?")[0])).toEqual([call]);
  });
  test("a rejection has the exit status of its code", async () => {
    const detail = 'tenant "art" has 3 allocations that have not ended';
    rig.answers[`DELETE ${V}/tenants/art`] = [409, { code: "illegal_transition", status: 409, detail, hint: "Wait." }];
    expect(await rig.run("admin", "tenant", "delete", "art", "--yes")).toBe(5);
    expect(rig.err).toContain(detail);
  });
});

describe("output", () => {
  test("missing measurements are a note, not a failure", async () => {
    rig.answers[`GET ${V}/allocations/7/metrics`] = [
      200,
      { allocation_id: "7", unavailable_reason: "Nothing is measured." },
    ];
    expect(await rig.run("top", "7")).toBe(0);
    expect([rig.out, rig.err]).toEqual(["", "Nothing is measured.\n"]);
  });

  test("measured values are scaled to units", async () => {
    const series = [
      { metric: "gpu_utilization", unit: "percent", points: [{ value: 87.31 }] },
      { metric: "memory_used", unit: "bytes", points: [{ value: 384e9 }] },
    ];
    rig.answers[`GET ${V}/allocations/7/metrics`] = [200, { allocation_id: "7", series }];
    await rig.run("top", "7");
    expect(rig.out).toMatch(/METRIC +VALUE +UNIT\ngpu_utilization +87\.3 +%\nmemory_used +384\.0 +GB\n/);
  });

  test("diag prints network, storage, GPUs and nodes", async () => {
    rig.answers[`GET ${V}/allocations/7/diagnostics`] = [
      200,
      {
        network: {
          group_span: 2,
          groups: [
            { group: "g3", nodes: 1, congestion: 0.02 },
            { group: "g7", nodes: 1 },
          ],
        },
        storage: { mounts: [{ source: "s3://b/d", target: "/data", access: "read-only" }] },
        nodes: [{ node: "n1", state: "ready", connected: false, progress: "running" }],
        unmeasured: [{ metric: "network.bandwidth", reason: "No agent reports it." }],
      },
    ];
    await rig.run("diag", "7");
    expect(rig.out).toContain("Group span:  2 (g3, g7)");
    expect(rig.out).toContain("n1:  ready, not connected, no heartbeat yet, running");
    expect(rig.err).toBe("Not shown: network.bandwidth. No agent reports it.\n");
  });

  test("quotas show used and remaining amounts", async () => {
    rig.answers[`GET ${V}/tenants/art`] = [200, { id: "art", quota: { max_nodes: 10 }, nodes_in_use: 4 }];
    rig.answers[`GET ${V}/tenants/art/usage`] = [200, { node_hours: 1.5 }];
    await rig.run("admin", "tenant", "show", "art", "--quotas");
    expect(rig.out).toMatch(/max_nodes +4 +10 +6\n/);
    expect(rig.out).toMatch(/node_hours_budget +1\.50 +unlimited/);
  });

  test("config get prints a value, config set sends it unchanged", async () => {
    const setting = { key: "node_agent.grace_period", value: '"60s"', live: true, source: "file" };
    rig.answers[`GET ${V}/admin/config`] = [200, { settings: [setting] }];
    await rig.run("admin", "config", "get", setting.key);
    expect(rig.out).toBe("60s\n");
    rig.answers[`PUT ${V}/admin/config/node_agent.grace_period`] = [200, { settings: [setting] }];
    expect(await rig.run("admin", "config", "set", "node_agent.grace_period=90s")).toBe(0);
    expect(await rig.run("admin", "config", "set", "node_agent.grace_period")).toBe(2);
  });

  test("history shows node-hours and GPU-hours", async () => {
    const record = {
      allocation_id: "7",
      name: "train",
      state: "failed",
      exit_code: 3,
      nodes: 4,
      elapsed_seconds: 90,
      node_hours: 0.1,
    };
    rig.answers[`GET ${V}/accounting`] = [200, { records: [record, record] }];
    await rig.run("history", "--limit", "1");
    expect(rig.out).toMatch(/7 +train +Failed +3 +4 +00:01:30 +0\.10/);
    expect(rig.err).toContain("Showing the newest 1");
  });

  test("metrics dump is JSON, with a note when the history is short", async () => {
    const samples = [{ name: "lattice_scheduling_cycles_total", value: 4, points: [{ at: "t", value: 2 }] }];
    const answer = { component: "scheduler", server: "s1", at: "2026-03-05T12:00:00Z", samples };
    rig.answers[`GET ${V}/admin/metrics`] = [200, { ...answer, since: "2026-03-05T11:30:00Z" }];
    expect(await rig.run("admin", "metrics", "dump", "--component=scheduler", "--duration=1h")).toBe(0);
    expect(rig.requests).toEqual([`GET ${V}/admin/metrics?component=scheduler&duration_seconds=3600`]);
    expect((JSON.parse(rig.out) as { samples: unknown }).samples).toEqual(samples);
    expect(rig.err).toContain("s1 keeps metrics only since 2026-03-05T11:30:00Z");
    rig.answers[`GET ${V}/admin/metrics`] = [200, { ...answer, since: "2026-03-05T10:30:00Z" }];
    await rig.run("admin", "metrics", "dump", "--duration", "1h");
    expect(rig.err.split("keeps metrics")).toHaveLength(2);
    expect(await rig.run("admin", "metrics", "dump", "--component=coffee")).toBe(2);
  });

  test("status --watch prints one line of JSON per round", async () => {
    rig.answers[`GET ${V}/allocations`] = [200, { allocations: [{ id: "7", state: "running" }] }];
    const running = rig.run("status", "--all", "--watch", "-o", "json");
    await vi.waitFor(() => expect(rig.out).toContain("\n"), 60_000);
    process.emit("SIGINT");
    await running;
    expect(
      rig.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([{ allocations: [{ id: "7" }] }]);
  });
});

test.each([
  [[], "page_size=7"],
  [["--limit=30"], "page_size=30"],
])("status --watch on a screen of ten lines with %j requests %s", async (flags, size) => {
  const before = [process.stdout.isTTY, process.stdout.rows];
  const set = ([isTTY, rows]: readonly unknown[]) => Object.assign(process.stdout, { isTTY, rows });
  onTestFinished(() => void set(before));
  set([true, 10]);
  rig.answers[`GET ${V}/allocations`] = [200, { allocations: [{ id: "7", state: "running" }] }];
  const running = rig.run("status", "--watch", ...flags);
  await vi.waitFor(() => expect(rig.out).toContain("Running"), 60_000);
  process.emit("SIGINT");
  await running;
  expect(rig.requests[0]).toContain(size);
});

test("completion never suggests a name that a shell would execute", async () => {
  const names = ["good/image:v1", "$(touch here)", "`id`", "a;b", "two words", "größe"];
  rig.answers[`GET ${V}/images`] = [200, { images: names.map((name) => ({ name })) }];
  expect(await rig.run("__complete", "images")).toBe(0);
  expect(rig.out).toBe("good/image:v1\ngröße\n");
});

const work = { id: "7", user: "ada", pending_reason_codes: ["busy"], spec: { project: "p", tags: { team: "ml" } } };
const node = { id: "n1", group: "3", capabilities: { gpu_type: "GH200", features: ["nvme"] } };
const kept = [
  { name: "gnu/1:v1", kind: "uenv" },
  { name: "busybox:1", kind: "oci", other_names: ["busybox"] },
];

test.each([
  ["users", `${V}/allocations`, { allocations: [work, work] }, "ada\n"],
  ["grantees", `${V}/allocations`, { allocations: [work] }, "ada\ntenant_admin\nclaiming_user\n"],
  ["tags", `${V}/allocations`, { allocations: [work] }, "team=ml\n"],
  ["tag-names", `${V}/allocations`, { allocations: [work] }, "team\n"],
  ["reasons", `${V}/allocations`, { allocations: [work] }, "busy\n"],
  ["features", `${V}/nodes`, { nodes: [node, node] }, "gpu_type=GH200\nnvme\n"],
  ["groups", `${V}/nodes`, { nodes: [node] }, "3\n"],
  ["containers", `${V}/cache`, { nodes: [{ node: "n1", images: kept }] }, "busybox:1\nbusybox\n"],
  ["members", `${V}/raft/status`, { members: [{ id: "server-1" }] }, "server-1\n"],
])("completion of %s", async (kind, path, answer, offered) => {
  rig.answers[`GET ${path}`] = [200, answer];
  expect(await rig.run("__complete", kind), rig.err).toBe(0);
  expect(rig.out, rig.requests.join()).toBe(offered);
});

describe("usage errors name the help page", () => {
  test.each([
    [["admin", "tenant", "set-quota", "--name=x", "--max-nodes=-3"], "lattice admin tenant set-quota --help"],
    [["node", "drain"], "lattice node drain --help"],
    [["-o", "csv", "status"], "lattice status --help"],
    [["--tenant", "t", "--nonsense", "status"], "lattice status --help"],
    [["nonsense"], "lattice --help"],
    [["compare", "7"], "lattice compare 12 13"],
  ])("%j", async (words, page) => {
    expect(await rig.run(...words)).toBe(2);
    expect(rig.err).toMatch(new RegExp(`Hint: .*${page}\\n$`));
    expect(rig.requests).toEqual([]);
  });
});

test.each(["--ca", "--config", "--url", "--vcluster", "--tenant", "-t"])(
  "%s is taken before the command, too",
  async (flag) => {
    rig.answers[`GET ${V}/allocations`] = [200, { allocations: [{ id: "7", state: "running" }] }];
    const dir = mkdtempSync(join(tmpdir(), "lattice-before-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));
    const file = join(dir, "file");
    writeFileSync(file, "");
    const value = flag === "--url" ? process.env.LATTICE_API_URL : flag === "--ca" || flag === "--config" ? file : "x";
    expect(await rig.run(flag, value ?? "", "status", "--all", "-q")).toBe(0);
    expect(rig.out).toBe("7\n");
  },
);

test("global flags work between the words of a command", async () => {
  rig.answers[`GET ${V}/tenants`] = [200, { tenants: [{ id: "t1" }] }];
  for (const words of [
    ["-q", "admin", "tenant", "list"],
    ["admin", "-q", "tenant", "list"],
    ["admin", "tenant", "-q", "list"],
    ["admin", "tenant", "list", "-q"],
  ]) {
    rig.out = "";
    expect(await rig.run(...words), rig.err).toBe(0);
    expect(rig.out).toBe("t1\n");
  }
  await rig.run("session", "--vcluster=interactive", "--walltime=2h");
  expect(rig.requests.at(-1)).toBe(`POST ${V}/sessions`);
  expect(rig.bodies.at(-1)).toContain('"vcluster":"interactive"');
});

test("update accepts the usual walltime formats", async () => {
  rig.answers[`PATCH ${V}/allocations/7`] = [200, { allocation: { id: "7" } }];
  expect(await rig.run("update", "7", "--walltime=1h30m")).toBe(0);
  expect(JSON.parse(rig.bodies[0] ?? "")).toMatchObject({ walltime_seconds: 5_400 });
  expect(await rig.run("update", "7", "--walltime=1h", "--walltime-seconds=3600")).toBe(2);
  expect(await rig.run("update", "7", "--walltime=soon")).toBe(2);
  expect(await rig.run("update", "7")).toBe(2);
  expect(rig.requests).toHaveLength(1);
});

test.each([
  [["status"], "allocations"],
  [["nodes"], "nodes"],
  [["history"], "accounting"],
  [["dag", "list"], "dags"],
])("submission defaults do not filter lattice %j", async (words, path) => {
  vi.stubEnv("LATTICE_TENANT", "art");
  vi.stubEnv("LATTICE_VCLUSTER", "ml");
  rig.answers[`GET ${V}/${path}`] = [200, {}];
  expect(await rig.run(...words), rig.err).toBe(0);
  expect(rig.requests.join()).not.toMatch(/art|ml/);
  expect(await rig.run(...words, "--tenant=art"), rig.err).toBe(0);
  expect(rig.requests.at(-1)).toContain("tenant=art");
});

test("update accepts both names of the preemption class", async () => {
  rig.answers[`PATCH ${V}/allocations/7`] = [200, { allocation: { id: "7" } }];
  for (const flag of ["--class=3", "--preemption-class=3"]) expect(await rig.run("update", "7", flag)).toBe(0);
  expect(rig.bodies.map((body) => JSON.parse(body).preemption_class)).toEqual([3, 3]);
  expect(await rig.run("update", "7", "--class=3", "--preemption-class=3")).toBe(2);
});

describe("the scaling of a service", () => {
  const policy = { min: 1, max: 4, metric: "queue", target: "10", cooldown_seconds: 60 };

  test("is changed in part", async () => {
    rig.answers[`GET ${V}/allocations/7`] = [200, { id: "7", spec: { lifecycle: { scale_policy: policy } } }];
    rig.answers[`PATCH ${V}/allocations/7`] = [200, { allocation: { id: "7" } }];
    expect(await rig.run("update", "7", "--max-nodes=8", "--scale-target=80%"), rig.err).toBe(0);
    expect(JSON.parse(rig.bodies[1] ?? "").service).toEqual({ scale_policy: { ...policy, max: 8, target: "80%" } });
  });

  test("is refused with flag names", async () => {
    const field = "allocation.lifecycle.scale_policy.min";
    const refused = {
      code: "invalid_argument",
      status: 400,
      detail: `${field}: no`,
      fields: [{ field, detail: "no" }],
    };
    rig.answers[`GET ${V}/allocations/7`] = [200, { id: "7", spec: { lifecycle: { scale_policy: policy } } }];
    rig.answers[`PATCH ${V}/allocations/7`] = [400, refused];
    expect(await rig.run("update", "7", "--min-nodes=9")).toBe(2);
    expect(rig.err).toMatch(/^Error: --min-nodes: no\n/);
    expect(await rig.run("update", "7", "--min-nodes=0")).toBe(2);
  });

  test("is refused for other allocations", async () => {
    rig.answers[`GET ${V}/allocations/7`] = [200, { id: "7", spec: { lifecycle: { type: "bounded" } } }];
    expect(await rig.run("update", "7", "--max-nodes=9")).toBe(2);
    expect(rig.err).toContain("is not a reactive service");
    expect(rig.requests).toEqual([`GET ${V}/allocations/7`]);
  });
});

test.each(["topology", "constraints.topology", "allocation.resources.constraints.topology"])(
  "%s is set by --topology",
  (field) => expect(flagOf(field)).toBe("--topology"),
);
