// Every refusal names the field, gives a hint, changes nothing, and is the same over gRPC, REST and the CLI. Meanwhile
// slow clients start requests and never finish them.
import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type GrpcClient, grpcClient } from "../harness/grpc.ts";
import type { Json, Problem } from "../harness/rest.ts";
import { runSlowClients } from "../harness/slow-clients.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 0, config: "api: { headers_timeout: 5s }\n" });
/** Per kind; far more than there are threads, or than a server that waits for them could bear. */
const SLOW = 100;
const KINDS = ["half of the headers", "not a word", "half of a greeting"] as const;
const slow = new Map<(typeof KINDS)[number], Promise<readonly string[]>>();
const TOO_LARGE = 50 * 1024 * 1024;
let grpc: GrpcClient;
let untouched: readonly unknown[];

beforeAll(async () => {
  grpc = grpcClient(cluster.grpcAddress);
  untouched = await everything();
  const rest = cluster.apiUrl.replace("http://", "");
  const asking = "POST /api/v1/allocations HTTP/1.1\r\nhost: localhost\r\n";
  slow.set("half of the headers", runSlowClients(rest, SLOW, asking, "x-more: and more\r\n"));
  slow.set("not a word", runSlowClients(rest, SLOW, "", null));
  slow.set("half of a greeting", runSlowClients(cluster.grpcAddress, SLOW, "PRI * HTTP/2.0\r\n", null));
});
afterEach(async () => {
  expect(await everything(), "a refusal changed something").toEqual(untouched);
});
afterAll(() => grpc.close());

interface Case {
  readonly name: string;
  readonly allocation: Json;
  readonly code: string;
  readonly field: RegExp;
  /** The same through the CLI, where its flags can express it. */
  readonly cli?: readonly string[];
}

const CASES: readonly Case[] = [
  { name: "nothing to run", allocation: {}, code: "invalid_argument", field: /entrypoint/ },
  {
    name: "two things to run",
    allocation: { entrypoint: "true", command: ["true"] },
    code: "invalid_argument",
    field: /entrypoint|command/,
  },
  {
    name: "an entrypoint of blanks",
    allocation: { entrypoint: "  " },
    code: "invalid_argument",
    field: /entrypoint/,
  },
  {
    name: "a least number of nodes above the most",
    allocation: { entrypoint: "true", resources: { nodes: { min: 5, max: 2 } } },
    code: "invalid_argument",
    field: /resources\.nodes/,
  },
  {
    name: "more nodes than any cluster has",
    allocation: { entrypoint: "true", resources: { nodes: { min: 4_000_000_000, max: 4_000_000_000 } } },
    code: "invalid_argument",
    field: /resources\.nodes/,
    cli: ["--nodes=4000000000", "--", "true"],
  },
  {
    name: "a preemption class above ten",
    allocation: { entrypoint: "true", lifecycle: { preemption_class: 11 } },
    code: "invalid_argument",
    field: /lifecycle\.preemption_class/,
  },
  {
    name: "more requeues than allowed",
    allocation: { entrypoint: "true", lifecycle: { max_requeue: 101 } },
    code: "invalid_argument",
    field: /lifecycle\.max_requeue/,
  },
  {
    name: "a walltime of a thousand years",
    allocation: { entrypoint: "true", lifecycle: { walltime_seconds: 4_000_000_000 } },
    code: "invalid_argument",
    field: /lifecycle\.walltime/,
  },
  {
    name: "a script with a NUL byte",
    allocation: { script: "#!/bin/sh\necho \u0000\n" },
    code: "invalid_argument",
    field: /script/,
  },
  {
    name: "a word with a NUL byte",
    allocation: { command: ["echo", "a\u0000b"] },
    code: "invalid_argument",
    field: /command/,
  },
  {
    name: "a tenant whose name is no name",
    allocation: { entrypoint: "true", tenant: "Físìca ⚛" },
    code: "invalid_argument",
    field: /tenant/,
    cli: ["--tenant=Físìca ⚛", "--", "true"],
  },
  {
    name: "a name of ten thousand letters",
    allocation: { entrypoint: "true", name: "n".repeat(10_000) },
    code: "invalid_argument",
    field: /name/,
    cli: [`--name=${"n".repeat(10_000)}`, "--", "true"],
  },
  {
    name: "a variable that is not one",
    allocation: { entrypoint: "true", environment: { variables: { "A=B": "c" } } },
    code: "invalid_argument",
    field: /environment\.variables/,
  },
  {
    name: "a node id that is none",
    allocation: { entrypoint: "true", resources: { constraints: { required_nodes: ["../etc"] } } },
    code: "invalid_argument",
    field: /required_nodes/,
  },
];

