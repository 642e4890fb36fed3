// Converts the kind of a hold to the contract.

import { create } from "@bufbuild/protobuf";
import type { Hold } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { HoldStatusSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import { timestampFromMs } from "../json/timestamp.ts";

export const holdStatus = ({ as, by, since }: Hold): proto.HoldStatus =>
  create(HoldStatusSchema, { kind: as, by, since: timestampFromMs(since) });
