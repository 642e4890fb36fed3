// The whole program in this process against a scripted server: output, streams and exit status.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { userInfo } from "node:os";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { commandTable } from "../src/command-table.ts";
import { completionTree } from "../src/commands/completion.ts";
import { runProgram } from "../src/index.ts";

let server: Server;
let url = "";
let requests: string[] = [];
let bodies: string[] = [];

const allocation = {
  id: "12345",
  state: "running",
  user: "ada",
  nodes: ["node-1", "node-2"],
  topology_groups: ["g0", "g1"],
  submitted_at: "2026-03-01T10:00:00Z",
  started_at: "2026-03-01T10:00:00Z",
  ended_at: "2026-03-02T00:23:01Z",
  spec: { name: "training-run", vcluster: "ml-training", tenant: "default", lifecycle: { walltime_seconds: 259_200 } },
};
const waiting = {
  id: "12346",
  state: "pending",
  pending_reasons: ["waiting for 2 more nodes", "behind 12345"],
  spec: { name: "eval", vcluster: "hpc-batch", resources: { nodes: { min: 2, max: 8 } } },
};

const answers: Readonly<Record<string, readonly [number, unknown]>> = {
  "GET /api/v1/allocations": [200, { allocations: [waiting, allocation], next_page_token: "more", total: 70 }],
  "GET /api/v1/allocations/12345": [200, allocation],
  "GET /api/v1/allocations/12346": [200, waiting],
  "POST /api/v1/allocations": [200, { id: "77", state: "pending", warnings: ["careful"], log_index: "5" }],
  "POST /api/v1/allocations/12345/cancel": [200, { id: "12345", state: "cancelled" }],
  "POST /api/v1/allocations/1/cancel": [
    409,
    { code: "illegal_transition", detail: "allocation 1 has ended", status: 409 },
  ],
  "GET /api/v1/nodes": [
    200,
    {
      nodes: [
        {
          id: "n1",
          state: "ready",
          group: "3",
          conformance: "a1b2c3",
          capabilities: { gpu_type: "GH200", gpu_count: 4 },
        },
        { id: "n2", state: "down", cause: "disabled" },
      ],
    },
  ],
  "POST /api/v1/nodes/n1/drain": [200, { node: { id: "n1", state: "draining" } }],
  "POST /api/v1/nodes/n1/disable": [200, { node: { id: "n1", state: "down", cause: "disabled" } }],
  "PATCH /api/v1/tenants/physics": [200, { tenant: { id: "physics", quota: { max_nodes: 250 } } }],
  "GET /api/v1/allocations/12345/logs": [200, "out"],
};

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const path = (request.url ?? "").split("?")[0];
      requests.push(`${request.method} ${request.url}`);
      bodies.push(body);
      const missing = { code: "unknown_allocation", detail: `no ${path}`, hint: "Look again.", status: 404 };
      const [status, value] = answers[`${request.method} ${path}`] ?? [404, missing];
      response.writeHead(status).end(typeof value === "string" ? value : JSON.stringify(value));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

let out = "";
let err = "";
beforeEach(() => {
  out = "";
  err = "";
  requests = [];
  bodies = [];
  vi.stubEnv("LATTICE_API_URL", url);
  vi.stubEnv("XDG_CONFIG_HOME", "/nonexistent");
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += text;
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err += text;
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.exitCode = undefined;
});

async function run(...argv: string[]): Promise<number> {
  vi.spyOn(process, "argv", "get").mockReturnValue(["node", "lattice", ...argv]);
  return runProgram(argv);
}

