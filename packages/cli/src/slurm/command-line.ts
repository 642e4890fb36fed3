// Parses the arguments of a Slurm command into options and operands, as getopt does: `-N4`, `-N 4`, `-hn`, `--nodes=4`,
// `--nodes 4`, and unambiguous prefixes of long names. Errors have getopt's text.

import { SlurmError } from "./slurm-error.ts";

export interface OptionRule {
  readonly long: string;
  readonly short?: string;
  /** Default: the option takes no value. An optional value follows `=` or the letter directly. */
  readonly value?: "required" | "optional";
  /** This option is another spelling of `as`. */
  readonly as?: string;
}

export interface GivenOption {
  /** The long name. */
  readonly name: string;
  readonly value: string | null;
  /** The words as written. */
  readonly text: string;
}

export interface SlurmCommandLine {
  readonly given: readonly GivenOption[];
  readonly operands: readonly string[];
}

export interface Grammar {
  readonly program: string;
  readonly rules: readonly OptionRule[];
  /** Words after the first operand belong to it: it is a script or a command. */
  readonly stopsAtOperand?: boolean;
  /** Exit status of usage errors. Default: 1. */
  readonly exit?: number;
}

export function parseCommandLine(grammar: Grammar, argv: readonly string[]): SlurmCommandLine {
  const given: GivenOption[] = [];
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
  readonly given: readonly GivenOption[];
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
  const matches = name === "" ? [] : grammar.rules.filter(({ long }) => long.startsWith(name));
  const [only] = matches;
  const names = new Set(matches.map(({ long, as = long }) => as));
  if (only !== undefined && names.size === 1) return only;
  if (matches.length > 1) {
    const possible = matches.map(({ long }) => `'--${long}'`).join(" ");
    throw usage(grammar, `option '${written}' is ambiguous; possibilities: ${possible}`);
  }
  throw usage(grammar, `unrecognized option '${written}'`);
}

function shortOptions(grammar: Grammar, word: string, next: string | undefined): Read {
  const given: GivenOption[] = [];
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

const usage = ({ program, exit = 1 }: Grammar, detail: string): SlurmError =>
  new SlurmError([`${program}: ${detail}`, `Try "${program} --help" for more information`], exit);

/** Returns the last value, or `undefined` when the option is absent. */
export const lastValue = (words: SlurmCommandLine, name: string): string | undefined =>
  words.given.findLast((one) => one.name === name)?.value ?? undefined;

export const has = (words: SlurmCommandLine, name: string): boolean => words.given.some((one) => one.name === name);

/** Returns `a,b` and repeated options as one list, or `undefined` when the option is absent. */
export function listOf(words: SlurmCommandLine, name: string): readonly string[] | undefined {
  const values = words.given.filter((one) => one.name === name).map(({ value }) => value ?? "");
  if (values.length === 0) return undefined;
  return values.flatMap((value) => value.split(/,(?![^[]*\])/)).filter((item) => item !== "");
}
