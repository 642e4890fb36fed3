// The metric of a reactive service as a user names it: a plain name, or a name with matchers of labels. It becomes part of a query to
// a store that holds the series of all tenants, so nothing but this form is taken: what is built from the parts cannot ask for more.

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
/** As agents read it from what programs say. */
const PLAIN = /^[a-zA-Z_][\w:]{0,63}$/;
const NAMED = /^([a-zA-Z_:][\w:]{0,127})\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}$/;
const OWN = /^lattice_/i;
/** Values have no quotes and no backslashes: where one ends is beyond doubt. */
const MATCHER = /\s*([a-zA-Z_]\w{0,63})\s*(=~|!~|!=|=)\s*(?:'([^'"\\\p{Cc}]*)'|"([^'"\\\p{Cc}]*)")\s*(,|$)/uy;

/** Returns `null` when the text does not have this form. */
export function parseMetric(text: string): Metric | null {
  const trimmed = text.trim();
  if (PLAIN.test(trimmed)) return { name: trimmed, matchers: null };
  const [, name, inside] = NAMED.exec(trimmed) ?? [];
  // Lattice's own series name the allocation, which is not for users to choose.
  if (name === undefined || inside === undefined || OWN.test(name)) return null;
  const matchers = parseMatchers(inside);
  return matchers === null ? null : { name, matchers };
}

function parseMatchers(inside: string): readonly LabelMatcher[] | null {
  const matchers: LabelMatcher[] = [];
  const pattern = new RegExp(MATCHER);
  while (inside.slice(pattern.lastIndex).trim() !== "") {
    const [, label, operator, single, double] = pattern.exec(inside) ?? [];
    // Labels of two underscores are the store's own, the name of the series among them.
    if (label === undefined || label.startsWith("__") || matchers.length === MAX_MATCHERS) return null;
    matchers.push({ label, operator: operator as LabelMatcher["operator"], value: single ?? double ?? "" });
  }
  return matchers;
}
