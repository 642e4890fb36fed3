// SQLite, from Node where it has it, else from the package with the same interface.

import type { DatabaseSyncInstance } from "@photostructure/sqlite";

export type Database = DatabaseSyncInstance;

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => Database;
}

/** Named by variables: the compiler's Node types are older than the built-in module, and neither may be bundled. */
const BUILT_IN: string = "node:sqlite";
export const PACKAGE: string = "@photostructure/sqlite";

export async function loadSqlite(): Promise<SqliteModule> {
  try {
    return (await import(BUILT_IN)) as SqliteModule;
  } catch {
    return (await import(PACKAGE)) as SqliteModule;
  }
}
