/**
 * The ARNs of Step Functions, read and written. Shapes are those of the service:
 *
 *     stateMachine:NAME            stateMachine:NAME:3 (version)       stateMachine:NAME/LABEL (a distributed map's)
 *     execution:NAME:EXECUTION     execution:NAME/LABEL:EXECUTION      express:NAME:EXECUTION:UUID
 *     mapRun:NAME/LABEL:UUID
 */
import { ApiError } from '../../api-error.ts';
import { invalidArn, invalidName } from './api-error.ts';

export interface Place {
  region: string;
  accountId: string;
}

function prefix(place: Place): string {
  return `arn:aws:states:${place.region}:${place.accountId}`;
}

export function stateMachineArn(place: Place, name: string): string {
  return `${prefix(place)}:stateMachine:${name}`;
}

export function executionArn(place: Place, machineName: string, name: string): string {
  return `${prefix(place)}:execution:${machineName}:${name}`;
}

export function expressArn(place: Place, machineName: string, name: string, uuid: string): string {
  return `${prefix(place)}:express:${machineName}:${name}:${uuid}`;
}

/** Everything after the account: `['stateMachine', NAME, VERSION?]`. Throws `InvalidArn`. */
function resourceOf(arn: string, kinds: readonly string[]): string[] {
  const parts = arn.split(':');
  if (parts[0] !== 'arn') throw invalidArn(`Invalid ARN prefix: ${arn}`);
  const resource = parts.slice(5);
  const kind = resource[0];
  if (parts[2] !== 'states' || kind === undefined || resource.length < 2) {
    throw invalidArn(`Invalid ARN: ${arn}`);
  }
  if (!kinds.includes(kind)) throw invalidArn(`Resource type not valid in this context: ${kind}`);
  return resource;
}

export interface StateMachineReference {
  /** The ARN without a version. */
  machineArn: string;
  version?: number;
}

/**
 * A state machine's ARN, with or without a version. An alias is read as a version that cannot exist (there are no
 * aliases here), so operations answer that the machine does not exist. Throws `InvalidArn`.
 */
export function parseStateMachineArn(arn: string): StateMachineReference {
  const resource = resourceOf(arn, ['stateMachine']);
  if (resource.length === 2) return { machineArn: arn };
  const qualifier = resource[2] ?? '';
  const machineArn = arn.split(':').slice(0, 7).join(':');
  return { machineArn, version: /^[1-9]\d{0,8}$/.test(qualifier) ? Number(qualifier) : 0 };
}

/** Throws `InvalidArn` unless `arn` is an execution's. Express executions are no resource of this API. */
export function checkExecutionArn(arn: string): void {
  resourceOf(arn, ['execution']);
}

export function checkMapRunArn(arn: string): void {
  resourceOf(arn, ['mapRun']);
}

export interface MapRunReference {
  machineName: string;
  label: string;
}

export function parseMapRunArn(arn: string): MapRunReference {
  const path = resourceOf(arn, ['mapRun'])[1] ?? '';
  const slash = path.indexOf('/');
  if (slash < 0) throw invalidArn(`Invalid ARN: ${arn}`);
  return { machineName: path.slice(0, slash), label: path.slice(slash + 1) };
}

export function checkRoleArn(arn: string): void {
  if (!/^arn:[^:]+:iam::\d{12}:role\/.+/.test(arn)) {
    throw new ApiError('InvalidArn', `Invalid Role Arn: '${arn}'`);
  }
}

// The characters that the API reference of CreateStateMachine and StartExecution forbids in a name.
const FORBIDDEN_IN_NAME = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}\p{Cs}\uFFFE\uFFFF]/u;

/** Throws `InvalidName`. The length (1 to 80) is a parameter's constraint and checked with those. */
export function checkName(name: string): void {
  if (name.length === 0 || name.length > 80 || FORBIDDEN_IN_NAME.test(name)) throw invalidName(name);
}
