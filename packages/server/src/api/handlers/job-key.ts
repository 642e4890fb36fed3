// Rotates the key that signs job tokens. The new key is random, stored in the log, and never shown.

import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { seconds } from "@lattice/core";
import { ProblemError, pb, timestampFromMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import { SECRET_BYTES } from "../../lead/leader/bootstrap.ts";
import { JOB_TOKEN_SECONDS } from "../../nodes/agents/job-token.ts";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { commit, originOf } from "./commit.ts";

export async function rotateJobKey(call: Call, request: pb.RotateJobKeyRequest): Promise<pb.RotateJobKeyResponse> {
  authorize(call.principal, "AccessService.RotateJobKey", UNOWNED);
  const { keepSeconds = JOB_TOKEN_SECONDS } = request;
  if (keepSeconds > JOB_TOKEN_SECONDS)
    throw invalid("keep_seconds", `is more than ${JOB_TOKEN_SECONDS}`, "No job token is valid for longer.");
  // Checked before a key is created; `apply` would reject it as well.
  if (call.plane.view().secret("jobs") === null)
    throw new ProblemError("conflict", {
      detail: "This cluster has no key for job tokens.",
      hint: "With a shared secret, job tokens are signed with it; without authentication there are no job tokens.",
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
