// A position in the log that can be compared with another log: an entry, its hash, and the hash of the first entry of its
// term. An index alone says nothing about content: an old copy of a log that is written to reaches every index. Entries
// are chained by hash, so equal hashes mean equal logs up to there. The hashes of entries are kept for a while, those of
// terms far longer: a copy that was started again writes in a term of its own.

export interface LogPosition {
  /** 0 for a log without entries. */
  readonly index: number;
  /** Of the entry, as `shortHash`; empty when it is not kept any more. */
  readonly hash: string;
  /** Of the first entry of its term, as `shortHash`; empty when it is not kept any more. */
  readonly termHash: string;
}

/** The answer of another log about an index. */
export interface LogAnswer extends LogPosition {
  /** The oldest index whose term the other side still knows. */
  readonly keptFrom: number;
}

export const LOG_START: LogPosition = { index: 0, hash: "", termHash: "" };

/** 64 bits: entries differ by accident, not on purpose. */
const SHORT_LENGTH = 16;

export const shortHash = (hash: string): string => hash.slice(0, SHORT_LENGTH);

type LogComparison =
  /** The other log holds this entry, or it is too old to be known. */
  | "same"
  /** The other log holds another entry there. */
  | "different"
  /** The other side says nothing about an entry that it should know. */
  | "unproven";

/** Compares a known position with the answer of another log about the same index. */
export function compareLogs(known: LogPosition, answer: LogAnswer): LogComparison {
  if (known.index === 0 || known.hash === "") return "same";
  if (answer.index !== known.index) return "unproven";
  if (differ(answer.hash, known.hash) || differ(answer.termHash, known.termHash)) return "different";
  if (answer.hash !== "" || answer.termHash !== "") return "same";
  return known.index < answer.keptFrom ? "same" : "unproven";
}

const differ = (one: string, other: string): boolean => one !== "" && other !== "" && one !== other;
