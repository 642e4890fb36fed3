// What a service is to run from now on.

import type { ServiceChange, Task } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { FieldList } from "../errors/field-list.ts";
import { policyFromProto } from "./scaling.ts";
import { environmentOf } from "./spec-from-proto.ts";

/** Throws a ProblemError that names every field. */
export function serviceChangeFromProto(update: proto.ServiceUpdate): ServiceChange {
  const problems = new FieldList();
  const tasks: Task[] = [];
  if (update.entrypoint !== "") tasks.push({ kind: "entrypoint", line: update.entrypoint });
  if (update.command.length > 0) tasks.push({ kind: "command", words: update.command });
  if (update.script !== "") tasks.push({ kind: "script", text: update.script });
  if (tasks.length > 1) problems.add("service", "has more than one of entrypoint, command and script");
  const [task] = tasks;
  const { environment, scalePolicy } = update;
  const scale = scalePolicy === undefined ? undefined : policyFromProto(scalePolicy, "service.scale_policy", problems);
  if (task === undefined && environment === undefined && scale === undefined) {
    problems.add("service", "changes nothing", "Name entrypoint, command, script, environment or scale_policy.");
  }
  problems.throwIfAny();
  return {
    ...(task === undefined ? null : { task }),
    ...(environment === undefined ? null : { environment: environmentOf(environment) }),
    ...(scale === undefined ? null : { scale }),
  };
}
