// History: finished allocations that have left the live state. Callers see this and nothing else.

export type { RowQuery, SegmentInfo, StoredRecord } from "./messages.ts";
export { type History, type HistoryOptions, type HistoryRecord, openHistory } from "./open.ts";
export { writeProgress as writeMark } from "./progress-file.ts";
