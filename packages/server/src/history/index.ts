// History: finished allocations that have left the live state. Callers see this and nothing else.

export { HistoryError, type HistoryErrorCode } from "./history-error.ts";
export { writeMark } from "./mark.ts";
export type { RowQuery, SegmentInfo, StoredRecord } from "./messages.ts";
export { type History, type HistoryOptions, type HistoryRecord, openHistory } from "./open.ts";
export type { HistoryGap } from "./wholeness.ts";
