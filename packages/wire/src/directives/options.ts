// Parses words into options: `--nodes=4`, `--nodes 4`, `-N4`, `-N 4`, `nodes=4`. The caller knows which options take a
// value.

export interface Option {
  /** Without dashes; a short flag is one letter. */
  readonly name: string;
  /** `null` for an option without a value. */
  readonly value: string | null;
  /** As it was written, for messages. */
  readonly text: string;
  /** The line number in the script, from 1; absent outside a script. */
  readonly line?: number;
}

export function optionsOf(words: readonly string[], takesValue: (name: string) => boolean, line?: number): Option[] {
  const where = line === undefined ? {} : { line };
  const out: Option[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    const { name, value } = split(word);
    const next = words[i + 1];
    if (value === null && takesValue(name) && next !== undefined && !isOption(next)) {
      out.push({ name, value: next, text: `${word} ${next}`, ...where });
      i += 1;
    } else out.push({ name, value, text: word, ...where });
  }
  return out;
}

function split(word: string): { name: string; value: string | null } {
  if (/^-[A-Za-z]/.test(word)) {
    const rest = word.slice(2).replace(/^=/, "");
    return { name: word.slice(1, 2), value: rest === "" ? null : rest };
  }
  const at = word.indexOf("=");
  const name = (at < 0 ? word : word.slice(0, at)).replace(/^--/, "");
  return { name, value: at < 0 ? null : word.slice(at + 1) };
}

/** A negative number is a value. */
const isOption = (word: string): boolean => /^--?[A-Za-z]/.test(word);
