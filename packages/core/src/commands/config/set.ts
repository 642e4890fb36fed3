// config.set: changes a setting on all servers, or restores the value of each server's configuration file.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields, unchanged } from "../../base/outcome.ts";

import { problemList } from "../../model/checks.ts";
import type { Origin } from "../../model/origin.ts";
import {
  MAX_SETTING_KEY_LENGTH,
  MAX_SETTING_VALUE_LENGTH,
  MAX_SETTINGS,
  type Setting,
} from "../../model/settings/setting.ts";
import type { Step } from "../../transitions/step.ts";

/** Changes a setting on all servers at once. */
export interface SetConfigCommand {
  readonly kind: "config.set";
  readonly origin: Origin;
  readonly key: string;
  /** JSON, checked by the server that proposes it; `null` restores the value of each server's own file. */
  readonly value: string | null;
}

const KEY = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/;

export function setConfig(step: Step, { key, value, origin }: SetConfigCommand): Outcome {
  const { settings } = step.state.tables;
  const problems = problemList();
  problems.unless(key.length <= MAX_SETTING_KEY_LENGTH && KEY.test(key), "key", "is not the name of a setting");
  const short = value === null || value.length <= MAX_SETTING_VALUE_LENGTH;
  problems.unless(short, "value", `must have at most ${MAX_SETTING_VALUE_LENGTH} characters`);
  const known = settings.get(key);
  const room = value === null || known !== undefined || settings.size < MAX_SETTINGS;
  problems.unless(room, "key", `${MAX_SETTINGS} settings are set already`);
  if (problems.list.length > 0) return refuseFields(problems.list);
  if ((known?.value ?? null) === value) return unchanged(key);

  if (value === null) settings.delete(key);
  else settings.set(key, { key, value, setAt: step.at, setBy: origin.user } satisfies Setting);
  step.events.push({
    kind: "config_changed",
    to: value === null ? "reset" : "set",
    user: origin.user,
    reason: key,
    message: value ?? "",
  });
  return accepted(key);
}