describe("the same refusal over every interface", () => {
  test.each(CASES)("$name", async ({ allocation, code, field, cli }) => {
    const rest = await cluster.api<Problem>("POST", "/allocations", { body: { allocation } });
    expect(rest.status, rest.text).toBe(400);
    expect(rest.headers.get("content-type")).toMatch(/problem\+json/);
    expect(rest.body).toMatchObject({ code, status: 400 });
    expect(rest.body.hint).toBeTruthy();
    expect((rest.body.fields ?? []).map((one) => one.field).join(" ")).toMatch(field);

    const called = await grpc.call("AllocationService", "Submit", { allocation });
    if (called.ok) throw new Error("gRPC accepted it");
    expect(called.problem).toMatchObject({ code, detail: rest.body.detail, hint: rest.body.hint });
    expect(called.problem.fields).toEqual(rest.body.fields);

    if (cli === undefined) return;
    const shown = await cluster.cli(["-o", "json", "submit", ...cli]);
    expect(JSON.parse(shown.stderr)).toMatchObject({ code, detail: rest.body.detail, hint: rest.body.hint });
    // People see the same problem with flags in place of fields.
    const reported = await cluster.cli(["submit", ...cli]);
    expect([shown.code, reported.code]).toEqual([2, 2]);
    expect(reported.stderr).toMatch(/^Error: .+/);
  });

  test("an unknown vCluster is refused", async () => {
    const allocation = { entrypoint: "true", vcluster: "nowhere" };
    const rest = await cluster.api<Problem>("POST", "/allocations", { body: { allocation } });
    expect(rest.body).toMatchObject({ status: 404, code: "unknown_vcluster" });
    const called = await grpc.call("AllocationService", "Submit", { allocation });
    expect(called).toMatchObject({ ok: false, problem: { code: "unknown_vcluster", detail: rest.body.detail } });
    const reported = await cluster.cli(["submit", "--vcluster=nowhere", "--", "true"]);
    expect(reported.code).toBe(3);
    expect(reported.stderr).toContain(rest.body.detail);
  });

  test("an unknown allocation is 404", async () => {
    const rest = await cluster.api<Problem>("GET", "/allocations/4711");
    expect(rest.body).toMatchObject({ status: 404, code: "unknown_allocation" });
    const called = await grpc.call("AllocationService", "Get", { id: "4711" });
    expect(called).toMatchObject({ ok: false, code: 5, problem: { detail: rest.body.detail } });
    for (const id of ["0", "-1", "abc", "1_2_3", "99999999999999999999", "%00", "dag-1"]) {
      expect((await cluster.api("GET", `/allocations/${id}`)).status, id).toBe(404);
    }
  });

  test("an unsupported feature is refused by name", async () => {
    const allocation = { entrypoint: "true", data: { mounts: [{ source: "s3://a", target: "/b" }] } };
    const rest = await cluster.api<Problem>("POST", "/allocations", { body: { allocation } });
    expect(rest.status).toBe(400);
    expect(JSON.stringify(rest.body)).toMatch(/data/);
    const called = await grpc.call("AllocationService", "Submit", { allocation });
    expect(called).toMatchObject({ ok: false, problem: { code: rest.body.code, detail: rest.body.detail } });
  });
});

describe("invalid bodies are refused", () => {
  test.each([
    ["JSON that breaks off", '{"entrypoint": "tr', "application/json"],
    ["JSON with a comma too many", '{"entrypoint": "true",}', "application/json"],
    ["YAML that cannot be read", "entrypoint: [unclosed\n  - : :", "application/yaml"],
    ["a list", '["true"]', "application/json"],
    ["a number", "42", "application/json"],
    ["nothing", "", "application/json"],
    ["a YAML bomb", yamlBomb(), "application/yaml"],
  ])("%s", async (_, raw, type) => {
    const answer = await cluster.api<Problem>("POST", "/allocations", { raw, type });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body.code).toMatch(/malformed_body|invalid_argument/);
    expect(answer.body.hint).toBeTruthy();
  });

  test("an unknown content type is refused", async () => {
    const answer = await cluster.api<Problem>("POST", "/allocations", { raw: "true", type: "application/x-tar" });
    expect(answer.body).toMatchObject({ status: 415, code: "unsupported_media_type" });
  });

  test("bytes that are not protobuf are refused", async () => {
    const answer = await grpc.callRaw("AllocationService", "Submit", Uint8Array.from([0x0a, 0xff, 0xff, 0x01, 0x07]));
    expect(answer).toMatchObject({ ok: false, problem: { code: "malformed_body" } });
  });

  test("50 MB over REST, gRPC and the CLI are refused", async () => {
    const raw = JSON.stringify({ entrypoint: "x".repeat(TOO_LARGE) });
    const rest = await cluster.api<Problem>("POST", "/allocations", { raw }).catch(() => null);
    // A server may answer and close during the upload; the client then sees a broken pipe.
    if (rest !== null) expect(rest.body).toMatchObject({ status: 413, code: "body_too_large" });
    const called = await grpc.callRaw("AllocationService", "Submit", new Uint8Array(TOO_LARGE));
    expect(called).toMatchObject({ ok: false, code: 8 });
    const file = cluster.file("large.sh");
    writeFileSync(file, `#!/bin/sh\n# ${"x".repeat(TOO_LARGE)}\n`);
    const reported = await cluster.cli(["submit", file]);
    expect(reported.code).not.toBe(0);
    expect(reported.stderr).toMatch(/too large|larger than|exceeds|at most/i);
    expect((await cluster.api("GET", "/nodes")).status).toBe(200);
  });

  test("a script file with NUL bytes is refused", async () => {
    const file = cluster.file("binary.sh");
    writeFileSync(file, Buffer.from([0x23, 0x21, 0x2f, 0x00, 0x0a]));
    const reported = await cluster.cli(["submit", file]);
    expect(reported.code).toBe(2);
    expect(reported.stderr).toMatch(/NUL|binary/i);
    expect(reported.stderr).toMatch(/Hint: /);
  });
});

