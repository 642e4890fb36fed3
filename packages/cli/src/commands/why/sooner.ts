// What would start it sooner: only what the server has tried.

import type { Suggestion } from "@lattice/sdk";
import { clean } from "../../output/text.ts";

export function soonerLines(suggestions: readonly Suggestion[]): string[] {
  if (suggestions.length === 0) return ["No change that was tried would start it sooner."];
  return suggestions.map(
    ({ text, tried }) => `${clean(text)} (tried ${tried === "cycle" ? "in full" : "on the present plan"})`,
  );
}
