// The SQLite index over the segments: the position of each record, by id and by query columns. It contains nothing
// that the segments lack, and stores how far it has read them in the same transaction as the rows; so it is never
// ahead of them and may be deleted at any time.

import type { Database } from "./database.ts";
import type { RangeQuery, RowQuery } from "./messages.ts";
import type { ClosedSegment } from "./segment-file.ts";
import type { Written } from "./segment-writer.ts";

/** Rows of an older schema are rebuilt from the segments. */
const VERSION = 3;

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA cache_size = -8192;
  CREATE TABLE IF NOT EXISTS records (
    number INTEGER NOT NULL, element INTEGER NOT NULL,
    user TEXT NOT NULL, tenant TEXT NOT NULL, vcluster TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
    submitted INTEGER NOT NULL, ended INTEGER NOT NULL,
    segment INTEGER NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL, log_index INTEGER NOT NULL,
    PRIMARY KEY (number, element)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS by_user ON records (user, number, element);
  CREATE INDEX IF NOT EXISTS by_tenant ON records (tenant, number, element);
  CREATE INDEX IF NOT EXISTS by_vcluster ON records (vcluster, number, element);
  CREATE INDEX IF NOT EXISTS by_name ON records (name, number, element);
  CREATE INDEX IF NOT EXISTS by_state ON records (state, number, element);
  CREATE INDEX IF NOT EXISTS by_end ON records (ended, number, element);
  CREATE INDEX IF NOT EXISTS by_log_index ON records (log_index, number, element);
  CREATE TABLE IF NOT EXISTS closed (
    segment INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, records INTEGER NOT NULL, sha256 TEXT NOT NULL
  );
  PRAGMA user_version = ${VERSION};
`;

const RANGE = `
  SELECT segment, offset, bytes FROM records
  WHERE (log_index, number, element) > (?, ?, ?) AND log_index <= ?
  ORDER BY log_index, number, element LIMIT ?`;

export interface RecordPosition {
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
}

export interface RecordIndex {
  has(id: string): boolean;
  /** One transaction. A known record is ignored. */
  add(written: readonly Written[], closed?: ClosedSegment): void;
  find(id: string): RecordPosition | null;
  list(query: RowQuery): readonly RecordPosition[];
  /** In the order of the entries that archived them. */
  range(query: RangeQuery): readonly RecordPosition[];
  count(): number;
  closed(): readonly ClosedSegment[];
  /** Deletes the records from this position of a segment on. */
  drop(segment: number, fromOffset: number): void;
  close(): void;
}

/** Throws when the file is not a database of this version; then it must be rebuilt. */
export function openRecordIndex(database: Database): RecordIndex {
  const version = Number(database.prepare("PRAGMA user_version").get()?.user_version ?? 0);
  if (version !== 0 && version !== VERSION) throw new Error(`an index of version ${version}`);
  database.exec(SCHEMA);
  const find = database.prepare("SELECT segment, offset, bytes FROM records WHERE number = ? AND element = ?");
  const insert = database.prepare("INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const insertClosed = database.prepare("INSERT OR REPLACE INTO closed VALUES (?, ?, ?, ?)");

  const transaction = (work: () => void): void => {
    database.exec("BEGIN IMMEDIATE");
    try {
      work();
      database.exec("COMMIT");
    } catch (cause) {
      database.exec("ROLLBACK");
      throw cause;
    }
  };

  return {
    has: (id) => find.get(...key(id)) !== undefined,
    find: (id) => asPosition(find.get(...key(id))),
    add(written, closed) {
      transaction(() => {
        for (const { row, segment, offset, bytes } of written) {
          const about = [row.user, row.tenant, row.vcluster, row.name, row.state, row.submitted, row.ended] as const;
          insert.run(...key(row.id), ...about, segment, offset, bytes, row.index);
        }
        if (closed !== undefined) insertClosed.run(closed.number, closed.bytes, closed.records, closed.sha256);
      });
    },
    list(query) {
      const { where, values } = conditions(query);
      const rows = database
        .prepare(`SELECT segment, offset, bytes FROM records ${where} ORDER BY number DESC, element DESC LIMIT ?`)
        .all(...values, query.limit);
      return rows.map(asPosition).filter((position) => position !== null);
    },
    range({ after, from, through, limit }) {
      const [number, element] = from === null ? [-1, -1] : key(from);
      const rows = database.prepare(RANGE).all(from === null ? after + 1 : after, number, element, through, limit);
      return rows.map(asPosition).filter((position) => position !== null);
    },
    count: () => Number(database.prepare("SELECT count(*) AS n FROM records").get()?.n ?? 0),
    closed: () =>
      database
        .prepare("SELECT segment, bytes, records, sha256 FROM closed ORDER BY segment")
        .all()
        .map((row) => ({
          number: Number(row.segment),
          bytes: Number(row.bytes),
          records: Number(row.records),
          sha256: String(row.sha256),
        })),
    drop: (segment, fromOffset) => {
      database.prepare("DELETE FROM records WHERE segment = ? AND offset >= ?").run(segment, fromOffset);
    },
    close: () => database.close(),
  };
}

/** "12345_7" as numbers, so that ids sort numerically. */
function key(id: string): readonly [number, number] {
  const [number, element] = id.split("_");
  return [Number(number), element === undefined ? -1 : Number(element)];
}

function conditions(query: RowQuery): { readonly where: string; readonly values: readonly (string | number)[] } {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  for (const column of ["user", "tenant", "vcluster", "name"] as const) {
    const value = query[column];
    if (value === undefined) continue;
    parts.push(`${column} = ?`);
    values.push(value);
  }
  if (query.states !== undefined && query.states.length > 0) {
    parts.push(`state IN (${query.states.map(() => "?").join(", ")})`);
    values.push(...query.states);
  }
  if (query.endedFrom !== undefined) {
    parts.push("ended >= ?");
    values.push(query.endedFrom);
  }
  if (query.submittedBefore !== undefined) {
    parts.push("submitted < ?");
    values.push(query.submittedBefore);
  }
  if (query.whole === true) parts.push("element = -1");
  if (query.before !== undefined) {
    parts.push("(number, element) < (?, ?)");
    values.push(...key(query.before));
  }
  return { where: parts.length === 0 ? "" : `WHERE ${parts.join(" AND ")}`, values };
}

function asPosition(row: unknown): RecordPosition | null {
  if (row === undefined || row === null) return null;
  const { segment, offset, bytes } = row as Record<string, unknown>;
  return { segment: Number(segment), offset: Number(offset), bytes: Number(bytes) };
}
