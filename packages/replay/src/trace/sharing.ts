// The relation of a captured vCluster to others: whether it preempts or is preempted, and what it lends and borrows.
//   {"preempts": true, "preemptible": "borrowed", "borrows": true,
//    "lending": {"keep_nodes": 2, "max_class": 4, "max_duration": "12h", "return_grace": "30s"}}

import { DEFAULT_LENDING, type Duration, duration, type Lending } from "@lattice/core";
import type { Profile, Sharing } from "../weights/profile.ts";
import { type Bad, isObject, type TraceObject } from "./record.ts";
import { parseDuration } from "./time-text.ts";

const PREEMPTIBLE = ["always", "borrowed", "never"] as const;

export function parseSharing(vcluster: TraceObject, bad: Bad): Pick<Profile, "sharing"> {
  const { preempts, preemptible, borrows, lending } = vcluster;
  for (const [field, value] of Object.entries({ preempts, borrows })) {
    if (value !== undefined && typeof value !== "boolean")
      throw bad(`the field "vcluster.${field}" must be true or false`);
  }
  const by = PREEMPTIBLE.find((known) => known === preemptible);
  if (preemptible !== undefined && by === undefined) {
    throw bad(`the field "vcluster.preemptible" must be one of ${PREEMPTIBLE.join(", ")}`);
  }
  const sharing: Sharing = {
    ...(typeof preempts === "boolean" ? { preempts } : null),
    ...(typeof borrows === "boolean" ? { borrows } : null),
    ...(by === undefined ? null : { preemptible: by }),
    ...(lending === undefined ? null : { lending: parseLending(lending, bad) }),
  };
  return Object.keys(sharing).length === 0 ? {} : { sharing };
}

function parseLending(value: unknown, bad: Bad): Lending | null {
  if (value === null) return null;
  if (!isObject(value)) throw bad('the field "vcluster.lending" must be an object');
  const { keep_nodes, max_class, max_duration, return_grace } = value;
  const count = (name: string, given: unknown, otherwise: number): number => {
    if (given === undefined) return otherwise;
    if (typeof given === "number" && Number.isInteger(given) && given >= 0) return given;
    throw bad(`the field "vcluster.lending.${name}" must be a whole number`);
  };
  const time = (name: string, given: unknown): Duration => {
    const length = parseDuration(given);
    if (length === null || length < 0)
      throw bad(`the field "vcluster.lending.${name}" must be a duration such as "12h"`);
    return duration(Math.round(length * 1000));
  };
  return {
    keepNodes: count("keep_nodes", keep_nodes, DEFAULT_LENDING.keepNodes),
    maxClass: count("max_class", max_class, DEFAULT_LENDING.maxClass),
    maxDuration: max_duration === undefined || max_duration === null ? null : time("max_duration", max_duration),
    returnGrace: return_grace === undefined ? DEFAULT_LENDING.returnGrace : time("return_grace", return_grace),
  };
}
