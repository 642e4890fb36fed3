// The description is whole: every reference leads somewhere, every route is there, and the short form
// lists what `normalise` takes.

import { describe, expect, test } from "vitest";
import { openapi, routes } from "../../src/index.ts";
import { FIELDS } from "../../src/normalise/fields.ts";
import { SHORT_REQUESTS } from "../../src/normalise/short-request.ts";
import { SHORT_REQUEST_PROPERTIES } from "../../src/openapi/short-requests.ts";
import { SHORT_SUBMISSION } from "../../src/openapi/short-submission.ts";

const document = JSON.parse(JSON.stringify(openapi({ version: "1.2.3" }))) as Record<string, unknown>;

function lookUp(reference: string): unknown {
  return reference
    .slice(2)
    .split("/")
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => (key === "$ref" ? [item as string] : referencesIn(item)));
}

interface Operation {
  operationId: string;
  summary: string;
  parameters?: { name: string; in: string; required?: boolean }[];
  requestBody?: unknown;
  responses: Record<string, unknown>;
}
const paths = document.paths as Record<string, Record<string, Operation>>;
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

describe("openapi", () => {
  test("has the head of OpenAPI 3.1", () => {
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: { title: "Lattice", version: "1.2.3" },
      servers: [{ url: "/" }],
    });
  });

  test("every reference resolves", () => {
    const references = referencesIn(document);
    expect(references.length).toBeGreaterThan(50);
    for (const reference of references) expect(lookUp(reference), reference).toBeTypeOf("object");
  });

  test("every route is described once, with unique operation ids", () => {
    const described = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort();
    const real = routes()
      .filter((route) => route.path.startsWith("/api/"))
      .map((route) => `${route.httpMethod} ${route.path.replace(/(?<!:):([a-z_]+)/g, "{$1}").replace("::", ":")}`)
      .sort();
    expect(described).toEqual(real);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each(operations.map((o) => [`${o.method} ${o.path}`, o] as const))(
    "%s is well formed",
    (_name, { path, method, operation }) => {
      const inPath = (operation.parameters ?? []).filter((p) => p.in === "path");
      expect(inPath.map((p) => p.name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]));
      expect(inPath.every((p) => p.required === true)).toBe(true);
      const names = (operation.parameters ?? []).map((p) => `${p.in} ${p.name}`);
      expect(new Set(names).size).toBe(names.length);
      expect(operation.requestBody !== undefined).toBe(["post", "put", "patch"].includes(method));
      expect(Object.keys(operation.responses)).toEqual(["200", "default"]);
      expect(operation.summary).toMatch(/^[A-Z][a-z ]+$/);
    },
  );

  test("the short form lists exactly the fields that are taken", () => {
    const listed = Object.keys(SHORT_SUBMISSION.properties as object).sort();
    expect(listed).toEqual([...FIELDS.keys(), "request_id"].sort());
  });

  test("the schema lists exactly the short forms that other requests accept", () => {
    const schemas = (document.components as { schemas: Record<string, { properties: object }> }).schemas;
    for (const [typeName, fields] of SHORT_REQUESTS) {
      const name = typeName.split(".").at(-1) ?? "";
      expect(Object.keys(SHORT_REQUEST_PROPERTIES[name] ?? {}).sort(), name).toEqual(Object.keys(fields).sort());
      expect(Object.keys(schemas[name]?.properties ?? {})).toEqual(expect.arrayContaining(Object.keys(fields)));
    }
    const metrics = paths["/api/v1/allocations/{id}/metrics"]?.get?.parameters?.map((parameter) => parameter.name);
    expect(metrics).toEqual(expect.arrayContaining(["duration", "duration_seconds"]));
    expect(schemas.MetricsResponse?.properties).not.toHaveProperty("duration");
  });
});
