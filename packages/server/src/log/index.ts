// The log engines. Everything above uses the contract and this one function to open one.

import { openEmbeddedLog } from "./embedded/open.ts";
import { openMemoryLog } from "./memory/open.ts";
import type { ReplicatedLog } from "./replicated-log.ts";

export { type EmbeddedLogOptions, openEmbeddedLog } from "./embedded/open.ts";
export { type MemoryFaults, type MemoryLogOptions, openMemoryLog } from "./memory/open.ts";
export { createMemoryStore, type MemoryStore } from "./memory/store.ts";
export * from "./replicated-log.ts";

export type LogConfig =
  | { readonly engine: "memory" }
  | { readonly engine: "embedded"; readonly dir: string; readonly onWarning?: (text: string) => void };

export async function openLog(config: LogConfig): Promise<ReplicatedLog> {
  switch (config.engine) {
    case "memory":
      return openMemoryLog();
    case "embedded":
      return openEmbeddedLog(config);
  }
}
