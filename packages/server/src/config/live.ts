// The configuration in force: the file of this server, with the settings over it that were changed for the whole
// cluster while it runs. Whoever holds `config` and reads it when it is needed sees a change at once. A setting that
// this server does not know or cannot take, because it was set by another version, is left out and said.

import type { Setting } from "@lattice/core";
import type { Config } from "./config.ts";
import { fileSchema, type ParsedFile } from "./schema.ts";
import { type SettingValue, settingNamed } from "./settings.ts";

export interface LiveConfig {
  /** Always the newest; keep it, not its parts. */
  readonly config: Config;
  /** Reads the settings again; true: something is different. */
  refresh(): boolean;
}

export interface LiveOptions {
  readonly file: Config;
  readonly settings: () => Iterable<Setting>;
  readonly onWarning: (text: string) => void;
}

export function createLiveConfig({ file, settings, onWarning }: LiveOptions): LiveConfig {
  let current = file;
  let known = "";
  const config = Object.defineProperties({} as Config, {
    ...Object.fromEntries(
      (Object.keys(file) as (keyof Config)[]).map((name) => [name, { enumerable: true, get: () => current[name] }]),
    ),
  });
  const live: LiveConfig = {
    config,
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

/** Each by itself: one that cannot be taken does not spoil the others. */
function withSettings(file: Config, records: readonly Setting[], onWarning: (text: string) => void): Config {
  let config = file;
  for (const { key, value } of records) {
    const tried = tryValue(config, key, JSON.parse(value) as SettingValue);
    if ("problem" in tried) onWarning(`the setting ${key} is left as the file has it: ${tried.problem}`);
    else config = tried.config;
  }
  return config;
}

/** The configuration with one setting changed, or why that cannot be. */
export function tryValue(
  config: Config,
  key: string,
  value: SettingValue,
): { readonly config: Config } | { readonly problem: string } {
  const setting = settingNamed(key);
  if (setting?.write === undefined) return { problem: "it cannot be changed while servers run" };
  const objection = setting.check?.(config, value) ?? null;
  if (objection !== null) return { problem: objection };
  const parsed = fileSchema.safeParse(documentWith(config, key, value));
  if (parsed.success) return { config: setting.write(config, parsed.data satisfies ParsedFile) };
  const own = parsed.error.issues.find((issue) => issue.path.join(".") === key) ?? parsed.error.issues[0];
  return { problem: own?.message ?? "is not a value for it" };
}

/** As a file would have it, with what the rules between settings look at. */
function documentWith(config: Config, key: string, value: SettingValue): object {
  const [section = "", name = ""] = key.split(".");
  const { heartbeatInterval, heartbeatTimeout } = config.nodeAgent;
  const beside: Readonly<Record<string, object>> = {
    node_agent: { heartbeat_interval: `${heartbeatInterval}ms`, heartbeat_timeout: `${heartbeatTimeout}ms` },
    server: { production: section === "api" && config.server.production },
  };
  return { ...beside, [section]: { ...beside[section], [name]: value } };
}
