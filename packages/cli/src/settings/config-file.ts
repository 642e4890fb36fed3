// Reads the user's configuration file. An unknown key is an error, so that a typo does not silently send
// jobs to the wrong cluster. Some keys have two documented names; both work.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ProblemError } from "@lattice/wire";

export interface ConfigFile {
  readonly url?: string;
  readonly tenant?: string;
  readonly vcluster?: string;
  readonly uenv?: string;
  readonly output?: string;
  readonly color?: boolean;
  readonly user?: string;
  readonly ca?: string;
}

const KEYS = {
  api_url: "url",
  endpoint: "url",
  default_tenant: "tenant",
  tenant: "tenant",
  default_vcluster: "vcluster",
  vcluster: "vcluster",
  default_uenv: "uenv",
  output_format: "output",
  color: "color",
  user: "user",
  ca: "ca",
} as const satisfies Record<string, keyof ConfigFile>;

/** Reads `named`, the file of --config, which must exist, or else the default path, which may be absent. */
export async function readConfigFile(named: string | undefined, env: NodeJS.ProcessEnv): Promise<ConfigFile> {
  const path = named ?? defaultPath(env);
  if (path === null) return {};
  if (!existsSync(path)) {
    if (named === undefined) return {};
    throw new ProblemError("invalid_argument", {
      detail: `the configuration file ${path} does not exist`,
      hint: "Check the path after --config.",
    });
  }
  const { parseYaml: parse } = await import("../parse/yaml.ts");
  let document: unknown;
  try {
    document = parse(readFileSync(path, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ProblemError("invalid_argument", {
      detail: `${path} cannot be read: ${why}`,
      hint: "The file must be plain YAML.",
    });
  }
  return checkConfig(document ?? {}, path);
}

export function checkConfig(document: unknown, path: string): ConfigFile {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new ProblemError("invalid_argument", {
      detail: `${path} must hold key: value lines`,
      hint: 'For example: api_url: "http://127.0.0.1:8080"',
    });
  }
  const config: Record<string, string | boolean> = {};
  for (const [key, value] of Object.entries(document)) {
    if (!Object.hasOwn(KEYS, key)) {
      throw new ProblemError("invalid_argument", {
        detail: `${path}: unknown key "${key}"`,
        hint: `Known keys: ${Object.keys(KEYS).join(", ")}`,
      });
    }
    const name = KEYS[key as keyof typeof KEYS];
    const wanted = name === "color" ? "boolean" : "string";
    if (typeof value !== wanted) {
      throw new ProblemError("invalid_argument", {
        detail: `${path}: ${key} must be a ${wanted}`,
        hint: wanted === "string" ? "Put the value in quotes." : "Write true or false.",
      });
    }
    config[name] = value as string | boolean;
  }
  return config as ConfigFile;
}

function defaultPath(env: NodeJS.ProcessEnv): string | null {
  const base = env.XDG_CONFIG_HOME ?? (env.HOME === undefined ? null : join(env.HOME, ".config"));
  return base === null ? null : join(base, "lattice", "config.yaml");
}
