/**
 * Rights of the template that no scenario uses, and why they are there all the same. What is in this list and not needed fails the
 * rehearsal too, so that it does not grow old.
 */
export interface Justification {
  /** Where the template makes the role, or the resource whose policy it is. */
  owner: string;
  /** As the policy has it. */
  action: string;
  /** Pattern of the policy's resource. Default: all. */
  resource?: string;
  because: string;
}

const everyFunction = (action: string, because: string): Justification[] =>
  ['CallTool/Function/Role', 'McpEndpoint/Function/Role', 'RunEvents/Function/Role'].map((owner) => ({
    owner,
    action,
    because,
  }));

const machines = (because: string, ...actions: string[]): Justification[] =>
  actions.map((action) => ({ owner: 'Machines/Role', action, because }));

export const JUSTIFIED: readonly Justification[] = [
  ...['logs:CreateLogStream', 'logs:PutLogEvents'].flatMap((action) =>
    everyFunction(action, 'Lambda writes the log of a function with its role; no stand-in takes logs.'),
  ),
  ...everyFunction(
    'xray:PutTelemetryRecords',
    "Lambda's X-Ray daemon tells of itself with a function's role; there is no daemon here.",
  ),
  ...machines(
    'Step Functions sends the trace of an execution with these; no stand-in takes traces. Source: Step Functions developer guide, "Trace Step Functions request data in AWS X-Ray".',
    'xray:PutTraceSegments',
    'xray:PutTelemetryRecords',
    'xray:GetSamplingRules',
    'xray:GetSamplingTargets',
  ),
  {
    owner: 'McpEndpoint/Function/Role',
    action: 'scheduler:GetSchedule',
    because:
      'It switches a schedule off where a read finds its fifth failure before run-events does: an execution that failed without call-tool, and whose event was lost. No platform fails that way here.',
  },
  ...['states:ListStateMachineVersions', 'states:DeleteStateMachineVersion'].map((action) => ({
    owner: 'McpEndpoint/Function/Role',
    action,
    because:
      'The thousand-and-first save of a workflow makes room for its version; test/engine/retire-versions.test.ts does that.',
  })),
  {
    owner: 'RunEvents/Failed/Policy',
    action: 'sqs:SendMessage',
    because: 'EventBridge puts an event that it could not deliver into the queue; no stand-in is a queue.',
  },
  {
    owner: 'Storage/AccessLogs/Policy',
    action: 's3:PutObject',
    because: 'S3 itself writes its access log; the stand-in has none.',
  },
];
