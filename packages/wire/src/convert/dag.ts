// Converts a DAG to the contract. The caller provides the state of each member, because only the caller has the
// records.

import { create } from "@bufbuild/protobuf";
import { type Dag, type DagNode, type DagState, dagState, MEMBER_OPEN } from "@lattice/core";
import type { AllocationState } from "../../gen/lattice/v1/allocations_pb.ts";
import * as proto from "../../gen/lattice/v1/dags_pb.ts";
import type { TaskGroupStatus } from "../../gen/lattice/v1/groups_pb.ts";
import { enumName, enumNumber } from "../json/enum-names.ts";
import { timestampFromMs } from "../json/timestamp.ts";
import { dependencyToProto } from "./dependencies.ts";

export interface MemberStanding {
  readonly state: AllocationState;
  readonly reason: string;
  readonly group: TaskGroupStatus | undefined;
}

type StandingOf = (member: DagNode, n: number) => MemberStanding;

/** Omits the members without `standingOf`. */
export function dagToProto(dag: Dag, logIndex: number, standingOf?: StandingOf): proto.Dag {
  const message = create(proto.DagSchema, {
    id: dag.id,
    name: dag.name,
    state: dagStateToProto(dagState(dag)),
    user: dag.user,
    tenant: dag.tenant,
    submittedAt: timestampFromMs(dag.submittedAt),
    members: standingOf === undefined ? [] : membersToProto(dag, standingOf),
    size: dag.members.length,
    ended: [...dag.ends].filter((mark) => mark !== MEMBER_OPEN).length,
    logIndex: `${logIndex}`,
  });
  if (dag.endedAt !== null) message.endedAt = timestampFromMs(dag.endedAt);
  return message;
}

export const membersToProto = (dag: Dag, standingOf: StandingOf): proto.DagMember[] =>
  dag.members.map((member, n) => {
    const { group, ...standing } = standingOf(member, n);
    return create(proto.DagMemberSchema, {
      name: member.name,
      allocationId: member.id,
      ...standing,
      dependsOn: member.needs.map(dependencyToProto),
      ...(group === undefined ? {} : { group }),
    });
  });

export function dagGraph(dag: Dag, standingOf: StandingOf): proto.DagGraph {
  return create(proto.DagGraphSchema, {
    id: dag.id,
    nodes: dag.members.map((member, n) =>
      create(proto.DagGraphNodeSchema, {
        name: member.name,
        allocationId: member.id,
        state: standingOf(member, n).state,
      }),
    ),
    edges: dag.members.flatMap(({ name, needs }) =>
      needs.flatMap(({ ref, condition }) =>
        condition === "mutex" ? [] : [create(proto.DagGraphEdgeSchema, { from: ref, to: name, condition })],
      ),
    ),
  });
}

export const dagStateToProto = (state: DagState): proto.DagState =>
  (enumNumber(proto.DagStateSchema, state) ?? 0) as proto.DagState;

/** Returns `null` for an unspecified or unknown value. */
export const dagStateFromProto = (state: proto.DagState): DagState | null =>
  (enumName(proto.DagStateSchema, state) as DagState | undefined) ?? null;
