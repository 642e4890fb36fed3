// Converts the changes of a running service: program, variables, probe and scaling.

import type { ServiceChange, Task } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { FieldList } from "../errors/field-list.ts";
import { policyFromProto } from "./scaling.ts";
import { probeOf } from "./service.ts";
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
  const probe = probeChange(update, problems);
  if (task === undefined && environment === undefined && scale === undefined && probe === undefined) {
    const known = "entrypoint, command, script, environment, scale_policy, liveness_probe or remove_liveness_probe";
    problems.add("service", "changes nothing", `Name ${known}.`);
  }
  problems.throwIfAny();
  return {
    ...(task === undefined ? null : { task }),
    ...(environment === undefined ? null : { environment: environmentOf(environment) }),
    ...(scale === undefined ? null : { scale }),
    ...(probe === undefined ? null : { probe }),
  };
}

function probeChange(update: proto.ServiceUpdate, problems: FieldList): ServiceChange["probe"] {
  const { livenessProbe, removeLivenessProbe } = update;
  if (livenessProbe === undefined) return removeLivenessProbe ? null : undefined;
  if (removeLivenessProbe) problems.add("service.remove_liveness_probe", "does not go with liveness_probe");
  return probeOf(livenessProbe, problems, "service.liveness_probe");
}
