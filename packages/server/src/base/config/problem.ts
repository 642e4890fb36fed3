// Problems of a configuration: all at once, each with its path.

export interface ConfigProblem {
  /** For example "api.rest_listen"; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];
  constructor(source: string, problems: readonly ConfigProblem[]) {
    super([`${source} is not usable:`, ...problems.map((p) => `  ${[p.path, p.message].join(" ").trim()}`)].join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}
