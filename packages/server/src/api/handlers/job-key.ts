// Rotates the key that signs job tokens. The new key is random, stored in the log, and never shown.

import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { seconds } from "@lattice/core";
import { ProblemError, pb, timestampFromMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import { SECRET_BYTES } from "../../lead/leader/bootstrap.ts";
import { JOB_TOKEN_SECONDS } from "../../nodes/agents/job-token.ts";
import { authorize, NOBODYS } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import { commit, originOf } from "./commit.ts";

export async function rotateJobKey(call: Call, request: pb.RotateJobKeyRequest): Promise<pb.RotateJobKeyResponse> {
  authorize(call.principal, "AccessService.RotateJobKey", NOBODYS);
  const { keepSeconds = JOB_TOKEN_SECONDS } = request;
  if (keepSeconds > JOB_TOKEN_SECONDS)
    throw invalid("keep_seconds", `is more than ${JOB_TOKEN_SECONDS}`, "No token of a job lives for longer than that.");
  // Said before anything is made; the log would refuse it as well.
  if (call.plane.view().secret("jobs") === null)
    throw new ProblemError("conflict", {
      detail: "This cluster has no key of its own for the tokens of jobs.",
      hint: "Where there is a shared secret they are signed with that; where callers need no token there are none.",
    });
  const origin = originOf(call, pb.RotateJobKeyRequestSchema, request);
  const value = randomBytes(SECRET_BYTES).toString("base64url");
  const keep = seconds(keepSeconds);
  const { index } = await commit(call, { kind: "secret.rotate", origin, name: "jobs", value, keep });
  const now = call.plane.now();
  const earlier = call.plane
    .view()
    .earlierSecrets("jobs")
    .filter(({ until }) => until > now);
  return create(pb.RotateJobKeyResponseSchema, {
    previousKeys: earlier.map(({ until }) => ({ validUntil: timestampFromMs(until) })),
    logIndex: String(index),
  });
}
