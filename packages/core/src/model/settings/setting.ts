// Settings that were changed while the cluster runs. Which there are and what they mean is known to the servers,
// which check a value before they propose it; here they are names with the text of a JSON value.

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
