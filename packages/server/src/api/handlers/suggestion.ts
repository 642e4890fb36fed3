// A change that would start an allocation sooner, as the contract shows it.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Suggestion } from "@lattice/scheduler";
import { type pb, timestampFromMs } from "@lattice/wire";

export const suggestionToProto = ({
  kind,
  text,
  change,
  startsAt,
  startsNow,
  tried,
}: Suggestion): MessageInitShape<typeof pb.SuggestionSchema> => ({
  kind,
  text,
  change: { ...change },
  startsAt: timestampFromMs(startsAt),
  startsNow,
  verifiedBy: tried,
});
