// Reads and changes settings while servers run. A change is checked like the configuration file, goes through the log,
// and applies on every server from that entry on.

import { create } from "@bufbuild/protobuf";
import { nearest, pb, timestampFromMs } from "@lattice/wire";
import { objectionTo, type SettingValue, withSetting } from "../../base/config/live.ts";
import { hintFor, mainName } from "../../base/config/names.ts";
import { shownValue } from "../../base/config/shown.ts";
import { SETTINGS } from "../../base/config/table/index.ts";
import { checkText, invalid } from "../../base/problems.ts";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { MAX_SETTING_LENGTH } from "../limits/limits.ts";
import { commit, originOf } from "./commit.ts";

export async function getConfig(call: Call, request: pb.GetConfigRequest): Promise<pb.ConfigResponse> {
  authorize(call.principal, "AdminService.GetConfig", UNOWNED);
  const key = mainName(request.key);
  const found = [...SETTINGS.keys()].filter((known) => key === "" || known === key || known.startsWith(`${key}.`));
  if (found.length === 0) throw unknownSetting(request.key);
  return answer(call, found, call.plane.view().index);
}

export async function setConfig(call: Call, request: pb.SetConfigRequest): Promise<pb.ConfigResponse> {
  authorize(call.principal, "AdminService.SetConfig", UNOWNED);
  const key = mainName(request.key);
  const row = SETTINGS.get(key);
  if (row === undefined) throw unknownSetting(request.key);
  if (request.reset && request.value !== "") throw invalid("value", "cannot be combined with reset");
  if (!row.live) throw notWhileRunning(call, key, request.value);
  const value = request.reset ? null : JSON.stringify(checkedValue(call, key, request.value));
  const { index } = await commit(call, {
    kind: "config.set",
    origin: originOf(call, pb.SetConfigRequestSchema, request),
    key,
    value,
  });
  await commitRetention(call);
  await commitLimits(call);
  return answer(call, [key], index);
}

/** Copies the retention setting into the state. If the server fails before, the next leader does it. */
async function commitRetention(call: Call): Promise<void> {
  const { retention } = call.config;
  const { maxFinished, maxFinishedAge } = call.plane.view().retention;
  if (maxFinished === retention.maxFinished && maxFinishedAge === retention.maxFinishedAge) return;
  await commit(call, { kind: "retention.set", ...retention });
}

/** Copies the limits that `apply` checks for every placement into the state. */
async function commitLimits(call: Call): Promise<void> {
  const { sensitivePoolSize } = call.config.scheduling;
  if (call.plane.view().limits.sensitivePoolSize === sensitivePoolSize) return;
  await commit(call, { kind: "limits.set", limits: { sensitivePoolSize } });
}

function checkedValue(call: Call, key: string, text: string): SettingValue {
  checkText("value", text, MAX_SETTING_LENGTH);
  const value = writtenValue(text);
  const changed = withSetting(call.config, key, value);
  if (!changed.ok) throw invalid("value", `${key} ${changed.error}`);
  return value;
}

/** A value that no server accepts is reported first, before the advice to restart. */
function notWhileRunning(call: Call, key: string, text: string) {
  checkText("value", text, MAX_SETTING_LENGTH);
  const objection = objectionTo(call.config, key, writtenValue(text));
  if (objection !== null) return invalid("value", `${key} ${objection}`);
  const step = `Write ${key} into the configuration file of every server, then restart them one after the other.`;
  return invalid("key", `${key} cannot be changed while servers run`, step);
}

/** Parses JSON; text that is not JSON is a string. */
function writtenValue(text: string): SettingValue {
  try {
    const value: unknown = JSON.parse(text);
    return value === null ? text : (value as SettingValue);
  } catch {
    return text;
  }
}

function answer(call: Call, keys: readonly string[], logIndex: number): pb.ConfigResponse {
  const changed = new Map(Array.from(call.plane.view().settings(), (setting) => [setting.key, setting]));
  return create(pb.ConfigResponseSchema, {
    settings: keys.map((key) => {
      const set = changed.get(key);
      return {
        key,
        value: shownValue(call.config, key),
        live: SETTINGS.get(key)?.live === true,
        source: set === undefined ? (call.config.stated[key]?.source ?? "default") : "cluster",
        ...(set === undefined ? {} : { setAt: timestampFromMs(set.setAt), setBy: set.setBy }),
      };
    }),
    logIndex: String(logIndex),
  });
}

function unknownSetting(name: string) {
  const key = mainName(name);
  const hint = hintFor(key);
  const shown = JSON.stringify(name.slice(0, 80));
  if (hint !== null) return invalid("key", `there is no setting ${shown}: it ${hint}`);
  const near = nearest(key, [...SETTINGS.keys()]);
  const step = near === null ? "Run: lattice admin config get" : `Did you mean ${near}?`;
  return invalid("key", `there is no setting ${shown}`, step);
}