describe("status", () => {
  test("lists the user's allocations, with a note when there are more", async () => {
    expect(await run("status")).toBe(0);
    expect(out.split("\n")[0]).toMatch(
      /^ID {5}NAME {10}STATE {4}NODES {2}WALLTIME {2}ELAPSED {3} +AGE {2}VCLUSTER +REASON$/,
    );
    expect(out).toMatch(/12345 {2}training-run {2}Running {2}2 {6}72:00:00 {2}14:23:01 +\d+d {2}ml-training/);
    expect(out).toMatch(/12346 {2}eval {10}Pending {2}2-8 {4}— {9}— +— {2}hpc-batch +waiting for 2 more/);
    expect(out.indexOf("12345")).toBeLessThan(out.indexOf("12346"));
    const queries = requests.map((request) => new URL(request.split(" ")[1] ?? "", "http://x").searchParams);
    const states = new Set(queries.map((query) => query.getAll("state").join(" ")));
    expect(states).toEqual(new Set(["pending staging running checkpointing suspended", "completed failed cancelled"]));
    for (const query of queries) expect(query.get("user")).toBe(userInfo().username);
  });

  test("--limit is respected, with a note on standard error", async () => {
    expect(await run("status", "--limit", "2", "--all")).toBe(0);
    for (const request of requests) expect(request).toContain("page_size=2");
    expect(err).toContain("Showing 2 of 70");
  });

  test("-o wide shows reason and place", async () => {
    await run("status", "-o", "wide", "--limit=2");
    expect(out).toContain("NODELIST");
    expect(out).toContain("waiting for 2 more nodes");
    expect(out).toContain("node-1,node-2");
    expect(out).toMatch(/GROUPS[\s\S]* g0,g1 /);
  });

  test("--state is sent to the server", async () => {
    await run("status", "--state=Running,pending", "--all", "--limit=2");
    expect(requests[0]).toContain("state=Running,pending".toLowerCase().replace(",", "&state="));
  });

  test("one id is shown in detail, in JSON unchanged", async () => {
    await run("status", "12346");
    expect(out).toMatch(/Waiting for:\s+waiting for 2 more nodes\n\s+behind 12345/);
    out = "";
    await run("status", "12345", "-o", "json");
    expect(JSON.parse(out)).toEqual(allocation);
  });

  test("-o yaml works before the command", async () => {
    await run("-o", "yaml", "status", "12345");
    expect(out).toContain("name: training-run");
  });

  test("--quiet prints ids", async () => {
    await run("status", "-q", "--limit=2");
    expect(out).toBe("12346\n12345\n");
  });
});

