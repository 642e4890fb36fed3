// The words of a Slurm command as options and operands, read as getopt reads them: `-N4`, `-N 4`, `-hn`,
// `--nodes=4`, `--nodes 4`, and long names cut short where one name alone begins so. Mistakes are told in
// getopt's words.

import { Refusal } from "./refusal.ts";

export interface OptionRule {
  readonly long: string;
  readonly short?: string;
  /** Absent: it stands alone. Optional: only after `=`, or at once after the letter. */
  readonly value?: "required" | "optional";
  /** Another spelling of this one. */
  readonly as?: string;
}

export interface Given {
  /** The long name. */
  readonly name: string;
  readonly value: string | null;
  /** As it was written. */
  readonly text: string;
}

export interface Words {
  readonly given: readonly Given[];
  readonly operands: readonly string[];
}

export interface Grammar {
  readonly program: string;
  readonly rules: readonly OptionRule[];
  /** What follows the first operand belongs to it: a script or a command. */
  readonly stopsAtOperand?: boolean;
  /** Of a usage error. */
  readonly exit?: number;
}

export function readWords(grammar: Grammar, argv: readonly string[]): Words {
  const given: Given[] = [];
  const operands: string[] = [];
  let at = 0;
  while (at < argv.length) {
    const word = argv[at] ?? "";
    at += 1;
    if (word === "--") {
      operands.push(...argv.slice(at));
      break;
    }
    if (word === "-" || !word.startsWith("-")) {
      operands.push(word);
      if (grammar.stopsAtOperand !== true) continue;
      operands.push(...argv.slice(at));
      break;
    }
    const next = argv[at];
    const read = word.startsWith("--") ? longOption(grammar, word, next) : shortOptions(grammar, word, next);
    given.push(...read.given);
    if (read.tookNext) at += 1;
  }
  return { given, operands };
}

interface Read {
  readonly given: readonly Given[];
  readonly tookNext: boolean;
}

function longOption(grammar: Grammar, word: string, next: string | undefined): Read {
  const equals = word.indexOf("=");
  const written = equals < 0 ? word : word.slice(0, equals);
  const rule = findLong(grammar, written);
  const { long, as: name = long } = rule;
  if (equals >= 0) {
    if (rule.value === undefined) throw usage(grammar, `option '--${long}' doesn't allow an argument`);
    return { given: [{ name, value: word.slice(equals + 1), text: word }], tookNext: false };
  }
  if (rule.value !== "required") return { given: [{ name, value: null, text: word }], tookNext: false };
  if (next === undefined) throw usage(grammar, `option '--${long}' requires an argument`);
  return { given: [{ name, value: next, text: `${word}=${next}` }], tookNext: true };
}

function findLong(grammar: Grammar, written: string): OptionRule {
  const name = written.slice(2);
  const exact = grammar.rules.find(({ long }) => long === name);
  if (exact !== undefined) return exact;
  const begun = name === "" ? [] : grammar.rules.filter(({ long }) => long.startsWith(name));
  const [only] = begun;
  const names = new Set(begun.map(({ long, as = long }) => as));
  if (only !== undefined && names.size === 1) return only;
  if (begun.length > 1) {
    const possible = begun.map(({ long }) => `'--${long}'`).join(" ");
    throw usage(grammar, `option '${written}' is ambiguous; possibilities: ${possible}`);
  }
  throw usage(grammar, `unrecognized option '${written}'`);
}

function shortOptions(grammar: Grammar, word: string, next: string | undefined): Read {
  const given: Given[] = [];
  for (let i = 1; i < word.length; i += 1) {
    const letter = word[i] ?? "";
    const rule = grammar.rules.find(({ short }) => short === letter);
    if (rule === undefined) throw usage(grammar, `invalid option -- '${letter}'`);
    const name = rule.long;
    if (rule.value === undefined) {
      given.push({ name, value: null, text: `-${letter}` });
      continue;
    }
    const rest = word.slice(i + 1);
    if (rest !== "") return { given: [...given, { name, value: rest, text: `-${letter} ${rest}` }], tookNext: false };
    if (rule.value === "optional")
      return { given: [...given, { name, value: null, text: `-${letter}` }], tookNext: false };
    if (next === undefined) throw usage(grammar, `option requires an argument -- '${letter}'`);
    return { given: [...given, { name, value: next, text: `-${letter} ${next}` }], tookNext: true };
  }
  return { given, tookNext: false };
}

const usage = ({ program, exit = 1 }: Grammar, detail: string): Refusal =>
  new Refusal([`${program}: ${detail}`, `Try "${program} --help" for more information`], exit);

/** The last value given; undefined: not given. */
export const lastValue = (words: Words, name: string): string | undefined =>
  words.given.findLast((one) => one.name === name)?.value ?? undefined;

export const has = (words: Words, name: string): boolean => words.given.some((one) => one.name === name);

/** `a,b` and repeated options as one list; undefined: not given. */
export function listOf(words: Words, name: string): readonly string[] | undefined {
  const values = words.given.filter((one) => one.name === name).map(({ value }) => value ?? "");
  if (values.length === 0) return undefined;
  return values.flatMap((value) => value.split(/,(?![^[]*\])/)).filter((item) => item !== "");
}
