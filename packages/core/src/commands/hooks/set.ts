// hooks.set: stores the webhooks of the leader's configuration.

import { canonical } from "../../base/canonical.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields, unchanged } from "../../base/outcome.ts";

import { isText, problemList } from "../../model/checks.ts";
import type { Hook } from "../../model/notice/hook.ts";
import { MAX_HOOK_NAME_LENGTH, MAX_HOOKS } from "../../model/notice/hook.ts";
import type { Step } from "../../transitions/step.ts";

/** The webhooks of the leader's configuration. */
export interface SetHooksCommand {
  readonly kind: "hooks.set";
  readonly hooks: readonly Hook[];
}

/** The leader's configuration is authoritative. Pending deliveries of a removed hook are dropped. */
export function setHooks(step: Step, { hooks }: SetHooksCommand): Outcome {
  const { tables } = step.state;
  const problems = problemList();
  problems.unless(hooks.length <= MAX_HOOKS, "hooks", `must not be more than ${MAX_HOOKS}`);
  const distinct = new Set(hooks.map(({ name }) => name)).size === hooks.length;
  const named = hooks.every(({ name }) => name !== "" && isText(name, MAX_HOOK_NAME_LENGTH));
  problems.unless(distinct && named, "hooks", "must have distinct names");
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (canonical([...tables.hooks.values()]) === canonical(hooks)) return unchanged(null);

  for (const name of [...tables.hooks.keys()]) tables.hooks.delete(name);
  for (const hook of hooks) tables.hooks.set(hook.name, hook);
  for (const { key, hook } of [...tables.deliveries.values()])
    if (!tables.hooks.has(hook)) tables.deliveries.delete(key);
  return accepted(null);
}
