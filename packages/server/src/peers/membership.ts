// Who the members are, and changing that: asked of any server, since etcd takes changes from every
// member, and whoever leads is asked to step down by whoever is asked to see to it. One change at a
// time; each may be asked for again after a failure.

import { setTimeout as sleep } from "node:timers/promises";
import { ProblemError, type pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { Membership } from "../api/membership.ts";
import type { Leader } from "../leader/lead.ts";
import { createInTurn } from "../log/in-turn.ts";
import type { EtcdMember, KnownServer, ReplicatedLog, SharedLog } from "../log/index.ts";
import type { Metrics } from "../observe/index.ts";
import { parsePeer } from "./address.ts";
import { asProblem, chooseSuccessor, findMember, refuseNewcomer, refuseTransfer } from "./decide.ts";
import type { Roster } from "./roster.ts";
import { ownStanding, type StandingParts } from "./standing.ts";
import { listStandings } from "./standings.ts";

/** One that does not answer by then is shown as unhealthy; a change waits longer before it counts so. */
const STANDING_TIMEOUT_MS = 1_000;
const CHANGE_PATIENCE_MS = 4_000;
/** The favour ends after seconds; then anyone leads, and an election takes a moment. */
const TRANSFER_WITHIN_MS = 10_000;
const POLL_MS = 25;

export interface MembershipParts {
  readonly standing: StandingParts;
  /** Where the other servers reach this one. */
  readonly address: string;
  readonly log: ReplicatedLog;
  readonly leader: Leader;
  readonly roster: Roster;
  readonly configured: readonly KnownServer[];
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "membershipChange" | "leadershipTransfer">;
}

type Answers = ReadonlyMap<string, pb.GetStandingResponse>;

export function createMembership(parts: MembershipParts): Membership {
  const { log, leader, roster, logger, metrics } = parts;
  const { serverId } = parts.standing;
  const changes = createInTurn();

  const leaderId = (): string | null => {
    const name = log.status().leader;
    return name === null ? null : (parsePeer(name)?.id ?? name);
  };

  const standings = async (patienceMs: number): Promise<Answers> => {
    const asked = roster.others().map(({ id }) => roster.client(id)?.standing(patienceMs) ?? null);
    const answers = await Promise.all([ownStanding(parts.standing), ...asked.map((one) => one?.catch(() => null))]);
    return new Map(answers.flatMap((answer) => (answer === null || answer === undefined ? [] : [[answer.id, answer]])));
  };

  const look = (patienceMs: number): Promise<[Answers, readonly EtcdMember[]]> =>
    Promise.all([standings(patienceMs), log.shared?.members(patienceMs) ?? []]);
  const list = async (patienceMs = STANDING_TIMEOUT_MS): Promise<readonly pb.Member[]> =>
    merge(...(await look(patienceMs)));
  const merge = (answers: Answers, etcd: readonly EtcdMember[]): readonly pb.Member[] =>
    listStandings({
      self: { id: serverId, address: parts.address },
      leader: leaderId(),
      lastIndex: log.status().lastIndex,
      present: log.present(),
      known: log.shared?.known() ?? [],
      configured: parts.configured,
      answers,
      etcd,
    });

  const managed = (): SharedLog => {
    if (log.shared === undefined) throw alone();
    if (!log.shared.managed) throw runByOthers();
    return log.shared;
  };

  const whoLeadsAfter = async (term: number): Promise<{ readonly leader: string; readonly term: number }> => {
    const until = performance.now() + TRANSFER_WITHIN_MS;
    for (;;) {
      const status = log.status();
      const now = leaderId();
      if (now !== null && status.term > term) return { leader: now, term: status.term };
      if (performance.now() > until)
        throw new ProblemError("not_leader", { detail: `${now ?? "No server"} leads; nobody took over in time.` });
      await sleep(POLL_MS);
    }
  };

  const handOver = async (to: string) => {
    const term = log.status().term;
    const from = leaderId();
    logger.info({ from, to }, "leadership is handed over");
    const asked = from === serverId ? await leader.stepDown(to) : await roster.client(from ?? "")?.stepDown(to);
    // Whoever led a moment ago does no more: the next question finds out who does.
    if (asked !== true) throw new ProblemError("not_leader");
    const result = await whoLeadsAfter(term);
    metrics.leadershipTransfer(result.leader === to ? "done" : "elsewhere");
    logger.info({ from, to, ...result }, result.leader === to ? "leadership handed over" : "another server leads");
    return result;
  };

  return {
    list: () => list(),
    add: (server) =>
      changes(async () => {
        const shared = managed();
        const [answers, etcd] = await look(CHANGE_PATIENCE_MS);
        const refusal = refuseNewcomer(merge(answers, etcd), server);
        if (refusal !== null) throw refusal;
        const after = await shared.add(server).catch((cause: unknown) => {
          throw asProblem(cause, `${server.id} cannot be added`);
        });
        const isNew = after.length > etcd.length;
        if (isNew) metrics.membershipChange("added");
        logger.info({ member: server.id, peer: server.peer }, isNew ? "member added" : "member known already");
        return merge(answers, after);
      }),
    remove: (id, write) =>
      changes(async () => {
        const shared = managed();
        const members = await list(CHANGE_PATIENCE_MS);
        const found = findMember(members, id);
        if (found === null) throw new ProblemError("unknown_member", { detail: `There is no member ${id}.` });
        const target = (await shared.members(CHANGE_PATIENCE_MS)).find((member) => member.id === found.etcd?.id);
        if (target !== undefined) {
          const refusal = await shared.refuseRemove(target);
          if (refusal !== null) throw atRisk(`${found.id} cannot be removed: ${refusal}`);
        }
        // One that is lost with its leadership cannot be asked; its lease ends within seconds.
        if (found.leader && found.healthy) {
          const successor = chooseSuccessor(members, found.id);
          if (successor === null) throw atRisk(`${found.id} leads, and no other server answers.`);
          await handOver(successor);
        }
        // While this server, which may be the one that goes, can still write.
        await write();
        const removing = target === undefined ? shared.forget(found.id) : shared.remove(target);
        await removing.catch((cause: unknown) => {
          throw asProblem(cause, `${found.id} cannot be removed`);
        });
        metrics.membershipChange("removed");
        logger.info({ member: found.id, etcd: found.etcd?.id ?? null }, "member removed");
        return (await list()).filter((member) => member.id !== found.id);
      }),
    transfer: (to) =>
      changes(async () => {
        if (log.shared === undefined) throw alone();
        const members = await list(CHANGE_PATIENCE_MS);
        const now = leaderId();
        if (now === null) throw new ProblemError("not_leader");
        const target = to ?? chooseSuccessor(members, now);
        if (target === null) throw atRisk(`${now} leads, and no other server answers.`);
        if (!members.some(({ id, healthy }) => id === now && healthy))
          throw new ProblemError("not_leader", { detail: `${now} was the last to lead, and does not answer.` });
        if (target === now) return { leader: now, term: log.status().term };
        const refusal = refuseTransfer(members, target);
        if (refusal !== null) throw refusal;
        return handOver(target);
      }),
  };
}

const atRisk = (detail: string): ProblemError => new ProblemError("majority_at_risk", { detail });

const alone = (): ProblemError =>
  new ProblemError("conflict", {
    detail: "This server keeps its log by itself, so there are no members to change.",
    hint: "Several servers need quorum.engine: etcd; see the page on several servers.",
  });

const runByOthers = (): ProblemError =>
  new ProblemError("conflict", {
    detail: "The etcd behind this cluster is not run by its servers, so they do not change its members.",
    hint: "Use its own tools (etcdctl member add, etcdctl member remove). A server is added by starting it with the same endpoints, and removed by stopping it.",
  });
