// Bad input is refused in the same way over REST and gRPC, with the field and a hint, and changes nothing: the state
// hash stays the same, and no command reaches the log.

import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type Problem, pb } from "@lattice/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, callGrpc, callHttp, callRest, type Running, restOf, startTestApi } from "./clients.ts";

let running: Running;
let before: string;

beforeAll(async () => {
  running = await startTestApi();
  running.plane.addNode("n1");
  before = running.plane.hash();
});
afterAll(async () => {
  await running.close();
});

type SpecInit = Extract<MessageInitShape<typeof pb.AllocationSpecSchema>, { $typeName?: never }>;
const JSON_TYPE = { "content-type": "application/json" };

function problemOf(answer: Answer): Problem {
  if ("problem" in answer) return answer.problem;
  throw new Error(`accepted: ${JSON.stringify(answer.json)}`);
}

async function submit(body: string | Buffer, headers: Record<string, string> = JSON_TYPE): Promise<Problem> {
  const problem = problemOf(await callRest(running, { method: "POST", path: "/api/v1/allocations", headers, body }));
  expect(running.plane.hash()).toBe(before);
  expect(problem.hint).not.toBe("");
  return problem;
}

describe("the same refusal over REST and gRPC", () => {
  const spec = (fields: SpecInit) =>
    create(pb.SubmitRequestSchema, { allocation: create(pb.AllocationSpecSchema, { entrypoint: "true", ...fields }) });
  const cases: readonly (readonly [string, string, Parameters<typeof restOf>[1], string, string | null])[] = [
    [
      "no allocation",
      "AllocationService.Submit",
      create(pb.SubmitRequestSchema),
      "invalid_argument",
      "allocation.entrypoint",
    ],
    [
      "an empty entrypoint",
      "AllocationService.Submit",
      spec({ entrypoint: "" }),
      "invalid_argument",
      "allocation.entrypoint",
    ],
    [
      "a script with NUL",
      "AllocationService.Submit",
      spec({ entrypoint: "", script: "#!/bin/sh\0" }),
      "invalid_argument",
      "allocation.script",
    ],
    [
      "a tenant with unicode",
      "AllocationService.Submit",
      spec({ tenant: "größe" }),
      "invalid_argument",
      "allocation.tenant",
    ],
    [
      "a name that is too long",
      "AllocationService.Submit",
      spec({ name: "x".repeat(10_000) }),
      "invalid_argument",
      "allocation.name",
    ],
    [
      "too many nodes",
      "AllocationService.Submit",
      spec({ resources: create(pb.ResourcesSchema, { nodes: { min: 4_294_967_295, max: 4_294_967_295 } }) }),
      "invalid_argument",
      "allocation.resources.nodes.min",
    ],
    [
      "min above max",
      "AllocationService.Submit",
      spec({ resources: create(pb.ResourcesSchema, { nodes: { min: 3, max: 2 } }) }),
      "invalid_argument",
      "allocation.resources.nodes.min",
    ],
    [
      "a class above 10",
      "AllocationService.Submit",
      spec({ lifecycle: create(pb.LifecycleSchema, { preemptionClass: 11 }) }),
      "invalid_argument",
      "allocation.lifecycle.preemption_class",
    ],
    [
      "too many requeues",
      "AllocationService.Submit",
      spec({ lifecycle: create(pb.LifecycleSchema, { maxRequeue: 101 }) }),
      "invalid_argument",
      "allocation.lifecycle.max_requeue",
    ],
    [
      "an unsupported feature",
      "AllocationService.Submit",
      spec({ sensitive: true }),
      "unsupported_feature",
      "allocation.sensitive",
    ],
    [
      "a request id with spaces",
      "AllocationService.Submit",
      create(pb.SubmitRequestSchema, { allocation: { entrypoint: "true" }, requestId: "a b" }),
      "invalid_argument",
      "request_id",
    ],
    [
      "an id that is no number",
      "AllocationService.Get",
      create(pb.GetAllocationRequestSchema, { id: "abc" }),
      "unknown_allocation",
      null,
    ],
    [
      "an id that is not there",
      "AllocationService.Get",
      create(pb.GetAllocationRequestSchema, { id: "999" }),
      "unknown_allocation",
      null,
    ],
    [
      "an id in unicode",
      "AllocationService.Cancel",
      create(pb.CancelRequestSchema, { id: "№1\u0000" }),
      "unknown_allocation",
      null,
    ],
    ["an unknown node", "NodeService.GetNode", create(pb.GetNodeRequestSchema, { id: "nope" }), "unknown_node", null],
    [
      "an unknown node to drain",
      "NodeService.DrainNode",
      create(pb.DrainNodeRequestSchema, { id: "nope" }),
      "unknown_node",
      null,
    ],
    [
      "a reason that is too long",
      "NodeService.DrainNode",
      create(pb.DrainNodeRequestSchema, { id: "n1", reason: "x".repeat(5_000) }),
      "invalid_argument",
      "reason",
    ],
    [
      "an unknown tenant",
      "AdminService.GetTenant",
      create(pb.GetTenantRequestSchema, { id: "nope" }),
      "unknown_tenant",
      null,
    ],
    [
      "a bad tenant name",
      "AdminService.CreateTenant",
      create(pb.CreateTenantRequestSchema, { id: "a b" }),
      "invalid_argument",
      "id",
    ],
    [
      "a negative share",
      "AdminService.CreateTenant",
      create(pb.CreateTenantRequestSchema, { id: "t", quota: { fairShareTarget: -1 } }),
      "invalid_argument",
      "quota.fair_share_target",
    ],
    [
      "an unknown limit",
      "AdminService.UpdateTenant",
      create(pb.UpdateTenantRequestSchema, { id: "default", unset: ["nope"] }),
      "invalid_argument",
      "unset[0]",
    ],
    [
      "an update of nothing",
      "AdminService.UpdateTenant",
      create(pb.UpdateTenantRequestSchema, { id: "default" }),
      "invalid_argument",
      "body",
    ],
    [
      "an unknown vCluster",
      "AdminService.GetVCluster",
      create(pb.GetVClusterRequestSchema, { id: "nope" }),
      "unknown_vcluster",
      null,
    ],
    [
      "a vCluster of an unknown tenant",
      "AdminService.CreateVCluster",
      create(pb.CreateVClusterRequestSchema, { id: "v", tenant: "nope" }),
      "unknown_tenant",
      null,
    ],
    [
      "a page that is too large",
      "NodeService.ListNodes",
      create(pb.ListNodesRequestSchema, { pageSize: 1_001 }),
      "invalid_argument",
      "page_size",
    ],
    [
      "a page token from elsewhere",
      "AllocationService.List",
      create(pb.ListAllocationsRequestSchema, { pageToken: "aGVsbG8" }),
      "invalid_argument",
      "page_token",
    ],
  ];

  test.each(cases)("%s", async (_name, rpc, message, code, field) => {
    const overRest = problemOf(await callRest(running, restOf(rpc, message)));
    const overGrpc = problemOf(await callGrpc(running, rpc, message));
    expect(overRest).toEqual(overGrpc);
    expect(overRest.code).toBe(code);
    expect(overRest.hint).not.toBe("");
    if (field !== null) expect(overRest.fields.map((f) => f.field)).toContain(field);
    expect(running.plane.hash()).toBe(before);
    expect(running.plane.proposed).toEqual([]);
  });

  test("an invalid user name", async () => {
    const headers = { "x-lattice-user": "a b" };
    const overRest = problemOf(await callRest(running, { path: "/api/v1/nodes", headers }));
    const overGrpc = problemOf(
      await callGrpc(running, "NodeService.ListNodes", create(pb.ListNodesRequestSchema), headers),
    );
    expect(overRest).toEqual(overGrpc);
    expect(overRest.fields[0]?.field).toBe("x-lattice-user");
  });
});

