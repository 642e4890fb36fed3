// The catalogue is complete and consistent, and its page is the one in the docs.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { errorReference } from "../../src/errors/reference.ts";
import { ERRORS, isErrorCode } from "../../src/index.ts";

const PAGE = join(dirname(fileURLToPath(import.meta.url)), "../../../../docs/reference/errors.md");

describe("error catalogue", () => {
  test("the generated page docs/reference/errors.md is up to date (UPDATE=1 rewrites it)", () => {
    if (process.env.UPDATE === "1" || process.env.UPDATE_GENERATED === "1") {
      mkdirSync(dirname(PAGE), { recursive: true });
      writeFileSync(PAGE, errorReference());
    }
    expect(readFileSync(PAGE, "utf8")).toBe(errorReference());
  });

  test.each(Object.entries(ERRORS))("%s has valid statuses and texts", (code, entry) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(entry.http).toBeGreaterThanOrEqual(400);
    expect(entry.http).toBeLessThan(600);
    expect(entry.grpc).toBeGreaterThan(0);
    expect(entry.grpc).toBeLessThanOrEqual(16);
    expect(entry.exit).toBeGreaterThan(0);
    expect(entry.exit).toBeLessThan(64);
    expect(entry.title).not.toMatch(/\.$/);
    expect(entry.hint).toMatch(/\.$/);
  });

  test("the statuses that the design fixes", () => {
    const status = (code: keyof typeof ERRORS) => ERRORS[code].http;
    expect(status("invalid_argument")).toBe(400);
    expect(status("unauthenticated")).toBe(401);
    expect(status("forbidden")).toBe(403);
    expect(status("unknown_allocation")).toBe(404);
    expect(status("request_conflict")).toBe(409);
    expect(status("cursor_gone")).toBe(410);
    expect(status("quota_exceeded")).toBe(429);
    expect(status("rate_limited")).toBe(429);
    expect(status("not_leader")).toBe(503);
  });

  test("inherited property names are no codes", () => {
    expect(isErrorCode("constructor")).toBe(false);
    expect(isErrorCode("internal")).toBe(true);
  });
});
