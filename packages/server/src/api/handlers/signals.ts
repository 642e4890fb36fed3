// External signals: prices, power, storage, congestion. Checked here, kept in the leader's memory.

import { create } from "@bufbuild/protobuf";
import { pb, timestampFromMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import type { SignalsRecord, SignalValues } from "../../lead/insight/index.ts";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";

/** Signals expire unless they are renewed. */
const DEFAULT_VALID_SECONDS = 3_600;
const MAX_VALID_SECONDS = 7 * 86_400;
/** Per kind of signal: more than any machine has topology groups. */
const MAX_VALUES = 100_000;
/** A checkpoint that takes longer than a day is a mistake in the unit. */
const MAX_CHECKPOINT_MINUTES = 1_440;

export async function setSignals(call: Call, request: pb.SetSignalsRequest): Promise<pb.Signals> {
  authorize(call.principal, "AdminService.SetSignals", UNOWNED);
  const { signals = create(pb.SignalsSchema), validSeconds } = request;
  if (validSeconds > MAX_VALID_SECONDS) throw invalid("valid_seconds", `must be at most ${MAX_VALID_SECONDS}`);
  if (signals.validUntil !== undefined) throw invalid("signals.valid_until", "is for answers", "Set valid_seconds.");
  const validMs = (validSeconds === 0 ? DEFAULT_VALID_SECONDS : validSeconds) * 1000;
  const record = await call.plane.askScheduler({ kind: "set_signals", signals: valuesOf(signals), validMs });
  return toProto(record);
}

export async function getSignals(call: Call, _request: pb.GetSignalsRequest): Promise<pb.Signals> {
  authorize(call.principal, "AdminService.GetSignals", UNOWNED);
  const record = await call.plane.askScheduler({ kind: "signals" });
  return record === null ? create(pb.SignalsSchema) : toProto(record);
}

function valuesOf(signals: pb.Signals): SignalValues {
  const { energyPrice, power, storage } = signals;
  if (energyPrice !== undefined) inRange("signals.energy_price", energyPrice, 1);
  return {
    ...(energyPrice === undefined ? {} : { energyPrice }),
    ...(power === undefined ? {} : { power: budgetOf("signals.power", power) }),
    ...(storage === undefined ? {} : { storage: budgetOf("signals.storage", storage) }),
    congestion: shares("signals.congestion", signals.congestion, 1),
    efficiency: shares("signals.efficiency", signals.efficiency, 1),
    dataReady: shares("signals.data_ready", signals.dataReady, 1),
    checkpointMinutes: shares("signals.checkpoint_minutes", signals.checkpointMinutes, MAX_CHECKPOINT_MINUTES),
  };
}

function inRange(field: string, value: number, most: number): void {
  if (!Number.isFinite(value) || value < 0 || value > most) throw invalid(field, `must be from 0 to ${most}`);
}

function budgetOf(field: string, { limit, used }: pb.SignalBudget) {
  if (!Number.isFinite(limit) || limit <= 0) throw invalid(`${field}.limit`, "must be above 0");
  if (!Number.isFinite(used) || used < 0) throw invalid(`${field}.used`, "must not be negative");
  return { limit, used };
}

function shares(
  field: string,
  values: Readonly<Record<string, number>>,
  most: number,
): Readonly<Record<string, number>> {
  const entries = Object.entries(values);
  if (entries.length > MAX_VALUES) throw invalid(field, `must not have more than ${MAX_VALUES} values`);
  for (const [name, value] of entries) inRange(`${field}.${name.slice(0, 80)}`, value, most);
  return values;
}

const toProto = ({ values, validUntil }: SignalsRecord): pb.Signals =>
  create(pb.SignalsSchema, {
    ...values,
    congestion: { ...values.congestion },
    efficiency: { ...values.efficiency },
    dataReady: { ...values.dataReady },
    checkpointMinutes: { ...values.checkpointMinutes },
    validUntil: timestampFromMs(validUntil),
  });
