// Settings, asked for and changed while the servers run. A change is checked as the configuration file would be, goes
// through the log, and holds on every server from that entry on.

import { create } from "@bufbuild/protobuf";
import { nearest, pb, timestampFromMs } from "@lattice/wire";
import { tryValue } from "../../config/live.ts";
import { elsewhere, firstName } from "../../config/names.ts";
import { type KnownSetting, type SettingValue, settingNamed, settings, shownValue } from "../../config/settings.ts";
import { authorize, NOBODYS } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import { MAX_SETTING_LENGTH } from "../limits/limits.ts";
import { commit, originOf } from "./commit.ts";
import { checkText, invalid } from "./refuse.ts";

export async function getConfig(call: Call, request: pb.GetConfigRequest): Promise<pb.ConfigResponse> {
  authorize(call.principal, "AdminService.GetConfig", NOBODYS);
  const key = firstName(request.key);
  const found = settings().filter((known) => key === "" || known.key === key || known.key.startsWith(`${key}.`));
  if (found.length === 0) throw unknownSetting(request.key);
  return answer(call, found, call.plane.view().index);
}

export async function setConfig(call: Call, request: pb.SetConfigRequest): Promise<pb.ConfigResponse> {
  authorize(call.principal, "AdminService.SetConfig", NOBODYS);
  const setting = settingNamed(request.key);
  if (setting === undefined) throw unknownSetting(request.key);
  if (request.reset && request.value !== "") throw invalid("value", "does not go with reset");
  if (setting.write === undefined) throw notWhileRunning(call, setting, request.value);
  const value = request.reset ? null : JSON.stringify(checkedValue(call, setting, request.value));
  const { index } = await commit(call, {
    kind: "config.set",
    origin: originOf(call, pb.SetConfigRequestSchema, request),
    key: setting.key,
    value,
  });
  await keepAsLong(call);
  await limitAsMuch(call);
  return answer(call, [setting], index);
}

/** The rule by which finished records leave is in the state itself. Should this be lost, the next leader does it. */
async function keepAsLong(call: Call): Promise<void> {
  const { retention } = call.config;
  const { maxFinished, maxFinishedAge } = call.plane.view().retention;
  if (maxFinished === retention.maxFinished && maxFinishedAge === retention.maxFinishedAge) return;
  await commit(call, { kind: "retention.set", ...retention });
}

/** So are the limits that every placement is checked against. */
async function limitAsMuch(call: Call): Promise<void> {
  const { sensitivePoolSize } = call.config.scheduling;
  if (call.plane.view().limits.sensitivePoolSize === sensitivePoolSize) return;
  await commit(call, { kind: "limits.set", limits: { sensitivePoolSize } });
}

function checkedValue(call: Call, { key }: KnownSetting, text: string): SettingValue {
  checkText("value", text, MAX_SETTING_LENGTH);
  const value = writtenValue(text);
  const tried = tryValue(call.config, key, value);
  if ("problem" in tried) throw invalid("value", `${key} ${tried.problem}`);
  return value;
}

/** What nobody can have is said before how to get it. */
function notWhileRunning(call: Call, { key, check }: KnownSetting, text: string) {
  checkText("value", text, MAX_SETTING_LENGTH);
  const never = check?.(call.config, writtenValue(text)) ?? null;
  if (never !== null) return invalid("value", `${key} ${never}`);
  const step = `Write ${key} into the configuration file of every server, then restart them one after the other.`;
  return invalid("key", `${key} cannot be changed while servers run`, step);
}

/** JSON where it is JSON; a bare word is itself. */
function writtenValue(text: string): SettingValue {
  try {
    const value: unknown = JSON.parse(text);
    return value === null ? text : (value as SettingValue);
  } catch {
    return text;
  }
}

function answer(call: Call, asked: readonly KnownSetting[], logIndex: number): pb.ConfigResponse {
  const changed = new Map(Array.from(call.plane.view().settings(), (setting) => [setting.key, setting]));
  return create(pb.ConfigResponseSchema, {
    settings: asked.map((setting) => {
      const { key, write } = setting;
      const set = changed.get(key);
      return {
        key,
        value: shownValue(call.config, setting),
        live: write !== undefined,
        source: set === undefined ? (call.config.stated[key]?.source ?? "default") : "cluster",
        ...(set === undefined ? {} : { setAt: timestampFromMs(set.setAt), setBy: set.setBy }),
      };
    }),
    logIndex: String(logIndex),
  });
}

function unknownSetting(name: string) {
  const key = firstName(name);
  const instead = elsewhere(key);
  const shown = JSON.stringify(name.slice(0, 80));
  if (instead !== null) return invalid("key", `there is no setting ${shown}: it ${instead}`);
  const near = nearest(
    key,
    settings().map((known) => known.key),
  );
  return invalid(
    "key",
    `there is no setting ${shown}`,
    near === null ? "Run: lattice admin config get" : `Did you mean ${near}?`,
  );
}
