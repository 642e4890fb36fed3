// A change that would start an allocation sooner, as the contract shows it.

import type { Suggestion } from "@lattice/scheduler";
import { timestampFromMs } from "@lattice/wire";

export const suggestionToProto = ({ kind, text, change, startsAt, startsNow, tried }: Suggestion) => ({
  kind,
  text,
  change: { ...change },
  startsAt: timestampFromMs(startsAt),
  startsNow,
  tried,
});
