// Blanks out comments and, on request, strings of a source text, so that rules about code ignore words. Line breaks stay,
// so positions keep their line numbers. This is a scanner, not a parser: a slash starts a regular expression unless a
// value precedes it.

export const withoutComments = onceForEach((text) => scan(text, { keepStrings: true }));

export const withoutCommentsAndStrings = onceForEach((text) => scan(text, { keepStrings: false }));

export function lineOf(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

/** Caches results, because every rule scans every file. */
function onceForEach(work: (text: string) => string): (text: string) => string {
  const done = new Map<string, string>();
  return (text) => {
    const before = done.get(text);
    if (before !== undefined) return before;
    const result = work(text);
    done.set(text, result);
    return result;
  };
}

function scan(text: string, options: { readonly keepStrings: boolean }): string {
  const out: string[] = [];
  /** Brace depth at the `${` of each open template literal. */
  const templates: number[] = [];
  let depth = 0;
  let at = 0;
  let previous = "";

  const blank = (end: number): void => {
    out.push(text.slice(at, end).replace(/[^\n]/g, " "));
    at = end;
  };
  const keep = (end: number): void => {
    out.push(text.slice(at, end));
    at = end;
  };
  const string = (end: number): void => (options.keepStrings ? keep(end) : blank(end));

  while (at < text.length) {
    const two = text.slice(at, at + 2);
    const one = text.charAt(at);
    if (two === "//") blank(endOf(text, "\n", at));
    else if (two === "/*") blank(Math.min(text.length, text.indexOf("*/", at + 2) + 2 || text.length));
    else if (one === '"' || one === "'") {
      string(endOfQuoted(text, at, one));
      previous = '"';
    } else if (one === "`" || (one === "}" && templates.at(-1) === depth)) {
      if (one === "}") templates.pop();
      const end = endOfTemplatePart(text, at + 1);
      if (text.slice(end - 2, end) === "${") templates.push(depth);
      string(end);
      previous = text.slice(end - 2, end) === "${" ? "(" : '"';
    } else if (one === "/" && !/[\w)\]"}]/.test(previous)) {
      string(endOfExpression(text, at));
      previous = '"';
    } else {
      if (one === "{") depth += 1;
      if (one === "}") depth -= 1;
      if (!/\s/.test(one)) previous = one;
      keep(at + 1);
    }
  }
  return out.join("");
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found;
}

function endOfQuoted(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text.charAt(at) === "\\") at += 1;
    else if (text.charAt(at) === quote || text.charAt(at) === "\n") return at + 1;
  }
  return text.length;
}

function endOfTemplatePart(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text.charAt(at) === "\\") at += 1;
    else if (text.charAt(at) === "`") return at + 1;
    else if (text.slice(at, at + 2) === "${") return at + 2;
  }
  return text.length;
}

function endOfExpression(text: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < text.length; at += 1) {
    const one = text.charAt(at);
    if (one === "\n") return from + 1;
    if (one === "\\") at += 1;
    else if (one === "[") inClass = true;
    else if (one === "]") inClass = false;
    else if (one === "/" && !inClass) return at + 1;
  }
  return text.length;
}
