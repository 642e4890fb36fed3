// `lattice admin config`: shows the effective settings and changes them on all running servers.

import { randomUUID } from "node:crypto";
import type { Setting } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../../context.ts";
import type { Column } from "../../output/table.ts";
import { localTime } from "../../output/time.ts";

export function defineConfig(command: Command): void {
  const get = command.command("get").description("Show a setting, a section, or all of them");
  get
    .argument("[key]", "key or section of the configuration file, for example scheduling.max_dag_size or scheduling")
    .action(async (key: string | undefined) => {
      const context = await createContext(get);
      show(context, key, (await context.client.config.get(key)).settings ?? []);
    });

  const set = command
    .command("set")
    .description("Change a setting on all servers, effective at once and kept across restarts");
  set.argument("<pair...>", "key=value, or a key and a value").action(async (words: readonly string[]) => {
    const { key, value } = pairOf(words);
    const context = await createContext(set);
    const { settings = [] } = await context.client.config.set(key, value, { requestId: randomUUID() });
    show(context, undefined, settings);
  });

  const reset = command.command("reset").description("Return to the value of each server's file");
  reset.argument("<key>", "setting").action(async (key: string) => {
    const context = await createContext(reset);
    show(context, undefined, (await context.client.config.reset(key, { requestId: randomUUID() })).settings ?? []);
  });
}

function pairOf(words: readonly string[]): { readonly key: string; readonly value: string } {
  const [first = "", second] = words;
  const at = first.indexOf("=");
  if (words.length === 1 && at > 0) return { key: first.slice(0, at), value: first.slice(at + 1) };
  if (words.length === 2 && second !== undefined && at < 0) return { key: first, value: second };
  throw new ProblemError("invalid_argument", {
    detail: "a key and a value are required",
    hint: "For example: lattice admin config set scheduling.max_dag_size=500",
  });
}

/** Prints only the value of a setting requested by its full key, for scripts. */
function show({ print, settings: { quiet } }: Context, key: string | undefined, settings: readonly Setting[]): void {
  const [only] = settings;
  if (print.structured) void print.document({ settings });
  else if (only !== undefined && settings.length === 1 && only.key === key) print.line(plain(only.value));
  else if (quiet) print.lines(settings.map((setting) => `${setting.key}=${plain(setting.value)}`));
  else print.table(columns, settings);
}

/** Returns an empty text for an unset value. */
const plain = (value: string): string => {
  if (value === "null") return "";
  return value.startsWith('"') ? String(JSON.parse(value)) : value;
};

const columns: readonly Column<Setting>[] = [
  { header: "SETTING", value: ({ key }) => key },
  { header: "VALUE", value: ({ value }) => plain(value), flexible: true },
  { header: "LIVE", value: ({ live }) => (live === true ? "yes" : "restart") },
  { header: "SOURCE", value: ({ source = "default" }) => source },
  {
    header: "CHANGED",
    value: ({ set_at, set_by }) => (set_at === undefined ? "" : `${localTime(set_at)} by ${set_by ?? ""}`),
  },
];
