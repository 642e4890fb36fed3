// One job script as users of a site write it, and its result: the translated submission, or the refusal.

export interface Case {
  readonly title: string;
  /** Without the interpreter line, which is bash by default. */
  readonly script: string;
  /** Arguments of sbatch before the script. */
  readonly flags?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Expected parts of the submission. */
  readonly becomes?: Readonly<Record<string, unknown>>;
  /** Expected variables of the job. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Variables that the job does not get. */
  readonly without?: readonly string[];
  /** Each must be in its own warning, in order. Default: no warnings. */
  readonly warns?: readonly string[];
  /** Each must be in the text of the refusal. */
  readonly refused?: readonly string[];
}
