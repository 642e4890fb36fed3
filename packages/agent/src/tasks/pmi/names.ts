// Requests about published names in PMI-1 and PMI-2, and their replies.

import type { NameAct, NameEffect, NameReply } from "../base/name-types.ts";

const ACTS: Readonly<Record<string, NameAct>> = {
  publish_name: "publish",
  lookup_name: "lookup",
  unpublish_name: "unpublish",
  "name-publish": "publish",
  "name-lookup": "lookup",
  "name-unpublish": "unpublish",
};

/** Returns null when the command is not about names. */
export function nameQuestion(
  rank: number,
  version: 1 | 2,
  cmd: string,
  fields: ReadonlyMap<string, string>,
): readonly NameEffect[] | null {
  const act = ACTS[cmd];
  if (act === undefined) return null;
  const name = fields.get(version === 1 ? "service" : "name") ?? "";
  return [{ kind: "name", rank, version, act, name, value: fields.get("port") ?? "" }];
}

type Answer = readonly [cmd: string, fields: Record<string, string | number>];

const WORDS: Readonly<Record<string, string>> = {
  taken: "key_already_present",
  unknown: "service_not_found",
  full: "too_many_names",
};

export function nameAnswer1({ act }: NameEffect, { problem, found }: NameReply): Answer {
  const cmd = `${act}_result`;
  if (problem !== "") return [cmd, { info: "ok", rc: 1, msg: WORDS[problem] ?? problem }];
  const port = act === "lookup" ? { port: found[0]?.[1] ?? "" } : {};
  return [cmd, { info: "ok", rc: 0, msg: "success", ...port }];
}

export function nameAnswer2({ act }: NameEffect, { problem, found }: NameReply): Answer {
  const cmd = `name-${act}`;
  if (problem !== "") return [cmd, { rc: 1, errmsg: WORDS[problem] ?? problem }];
  const value = found[0]?.[1] ?? "";
  return [cmd, act === "lookup" ? { rc: 0, found: "TRUE", value, port: value } : { rc: 0 }];
}
