/** Runs a state machine in the interpreter with a virtual clock and functions given as plain code. */
import type { StateMachine, TaskState } from '../../../../lib/asl/types.ts';
import type { Json, JsonObject } from '../../../../lib/blueprint/json.ts';
import type {
  Checkpoint,
  ChildExecution,
  ExecutionHost,
  ExecutionOutcome,
  ExecutionStart,
  HistoryEvent,
  LambdaRequest,
} from '../../../../lib/local/step-functions/contract.ts';
import { runExecution } from '../../../../lib/local/step-functions/interpreter/run.ts';
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

/** A function: gets the parsed payload. What it throws with a `name` becomes the function's error type. */
export type Handler = (payload: Json, request: LambdaRequest) => Json | Promise<Json>;

export interface Options {
  input?: Json;
  functions?: Record<string, Handler>;
  /** Machines that startExecution can start, by ARN. */
  machines?: Record<string, StateMachine>;
  clock?: VirtualClock;
  random?: () => number;
  start?: Partial<ExecutionStart>;
  signal?: AbortSignal;
  keepCheckpoints?: boolean;
  /** How a function's error becomes text; python's json.dumps by default. */
  errorText?: (error: { name: string; message: string }, requestId: string) => string;
  /** Called with every event, e.g. to stop the execution at one. */
  onEvent?: (event: HistoryEvent) => void;
}

export interface Execution {
  outcome: ExecutionOutcome;
  events: HistoryEvent[];
  /** A copy of the checkpoint as it was at each call, if they are to be kept. */
  checkpoints: Checkpoint[];
  /** The children of distributed maps, in order of their start. */
  children: {
    name: string;
    input: Json;
    resumed: boolean;
    events: HistoryEvent[];
    outcome?: ExecutionOutcome;
  }[];
}

const MACHINE_ARN = 'arn:aws:states:us-east-1:000000000000:stateMachine:machine';
const EXECUTION_ARN = 'arn:aws:states:us-east-1:000000000000:execution:machine:run';

export function execute(definition: StateMachine, options: Options = {}): Promise<Execution> {
  const clock = options.clock ?? virtualClock();
  return clock.drive(runOnce(definition, { ...options, clock }));
}

/** Goes on from where an execution failed, as RedriveExecution does. */
export function redrive(
  definition: StateMachine,
  before: Execution,
  options: Options = {},
): Promise<Execution> {
  const { outcome } = before;
  if (outcome.status === 'SUCCEEDED') throw new Error('a successful execution is not redriven');
  const redriveCount = (options.start?.redriveCount ?? 0) + 1;
  // What the service does: the checkpoint has been on disk.
  const resume = JSON.parse(JSON.stringify(outcome.checkpoint)) as Checkpoint;
  return execute(definition, {
    ...options,
    start: { ...options.start, redriveCount, resume, lastEventId: before.events.at(-1)?.id ?? 0 },
  });
}

