// Brings the configuration in force up to date when the log changes a setting, on every server.

import type { Logger } from "pino";
import type { LiveConfig } from "../../base/config/index.ts";
import type { Replica } from "./replica.ts";

export interface SettingsParts {
  readonly live: LiveConfig;
  readonly feed: Pick<Replica["feed"], "onEvents">;
  readonly logger: Pick<Logger, "info" | "level">;
}

export function followSettings({ live, feed, logger }: SettingsParts): void {
  const takeLevel = (): void => {
    if (logger.level !== live.config.log.level) logger.level = live.config.log.level;
  };
  takeLevel();
  feed.onEvents((events) => {
    const changed = events.filter(({ event: { kind } }) => kind === "config_changed" || kind === "cluster_restored");
    if (changed.length === 0 || !live.refresh()) return;
    takeLevel();
    for (const { event } of changed) {
      logger.info({ setting: event.reason, to: event.message, by: event.user }, "a setting was changed");
    }
  });
}
