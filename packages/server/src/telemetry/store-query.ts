// One instant query to a time-series store that speaks the HTTP API of Prometheus (`GET /api/v1/query`). A plain name means
// the metric of that name which Lattice's agents write, for this allocation; a name with a matcher is taken as written,
// scoped to the nodes of the allocation.

import type { NodeId } from "@lattice/core";

export interface StoreQuestion {
  readonly metric: string;
  readonly allocation: string;
  readonly nodes: readonly NodeId[];
}

export type StoreAnswer = { readonly value: number } | { readonly problem: string };

const ANSWER_MS = 5_000;
const MAX_ANSWER_BYTES = 1_000_000;

export async function queryStore(url: string, question: StoreQuestion, signal: AbortSignal): Promise<StoreAnswer> {
  const address = `${url.replace(/\/+$/, "")}/api/v1/query?query=${encodeURIComponent(queryText(question))}`;
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    const answer = await fetch(address, { redirect: "error", signal: limit });
    const text = await answer.text();
    if (text.length > MAX_ANSWER_BYTES) return { problem: "the answer is too long" };
    if (!answer.ok) return { problem: `the store answered ${answer.status}` };
    return valueIn(JSON.parse(text));
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

export function queryText({ metric, allocation, nodes }: StoreQuestion): string {
  const brace = metric.indexOf("{");
  if (brace < 0) return `avg(lattice_allocation_${metric}{allocation=${JSON.stringify(allocation)}})`;
  const scope = `node=~${JSON.stringify(nodes.join("|"))}`;
  const matchers = metric.slice(brace + 1, metric.lastIndexOf("}")).trim();
  return `avg(${metric.slice(0, brace)}{${matchers === "" ? scope : `${matchers},${scope}`}})`;
}

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
