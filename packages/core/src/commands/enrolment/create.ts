// enrolment.create: stores an enrolment. Its secret was made by the proposing server, which shows it once.

import type { Duration } from "../../base/ids.ts";
import { after } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse, refuseFields } from "../../base/outcome.ts";
import { checkEnrolment, MAX_ENROLMENTS } from "../../model/access/enrolment.ts";
import type { Origin } from "../../model/origin.ts";
import type { Step } from "../../transitions/step.ts";

export interface CreateEnrolmentCommand {
  readonly kind: "enrolment.create";
  readonly origin: Origin;
  readonly id: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
  readonly limit: number;
  readonly lifetime: Duration;
  readonly networks: readonly string[];
}

export function createEnrolment(step: Step, command: CreateEnrolmentCommand): Outcome {
  const { id, hash, limit, lifetime, networks, origin } = command;
  const { enrolments } = step.state.tables;
  const problems = checkEnrolment(command);
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (enrolments.has(id)) return refuse("already_exists", `there is an enrolment ${id} already`);
  const expired = Array.from(enrolments.values()).filter(({ until }) => until <= step.at);
  if (enrolments.size - expired.length >= MAX_ENROLMENTS) {
    const figures = { current: MAX_ENROLMENTS, requested: 1, limit: MAX_ENROLMENTS };
    return refuse("quota_exceeded", `there are ${MAX_ENROLMENTS} enrolments already`, figures);
  }

  for (const one of expired) enrolments.delete(one.id);
  const until = after(step.at, lifetime);
  enrolments.set(id, { id, hash, limit, until, networks, by: origin.user, at: step.at, nodes: [] });
  return accepted(id);
}
