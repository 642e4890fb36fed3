// JSON Schema of the short forms of other requests. A test compares them with what `normalise` accepts.

import { QuotaSchema } from "../../gen/lattice/v1/admin_pb.ts";
import type { Json, JsonObject } from "../json/value.ts";
import { fieldSchema, refTo } from "./schemas.ts";

const object = (properties: Record<string, Json>): JsonObject => ({
  type: "object",
  properties,
  additionalProperties: false,
});
const says = (schema: JsonObject, description: string): JsonObject => ({ ...schema, description });

export const DURATION: JsonObject = { type: "string", description: "72h, 90m, 1h30m, HH:MM:SS or D-HH:MM:SS." };
const seconds: JsonObject = { type: "integer", minimum: 0 };

const walltime: Record<string, Json> = {
  walltime: DURATION,
  walltime_hours: { type: "number", exclusiveMinimum: 0 },
  walltime_seconds: seconds,
  preemption_class: { type: "integer", minimum: 0, maximum: 10 },
  priority: { type: "string", enum: ["low", "normal", "high"] },
};
const telemetry = object({ mode: { type: "string" }, duration: DURATION, duration_seconds: seconds });

const limits: Record<string, Json> = {
  ...Object.fromEntries(
    QuotaSchema.fields.map((field) => [field.name, says(fieldSchema(field), `The same as quota.${field.name}.`)]),
  ),
  quota: refTo("Quota"),
};

/** By the short name of the message. */
export const SHORT_REQUEST_PROPERTIES: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  UpdateAllocationRequest: {
    ...walltime,
    lifecycle: object(walltime),
    telemetry: { anyOf: [says({ type: "string" }, "The mode."), telemetry] },
  },
  CreateTenantRequest: limits,
  UpdateTenantRequest: limits,
};
