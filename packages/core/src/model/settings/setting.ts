// Settings changed at run time. The servers know their meaning and check values before they propose them; the core
// stores names and JSON texts.

import type { Instant, UserName } from "../../base/ids.ts";

export interface Setting {
  /** "scheduling.max_dag_size", for example. */
  readonly key: string;
  /** JSON. */
  readonly value: string;
  readonly setAt: Instant;
  readonly setBy: UserName;
}

export const MAX_SETTINGS = 256;
export const MAX_SETTING_KEY_LENGTH = 128;
export const MAX_SETTING_VALUE_LENGTH = 4_096;