describe("bodies", () => {
  test("malformed JSON", async () => {
    expect(await submit('{"allocation": {')).toMatchObject({ code: "malformed_body", status: 400 });
  });
  test("malformed YAML", async () => {
    expect(await submit("a: [1", { "content-type": "application/yaml" })).toMatchObject({
      code: "malformed_body",
      status: 400,
    });
  });
  test("malformed protobuf", async () => {
    const answer = await callGrpc(running, "AllocationService.Submit", Buffer.from([0x0a, 0xff, 0xff, 0xff]));
    expect(problemOf(answer)).toMatchObject({ code: "malformed_body", status: 400 });
    expect(running.plane.hash()).toBe(before);
  });
  test("a text that is not UTF-8", async () => {
    expect(await submit(Buffer.from([0x7b, 0xff, 0x7d]))).toMatchObject({ code: "malformed_body" });
  });
  test("another content type", async () => {
    expect(await submit("<a/>", { "content-type": "application/xml" })).toMatchObject({
      code: "unsupported_media_type",
      status: 415,
    });
  });
  test.each([
    ["a list", "[]"],
    ["a number", "5"],
    ["null", "null"],
    ["nothing", ""],
  ])("%s", async (_name, body) => {
    expect((await submit(body)).status).toBe(400);
  });

  test("50 MB, over REST and over gRPC", async () => {
    const body = Buffer.alloc(50 * 1024 * 1024, "x");
    const overRest = problemOf(
      await callRest(running, { method: "POST", path: "/api/v1/allocations", headers: JSON_TYPE, body }),
    );
    const spec = create(pb.AllocationSpecSchema, { script: body.toString() });
    const message = Buffer.from(toBinary(pb.SubmitRequestSchema, create(pb.SubmitRequestSchema, { allocation: spec })));
    const overGrpc = problemOf(await callGrpc(running, "AllocationService.Submit", message));
    expect(overRest).toMatchObject({ code: "body_too_large", status: 413 });
    expect(overRest).toEqual(overGrpc);
    expect(running.plane.hash()).toBe(before);
  });

  test.each([
    ['{"allocation": {"entrypoint": "true", "entrypont": "x"}}', "allocation.entrypont", "entrypoint"],
    ['{"allocation": {"entrypoint": "true", "resources": {"nodez": 1}}}', "allocation.resources.nodez", "nodes"],
    ['{"allocation": {"entrypoint": "true"}, "request_idd": "1"}', "request_idd", "request_id"],
  ])("unknown fields, with the nearest known name: %s", async (body, field, nearest) => {
    const problem = await submit(body);
    expect(problem).toMatchObject({ code: "invalid_argument", fields: [{ field }] });
    expect(problem.fields[0]?.hint).toContain(nearest);
  });
  test("unknown fields in YAML", async () => {
    const problem = await submit("allocation:\n  entrypoint: 'true'\n  nam: x\n", { "content-type": "text/yaml" });
    expect(problem.fields[0]).toMatchObject({ field: "allocation.nam" });
    expect(problem.fields[0]?.hint).toContain("name");
  });
  test.each([
    ["negative", '{"allocation": {"entrypoint": "true", "resources": {"nodes": -1}}}'],
    ["huge", '{"allocation": {"entrypoint": "true", "resources": {"nodes": 1e300}}}'],
    ["a fraction", '{"allocation": {"entrypoint": "true", "resources": {"nodes": 1.5}}}'],
  ])("%s node counts", async (_name, body) => {
    const problem = await submit(body);
    expect(problem.code).toBe("invalid_argument");
    expect(problem.fields[0]?.field).toMatch(/^allocation\.resources\.nodes/);
  });
  test("unknown query parameters", async () => {
    const problem = problemOf(await callRest(running, { path: "/api/v1/allocations?stat=running" }));
    expect(problem.fields[0]).toMatchObject({ field: "stat" });
    expect(problem.fields[0]?.hint).toContain("state");
  });
});

