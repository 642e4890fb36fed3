// Updates the configuration in force on every server when the log changes a setting.

import type { Logger } from "pino";
import type { LiveConfig } from "../../base/config/index.ts";
import type { Replica } from "./replica.ts";

interface SettingsParts {
  readonly live: LiveConfig;
  readonly feed: Pick<Replica["feed"], "onEvents">;
  readonly logger: Pick<Logger, "info" | "level">;
}

export function followSettings({ live, feed, logger }: SettingsParts): void {
  const setLevel = (): void => {
    if (logger.level !== live.config.log.level) logger.level = live.config.log.level;
  };
  setLevel();
  feed.onEvents((events) => {
    const changed = events.filter(({ event: { kind } }) => kind === "config_changed" || kind === "cluster_restored");
    if (changed.length === 0 || !live.refresh()) return;
    setLevel();
    for (const { event } of changed) {
      logger.info({ setting: event.reason, to: event.message, by: event.user }, "setting changed");
    }
  });
}
