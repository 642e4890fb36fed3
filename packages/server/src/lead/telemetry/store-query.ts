// One instant query to a time-series store with the HTTP API of Prometheus (`GET /api/v1/query`). A plain name means
// the metric that the leader exports for this allocation (exported.ts); a name with matchers is queried with them,
// scoped to the nodes of the allocation.

import { type NodeId, parseMetric } from "@lattice/core";
import { withDeadline } from "@lattice/wire";
import { EXPORTED_PREFIX } from "./exported.ts";

interface StoreQuestion {
  readonly metric: string;
  readonly allocation: string;
  readonly nodes: readonly NodeId[];
}

type StoreAnswer = { readonly value: number } | { readonly problem: string };

const ANSWER_MS = 5_000;
const MAX_ANSWER_BYTES = 1_000_000;

export async function queryStore(url: string, question: StoreQuestion, signal: AbortSignal): Promise<StoreAnswer> {
  const query = queryText(question);
  if (query === null) return { problem: "the metric name is not allowed" };
  const address = `${url.replace(/\/+$/, "")}/api/v1/query?query=${encodeURIComponent(query)}`;
  try {
    const limit = withDeadline(signal, ANSWER_MS);
    const answer = await fetch(address, { redirect: "error", signal: limit });
    const text = await answer.text();
    if (text.length > MAX_ANSWER_BYTES) return { problem: "the answer is too long" };
    if (!answer.ok) return { problem: `the store answered ${answer.status}` };
    return valueIn(JSON.parse(text));
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Built from parsed parts only, never from the user's text; `null` when the query is not allowed. */
export function queryText({ metric, allocation, nodes }: StoreQuestion): string | null {
  const parsed = parseMetric(metric);
  if (parsed === null) return null;
  const { name, matchers } = parsed;
  if (matchers === null) return `avg(${EXPORTED_PREFIX}${name}{allocation=${JSON.stringify(allocation)}})`;
  // An empty pattern would match every series without the label.
  if (nodes.length === 0) return null;
  const scope = `node_id=~${JSON.stringify(nodes.map(literally).join("|"))}`;
  const own = matchers.map(({ label, operator, value }) => `${label}${operator}${JSON.stringify(value)}`);
  return `avg(${name}{${[...own, scope].join(",")}})`;
}

/** Escapes a value for a pattern of the store. */
const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[time,"0.83"]}]}}` */
function valueIn(answer: unknown): StoreAnswer {
  const { status, data, error } = (answer ?? {}) as { status?: unknown; data?: { result?: unknown }; error?: unknown };
  if (status !== "success") return { problem: `the store refused the query: ${String(error ?? status)}` };
  const result = data?.result;
  const first = Array.isArray(result) ? (result[0] as { value?: unknown } | undefined) : undefined;
  const pair = first?.value;
  const value = Array.isArray(pair) && typeof pair[1] === "string" ? Number(pair[1]) : Number.NaN;
  return Number.isFinite(value) ? { value } : { problem: "the store has no value" };
}