async function runOnce(
  definition: StateMachine,
  options: Options & { clock: VirtualClock },
): Promise<Execution> {
  const { clock } = options;
  const events: HistoryEvent[] = [];
  const checkpoints: Checkpoint[] = [];
  const children: Execution['children'] = [];
  const childOutcomes = new Map<string, ExecutionOutcome>();
  const start: ExecutionStart = {
    executionArn: EXECUTION_ARN,
    name: 'run',
    startTime: new Date(clock.now()).toISOString(),
    roleArn: 'arn:aws:iam::000000000000:role/role',
    stateMachineArn: MACHINE_ARN,
    stateMachineName: 'machine',
    type: 'STANDARD',
    definition,
    input: options.input ?? {},
    redriveCount: 0,
    lastEventId: 0,
    ...options.start,
  };
  const host: ExecutionHost = {
    clock,
    random: options.random ?? seededRandom(),
    invokeLambda: (request) => invoke(request, options),
    async startExecution(request) {
      const machine = options.machines?.[request.stateMachineArn];
      if (machine === undefined) {
        const error = new Error(`State Machine Does Not Exist: '${request.stateMachineArn}'`);
        error.name = 'StateMachineDoesNotExist';
        throw error;
      }
      const name = request.name ?? 'child';
      const executionArn = `${request.stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
      const startDate = clock.now();
      const done = runOnce(machine, {
        ...options,
        input: JSON.parse(request.input) as Json,
        start: { executionArn, name, stateMachineArn: request.stateMachineArn },
        signal: request.signal,
      }).then(({ outcome }): ChildExecution => {
        const child: ChildExecution = {
          executionArn,
          stateMachineArn: request.stateMachineArn,
          name,
          startDate,
          stopDate: clock.now(),
          status: outcome.status,
          input: request.input,
        };
        if (outcome.status === 'SUCCEEDED') child.output = JSON.stringify(outcome.output);
        else Object.assign(child, { error: outcome.error, cause: outcome.cause });
        return child;
      });
      return { executionArn, startDate, done };
    },
    async runMapChild(request) {
      const executionArn = request.resumeArn ?? `${EXECUTION_ARN}:${request.name}`;
      const before = request.resumeArn === undefined ? undefined : savedChildren.get(request.resumeArn);
      const child: Execution['children'][number] = {
        name: request.name,
        input: request.input,
        resumed: before !== undefined,
        events: [],
      };
      children.push(child);
      const resumed: Partial<ExecutionStart> = {};
      if (before !== undefined) {
        resumed.resume = before.checkpoint;
        resumed.redriveCount = 1;
        resumed.lastEventId = before.lastEventId;
      }
      const result = await runOnce(request.definition, {
        ...options,
        input: request.input,
        start: { executionArn, name: request.name, type: request.type, ...resumed },
        signal: request.signal,
      });
      child.events.push(...result.events);
      child.outcome = result.outcome;
      childOutcomes.set(executionArn, result.outcome);
      if (result.outcome.status !== 'SUCCEEDED') {
        const checkpoint = JSON.parse(JSON.stringify(result.outcome.checkpoint)) as Checkpoint;
        savedChildren.set(executionArn, { checkpoint, lastEventId: result.events.at(-1)?.id ?? 0 });
      }
      return { executionArn, outcome: result.outcome };
    },
    record(event) {
      events.push(event);
      options.onEvent?.(event);
    },
    checkpoint(checkpoint) {
      if (options.keepCheckpoints) checkpoints.push(JSON.parse(JSON.stringify(checkpoint)) as Checkpoint);
    },
  };
  const outcome = await runExecution(start, host, options.signal ?? new AbortController().signal);
  return { outcome, events, checkpoints, children };
}

/** What a service keeps of unsuccessful children, by ARN. */
const savedChildren = new Map<string, { checkpoint: Checkpoint; lastEventId: number }>();

async function invoke(request: LambdaRequest, options: Options) {
  const name = request.functionName.split(':').pop() ?? '';
  const handler = options.functions?.[name];
  const requestId = '11111111-2222-4333-8444-555555555555';
  const base = { statusCode: 200, executedVersion: '$LATEST', requestId };
  if (handler === undefined) throw new Error(`no function ${name}`);
  try {
    const answer = await handler(parsePayload(request.payload), request);
    if (request.invocationType === 'Event') return { ...base, statusCode: 202, payload: '' };
    return { ...base, payload: JSON.stringify(answer) };
  } catch (error) {
    if (!(error instanceof Error) || 'statusCode' in error) throw error;
    const text = (options.errorText ?? defaultErrorText)(error, requestId);
    return { ...base, payload: text, functionError: 'Unhandled' };
  }
}

/** A text that is no JSON is taken as it is, so that a test may call a function with a plain text. */
function parsePayload(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function defaultErrorText(error: { name: string; message: string }, requestId: string): string {
  return JSON.stringify({ errorMessage: error.message, errorType: error.name, requestId, stackTrace: [] });
}

/** An error whose type, as a function reports it, is `name`. */
export function functionError(name: string, message = name): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}

/** The details of an event, whatever their key. */
export function detailsOf(event: HistoryEvent): JsonObject {
  const key = Object.keys(event).find((name) => name.endsWith('EventDetails')) as
    | `${string}EventDetails`
    | undefined;
  return key === undefined ? {} : (event[key] as JsonObject);
}

function seededRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

/** A JSONata machine that begins with the first state given. */
export function machine(states: StateMachine['States'], extra: Partial<StateMachine> = {}): StateMachine {
  return { QueryLanguage: 'JSONata', StartAt: Object.keys(states)[0] ?? '', States: states, ...extra };
}

/** A call of a function by lambda:invoke, whose payload alone is the state's output. */
export function call(name: string, payload: Json, next: Partial<TaskState> = { End: true }): TaskState {
  return {
    Type: 'Task',
    Resource: 'arn:aws:states:::lambda:invoke',
    Arguments: { FunctionName: name, Payload: payload },
    Output: '{% $states.result.Payload %}',
    ...next,
  };
}

/** `id Type <previous` of each event, with the name of the state or iteration where there is one. */
export function traceOf(events: HistoryEvent[]): string[] {
  return events.map((event) => {
    const { name, index } = detailsOf(event);
    const subject =
      typeof name === 'string' ? ` ${name}${index === undefined ? '' : `[${String(index)}]`}` : '';
    return `${event.id} ${event.type}${subject} <${event.previousEventId}`;
  });
}
