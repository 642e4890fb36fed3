// Converts the sharing of a vCluster in both directions: preemption, borrowing, and the terms of lending.

import { create } from "@bufbuild/protobuf";
import { DEFAULT_LENDING, type Lending, type Preemptible, policyOf, seconds, type VCluster } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/admin_pb.ts";
import { LendingSchema, PreemptibleSchema, Preemptible as Wire } from "../../gen/lattice/v1/admin_pb.ts";
import { enumName } from "../json/enum-names.ts";

const PREEMPTIBLE = {
  always: Wire.ALWAYS,
  borrowed: Wire.BORROWED,
  never: Wire.NEVER,
} as const satisfies Record<Preemptible, Wire>;

/** Returns the effective values: unset fields come from the policy of the scheduler. */
export function sharingToProto(vcluster: VCluster) {
  const { preempts, preemptible, borrows, lending, nearCompletion, maxVictims, sharesNodes } = policyOf(vcluster);
  return {
    preempts,
    maxVictims,
    nearCompletionThresholdSeconds: Math.ceil(nearCompletion / 1000),
    preemptible: PREEMPTIBLE[preemptible],
    borrows,
    sharesNodes,
    ...(lending === null ? null : { lending: lendingToProto(lending) }),
  };
}

const lendingToProto = ({ keepNodes, maxClass, maxDuration, returnGrace }: Lending): proto.Lending =>
  create(LendingSchema, {
    enabled: true,
    keepNodes,
    maxClass,
    maxDurationSeconds: Math.ceil((maxDuration ?? 0) / 1000),
    returnGraceSeconds: Math.ceil(returnGrace / 1000),
  });

type SharingFields = Pick<
  proto.CreateVClusterRequest,
  "preempts" | "preemptible" | "borrows" | "lending" | "nearCompletionThresholdSeconds" | "maxVictims" | "sharesNodes"
>;
type Sharing = Pick<
  VCluster,
  "preempts" | "preemptible" | "borrows" | "lending" | "nearCompletion" | "maxVictims" | "sharesNodes"
>;

/** Returns only the named fields; unnamed terms keep their value or the default. */
export function sharingFromProto(asked: SharingFields, known: Lending | null): Sharing {
  const {
    preempts,
    preemptible,
    borrows,
    lending,
    nearCompletionThresholdSeconds: near,
    maxVictims,
    sharesNodes,
  } = asked;
  const word = preemptible === Wire.UNSPECIFIED ? undefined : enumName(PreemptibleSchema, preemptible);
  return {
    ...(preempts === undefined ? null : { preempts }),
    ...(word === undefined ? null : { preemptible: word as Preemptible }),
    ...(borrows === undefined ? null : { borrows }),
    ...(near === undefined ? null : { nearCompletion: seconds(near) }),
    ...(maxVictims === undefined ? null : { maxVictims }),
    ...(sharesNodes === undefined ? null : { sharesNodes }),
    ...(lending === undefined ? null : { lending: lendingFromProto(lending, known ?? DEFAULT_LENDING) }),
  };
}

function lendingFromProto(asked: proto.Lending, known: Lending): Lending | null {
  if (asked.enabled === false) return null;
  const { keepNodes, maxClass, maxDurationSeconds, returnGraceSeconds } = asked;
  const longest = maxDurationSeconds === 0 ? null : seconds(maxDurationSeconds ?? 0);
  return {
    keepNodes: keepNodes ?? known.keepNodes,
    maxClass: maxClass ?? known.maxClass,
    maxDuration: maxDurationSeconds === undefined ? known.maxDuration : longest,
    returnGrace: returnGraceSeconds === undefined ? known.returnGrace : seconds(returnGraceSeconds),
  };
}
