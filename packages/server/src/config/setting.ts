// One setting as people ask for it: its name in the file, how it is read, and, where it can be changed while servers run, how.

import type { Duration } from "@lattice/core";
import type { Config } from "./config.ts";
import type { ParsedFile } from "./schema.ts";

/** What JSON can say: figures and words, and tables of figures by name. */
export type SettingValue = string | number | boolean | null | Readonly<Record<string, number>>;

export interface KnownSetting {
  readonly key: string;
  /** Absent: as it was stated, or its default. */
  readonly read?: (config: Config) => SettingValue;
  /** Beyond what a file may say: why this value cannot be set while servers run; null: it can. */
  readonly check?: (config: Config, value: SettingValue) => string | null;
  /** Absent: not while the server runs. */
  readonly write?: (config: Config, file: ParsedFile) => Config;
}

export const span = (value: Duration): string => (value % 1000 === 0 ? `${value / 1000}s` : `${value}ms`);