describe("JSON and YAML with wrong fields or types are refused", () => {
  test.each([
    ["a misspelt field", { entrypont: "true" }, /entrypont/, /entrypoint/],
    ["a misspelt field deep inside", { allocation: { entrypoint: "true", resources: { node: 2 } } }, /node/, /nodes/],
    ["a field of another place", { entrypoint: "true", max_nodes: 3 }, /max_nodes/, /./],
    ["a negative count", { entrypoint: "true", nodes: -1 }, /nodes/, /./],
    ["no nodes at all", { entrypoint: "true", nodes: 0 }, /nodes/, /./],
    ["a broken count", { entrypoint: "true", nodes: 1.5 }, /nodes/, /./],
    ["a count in words", { entrypoint: "true", nodes: "several" }, /nodes/, /./],
    ["a huge count", { entrypoint: "true", nodes: 1e300 }, /nodes/, /./],
    ["a negative walltime", { entrypoint: "true", walltime: "-5m" }, /walltime/, /./],
    ["an unreadable walltime", { entrypoint: "true", walltime: "soon" }, /walltime/, /72h|HH:MM:SS/],
    ["an entrypoint that is a number", { entrypoint: 7 }, /entrypoint/, /./],
    ["a name that is a list", { entrypoint: "true", name: ["a"] }, /name/, /./],
    [
      "an unknown policy",
      { entrypoint: "true", lifecycle: { requeue_policy: "sometimes" } },
      /requeue_policy/,
      /never|always/,
    ],
  ])("%s is refused with its field", async (_, body, field, hint) => {
    for (const [raw, type] of [
      [JSON.stringify(body), "application/json"],
      [JSON.stringify(body), "application/yaml"],
    ] as const) {
      const answer = await cluster.api<Problem>("POST", "/allocations", { raw, type });
      expect(answer.status, answer.text).toBe(400);
      expect((answer.body.fields ?? []).map((one) => one.field).join(" ")).toMatch(field);
      expect(JSON.stringify(answer.body)).toMatch(hint);
    }
  });

  test.each(["page_size=-1", "page_size=abc", "state=asleep", "no_such_filter=1", "page_token=%00"])(
    "the query %s is refused",
    async (query) => {
      const answer = await cluster.api<Problem>("GET", `/allocations?${query}`);
      expect(answer.status, answer.text).toBe(400);
      expect(answer.body.code).toBe("invalid_argument");
    },
  );
});

describe("clients that never finish a request", () => {
  test.each(KINDS)("%s: every connection is closed", async (kind) => {
    const reported = (await slow.get(kind)) ?? [];
    expect(reported).toHaveLength(SLOW);
    if (kind !== "half of the headers") return;
    const words = reported.filter((text) => text !== "");
    expect(words.length).toBeGreaterThan(0);
    for (const text of words) expect(text).toMatch(/^HTTP\/1.1 504 [\s\S]*"deadline_exceeded"/);
  });

  test("the next client is served", async () => {
    expect((await cluster.api("GET", "/nodes")).status).toBe(200);
    expect(await grpc.call("NodeService", "ListNodes", {})).toMatchObject({ ok: true });
  });
});

/**
 * Everything that a refusal could have changed. The log index may move, because `apply` rejects commands in the log.
 */
function everything(): Promise<readonly unknown[]> {
  const paths = ["/allocations", "/tenants", "/vclusters", "/nodes"];
  return Promise.all(
    paths.map(async (path) => {
      const { log_index: _index, ...rest } = (await cluster.api("GET", path)).body;
      return rest;
    }),
  );
}

/** Ten levels, each with ten references to the previous one. */
function yamlBomb(): string {
  const levels = Array.from({ length: 10 }, (_, n) =>
    n === 0 ? 'l0: &l0 "lol"' : `l${n}: &l${n} [${Array.from({ length: 10 }, () => `*l${n - 1}`).join(", ")}]`,
  );
  return `${levels.join("\n")}\nentrypoint: "true"\ntags: *l9\n`;
}