describe("submit", () => {
  test("flags after -- belong to the command", async () => {
    expect(await run("submit", "--nodes=2", "--vcluster=gpu", "--", "echo", "-q", "--nodes=9")).toBe(0);
    expect(out).toBe("Submitted allocation 77\n");
    expect(err).toContain("Warning: careful");
    expect(JSON.parse(bodies[0] ?? "")).toMatchObject({
      command: ["echo", "-q", "--nodes=9"],
      nodes: "2",
      name: "echo",
      vcluster: "gpu",
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test("--quiet prints the id, JSON the response", async () => {
    await run("submit", "-q", "--", "true");
    expect(out).toBe("77\n");
    out = "";
    await run("submit", "-o", "json", "--request-id=mine", "--", "true");
    expect(JSON.parse(out)).toMatchObject({ id: "77", log_index: "5" });
    expect(JSON.parse(bodies[1] ?? "").request_id).toBe("mine");
  });

  test("the hint for a word that is no script suggests --", async () => {
    expect(await run("submit", "hostname")).toBe(2);
    expect(err).toContain("the script hostname does not exist");
    expect(err).toContain("Hint: To run a command rather than a script, put it after --: lattice submit -- hostname\n");
    expect(requests).toEqual([]);
  });

  test("a script or command is required", async () => {
    expect(await run("submit")).toBe(2);
    expect(err).toContain("no script or command is given");
  });
});

describe("other commands", () => {
  test("nodes prints a table", async () => {
    await run("nodes");
    expect(out).toContain("n1    Ready            4×GH200  —         —       3      a1b2c3");
    expect(out).toContain("n2    Down (disabled)");
  });

  test("cancel continues after a rejection and fails with it", async () => {
    expect(await run("cancel", "1", "12345")).toBe(5);
    expect(out).toBe("Cancelled allocation 12345\n");
    expect(err).toContain("allocation 1 has ended");
  });

  test("cancel needs something to cancel", async () => {
    expect(await run("cancel")).toBe(2);
    expect(await run("cancel", "1", "--all-mine")).toBe(2);
  });

  test("drain sends the reason", async () => {
    expect(await run("node", "drain", "n1", "--reason=fan")).toBe(0);
    expect(out).toBe("n1: Draining\n");
    expect(JSON.parse(bodies[0] ?? "")).toMatchObject({ reason: "fan" });
  });

  test("disable needs --yes without a terminal", async () => {
    expect(await run("node", "disable", "n1")).toBe(2);
    expect(requests).toEqual([]);
    expect(await run("node", "disable", "n1", "--yes")).toBe(0);
    expect(out).toBe("n1: Down (disabled)\n");
  });

  test("set-quota takes --name", async () => {
    expect(await run("admin", "tenant", "set-quota", "--name=physics", "--max-nodes=250")).toBe(0);
    expect(JSON.parse(bodies[0] ?? "")).toMatchObject({ quota: { max_nodes: 250 } });
    expect(out).toContain("0 of 250");
  });

  test("logs are copied unchanged", async () => {
    await run("logs", "12345", "--stderr", "--tail=3");
    expect(requests[1]).toBe("GET /api/v1/allocations/12345/logs?stream=stderr&tail=3");
  });
});

describe("errors", () => {
  test("a server's problem is shown with its hint and exit status", async () => {
    expect(await run("status", "9")).toBe(3);
    expect(err).toBe("Error: no /api/v1/allocations/9\nHint: Look again.\n");
    expect(out).toBe("");
  });

  test("errors are JSON with -o json", async () => {
    expect(await run("status", "9", "-o", "json")).toBe(3);
    expect(JSON.parse(err)).toMatchObject({ code: "unknown_allocation", hint: "Look again." });
  });

  test.each([
    [["statsu"], "unknown command 'statsu'", "Did you mean status?"],
    [["squeue"], "unknown command 'squeue'", "Hint: Run: lattice status; or lattice compat install DIR adds the Slurm"],
    [["kill", "1"], "unknown command 'kill'", "Did you mean: lattice cancel ID"],
    [["submit", "--waltime=1h", "--", "true"], "unknown option '--waltime=1h'", "Did you mean --walltime?"],
    [["submit", "--array=1-3", "--", "true"], "unknown option '--array=1-3'", "--task-group=0-99"],
    [["submit", "-n", "4", "--", "true"], "unknown option '-n'", "--nodes for nodes"],
    [["submit", "--output=x.txt", "--", "true"], "x.txt", "--output-file=x.txt"],
    [["submit", "-t", "10", "--", "true"], '"10" looks like a time, and -t names the tenant', "--walltime=10m"],
    [["status", "--sate=x"], "unknown option '--sate=x'", "Did you mean --state?"],
    [["status", "--state=sleeping"], "sleeping", "lattice status --help"],
    [["status", "-o", "xml"], "xml", "lattice status --help"],
    [["up", "--nodes=0"], "from 1 to 64", "lattice up --help"],
    [["node", "drian", "n1"], "unknown command 'drian'", "Did you mean drain?"],
  ])("the usage error %j names the command", async (argv, detail, hint) => {
    expect(await run(...argv)).toBe(2);
    expect(err).toContain(detail);
    expect(err).toContain(hint);
  });

  test.each([[["node"]], [["admin", "tenant"]], [["-o", "json"]]])(
    "an incomplete command %j shows its help",
    async (argv) => {
      expect(await run(...argv)).toBe(2);
      expect(err).toContain("Usage: lattice");
    },
  );

  test("an unreachable server is reported", async () => {
    vi.stubEnv("LATTICE_API_URL", "http://127.0.0.1:1");
    expect(await run("status")).toBe(7);
    expect(err).toContain("Hint: Is the cluster running? Start one with: lattice up");
  });
});

describe("help and completion", () => {
  test("help lists every command", async () => {
    expect(await run("--help")).toBe(0);
    const shown = Object.entries(commandTable).filter(([, { hidden }]) => hidden !== true);
    for (const [name] of shown) expect(out).toContain(`  ${name}`);
  });

  test.each(Object.keys(commandTable))("%s has a help page", async (name) => {
    expect(await run(name, "--help")).toBe(0);
    expect(out).toContain(`Usage: lattice ${name}`);
  });

  test("--version prints the version", async () => {
    expect(await run("--version")).toBe(0);
    expect(out).toMatch(/^lattice /);
  });

  test.each(["bash", "zsh", "fish"])("a script for %s knows every command and flag", async (shell) => {
    expect(await run("completion", shell)).toBe(0);
    const tree = await completionTree(commandTable);
    for (const { name, flags } of tree.commands) {
      expect(out).toContain(name);
      for (const flag of flags) expect(out).toContain(flag.replace(/^-+/, ""));
    }
    expect(out).toContain("undrain");
  });

  test("an unknown shell is refused", async () => {
    expect(await run("completion", "tcsh")).toBe(2);
  });
});
