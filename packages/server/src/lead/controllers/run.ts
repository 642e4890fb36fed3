// The controllers of the leader, one line each. A controller is two files: `decide.ts` is pure, `act.ts` proposes the
// commands and sends the orders that were decided. Every act may be repeated after a crash.

import { budgetsController } from "./budgets/act.ts";
import { clearingsController } from "./clearings/act.ts";
import type { ControllerContext } from "./context/context.ts";
import { faultsController } from "./faults/act.ts";
import { foreignController } from "./foreign/act.ts";
import { healthController } from "./health/act.ts";
import { networksController } from "./networks/act.ts";
import { ordersController } from "./orders/act.ts";
import { overlayController } from "./overlay/act.ts";
import { type Controller, runPeriodically } from "./periodic/periodic.ts";
import { restartsController } from "./restarts/act.ts";
import { scalingController } from "./scaling/act.ts";
import { telemetryController } from "./telemetry/act.ts";
import { turnsController } from "./turns/act.ts";
import { walltimeController } from "./walltime/act.ts";
import { webhooksController } from "./webhooks/act.ts";

type StartController = (context: ControllerContext, signal: AbortSignal) => Controller | readonly Controller[];

const CONTROLLERS: readonly StartController[] = [
  clearingsController,
  telemetryController,
  faultsController,
  networksController,
  overlayController,
  healthController,
  walltimeController,
  ordersController,
  turnsController,
  budgetsController,
  restartsController,
  foreignController,
  scalingController,
  (context) => context.broker.controllers(context),
  webhooksController,
];

/** Runs all controllers until the signal aborts. */
export async function runControllers(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const started = CONTROLLERS.flatMap((start) => start(context, signal));
  await Promise.all(started.map((controller) => runPeriodically(controller, context.clock, context.logger, signal)));
}
