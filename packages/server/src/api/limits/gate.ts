// How often and how many: asked once per call, after the caller is known and before anything is looked up.
// What is over a limit is refused at once with the time to wait; nothing is queued, because a queue of
// refused work is what a flood wants.

import { ProblemError } from "@lattice/wire";
import type { Principal } from "../../base/auth/principal.ts";
import type { Config } from "../../base/config/index.ts";
import { createBuckets, type Rate } from "./buckets.ts";
import { type RpcLimit, streamLimitOf, unaryLimitOf } from "./rpc-limits.ts";

export interface Gate {
  /** Throws `rate_limited`. */
  enter(principal: Principal, rpc: string): void;
  /** The same for a stream, which takes a place until the function that comes back is called. */
  open(principal: Principal, rpc: string): () => void;
  /** Streams open now, whatever kind. */
  readonly streams: number;
}

export interface GateOptions {
  /** As they are now: they may be changed while the server runs. */
  readonly limits: () => Config["rateLimits"];
  /** Whether callers have identities; without, the general limits would only bound the one user there is. */
  readonly identified: boolean;
  readonly now?: () => number;
  /** A refusal, by the option that bounds it. */
  readonly refused?: (option: string) => void;
}

/** Burst size, in seconds of the rate. */
const BURST_S = 2;

export function createGate({ limits: current, identified, now = () => performance.now(), refused }: GateOptions): Gate {
  const buckets = createBuckets();
  const open = new Map<string, number>();
  let streams = 0;

  function take(name: string, rate: Rate, option: string, figure: string): void {
    const waitMs = buckets.take(name, rate, now());
    if (waitMs <= 0) return;
    refused?.(option);
    throw tooOften(figure, option, waitMs);
  }

  function general({ user, tenant }: Principal): void {
    if (!identified) return;
    const limits = current();
    const mine = limits.userRequestsPerSecond;
    if (mine > 0) take(`u ${user}`, perSecond(mine), "user_requests_per_second", `${mine} calls a second for a user`);
    const ours = tenant === null ? 0 : tenantFigure(limits, tenant);
    if (ours > 0)
      take(`t ${tenant}`, perSecond(ours), "tenant_requests_per_second", `${ours} calls a second for ${tenant}`);
  }

  function named(principal: Principal, limit: RpcLimit | null): void {
    if (limit?.kind !== "rate") return;
    const figure = current()[limit.key];
    if (figure === 0) return;
    const rate = { burst: figure, perSecond: figure / 60 };
    take(`${limit.key} ${principal.user}`, rate, limit.option, `${figure} of these calls a minute`);
  }

  return {
    enter(principal, rpc) {
      general(principal);
      named(principal, unaryLimitOf(rpc));
    },
    open(principal, rpc) {
      general(principal);
      const limit = streamLimitOf(rpc);
      named(principal, limit);
      if (limit.kind !== "concurrent") return () => undefined;
      const most = current()[limit.key];
      const place = `${limit.key} ${principal.user}`;
      const before = open.get(place) ?? 0;
      if (before >= most) {
        refused?.(limit.option);
        throw tooMany(before, most, limit.option);
      }
      open.set(place, before + 1);
      streams += 1;
      return () => {
        streams -= 1;
        const left = (open.get(place) ?? 1) - 1;
        if (left > 0) open.set(place, left);
        else open.delete(place);
      };
    },
    get streams() {
      return streams;
    },
  };
}

/** A tenant may have any name, such as that of a property that every object has. */
const tenantFigure = ({ tenants, tenantRequestsPerSecond }: Config["rateLimits"], tenant: string): number =>
  (Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined) ?? tenantRequestsPerSecond;

const perSecond = (figure: number): Rate => ({ burst: figure * BURST_S, perSecond: figure });

const tooOften = (figure: string, option: string, waitMs: number): ProblemError =>
  new ProblemError("rate_limited", {
    detail: `More than ${figure}.`,
    hint: `Wait, then send fewer requests; an administrator can raise rate_limits.${option}.`,
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  });

const tooMany = (count: number, most: number, option: string): ProblemError =>
  new ProblemError("too_many_streams", {
    detail: `maximum concurrent streams reached (${count}/${most}). Close an existing stream to open a new one.`,
    hint: `Close one of them first; an administrator can raise rate_limits.${option}.`,
  });
