// One problem, the same over gRPC, REST and in the terminal.

import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import {
  ERRORS,
  type ErrorCode,
  ProblemError,
  problem,
  problemFromGrpc,
  problemFromJson,
  problemFromRefusal,
  problemOf,
  problemToGrpc,
  problemToJson,
  renderProblem,
} from "../../src/index.ts";

const quota = problemFromRefusal({
  code: "quota_exceeded",
  detail: 'allocation rejected: tenant "physics" exceeds max_nodes quota',
  figures: { current: 195, requested: 10, limit: 200 },
});

describe("problem", () => {
  test("every gRPC rate limit carries a retry delay", () => {
    const delayOf = (made: ReturnType<typeof problem>) =>
      fromBinary(StatusSchema, problemToGrpc(made).detailsBin)
        .details.map((any) => anyUnpack(any, RetryInfoSchema)?.retryDelay?.seconds)
        .filter((seconds) => seconds !== undefined);
    expect(delayOf(problem("too_many_terminals"))).toEqual([1n]);
    expect(delayOf({ ...problem("rate_limited"), retryAfterSeconds: 7 })).toEqual([7n]);
    expect(delayOf(problem("forbidden"))).toEqual([]);
  });

  test.each(Object.keys(ERRORS) as ErrorCode[])("%s survives gRPC and REST", (code) => {
    const made = problem(code, {
      detail: "what happened – exactly",
      hint: "do this",
      fields: [
        { field: "a.b", detail: "is wrong", hint: "write c" },
        { field: "d", detail: "too" },
      ],
      values: { current: 1, limit: 2.5 },
    });
    const grpc = problemToGrpc(made);
    expect(grpc.code).toBe(ERRORS[code].grpc);
    expect(problemFromGrpc(grpc)).toEqual(made);
    expect(problemFromJson(JSON.parse(JSON.stringify(problemToJson(made))), made.status)).toEqual(made);
  });

  test("a gRPC status without or with unreadable details still is a problem", () => {
    expect(problemFromGrpc({ code: 14, message: "gone" })).toMatchObject({ code: "connection_failed", detail: "gone" });
    const broken = new Uint8Array([255, 255, 255]);
    expect(problemFromGrpc({ code: 3, message: "bad", detailsBin: broken })).toMatchObject({
      code: "invalid_argument",
    });
    expect(problemFromGrpc({ code: 99, message: "?" }).code).toBe("internal");
  });

  test.each([
    [502, "connection_failed"],
    [404, "not_found"],
    [413, "body_too_large"],
    [418, "invalid_argument"],
    [500, "internal"],
    [504, "deadline_exceeded"],
  ])("an answer %i that is no problem becomes %s", (status, code) => {
    for (const body of [null, "<html>", [], { code: "constructor" }, { code: 5, fields: [1, {}] }]) {
      expect(problemFromJson(body, status)).toMatchObject({ code });
    }
  });

  test("is rendered with figures, fields and a hint", () => {
    expect(renderProblem(quota)).toBe(
      [
        'Error: allocation rejected: tenant "physics" exceeds max_nodes quota',
        "  Current: 195",
        "  Requested: 10",
        "  Limit: 200",
        "Hint: Cancel running allocations or request a quota increase from your tenant admin.",
      ].join("\n"),
    );
    const two = problem("invalid_argument", {
      detail: "2 fields are not acceptable",
      fields: [
        { field: "nodes", detail: "must be at least 1" },
        { field: "nam", detail: "is not known", hint: "name?" },
      ],
    });
    expect(renderProblem(two)).toBe(
      ["Error: 2 fields are not acceptable", "  nodes: must be at least 1", "  nam: is not known", "    name?"].join(
        "\n",
      ),
    );
  });

  test("a hint that the detail repeats is printed once", () => {
    const reported = problem("forbidden", {
      detail: "Not for you. Ask an administrator.",
      hint: "ask an administrator.",
    });
    expect(renderProblem(reported)).toBe("Error: Not for you. Ask an administrator.");
    const owner = problem("not_owner", { detail: "Allocation 1 belongs to ada; only the owner may attach to it." });
    expect(renderProblem(owner).match(/owner/g)).toHaveLength(1);
  });

  test("errors carry a problem; other values are internal without details", () => {
    const error = new ProblemError("forbidden", { detail: "no", cause: new Error("why") });
    expect(error.message).toBe("no");
    expect(error.cause).toBeInstanceOf(Error);
    expect(problemOf(error)).toBe(error.problem);
    expect(problemOf(new Error("secret"))).toEqual(problem("internal"));
    expect(ProblemError.of(quota).problem).toBe(quota);
    expect(ProblemError.of(quota)).toBeInstanceOf(ProblemError);
  });
});
