// The REST routes of the contract, and requests on their way to messages.

import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { type HttpInput, pb, REST_SERVICES, requestFromHttp, routes } from "../../src/index.ts";
import { fieldLines, refusal } from "../refusal.ts";

const find = (method: string, httpMethod?: string) => {
  const route = routes().find((r) => r.method === method && (httpMethod === undefined || r.httpMethod === httpMethod));
  if (route === undefined) throw new Error(`no route for ${method}`);
  return route;
};
const ask = (method: string, input: Partial<HttpInput>, httpMethod?: string) =>
  requestFromHttp(find(method, httpMethod), { params: {}, query: {}, body: undefined, ...input });

describe("routes", () => {
  test("every RPC of the REST services has a route, and every /api/v1 path its /v1 alias", () => {
    const all = routes();
    for (const service of REST_SERVICES) {
      // Bidirectional streams are WebSockets, which have no route.
      for (const rpc of service.methods.filter((method) => method.methodKind !== "bidi_streaming"))
        expect(
          all.some((route) => route.rpc === rpc),
          rpc.name,
        ).toBe(true);
    }
    const keys = all.map((route) => `${route.httpMethod} ${route.path}`);
    expect(new Set(keys).size).toBe(keys.length);
    for (const { path, httpMethod } of all.filter((route) => route.path.startsWith("/api/"))) {
      expect(keys).toContain(`${httpMethod} ${path.slice(4)}`);
    }
  });

  test("additional bindings are separate routes", () => {
    const cancels = routes().filter((route) => route.method === "Cancel" && route.path.startsWith("/api/"));
    expect(cancels.map(({ httpMethod, path, body, alias }) => [httpMethod, path, body, alias])).toEqual([
      ["DELETE", "/api/v1/allocations/:id", "", false],
      ["POST", "/api/v1/allocations/:id/cancel", "*", true],
    ]);
    expect(find("Watch")).toMatchObject({ kind: "server_stream", path: "/api/v1/events" });
  });

  test("every path parameter is a text field of the request", () => {
    for (const { rpc, params } of routes()) {
      for (const name of params) expect(rpc.input.fields.find((field) => field.name === name)?.scalar).toBe(9);
    }
  });
});

describe("requestFromHttp", () => {
  test("the query has numbers, words, repeated and comma-separated lists", () => {
    const expected = create(pb.ListAllocationsRequestSchema, {
      state: [pb.AllocationState.RUNNING, pb.AllocationState.PENDING],
      pageSize: 50,
      user: "ada",
    });
    expect(ask("List", { query: { state: "running,Pending", page_size: "50", user: "ada" } })).toEqual(expected);
    expect(ask("List", { query: { state: ["running", "pending"], page_size: "50", user: "ada" } })).toEqual(expected);
  });

  test("reserved and empty parameters are omitted", () => {
    const query = { consistent: "true", min_index: "12", page_size: "", state: "", vcluster: undefined };
    expect(ask("List", { query })).toEqual(create(pb.ListAllocationsRequestSchema));
  });

  test("fields come from path and body", () => {
    expect(ask("Get", { params: { id: "7" } })).toMatchObject({ id: "7" });
    expect(ask("Cancel", { params: { id: "7" }, query: { reason: "x" } }, "DELETE")).toMatchObject({
      id: "7",
      reason: "x",
    });
    expect(ask("Cancel", { params: { id: "7" } }, "POST")).toMatchObject({ id: "7", reason: "" });
    expect(ask("DrainNode", { params: { id: "n" }, body: { reason: "x", id: "n" } })).toMatchObject({
      id: "n",
      reason: "x",
    });
  });

  test("a submission is normalised and its warnings are returned", () => {
    const warnings: string[] = [];
    const message = requestFromHttp(
      find("Submit"),
      { params: {}, query: {}, body: { nodes: 2, entrypoint: "x" } },
      warnings,
    );
    expect(message).toMatchObject({ allocation: { entrypoint: "x", resources: { nodes: { min: 2, max: 2 } } } });
    expect(warnings).toEqual([]);
  });

  test.each<[string, () => unknown, string[]]>([
    [
      "an unknown parameter",
      () => ask("List", { query: { stat: "running" } }),
      ['stat: is not a known field | Did you mean "state"?'],
    ],
    [
      "an inherited name",
      () => ask("List", { query: { constructor: "x" } as never }),
      ["constructor: is not a known field"],
    ],
    [
      "a negative number",
      () => ask("List", { query: { page_size: "-5" } }),
      ["page_size: must be between 0 and 4294967295, not -5"],
    ],
    [
      "no number",
      () => ask("List", { query: { page_size: "many" } }),
      ["page_size: must be a whole number between 0 and 4294967295, not a string"],
    ],
    [
      "an unknown state",
      () => ask("ListNodes", { query: { state: "redy" } }),
      [
        'state[0]: must be one of unknown, booting, ready, degraded, draining, drained, down, failed | Did you mean "ready"?',
      ],
    ],
    ["one value twice", () => ask("List", { query: { user: ["a", "b"] } }), ["user: is given more than once"]],
    [
      "a query beside a body",
      () => ask("CreateTenant", { query: { id: "x" }, body: { id: "x" } }),
      ["id: is not a known field"],
    ],
    [
      "a query on submit",
      () => ask("Submit", { query: { nodes: "4" }, body: { entrypoint: "x" } }),
      ["nodes: is not a known field"],
    ],
    ["a body that is no object", () => ask("CreateTenant", { body: [1] }), ["body: must be an object, not a list"]],
    [
      "a body where none is taken",
      () => ask("Get", { params: { id: "1" }, body: { a: 1 } }),
      ["body: is not taken here | Give the fields as query parameters."],
    ],
    [
      "another id in the body",
      () => ask("DrainNode", { params: { id: "a" }, body: { id: "b" } }),
      ['id: differs from the "a" of the path'],
    ],
    [
      "a misspelt field",
      () => ask("DrainNode", { params: { id: "a" }, body: { reson: "b" } }),
      ['reson: is not a known field | Did you mean "reason"?'],
    ],
    ["no submission", () => ask("Submit", { body: "x" }), ["body: must be an object, not a string"]],
  ])("refuses %s", async (_what, run, lines) => {
    const problem = await refusal(run);
    expect(problem.code).toBe("invalid_argument");
    expect(fieldLines(problem)).toEqual(lines);
  });
});
