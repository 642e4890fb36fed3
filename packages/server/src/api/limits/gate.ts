// Rate limits and limits on concurrent streams, checked once per call after authentication. Calls over a limit are
// refused at once with the time to wait. Nothing is queued, because a queue of excess calls would grow in a flood.

import { ProblemError } from "@lattice/wire";
import type { Principal } from "../../base/auth/principal.ts";
import type { Config } from "../../base/config/index.ts";
import { createSeats } from "../../base/seats.ts";
import { createBuckets, type Rate } from "./buckets.ts";
import { type RpcLimit, streamLimitOf, unaryLimitOf } from "./rpc-limits.ts";

export interface Gate {
  /** Throws `rate_limited`. */
  enter(principal: Principal, rpc: string): void;
  /** The same for a stream, which counts as open until the returned function is called. */
  open(principal: Principal, rpc: string): () => void;
  /** The number of open streams of all kinds. */
  readonly streams: number;
}

interface GateOptions {
  /** Returns the current limits, which may change while the server runs. */
  readonly limits: () => Config["rateLimits"];
  /** Whether callers are authenticated. Without authentication the general limits do not apply. */
  readonly identified: boolean;
  readonly now?: () => number;
  /** Called for each refusal with the option of the limit. */
  readonly refused?: (option: string) => void;
}

/** Burst size, in seconds of the rate. */
const BURST_S = 2;

export function createGate({ limits: current, identified, now = () => performance.now(), refused }: GateOptions): Gate {
  const buckets = createBuckets();
  const seats = createSeats();

  function take(name: string, rate: Rate, option: string, figure: string): void {
    const waitMs = buckets.take(name, rate, now());
    if (waitMs <= 0) return;
    refused?.(option);
    throw tooOften(figure, option, waitMs);
  }

  function general({ user, tenant }: Principal): void {
    if (!identified) return;
    const limits = current();
    const perUser = limits.userRequestsPerSecond;
    if (perUser > 0)
      take(`u ${user}`, perSecond(perUser), "user_requests_per_second", `${perUser} calls a second for a user`);
    const perTenant = tenant === null ? 0 : tenantRate(limits, tenant);
    if (perTenant > 0)
      take(
        `t ${tenant}`,
        perSecond(perTenant),
        "tenant_requests_per_second",
        `${perTenant} calls a second for ${tenant}`,
      );
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
      const key = `${limit.key} ${principal.user}`;
      const before = seats.of(key);
      if (before >= most) {
        refused?.(limit.option);
        throw tooMany(before, most, limit.option);
      }
      return seats.take(key);
    },
    get streams() {
      return seats.count;
    },
  };
}

/** `hasOwn`, because a tenant may be called like a property of every object. */
const tenantRate = ({ tenants, tenantRequestsPerSecond }: Config["rateLimits"], tenant: string): number =>
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
