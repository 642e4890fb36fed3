// One job script as a site's users write them, and what becomes of it: the submission that it is
// translated into, or why it is refused.

export interface Case {
  readonly title: string;
  /** Without the interpreter line, which is bash unless it is given. */
  readonly script: string;
  /** Words before the script on the command line of sbatch. */
  readonly flags?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Parts of the submission. */
  readonly becomes?: Readonly<Record<string, unknown>>;
  /** Variables among those that the job gets. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Each must be in a warning of its own, in order; absent: there is none. */
  readonly warns?: readonly string[];
  /** Each must be in the text of the refusal. */
  readonly refused?: readonly string[];
}
