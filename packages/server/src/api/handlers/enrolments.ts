// Enrolments: tokens with which new nodes obtain their first certificates. The secret is random, shown once, and stored
// as a hash.

import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { after, type Enrolment, MAX_ENROLMENT_NETWORKS, seconds } from "@lattice/core";
import { enrolmentToken, ProblemError, pb, timestampFromMs } from "@lattice/wire";
import { parseNetwork } from "../../base/auth/networks.ts";
import { invalid } from "../../base/problems.ts";
import { enrolmentHash } from "../../nodes/agents/enrolled.ts";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { commit, originOf } from "./commit.ts";

const ID_BYTES = 6;
const SECRET_BYTES = 32;
const DEFAULT_SECONDS = 86_400;

export async function createEnrolment(
  call: Call,
  request: pb.CreateEnrolmentRequest,
): Promise<pb.CreateEnrolmentResponse> {
  authorize(call.principal, "AccessService.CreateEnrolment", UNOWNED);
  const { maxNodes, validSeconds = DEFAULT_SECONDS, networks } = request;
  if (networks.length > MAX_ENROLMENT_NETWORKS)
    throw invalid("networks", `has more than ${MAX_ENROLMENT_NETWORKS} entries`, "Name larger networks.");
  for (const [i, network] of networks.entries())
    if (parseNetwork(network) === null)
      throw invalid(
        `networks[${i}]`,
        "is not a network",
        "Write an address with a prefix length, such as 10.1.0.0/16.",
      );
  const id = randomBytes(ID_BYTES).toString("hex");
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  const origin = originOf(call, pb.CreateEnrolmentRequestSchema, request);
  const terms = { id, hash: enrolmentHash(secret), limit: maxNodes, lifetime: seconds(validSeconds), networks };
  const made = await commit(call, { kind: "enrolment.create", origin, ...terms });
  // A repeated request made the enrolment before, with a secret that was shown then and is not stored.
  if (made.id !== id)
    throw new ProblemError("request_conflict", {
      detail: `This request created the enrolment ${made.id} before, and its token is shown once.`,
      hint: "Create another enrolment, and remove that one.",
    });
  const now = call.plane.now();
  const { lifetime, ...kept } = terms;
  const asked = { ...kept, until: after(now, lifetime), by: origin.user, at: now, nodes: [] };
  return create(pb.CreateEnrolmentResponseSchema, {
    enrolment: shown(call.plane.view().enrolment(id) ?? asked, now),
    token: enrolmentToken({ id, secret }),
    logIndex: String(made.index),
  });
}

export async function listEnrolments(call: Call): Promise<pb.ListEnrolmentsResponse> {
  authorize(call.principal, "AccessService.ListEnrolments", UNOWNED);
  const view = call.plane.view();
  const now = call.plane.now();
  const enrolments = Array.from(view.enrolments()).sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return create(pb.ListEnrolmentsResponseSchema, {
    enrolments: enrolments.map((one) => shown(one, now)),
    logIndex: String(view.index),
  });
}

export async function removeEnrolment(call: Call, request: pb.RemoveEnrolmentRequest): Promise<pb.EnrolmentResponse> {
  authorize(call.principal, "AccessService.RemoveEnrolment", UNOWNED);
  const { enrolmentId: id } = request;
  const before = call.plane.view().enrolment(id);
  const origin = originOf(call, pb.RemoveEnrolmentRequestSchema, request);
  const { index } = await commit(call, { kind: "enrolment.remove", origin, id });
  return create(pb.EnrolmentResponseSchema, {
    ...(before === undefined ? {} : { enrolment: shown(before, call.plane.now()) }),
    logIndex: String(index),
  });
}

const shown = ({ id, limit, nodes, networks, until, by, at }: Enrolment, now: number): pb.Enrolment =>
  create(pb.EnrolmentSchema, {
    enrolmentId: id,
    maxNodes: limit,
    nodes: [...nodes],
    networks: [...networks],
    validUntil: timestampFromMs(until),
    createdBy: by,
    createdAt: timestampFromMs(at),
    state: now >= until ? "expired" : nodes.length >= limit ? "used_up" : "open",
  });