describe("Unicode is accepted in text", () => {
  test("in names, tags and scripts", async () => {
    const own = await startTestApi();
    const message = create(pb.SubmitRequestSchema, {
      allocation: { name: "größe-✓-名前", tags: { ключ: "🚀" }, script: "#!/bin/sh\necho 😀\n" },
    });
    const request = restOf("AllocationService.Submit", message);
    expect(await callRest(own, request)).toMatchObject({ json: { id: "1" } });
    expect(await callRest(own, { path: "/v1/allocations/1" })).toMatchObject({
      json: { spec: { name: "größe-✓-名前", tags: { ключ: "🚀" } } },
    });
    await own.close();
  });
});

describe("paths and methods", () => {
  test("an unknown path", async () => {
    const { status, headers, text } = await callHttp(running, { path: "/api/v1/nothing?x=1" });
    expect(status).toBe(404);
    expect(headers["content-type"]).toBe("application/problem+json");
    expect(JSON.parse(text)).toMatchObject({ code: "not_found", status: 404, type: "urn:lattice:error:not_found" });
  });
  test("a method that the path does not support", async () => {
    const { status, headers, text } = await callHttp(running, { method: "PUT", path: "/api/v1/allocations/1" });
    expect(status).toBe(405);
    expect(String(headers.allow).split(", ").sort()).toEqual(["DELETE", "GET", "PATCH"]);
    expect(JSON.parse(text)).toMatchObject({ code: "method_not_allowed" });
  });
  test.each([["/api/v1/allocations/%zz"], [`/api/v1/allocations/${"9".repeat(3_000)}`], ["/%"]])("%#", async (path) => {
    const { status, headers, text } = await callHttp(running, { path });
    expect(status).toBe(404);
    expect(headers["content-type"]).toBe("application/problem+json");
    expect(JSON.parse(text)).toHaveProperty("code");
  });
  test("an unexpected body", async () => {
    const answer = await callRest(running, {
      method: "DELETE",
      path: "/api/v1/allocations/1",
      headers: JSON_TYPE,
      body: '{"id":"1"}',
    });
    expect(problemOf(answer).status).toBe(400);
  });
  test("pages of other origins, and DNS rebinding", async () => {
    const origin = await callRest(running, { path: "/api/v1/nodes", headers: { origin: "https://evil.example" } });
    expect(problemOf(origin)).toMatchObject({ code: "forbidden", status: 403 });
    const host = await callRest(running, { path: "/api/v1/nodes", headers: { host: "evil.example:8080" } });
    expect(problemOf(host)).toMatchObject({ code: "forbidden", status: 403 });
  });
});

