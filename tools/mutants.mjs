// The mutants of a source text, for tools/mutate.mjs: every place that a rule applies to, and a seeded sample of them. The
// rules work on tokens, not on a syntax tree: they skip comments, strings, imports and types, and may produce text that
// does not parse.

const OPERATORS = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "+": "-",
  "-": "+",
  "+=": "-=",
  "-=": "+=",
  "&&": "||",
  "||": "&&",
};

/** Every place of the code that a mutation rule applies to: `{ file, at, from, to }`. */
export function mutantsOf(file, text) {
  const code = blank(text);
  const found = [];
  const add = (at, from, to) => found.push({ file, at, from, to });
  // The formatter puts spaces around binary operators and none around type arguments.
  for (const { index, 1: operator } of code.matchAll(/(?<= )(<=?|>=?|[=!]==|\+=?|-=?|&&|\|\|)(?=\s)/g)) {
    add(index, operator, OPERATORS[operator]);
  }
  for (const { index, 0: word } of code.matchAll(/(?<![\w.])(true|false)\b(?!\s*[?:]\s*\w+\s*[;)])/g)) {
    add(index, word, word === "true" ? "false" : "true");
  }
  for (const { index } of code.matchAll(/!(?=[\w(])/g)) add(index, "!", "");
  for (const { index, 0: digits } of code.matchAll(/(?<![\w.]|[^|]\| -?)\d+(?![\w.]| \| )/g))
    add(index, digits, String(Number(digits) + 1));
  for (const { index, 0: head } of code.matchAll(/\bif \(/g)) {
    const end = closing(code, index + head.length - 1);
    if (end > 0) add(index + 4, text.slice(index + 4, end), `!(${text.slice(index + 4, end)})`);
  }
  for (const { index, 1: statement } of code.matchAll(
    /^[ \t]*((?!return|const|let|throw|import|export|await|yield|for|if|while)[\w.?]+\(.*\);)$/gm,
  )) {
    const at = text.indexOf(statement.slice(0, 4), index);
    add(at, text.slice(at, at + statement.length), ";");
  }
  return found.sort((a, b) => a.at - b.at);
}

/** The text with comments, strings, imports and types replaced by spaces; positions stay. */
function blank(text) {
  const hide = (part) => part.replace(/[^\n]/g, " ");
  return blankText(text)
    .replace(/^(?:import|export type \*|export \{)[\s\S]*?;$/gm, hide)
    .replace(/^(?:export )?interface [\s\S]*?^\}/gm, hide)
    .replace(/^(?:export )?type [\s\S]*?;$/gm, hide);
}

/** Blanks comments, strings and the text of templates. The code inside `${}` of a template stays. */
function blankText(text) {
  const token =
    /\/\*[\s\S]*?\*\/|(?<![:"'`\w])\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)|[{}]/g;
  const templateRest = /(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)/y;
  const blanked = text.split("");
  const hide = (from, to) => {
    for (let at = from; at < to; at += 1) if (text[at] !== "\n") blanked[at] = " ";
  };
  /** Open braces, innermost last; true: of a template's substitution. */
  const braces = [];
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const [part] = found;
    if (part === "{") braces.push(false);
    else if (part !== "}") {
      hide(found.index, token.lastIndex);
      if (part.startsWith("`") && part.endsWith("${")) braces.push(true);
    } else if (braces.pop() === true) {
      templateRest.lastIndex = token.lastIndex;
      const [rest = ""] = templateRest.exec(text) ?? [];
      hide(found.index, token.lastIndex + rest.length);
      token.lastIndex += rest.length;
      if (rest.endsWith("${")) braces.push(true);
    }
  }
  return blanked.join("");
}

function closing(code, open) {
  let depth = 0;
  for (let at = open; at < code.length; at += 1) {
    if (code[at] === "(") depth += 1;
    if (code[at] === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

/** A seeded sample without repetition, in order of place. */
export function pick(all, count, seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  for (let i = 0; i < 16; i += 1) random();
  const order = all.map((mutant) => ({ mutant, key: random() })).sort((a, b) => a.key - b.key);
  const chosen = new Set(order.slice(0, count).map(({ mutant }) => mutant));
  return all.filter((mutant) => chosen.has(mutant));
}
