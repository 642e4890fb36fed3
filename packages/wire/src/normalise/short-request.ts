// Short forms of requests other than submissions: a walltime or telemetry mode in the same place as in a submission,
// and a tenant's limits without the outer `quota`. Fields outside the table pass unchanged; the parser refuses unknown
// ones. Durations as text need no row here: see durations.ts.

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { CreateTenantRequestSchema, QuotaSchema, UpdateTenantRequestSchema } from "../../gen/lattice/v1/admin_pb.ts";
import { UpdateAllocationRequestSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import { fieldError } from "../errors/field-list.ts";
import { ProblemError } from "../errors/problem.ts";
import { durationsOf } from "../json/durations.ts";
import { fromJson, refuseUnknown } from "../json/from-json.ts";
import type { JsonObject } from "../json/value.ts";
import { own } from "../text/own.ts";
import { Draft } from "./draft.ts";
import { at, duration, group, hours, inside, type PutFields, priority, word } from "./put.ts";

const WALLTIME: PutFields = {
  walltime: duration("walltime_seconds"),
  walltime_hours: hours("walltime_seconds"),
  walltime_seconds: at("walltime_seconds"),
  preemption_class: at("preemption_class"),
  priority: priority("preemption_class"),
};

const TELEMETRY: PutFields = {
  mode: at("telemetry_mode"),
  duration: duration("telemetry_seconds"),
  duration_seconds: at("telemetry_seconds"),
};

const LIMITS: PutFields = {
  ...Object.fromEntries(QuotaSchema.fields.map(({ name }) => [name, at(`quota.${name}`)])),
  quota: group("quota", {}),
};

/** By the message that they produce. */
export const SHORT_REQUESTS: ReadonlyMap<string, PutFields> = new Map<string, PutFields>([
  [
    UpdateAllocationRequestSchema.typeName,
    {
      ...WALLTIME,
      lifecycle: inside((name) => own(WALLTIME, name)),
      telemetry: word(
        "telemetry_mode",
        inside((name) => own(TELEMETRY, name)),
      ),
    },
  ],
  [CreateTenantRequestSchema.typeName, LIMITS],
  [UpdateTenantRequestSchema.typeName, LIMITS],
]);

/** Problems name the fields as the user wrote them. */
export function requestFromJson<Desc extends DescMessage>(schema: Desc, fields: JsonObject): MessageShape<Desc> {
  const short = SHORT_REQUESTS.get(schema.typeName);
  if (short === undefined) return fromJson(schema, fields);
  const known = new Set([
    ...Object.keys(short),
    ...schema.fields.map(({ name }) => name),
    ...durationsOf(schema).keys(),
  ]);
  const draft = new Draft();
  for (const [name, value] of Object.entries(fields)) {
    if (!known.has(name)) refuseUnknown(draft.problems, { path: name, name, known });
    else if (value !== null) (own(short, name) ?? at(name))(draft, value, name);
  }
  draft.problems.throwIfAny();
  try {
    return fromJson(schema, draft.build());
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    throw fieldError(error.problem.fields.map((problem) => ({ ...problem, field: draft.origin(problem.field) })));
  }
}