describe("forms of submission", () => {
  const accepted = async (body: string, headers: Record<string, string>) => {
    const own = await startTestApi();
    const answer = await callRest(own, { method: "POST", path: "/api/v1/allocations", headers, body });
    await own.close();
    return answer;
  };
  const yaml = "allocation:\n  entrypoint: hostname\n  lifecycle: { walltime: 72h }\n";
  test.each([
    ["application/yaml", yaml],
    ["text/yaml", yaml],
    ["application/x-yaml; charset=utf-8", yaml],
    ["application/x-www-form-urlencoded", '{"allocation":{"entrypoint":"hostname"}}'],
    [
      "application/json; charset=utf-8",
      '{"allocation":{"entrypoint":"hostname","resources":{"nodes":{"min":1,"max":2}}}}',
    ],
    ["application/json", '{"entrypoint":"hostname","nodes":1,"walltime":"1h"}'],
  ])("%s", async (type, body) => {
    expect(await accepted(body, { "content-type": type })).toMatchObject({ json: { id: "1", state: "pending" } });
  });
  test("no content type: JSON or YAML", async () => {
    expect(await accepted(yaml, {})).toMatchObject({ json: { id: "1" } });
    expect(await accepted('{"allocation":{"entrypoint":"hostname"}}', {})).toMatchObject({ json: { id: "1" } });
  });
});
