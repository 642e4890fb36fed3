// The fold: applies one log entry to the state and returns outcomes, events and effects. It depends only on its two
// arguments, so every replica computes the same result. If it throws, the state may be half changed and the replica
// must stop.

import { recordInAudit } from "./audit.ts";
import { invariant } from "./base/invariant.ts";
import type { Outcome } from "./base/outcome.ts";
import { ENTRY_VERSION } from "./base/versions.ts";
import type { Command, Entry } from "./command.ts";
import { applyReportsTogether } from "./commands/attempt/report-together.ts";
import { handleCommand } from "./handlers.ts";
import type { State } from "./state/state.ts";
import type { Applied } from "./transitions/applied.ts";
import { dropOldBuckets } from "./transitions/ledger/charge.ts";
import { answerOnce, forgetOldRequests } from "./transitions/requests.ts";
import { archiveFinished } from "./transitions/retention.ts";
import { settleEndedWork } from "./transitions/settle/settle.ts";
import type { Step } from "./transitions/step.ts";
import { VersionTooNewError } from "./version.ts";

export function applyEntry(state: State, entry: Entry): Applied {
  if (entry.version > ENTRY_VERSION) throw new VersionTooNewError(entry.index, entry.version);
  invariant(entry.index === state.index + 1, `entry ${entry.index} does not follow ${state.index}`);
  invariant(entry.at >= state.at, `entry ${entry.index} is stamped before the one it follows`);

  const version = Math.max(state.version, entry.version);
  const step: Step = {
    state,
    index: entry.index,
    at: entry.at,
    version,
    events: [],
    effects: [],
    endedWork: [],
    touchedGroups: new Set(),
  };
  forgetOldRequests(step);
  const outcomes = applyCommands(step, entry.commands);
  archiveFinished(step);
  dropOldBuckets(state, entry.at);
  state.index = entry.index;
  state.version = Math.max(state.version, entry.version);
  state.at = entry.at;
  return { index: entry.index, at: entry.at, outcomes, events: step.events, effects: step.effects };
}

/** Applies commands one by one, except equal reports from all nodes of an attempt. */
function applyCommands(step: Step, commands: readonly Command[]): readonly Outcome[] {
  const outcomes: Outcome[] = [];
  while (outcomes.length < commands.length) {
    const at = outcomes.length;
    const together = applyReportsTogether(step, commands, at);
    if (together === null) outcomes.push(applyCommand(step, commands[at] as Command));
    else for (const outcome of together) outcomes.push(outcome);
    settleEndedWork(step);
  }
  return outcomes;
}

function applyCommand(step: Step, command: Command): Outcome {
  if (!("origin" in command)) return handleCommand(step, command);
  return answerOnce(step, command.origin, command.kind, () =>
    recordInAudit(step, command, handleCommand(step, command)),
  );
}
