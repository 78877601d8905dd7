/** The engine's environment in a function that does its work: mcp-endpoint for agents, run-events for status events. */
import type { CursorSecret } from '../lib/engine/cursors.ts';
import type { EngineEnvironment, MachineOptions } from '../lib/engine/environment.ts';
import type { LogEntry, Telemetry } from '../lib/telemetry/telemetry.ts';
import { lambdaOf, regionOf, schedulerOf, stepFunctionsOf, storeOf } from './clients.ts';
import { type Environment, engineLimits } from './environment.ts';
import { VARIABLES } from './variables.ts';

/**
 * A tool's answer comes before the handler gives the whole request up (mcp-endpoint/handler.ts, HOLD_MS), which can say nothing of
 * what was asked. Counted from when the tool is called: authentication, and the first connections, have been before.
 */
const MAX_HELD_MS = 45_000;

export interface EngineOptions {
  telemetry: Telemetry;
  log(entry: LogEntry): void;
  cursorSecret: CursorSecret;
  /** Execution role of the machines that this function makes; undefined: it makes none. */
  machineRoleArn: string | undefined;
}

/** Reads the variables that both functions have. Throws EnvironmentError. */
export function openEngine(environment: Environment, options: EngineOptions): EngineEnvironment {
  const callTool = environment.arn(VARIABLES.callToolArn);
  const { telemetry, log, cursorSecret, machineRoleArn = '' } = options;
  return {
    store: storeOf(environment),
    sfn: stepFunctionsOf(environment),
    lambda: lambdaOf(environment),
    scheduler: schedulerOf(environment),
    config: {
      region: regionOf(environment),
      accountId: callTool.accountId,
      machinePrefix: environment.text(VARIABLES.machinePrefix),
      roleArn: machineRoleArn,
      callToolArn: callTool.arn,
      functionTimeoutSeconds: environment.count(VARIABLES.callToolTimeoutSeconds),
      serversHash: environment.text(VARIABLES.serversHash),
      cursorSecret,
      console: true,
      callTool: environment.oneOf(VARIABLES.callToolMode, ['off', 'read-only', 'all'], 'off'),
      schedules: {
        groupName: environment.text(VARIABLES.scheduleGroup),
        roleArn: environment.text(VARIABLES.scheduleRoleArn),
      },
      limits: engineLimits(environment),
      maxHeldMs: MAX_HELD_MS,
      machines: machineOptions(environment),
    },
    now: Date.now,
    log,
    telemetry,
  };
}

/** How the machines that the endpoint makes are observed; with inputs and outputs in the log only where the deployment says so. */
function machineOptions(environment: Environment): MachineOptions {
  const logGroupArn = environment.optional(VARIABLES.machineLogGroupArn);
  return {
    ...(logGroupArn === undefined ? {} : { logGroupArn }),
    includeData: environment.oneOf(VARIABLES.inspect, ['links', 'values'], 'links') === 'values',
    tracing: environment.oneOf(VARIABLES.machineTracing, ['on', 'off'], 'off') === 'on',
  };
}
