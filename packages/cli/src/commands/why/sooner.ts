// The changes that would start an allocation sooner, as tried by the server.

import type { Suggestion } from "@lattice/sdk";
import { clean } from "../../output/text.ts";

export function soonerLines(suggestions: readonly Suggestion[]): string[] {
  if (suggestions.length === 0) return ["None of the changes tried would start it sooner."];
  return suggestions.map(
    ({ text, verified_by }) =>
      `${clean(text)} (tried ${verified_by === "cycle" ? "with a full cycle" : "on the current plan"})`,
  );
}
