// Rotates the key that signs audit records. The members share the new key before the log names it.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { auditKeysOf } from "./audit.ts";
import { commit, originOf } from "./commit.ts";

export async function rotateAuditKey(
  call: Call,
  request: pb.RotateAuditKeyRequest,
): Promise<pb.RotateAuditKeyResponse> {
  authorize(call.principal, "AccessService.RotateAuditKey", UNOWNED);
  const origin = originOf(call, pb.RotateAuditKeyRequestSchema, request);
  const { holders, ...key } = await call.plane.audit.prepareKey(request.lost);
  const { id, index } = await commit(call, { kind: "audit.rotate_key", origin, ...key });
  return create(pb.RotateAuditKeyResponseSchema, {
    keyId: id ?? "",
    servers: holders,
    keys: auditKeysOf(call.plane.view()),
    logIndex: String(index),
  });
}
