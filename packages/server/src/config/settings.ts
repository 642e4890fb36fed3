// The settings that people may ask for while the server runs: every key that the file may have, under its name there. Those that are
// `live` can be changed for the whole cluster; the others need a restart. Of secrets only that they are there is told.

import type { Config } from "./config.ts";
import { fileKeys } from "./keys.ts";
import { masked } from "./masked.ts";
import { firstName } from "./names.ts";
import type { KnownSetting } from "./setting.ts";
import { DERIVED_SETTINGS } from "./settings-derived.ts";
import { LIVE_SETTINGS } from "./settings-live.ts";

export type { KnownSetting, SettingValue } from "./setting.ts";

const TABLE = new Map([...LIVE_SETTINGS, ...DERIVED_SETTINGS].map((setting) => [setting.key, setting]));

let all: readonly KnownSetting[] | undefined;

/** In the order of the file. */
export function settings(): readonly KnownSetting[] {
  all ??= fileKeys().map(({ key }) => TABLE.get(key) ?? { key });
  return all;
}

export function settingNamed(name: string): KnownSetting | undefined {
  const key = firstName(name);
  return settings().find((known) => known.key === key);
}

/** In JSON, without secrets. */
export function shownValue(config: Config, { key, read }: KnownSetting): string {
  return read === undefined ? (config.stated[key]?.value ?? "null") : JSON.stringify(masked(key, read(config)));
}
