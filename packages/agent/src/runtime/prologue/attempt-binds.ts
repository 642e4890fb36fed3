// The folders of an attempt that its container sees, as the stages of the prologue have made them. They are known by
// what the agent made, never by a variable, which the submission could have set itself.

import { controlFolder } from "../../checkpoint/control.ts";
import type { PrologueTarget } from "../base/engine.ts";
import type { BindMount } from "../base/entry-plan.ts";

/** `folders`: as the stage that made them named them. */
export function attemptBinds(
  { order, dir }: Pick<PrologueTarget, "order" | "dir">,
  folders: Readonly<Record<string, string>>,
): readonly BindMount[] {
  const { LATTICE_SCRATCH: scratch, LATTICE_OUTPUT_DIR: output } = folders;
  // A place that the user named is the user's path; the others are below folders of root's.
  const isNamed = namesOutputFolder(order);
  return [
    ...(scratch === undefined ? [] : [shared("own", scratch)]),
    ...(output === undefined ? [] : [shared(isNamed ? "bind" : "own", output)]),
    ...(order.checkpoint === undefined ? [] : [shared("own", controlFolder(dir))]),
  ];
}

/** Whether the user named a folder for output; buckets have none. */
export function namesOutputFolder({ data }: Pick<PrologueTarget["order"], "data">): boolean {
  const named = data?.output ?? "";
  return named !== "" && !named.startsWith("s3://");
}

const shared = (kind: BindMount["kind"], path: string): BindMount => ({
  kind,
  source: path,
  at: path,
  readOnly: false,
});
