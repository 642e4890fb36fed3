// The configuration in force: the file of this server with the settings over it that were changed for the whole cluster. A component
// that keeps `config` and reads it when it decides sees every change. A setting that this server does not know or cannot take,
// because a server of another version set it, is ignored with a warning.

import { isAbsolute } from "node:path";
import { failed, ok, type Result, type Setting as StoredSetting } from "@lattice/core";
import type { Config } from "./config.ts";
import { mainName } from "./names.ts";
import { liveProblems, NO_ACCOUNTING } from "./rules.ts";
import { camelCase } from "./schema/setting.ts";
import { stated } from "./shown.ts";
import { SETTINGS } from "./table/index.ts";

/** A value that JSON can express: a number, a text, or a table of numbers by name. */
export type SettingValue = string | number | boolean | null | Readonly<Record<string, number>>;

export interface LiveConfig {
  /** Always current; keep this object, not its parts. */
  readonly config: Config;
  /** Reads the settings again and returns whether anything changed. */
  refresh(): boolean;
}

interface LiveOptions {
  readonly file: Config;
  readonly settings: () => Iterable<StoredSetting>;
  readonly onWarning: (text: string) => void;
}

export function createLiveConfig({ file, settings, onWarning }: LiveOptions): LiveConfig {
  let current = file;
  let known = "";
  const names = Object.keys(file) as (keyof Config)[];
  const getters = names.map((name) => [name, { enumerable: true, get: () => current[name] }] as const);
  const live: LiveConfig = {
    config: Object.defineProperties({} as Config, Object.fromEntries(getters)),
    refresh() {
      const records = [...settings()];
      const text = JSON.stringify(records);
      if (text === known) return false;
      known = text;
      current = withSettings(file, records, onWarning);
      return true;
    },
  };
  live.refresh();
  return live;
}

/** Applies each setting by itself, so that one that is refused does not affect the others. */
function withSettings(file: Config, records: readonly StoredSetting[], onWarning: (text: string) => void): Config {
  let config = file;
  for (const { key, value } of records) {
    const changed = withSetting(config, key, JSON.parse(value) as SettingValue);
    if (changed.ok) config = changed.value;
    else onWarning(`setting ${key} ignored, the value of the file applies: ${changed.error}`);
  }
  return config;
}

/** Returns the configuration with one setting changed, or why the value is refused. */
export function withSetting(config: Config, name: string, value: SettingValue): Result<Config> {
  const key = mainName(name);
  const row = SETTINGS.get(key);
  if (row?.live !== true) return failed("it cannot be changed while servers run");
  const objection = objectionTo(config, key, value);
  if (objection !== null) return failed(objection);
  const parsed = row.schema.safeParse(value);
  if (!parsed.success) return failed(parsed.error.issues[0]?.message ?? "is not a valid value");
  const changed = {
    ...(replaceAt(config, key.split(".").map(camelCase), parsed.data) as Config),
    stated: { ...config.stated, [key]: stated(key, "default", value) },
  };
  const problem = liveProblems(changed).find(({ path }) => path === key);
  return problem === undefined ? ok(changed) : failed(problem.message);
}

/** Returns why a value that the file may have cannot be set at run time; `null` when it can. */
export function objectionTo(config: Config, key: string, value: SettingValue): string | null {
  if (key === "accounting.enabled") return value === true ? NO_ACCOUNTING : null;
  if (key === "scheduler.trace_capture")
    return typeof value === "boolean" ? null : "must be true or false; scheduler.trace_path is where to";
  if (key !== "scheduler.trace_path") return null;
  // An absolute path would give administrators of the cluster access to the disks of its servers.
  if (isAbsolute(String(value))) return "must be a name below the servers' data folders, or s3://bucket/prefix";
  if (!String(value).startsWith("s3:") || config.backup.s3 !== null) return null;
  return "needs credentials: set them under backup.s3 in the file, or in the environment";
}

function replaceAt(table: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const members = table as Readonly<Record<string, unknown>>;
  return { ...members, [name]: replaceAt(members[name], rest, value) };
}
