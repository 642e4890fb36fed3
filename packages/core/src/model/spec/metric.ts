// The metric of a reactive service: a plain name, or a name with label matchers. It becomes part of a query to a store
// with the series of all tenants, so only this form is accepted: a query built from its parts cannot reach other
// tenants.

interface Metric {
  readonly name: string;
  /** `null` for a plain name: a value that agents measure for the allocation itself. */
  readonly matchers: readonly LabelMatcher[] | null;
}

interface LabelMatcher {
  readonly label: string;
  readonly operator: "=" | "!=" | "=~" | "!~";
  readonly value: string;
}

export const METRIC_FORM =
  "must be a name such as queue_depth, or one with matchers such as depth{job='x'}: no other expressions, and no lattice_ names";

const MAX_MATCHERS = 16;
/** The name as agents parse it from the program's metrics. */
const PLAIN = /^[a-zA-Z_][\w:]{0,63}$/;
const NAMED = /^([a-zA-Z_:][\w:]{0,127})\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}$/;
const OWN = /^lattice_/i;
/** Values contain no quotes and no backslashes, so their end is unambiguous. */
const MATCHER = /\s*([a-zA-Z_]\w{0,63})\s*(=~|!~|!=|=)\s*(?:'([^'"\\\p{Cc}]*)'|"([^'"\\\p{Cc}]*)")\s*(,|$)/uy;

/** Returns `null` when the text does not have this form. */
export function parseMetric(text: string): Metric | null {
  const trimmed = text.trim();
  if (PLAIN.test(trimmed)) return { name: trimmed, matchers: null };
  const [, name, inside] = NAMED.exec(trimmed) ?? [];
  // Lattice adds the allocation label itself; users may not set it.
  if (name === undefined || inside === undefined || OWN.test(name)) return null;
  const matchers = parseMatchers(inside);
  return matchers === null ? null : { name, matchers };
}

function parseMatchers(inside: string): readonly LabelMatcher[] | null {
  const matchers: LabelMatcher[] = [];
  const pattern = new RegExp(MATCHER);
  while (inside.slice(pattern.lastIndex).trim() !== "") {
    const [, label, operator, single, double] = pattern.exec(inside) ?? [];
    // Labels with two leading underscores are reserved by the store, including the series name.
    if (label === undefined || label.startsWith("__") || matchers.length === MAX_MATCHERS) return null;
    matchers.push({ label, operator: operator as LabelMatcher["operator"], value: single ?? double ?? "" });
  }
  return matchers;
}
