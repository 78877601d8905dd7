/**
 * Amazon States Language as far as this project writes or runs it: JSONata state machines.
 * Source: https://states-language.net/spec.html and the Step Functions developer guide, "Transforming data with JSONata".
 */
import type { Json, JsonObject } from '../blueprint/json.ts';

export interface StateMachine {
  Comment?: string;
  QueryLanguage?: 'JSONata' | 'JSONPath';
  StartAt: string;
  States: Record<string, State>;
  TimeoutSeconds?: number;
  Version?: string;
}

export interface Retrier {
  ErrorEquals: string[];
  IntervalSeconds?: number;
  MaxAttempts?: number;
  BackoffRate?: number;
  MaxDelaySeconds?: number;
  JitterStrategy?: 'FULL' | 'NONE';
}

export interface Catcher {
  ErrorEquals: string[];
  Next: string;
  Assign?: JsonObject;
  Output?: Json;
}

interface StateBase {
  Comment?: string;
  QueryLanguage?: 'JSONata' | 'JSONPath';
  Output?: Json;
  Assign?: JsonObject;
  Next?: string;
  End?: boolean;
}

export interface TaskState extends StateBase {
  Type: 'Task';
  Resource: string;
  Arguments?: Json;
  Credentials?: JsonObject;
  TimeoutSeconds?: number | string;
  HeartbeatSeconds?: number | string;
  Retry?: Retrier[];
  Catch?: Catcher[];
}

export interface PassState extends StateBase {
  Type: 'Pass';
}

export interface ChoiceRule {
  Condition: string | boolean;
  Next: string;
  Assign?: JsonObject;
  Output?: Json;
  Comment?: string;
}

export interface ChoiceState extends StateBase {
  Type: 'Choice';
  Choices: ChoiceRule[];
  Default?: string;
}

export interface WaitState extends StateBase {
  Type: 'Wait';
  Seconds?: number | string;
  Timestamp?: string;
}

export interface SucceedState extends StateBase {
  Type: 'Succeed';
}

export interface FailState extends StateBase {
  Type: 'Fail';
  Error?: string;
  Cause?: string;
}

export interface ParallelState extends StateBase {
  Type: 'Parallel';
  Branches: { StartAt: string; States: Record<string, State> }[];
  Arguments?: Json;
  Retry?: Retrier[];
  Catch?: Catcher[];
}

export interface ItemProcessor {
  ProcessorConfig?: { Mode: 'INLINE' } | { Mode: 'DISTRIBUTED'; ExecutionType: 'STANDARD' | 'EXPRESS' };
  StartAt: string;
  States: Record<string, State>;
}

export interface MapState extends StateBase {
  Type: 'Map';
  /** An array or a JSONata expression; JSONata machines have no ItemsPath. */
  Items?: Json;
  ItemSelector?: Json;
  ItemProcessor: ItemProcessor;
  ItemReader?: JsonObject;
  ItemBatcher?: JsonObject;
  ResultWriter?: JsonObject;
  MaxConcurrency?: number | string;
  ToleratedFailurePercentage?: number | string;
  ToleratedFailureCount?: number | string;
  Label?: string;
  Retry?: Retrier[];
  Catch?: Catcher[];
}

export type State =
  | TaskState
  | PassState
  | ChoiceState
  | WaitState
  | SucceedState
  | FailState
  | ParallelState
  | MapState;
