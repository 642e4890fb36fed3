// Converts states, policies and schedulers between enum numbers and the core's words. The words are those of JSON, so
// each table is built from the descriptors.

import type { DescEnum } from "@bufbuild/protobuf";
import type { NodeStateKind, PhaseKind, SchedulerKind } from "@lattice/core";
import { type SchedulerType, SchedulerTypeSchema } from "../../gen/lattice/v1/admin_pb.ts";
import {
  type AllocationState,
  AllocationStateSchema,
  type LogStream,
  LogStreamSchema,
} from "../../gen/lattice/v1/allocations_pb.ts";
import { type NodeState, NodeStateSchema } from "../../gen/lattice/v1/nodes_pb.ts";
import { enumName, enumNumber } from "../json/enum-names.ts";

/** Returns `null` for an unspecified or unknown value. */
export const allocationStateFromProto = (state: AllocationState): PhaseKind | null =>
  word<PhaseKind>(AllocationStateSchema, state);
export const allocationStateToProto = (state: PhaseKind): AllocationState =>
  number(AllocationStateSchema, state) as AllocationState;

export const nodeStateFromProto = (state: NodeState): NodeStateKind | null =>
  word<NodeStateKind>(NodeStateSchema, state);
export const nodeStateToProto = (state: NodeStateKind): NodeState => number(NodeStateSchema, state) as NodeState;

export const schedulerFromProto = (scheduler: SchedulerType): SchedulerKind | null =>
  word<SchedulerKind>(SchedulerTypeSchema, scheduler);
export const schedulerToProto = (scheduler: SchedulerKind): SchedulerType =>
  number(SchedulerTypeSchema, scheduler) as SchedulerType;

/** An unspecified stream is standard output. */
export const logStreamFromProto = (stream: LogStream): "stdout" | "stderr" =>
  word<"stdout" | "stderr">(LogStreamSchema, stream) ?? "stdout";
export const logStreamToProto = (stream: "stdout" | "stderr"): LogStream =>
  number(LogStreamSchema, stream) as LogStream;

const word = <Word extends string>(desc: DescEnum, value: number): Word | null =>
  (enumName(desc, value) as Word | undefined) ?? null;

function number(desc: DescEnum, name: string): number {
  const found = enumNumber(desc, name);
  if (found === undefined) throw new Error(`${desc.typeName} has no value for "${name}"`);
  return found;
}
